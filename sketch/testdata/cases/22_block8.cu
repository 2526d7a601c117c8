// Case 22, the 8x8 block of NVIDIA/Fuser's tests (certainty A against those tests): 2-way transposed, free along the row.
// shmoo: --block 8,8
__shared__ float s[8][8];
s[threadIdx.x][threadIdx.y] = 0;        // want: store requests 2 wavefronts 4 ideal 2
s[threadIdx.y][threadIdx.x] = 0;        // want: store requests 2 wavefronts 2 ideal 2
