// A histogram of bytes. Clearing and writing back are free. Which bins the atomics hit depends on the data, so they are
// counted as unresolved: no number is made up for them.
//
// shmoo: --block 256 -D n=4096
// want: site 12:9 store requests 8 wavefronts 8 ideal 8
// want: site 15:9 red requests 0 wavefronts 0 ideal 0 unresolved 128
// want: site 18:29 load requests 8 wavefronts 8 ideal 8
// want: total requests 16 wavefronts 16 ideal 16 unresolved 128
__global__ void histogram(unsigned *bins, const unsigned char *data, int n) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}
