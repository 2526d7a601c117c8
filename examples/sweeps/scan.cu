// Prefix products of segments: each thread has CHUNK halves of a row of 4096, one block a row. The row goes through shared
// memory, where every segment is followed by PAD halves (an even number). Each thread reads and writes its own segment half
// by half: lanes are (CHUNK + PAD) / 2 words apart.
#include <cuda_fp16.h>

constexpr int COLS = 4096;
constexpr int THREADS = COLS / CHUNK;

// place returns where element i of the row is kept.
__device__ int place(int i) { return i / CHUNK * (CHUNK + PAD) + i % CHUNK; }

extern "C" __global__ void __launch_bounds__(THREADS) scan(const half *in, half *out) {
    __shared__ __align__(16) half row[THREADS * (CHUNK + PAD)];
    const size_t first = (size_t)blockIdx.x * COLS;
    const half2 *from = (const half2 *)(in + first);
    half2 *to = (half2 *)(out + first);
    // The number of rounds is known, so that the loads of up to 16 rounds are under way at once.
#pragma unroll 16
    for (int k = 0; k < COLS / 2 / THREADS; k++) {
        int i = threadIdx.x + k * THREADS;
        *(half2 *)&row[place(2 * i)] = from[i];
    }
    __syncthreads();
    half *own = row + threadIdx.x * (CHUNK + PAD);
    half product = __float2half(1.0f);
    for (int c = 0; c < CHUNK; c++) {
        product = __hmul(product, own[c]);
        own[c] = product;
    }
    __syncthreads();
#pragma unroll 16
    for (int k = 0; k < COLS / 2 / THREADS; k++) {
        int i = threadIdx.x + k * THREADS;
        to[i] = *(const half2 *)&row[place(2 * i)];
    }
}
