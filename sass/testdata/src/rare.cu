// Rare memory and synchronisation operations of sm_90 and later; the guards say which target compiles what.
#include <cstdint>
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void rare(char *g, float *f, int n, const __grid_constant__ long long map[16]) {
	extern __shared__ __align__(1024) char s[];
	unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 4096, r0, r1, r2, r3;
	float x, y;
	asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(x) : "l"(f));
	asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" ::"l"(f), "f"(x));
	asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(f), "f"(x));
	asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(a), "r"(a + 512), "r"(256), "r"(b));
	asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(g), "r"(a), "r"(256));
	asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];" ::"r"(a), "r"(a + 512), "r"(256), "r"(b));
	asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(g), "r"(512));
	asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2}], [%3], %4;" ::"r"(a), "l"(map), "r"(n), "r"(b), "l"(0x12f0000000000000ll) : "memory");
	asm volatile("cp.async.bulk.tensor.4d.im2col.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2, %2, %2}], [%3], {%4, %4};" ::"r"(a), "l"(map), "r"(n), "r"(b), "h"((short)n) : "memory");
	asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(g) : "memory");
	asm volatile("fence.acq_rel.cluster;"); asm volatile("fence.proxy.alias;");
	asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(a), "r"(n), "r"(b));
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1,%1,%1,%1}, [%2];" ::"r"(a), "r"(n), "r"(b));
	asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(r0) : "r"(a), "r"(n));
	asm volatile("mbarrier.arrive.noComplete.shared.b64 _, [%0], 3;" ::"r"(b));
	asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n));
	asm volatile("{ .reg .b64 s; mbarrier.arrive_drop.shared::cta.b64 s, [%0]; }" ::"r"(b));
	asm volatile("{ .reg .b64 s; .reg .b32 c; mbarrier.arrive.shared::cta.b64 s, [%1]; mbarrier.pending_count.b64 %0, s; }" : "=r"(r1) : "r"(b));
	asm volatile("{ .reg .b128 p, q; mov.b128 p, {%0, %0}; atom.shared.exch.b128 q, [%1], p; atom.global.cas.b128 p, [%2], p, q; st.global.b128 [%2], p; }" ::"l"((long long)n), "r"(a), "l"(g) : "memory");
	asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(g), "r"(n)); asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(g), "r"(n));
	asm volatile("red.global.v2.f32.add [%0], {%1, %1};" ::"l"(f), "f"(x)); asm volatile("atom.global.v4.f32.add {%0,%0,%0,%0}, [%1], {%2,%2,%2,%2};" : "=f"(y) : "l"(f), "f"(x));
	asm volatile("discard.global.L2 [%0], 128;" ::"l"(g)); asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(g));
	f[threadIdx.x] = x + y + r0 + r1;
#if __CUDA_ARCH__ >= 1000
	asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(a), "l"(512ll));
	asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(a), "r"(b) : "memory");
#endif
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL)
	asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0,%1,%2,%3},[%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)); f[1] += r0 + r1 + r2 + r3;
	asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%0,%1},[%2];" : "=r"(r0), "=r"(r1) : "r"(a)); f[2] += r0 + r1;
	asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%0,%1,%2,%3},[%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)); f[3] += r0 + r1 + r2 + r3;
	asm volatile("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%0],{%1,%2};" ::"r"(a), "r"(r0), "r"(r1));
#endif
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
	asm volatile("redux.sync.min.abs.f32 %0, %1, 0xffffffff;" : "=f"(y) : "f"(x)); f[4] = y;
#endif
}
#endif
