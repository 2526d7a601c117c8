// What a reader of cubins has to cope with: calls inlined three deep, a local function, a jump table, constants,
// addresses of globals, a required block and cluster, 64-bit division, dynamic shared memory.
__constant__ int table[16] = {1, 2, 3};
__device__ int counter = 7;

__device__ __forceinline__ float pair(const float *s, int i) {
    return s[2 * i] + s[2 * i + 1];
}

template <int N>
__device__ __forceinline__ float pairs(const float *s, int i) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < N; j++)
        sum += pair(s, i + j);
    return sum;
}

__device__ __noinline__ float apart(const float *s, int i) {
    return pairs<3>(s, i) / s[9];
}

__global__ void inlined(float *out, int n) {
    __shared__ float s[512];
    s[threadIdx.x] = n;
    __syncthreads();
    out[threadIdx.x] = pairs<2>(s, threadIdx.x) + apart(s, n);
}

__global__ void jumps(int *out, int n) {
    switch (n) {
    case 0: out[0] = 1; break;
    case 1: out[1] = 7; break;
    case 2: out[2] = n + out[5]; break;
    case 3: out[3] = 9; break;
    case 4: out[7] = n; break;
    case 5: out[9] = out[1]; break;
    case 6: out[3] = out[2] * 3; break;
    }
}

__global__ void globals(int *out, int n, long long d) {
    out[n] = table[n & 15] + counter + (int)((long long)n * n / d);
    counter = n;
}

extern __shared__ __align__(16) float rest[];

__global__ void dynamic(float *out, int n) {
    rest[threadIdx.x] = n;
    __syncthreads();
    out[threadIdx.x] = rest[n];
}

struct Large {
    int values[1500];
};

__global__ void large(const __grid_constant__ Large l, int *out, int n) {
    out[n] = l.values[n];
}

#if __CUDA_ARCH__ >= 900
#define CLUSTER __cluster_dims__(2, 1, 1)
#else
#define CLUSTER
#endif

__global__ void CLUSTER __launch_bounds__(256, 2) bounded(float *out) {
    out[blockIdx.x * 256 + threadIdx.x] = 0;
}
