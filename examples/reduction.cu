// Sum of a block, first with the interleaved index 2*s*tid, whose stride doubles each step (2-way, 4-way, ... conflicts),
// then with the sequential one, which is free.
//
// shmoo: --block 256
// want: site 21:13 load requests 12 wavefronts 47 ideal 12
// want: site 21:13 store requests 12 wavefronts 47 ideal 12
// want: site 21:28 load requests 12 wavefronts 47 ideal 12
// want: site 29:13 load requests 12 wavefronts 12 ideal 12
// want: site 29:13 store requests 12 wavefronts 12 ideal 12
// want: site 29:26 load requests 12 wavefronts 12 ideal 12
// want: site 38:5 store requests 8 wavefronts 8 ideal 8
// want: site 39:5 store requests 8 wavefronts 8 ideal 8
// want: site 39:14 load requests 8 wavefronts 8 ideal 8
// want: site 44:27 load requests 1 wavefronts 1 ideal 1
// want: site 44:34 load requests 1 wavefronts 1 ideal 1
// want: total requests 98 wavefronts 203 ideal 98
__device__ void interleaved(float *data, unsigned tid) {
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < blockDim.x)
            data[index] += data[index + s];
        __syncthreads();
    }
}

__device__ void sequential(float *data, unsigned tid) {
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            data[tid] += data[tid + s];
        __syncthreads();
    }
}

__global__ void reduce(const float *in, float *out) {
    __shared__ float a[256];
    __shared__ float b[256];
    unsigned tid = threadIdx.x;
    a[tid] = in[blockIdx.x * blockDim.x + tid];
    b[tid] = a[tid];
    __syncthreads();
    interleaved(a, tid);
    sequential(b, tid);
    if (tid == 0)
        out[blockIdx.x] = a[0] + b[0];
}
