// Tensor memory of sm_100 (tcgen05). Compile for sm_100a.
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
extern "C" __global__ void tensor_memory(unsigned *p, unsigned long long da, unsigned long long db, unsigned id, int n) {
	__shared__ unsigned base;
	__shared__ unsigned long long bar;
	unsigned a = (unsigned)__cvta_generic_to_shared(&base), b = (unsigned)__cvta_generic_to_shared(&bar);
	asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(a) : "memory");
	asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
	__syncthreads();
	unsigned t = base, r0, r1, r2, r3;
	asm volatile("tcgen05.fence::after_thread_sync;");
	asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(t), "l"(da) : "memory");
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(t), "l"(da), "l"(db), "r"(id), "r"(n) : "memory");
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::i8 [%0], [%1], %2, %3, p; }" ::"r"(t), "r"(t + 32), "l"(db), "r"(id), "r"(n) : "memory");
	asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(b) : "memory");
	asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(t));
	asm volatile("tcgen05.wait::ld.sync.aligned;");
	p[threadIdx.x] = r0 + r1 + r2 + r3;
	asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(t + 8));
	asm volatile("tcgen05.wait::ld.sync.aligned;");
	p[threadIdx.x + 1] = r0 + r1 + r2 + r3;
	asm volatile("tcgen05.st.sync.aligned.32x32b.x2.b32 [%0], {%1,%2};" ::"r"(t), "r"(r0), "r"(r1) : "memory");
	asm volatile("tcgen05.wait::st.sync.aligned;");
	asm volatile("tcgen05.fence::before_thread_sync;");
	__syncthreads();
	asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(t));
}
#endif
