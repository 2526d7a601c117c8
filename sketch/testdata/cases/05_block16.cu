// Case 5, StackOverflow 7024444 (certainty B): 16x16 block; 8 wavefronts without a pad, 2 with one, since a warp is two rows.
// shmoo: --block 16,16
__shared__ float a[16][16];
__shared__ float b[16][17];
a[threadIdx.x][threadIdx.y];    // want: load requests 8 wavefronts 64 ideal 8
b[threadIdx.x][threadIdx.y];    // want: load requests 8 wavefronts 16 ideal 8
