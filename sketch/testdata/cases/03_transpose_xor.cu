// Case 3, xlite-dev/LeetCUDA mat_trans_swizzle (certainty B): naive, pitch 33, and the column replaced by tx ^ ty.
// shmoo: --block 32,32
__shared__ int naive[32][32];
__shared__ int padded[32][33];
__shared__ int swizzled[32][32];
int tx = threadIdx.x, ty = threadIdx.y;
naive[tx][ty] = 1;              // want: store requests 32 wavefronts 1024 ideal 32
naive[ty][tx];                  // want: load requests 32 wavefronts 32 ideal 32
padded[tx][ty] = 1;             // want: store requests 32 wavefronts 32 ideal 32
padded[ty][tx];                 // want: load requests 32 wavefronts 32 ideal 32
swizzled[tx][tx ^ ty] = 1;      // want: store requests 32 wavefronts 32 ideal 32
swizzled[ty][tx ^ ty];          // want: load requests 32 wavefronts 32 ideal 32
