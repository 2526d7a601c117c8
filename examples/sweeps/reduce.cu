// Sums of blocks: each of BLOCK threads adds up ITEMS words, then the block its threads' sums through shared memory, as a tree
// whose active threads are apart (APART=1: conflicts in the middle of the tree) or side by side (APART=0).
extern "C" __global__ void __launch_bounds__(BLOCK) reduce(const unsigned *in, unsigned *out) {
    __shared__ unsigned sums[BLOCK];
    const unsigned *from = in + (size_t)blockIdx.x * BLOCK * ITEMS + threadIdx.x;
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) sum += from[i * BLOCK];
    sums[threadIdx.x] = sum;
    __syncthreads();
#if APART
    for (int s = 1; s < BLOCK; s *= 2) {
        int i = 2 * s * threadIdx.x;
        if (i < BLOCK) sums[i] += sums[i + s];
        __syncthreads();
    }
#else
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
#endif
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}
