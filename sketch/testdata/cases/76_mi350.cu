// Case 76, ROCm/rocm-libraries PR 6070 on gfx950 (certainty B): FP4 rows of 64 bytes read in 16-byte chunks are 4-way, at a
// pitch of 128 bytes 8-way; with two chunks per group 2-way and 4-way.
// shmoo: --block 64 --arch gfx950
__shared__ uint4 p64[32][4];
__shared__ uint4 p128[32][8];
int lane = threadIdx.x;
p64[lane % 32][lane / 32];      // want: load requests 1 wavefronts 16 ideal 4
p128[lane % 32][lane / 32];     // want: load requests 1 wavefronts 32 ideal 4
p64[lane % 16][lane / 16];      // want: load requests 1 wavefronts 8 ideal 4
p128[lane % 16][lane / 16];     // want: load requests 1 wavefronts 16 ideal 4
