// Case 59, NVlabs/cuda-oxide PR 544 (certainty B): a column of floats by pitch, and with swizzles of 5, 3 and 2 bits.
// shmoo: --block 32
#define SWIZZLE(B, x) ((x) ^ ((x) >> 5 & (1 << B) - 1))
__shared__ float s[32 * 64];
int row = threadIdx.x;
s[row * 32];                    // want: load requests 1 wavefronts 32 ideal 1
s[row * 64];                    // want: load requests 1 wavefronts 32 ideal 1
s[row * 16];                    // want: load requests 1 wavefronts 16 ideal 1
s[row * 33];                    // want: load requests 1 wavefronts 1 ideal 1
s[SWIZZLE(5, row * 32)];        // want: load requests 1 wavefronts 1 ideal 1
s[SWIZZLE(3, row * 32)];        // want: load requests 1 wavefronts 4 ideal 1
s[SWIZZLE(2, row * 32)];        // want: load requests 1 wavefronts 8 ideal 1
