// Case 58, NVIDIA/cutlass issues 2015 and 1707 (certainty B): ldmatrix.x4 down dense rows of 128, 64 and 32 bytes, without a
// swizzle and with Swizzle<3,4,3>, <2,4,3>, <1,4,3> on byte addresses.
// shmoo: --block 32
#define SWIZZLE(B, x) ((x) ^ ((x) >> 3 & ((1 << B) - 1) << 4))
#define LDMATRIX(x) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" \
    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((unsigned)__cvta_generic_to_shared(tile + (x))))
__shared__ __align__(1024) unsigned char tile[32 * 128];
unsigned r[4];
int row = threadIdx.x;
LDMATRIX(row * 128);                    // want: ldmatrix requests 1 wavefronts 32 ideal 4
LDMATRIX(SWIZZLE(3, row * 128));        // want: ldmatrix requests 1 wavefronts 4 ideal 4
LDMATRIX(row * 64);                     // want: ldmatrix requests 1 wavefronts 16 ideal 4
LDMATRIX(SWIZZLE(2, row * 64));         // want: ldmatrix requests 1 wavefronts 4 ideal 4
LDMATRIX(row * 32);                     // want: ldmatrix requests 1 wavefronts 8 ideal 4
LDMATRIX(SWIZZLE(1, row * 32));         // want: ldmatrix requests 1 wavefronts 4 ideal 4
