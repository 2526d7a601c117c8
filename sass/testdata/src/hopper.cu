// Asynchronous and cluster operations of sm_90 and later.
#include <cstdint>
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void tma(const __grid_constant__ long long desc[16], char *g, int n) {
	extern __shared__ __align__(1024) char s[];
	unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 8192;
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n));
		asm volatile("fence.mbarrier_init.release.cluster;");
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(4096));
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(a), "l"(desc), "r"(n), "r"(n + 1), "r"(b) : "memory");
		asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3, %2}], [%4], %5;" ::"r"(a), "l"(desc), "r"(n), "r"(n + 1), "r"(b), "h"((short)3) : "memory");
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(a), "l"(g), "r"(512), "r"(b) : "memory");
		asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(desc), "r"(n), "r"(n), "r"(a) : "memory");
		asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(desc), "r"(n), "r"(n), "r"(a) : "memory");
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(g), "r"(a), "r"(256) : "memory");
		asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(desc), "r"(n), "r"(n) : "memory");
		asm volatile("prefetch.tensormap [%0];" ::"l"(desc) : "memory");
		asm volatile("cp.async.bulk.commit_group;"); asm volatile("cp.async.bulk.wait_group 0;"); asm volatile("cp.async.bulk.wait_group.read 1;");
	}
	asm volatile("fence.proxy.async;");
	asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra d; bra w; d: }" ::"r"(b), "r"(n & 1));
	unsigned long long st;
	asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(st) : "r"(b));
	asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(b | 1 << 24), "r"(2));
	unsigned r;
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(b), "r"(n));
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(r), "r"(n), "r"(r + 64));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r) : "r"(r + 8));
	asm volatile("barrier.cluster.arrive.release.aligned;"); asm volatile("barrier.cluster.wait.acquire.aligned;");
	asm volatile("griddepcontrol.wait;"); asm volatile("griddepcontrol.launch_dependents;");
	unsigned e;
	asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; @p add.u32 %0, %0, 1; }" : "=r"(e));
	((int *)g)[threadIdx.x] = ((int *)s)[threadIdx.x] + (int)st + r + e;
}
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
extern "C" __global__ void wgmma(float *p, unsigned long long da, unsigned long long db) {
	float c[16];
	unsigned a[4];
	for (int i = 0; i < 16; i++) c[i] = p[threadIdx.x + i];
	for (int i = 0; i < 4; i++) a[i] = ((unsigned *)p)[threadIdx.x * 5 + i];
	asm volatile("setmaxnreg.inc.sync.aligned.u32 208;");
	asm volatile("wgmma.fence.sync.aligned;");
	asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, 1, 1, 1, 0, 1;"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]) : "l"(da), "l"(db));
	asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19}, %20, 1, 1, 1, 0;"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
	asm volatile("wgmma.commit_group.sync.aligned;"); asm volatile("wgmma.wait_group.sync.aligned 0;");
	for (int i = 0; i < 16; i++) p[threadIdx.x + i] = c[i];
}
#endif
#endif
