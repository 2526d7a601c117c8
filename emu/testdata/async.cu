// A bulk copy that arrives at a memory barrier, cluster rank, and what follows: for sm_90.
#include <cstdint>

extern "C" __global__ void bulkcopy(const uint32_t* in, uint32_t* out) {
    __shared__ __align__(128) uint32_t s[256];
    __shared__ __align__(8) uint64_t bar;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&bar), to = (uint32_t)__cvta_generic_to_shared(s);
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
        asm volatile("fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(at));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(to), "l"(in), "r"(at));
    }
    asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @p bra DONE; bra WAIT; DONE: }" ::"r"(at));
    uint32_t v = s[t] + s[255 - t];
    __syncthreads();
    s[v & 255] = t;
    __syncthreads();
    s[t * 2 & 255] = v;
    __syncthreads();
    out[t] = s[t ^ 1];
}
