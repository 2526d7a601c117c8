// Case 4, the transpose of the CUDA samples (certainty B): tile of 32, 16 rows per block.
// shmoo: --block 32,16
__shared__ float plain[32][32];
__shared__ float padded[32][33];
for (int i = 0; i < 32; i += 16) {
    plain[threadIdx.y + i][threadIdx.x] = 0;    // want: store requests 32 wavefronts 32 ideal 32
    padded[threadIdx.y + i][threadIdx.x] = 0;   // want: store requests 32 wavefronts 32 ideal 32
}
for (int i = 0; i < 32; i += 16) {
    plain[threadIdx.x][threadIdx.y + i];        // want: load requests 32 wavefronts 1024 ideal 32
    padded[threadIdx.x][threadIdx.y + i];       // want: load requests 32 wavefronts 32 ideal 32
}
