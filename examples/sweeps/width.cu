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

// read returns the sum of a vector. The loads are written in PTX, since the compiler would join neighbouring ones, or keep what
// an earlier round has read.
template <int words> __device__ float read(unsigned at);

template <> __device__ float read<1>(unsigned at) {
    float x;
    asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(x) : "r"(at));
    return x;
}

template <> __device__ float read<2>(unsigned at) {
    float x, y;
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(at));
    return x + y;
}

template <> __device__ float read<4>(unsigned at) {
    float x, y, z, w;
    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(at));
    return (x + y) + (z + w);
}

constexpr int wanted = SPLIT ? 2 : WIDTH / 32;
constexpr int words = S % wanted == 0 ? wanted : S % 2 == 0 && wanted > 2 ? 2 : 1;

extern "C" __global__ void __launch_bounds__(THREADS) width(const float *in, float *out) {
    __shared__ __align__(16) float segments[THREADS * S];
    for (int i = threadIdx.x; i < THREADS * CHUNK; i += THREADS) segments[i / CHUNK * S + i % CHUNK] = in[i];
    __syncthreads();
    const unsigned own = (unsigned)__cvta_generic_to_shared(segments + threadIdx.x * S);
    float total = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma unroll
        for (int c = 0; c < CHUNK; c += words) total += read<words>(own + c * 4);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = total;
}
