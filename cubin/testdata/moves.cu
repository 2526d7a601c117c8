// One access of every kind that shared memory has, by target: matrices, asynchronous copies, atomics, and the engine
// that copies in bulk.
#include <cuda_fp16.h>

__device__ unsigned address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void matrices(unsigned *out) {
    __shared__ __align__(128) __half tile[64 * 64];
    unsigned a = address(tile + threadIdx.x * 64), r[7];
    tile[threadIdx.x] = __float2half(1.0f);
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[1]), "=r"(r[2]) : "r"(a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]) : "r"(a + 16));
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(a), "r"(r[0]), "r"(r[1]));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(a), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
#endif
    for (int i = 0; i < 7; i++)
        out[threadIdx.x * 7 + i] = r[i];
}

__global__ void atomics(unsigned *out, unsigned long long v) {
    __shared__ unsigned count[32];
    __shared__ unsigned long long sum[32];
    __shared__ float total[32];
    count[threadIdx.x & 31] = 0;
    sum[threadIdx.x & 31] = 0;
    total[threadIdx.x & 31] = 0;
    __syncthreads();
    unsigned old = atomicAdd(&count[threadIdx.x & 31], threadIdx.x);
    atomicMax(&count[(threadIdx.x + 1) & 31], old);
    unsigned was = atomicCAS(&count[(threadIdx.x + 2) & 31], old, 7u);
    atomicAdd(&sum[threadIdx.x & 31], v);
    atomicAdd(&total[threadIdx.x & 31], 1.5f);
    __syncthreads();
    out[threadIdx.x] = was + count[threadIdx.x & 31] + (unsigned)sum[threadIdx.x & 31] + (unsigned)total[threadIdx.x & 31];
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
__global__ void copies(float *out, const float *in) {
    __shared__ __align__(16) float s[128 * 7];
    unsigned a = address(s);
    unsigned t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(a + 4 * t), "l"(in + t));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(a + 512 + 8 * t), "l"(in + 128 + 2 * t));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(a + 1536 + 16 * t), "l"(in + 384 + 4 * t));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[t] = s[t ^ 1] + s[t + 128] + s[t + 384];
}
#endif

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__global__ void bulk(float *out, const float *in) {
    __shared__ __align__(128) float s[256];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned b = address(&barrier), done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(b));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                     ::"r"(address(s)), "l"(in), "r"(b) : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(b) : "memory");
    out[threadIdx.x] = s[threadIdx.x];
}
#endif
