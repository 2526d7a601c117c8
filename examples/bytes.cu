// A column of a 32x32 array of bytes: a row is 8 words, so every fourth lane comes back to the same bank and the column is
// an 8-way conflict, not a 32-way one. Along a row all 32 lanes share 8 words: free.
//
// shmoo: --block 32
// want: site 9:1 load requests 1 wavefronts 8 ideal 1
// want: site 10:1 load requests 1 wavefronts 1 ideal 1
// want: total requests 2 wavefronts 9 ideal 2
__shared__ unsigned char mask[32][32];
mask[threadIdx.x][0];
mask[0][threadIdx.x];
