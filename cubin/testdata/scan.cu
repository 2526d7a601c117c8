// Serial products over segments that stay in shared memory: thread t owns CHUNK consecutive elements, which begin at
// element t * (CHUNK + PAD). The pad decides both the bank conflicts of the reads and the alignment that the compiler
// can prove, and so the width of the reads that it picks.
#include <cuda_fp16.h>

constexpr int threads = 128;

// The segments are copied in with neighbouring threads on neighbouring elements.
template <typename T, int CHUNK, int PAD>
__device__ void fill(T *segments, const T *in) {
    for (int i = threadIdx.x; i < threads * CHUNK; i += threads)
        segments[i / CHUNK * (CHUNK + PAD) + i % CHUNK] = in[blockIdx.x * threads * CHUNK + i];
    __syncthreads();
}

// One element at a time in the source: the compiler joins reads where it knows that they are aligned.
template <typename T, int CHUNK, int PAD>
__global__ void __launch_bounds__(threads) product(T *out, const T *in) {
    __shared__ __align__(16) T segments[threads * (CHUNK + PAD)];
    fill<T, CHUNK, PAD>(segments, in);
    const T *own = segments + threadIdx.x * (CHUNK + PAD);
    T acc = T(1.0f);
#pragma unroll 16
    for (int c = 0; c < CHUNK; c++)
        acc = acc * own[c];
    out[blockIdx.x * threads + threadIdx.x] = acc;
}

// The width of the reads is the source's choice: V is float, float2 or float4.
template <typename V, int PAD>
__global__ void __launch_bounds__(threads) product_wide(float *out, const float *in) {
    constexpr int chunk = 64, words = sizeof(V) / sizeof(float);
    __shared__ __align__(16) float segments[threads * (chunk + PAD)];
    fill<float, chunk, PAD>(segments, in);
    const V *own = reinterpret_cast<const V *>(segments + threadIdx.x * (chunk + PAD));
    float acc = 1;
#pragma unroll 4
    for (int c = 0; c < chunk / words; c++) {
        V v = own[c];
        for (int i = 0; i < words; i++)
            acc *= reinterpret_cast<const float *>(&v)[i];
    }
    out[blockIdx.x * threads + threadIdx.x] = acc;
}

#define PADS(T, CHUNK) ONE(T, CHUNK, 0) ONE(T, CHUNK, 2) ONE(T, CHUNK, 4) ONE(T, CHUNK, 8) ONE(T, CHUNK, 16)
#define ONE(T, CHUNK, PAD) template __global__ void product<T, CHUNK, PAD>(T *, const T *);
PADS(__half, 16) PADS(__half, 32) PADS(__half, 64) PADS(__half, 128)
#define WIDE(V, PAD) template __global__ void product_wide<V, PAD>(float *, const float *);
WIDE(float, 0) WIDE(float, 1) WIDE(float2, 0) WIDE(float2, 2) WIDE(float4, 0) WIDE(float4, 4)
