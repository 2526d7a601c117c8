// Prefix products of segments of 56 bfloat16, the width of whose rows are those of real models: Qwen2-7B (3584), Llama-3-70B
// (7168 and 28672) and Llama-3-8B (14336). One block has one row and COLS / 56 threads. Every segment is followed by K units
// of 16 bytes: with K = 1 lanes are 32 words apart, with K = 2 they are 36 words apart. Segments are read and written in
// vectors of 64 bits.
#include <cuda_bf16.h>

constexpr int CHUNK = 56;
constexpr int THREADS = COLS / CHUNK;
constexpr int STRIDE = CHUNK + 8 * K;

struct __align__(8) Four { __nv_bfloat16 v[4]; };

extern "C" __global__ void __launch_bounds__(THREADS) chunk56(const uint4 *in, uint4 *out) {
    extern __shared__ __align__(16) __nv_bfloat16 row[];
    const size_t first = (size_t)blockIdx.x * (COLS / 8);
    // A unit of 16 bytes never crosses the end of a segment, since 56 is a multiple of 8.
#pragma unroll
    for (int k = 0; k < CHUNK / 8; k++) {
        int i = threadIdx.x + k * THREADS;
        *(uint4 *)&row[i / (CHUNK / 8) * STRIDE + i % (CHUNK / 8) * 8] = in[first + i];
    }
    __syncthreads();
    Four *own = (Four *)(row + threadIdx.x * STRIDE);
    __nv_bfloat16 product = __float2bfloat16(1.0f);
    for (int c = 0; c < CHUNK / 4; c++) {
        Four four = own[c];
#pragma unroll
        for (int j = 0; j < 4; j++) four.v[j] = product = __hmul(product, four.v[j]);
        own[c] = four;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < CHUNK / 8; k++) {
        int i = threadIdx.x + k * THREADS;
        out[first + i] = *(const uint4 *)&row[i / (CHUNK / 8) * STRIDE + i % (CHUNK / 8) * 8];
    }
}
