// The width of an access against the stride of its lanes: each thread reads its own 64 floats of shared memory ROUNDS times, in
// vectors of WIDTH bits, or, with SPLIT, of 64 bits where WIDTH is 128. Lanes are S = 64 + GCD words apart, so gcd(S, 32) is
// GCD. Where S is no multiple of the vector, as with an odd S, the reads are as wide as its alignment allows.
constexpr int CHUNK = 64;
constexpr int THREADS = 128;
constexpr int ROUNDS = 32;
constexpr int S = CHUNK + GCD;

#ifndef SPLIT
#define SPLIT 0
#endif

template <int words> struct Vector;
template <> struct Vector<1> { using type = float; };
template <> struct Vector<2> { using type = float2; };
template <> struct Vector<4> { using type = float4; };

__device__ float sum(float v) { return v; }
__device__ float sum(float2 v) { return v.x + v.y; }
__device__ float sum(float4 v) { return (v.x + v.y) + (v.z + v.w); }

constexpr int wanted = SPLIT ? 2 : WIDTH / 32;
constexpr int words = S % wanted == 0 ? wanted : S % 2 == 0 && wanted > 2 ? 2 : 1;

extern "C" __global__ void __launch_bounds__(THREADS) width(const float *in, float *out) {
    __shared__ __align__(16) float segments[THREADS * S];
    for (int i = threadIdx.x; i < THREADS * CHUNK; i += THREADS) segments[i / CHUNK * S + i % CHUNK] = in[i];
    __syncthreads();
    using V = typename Vector<words>::type;
    const V *own = (const V *)(segments + threadIdx.x * S);
    float total = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma unroll
        for (int c = 0; c < CHUNK / words; c++) total += sum(own[c]);
        asm volatile("" ::: "memory"); // the next round reads again
    }
    out[blockIdx.x * THREADS + threadIdx.x] = total;
}
