// Warp-level operations, branches, loops, calls and barriers.
#include <cstdint>
#include <cstdio>

extern "C" __global__ void shuffles(int *p, int k, unsigned mask) {
	int t = threadIdx.x, x = p[t];
	p[t] = __shfl_sync(~0u, x, k); p[t + 1] = __shfl_up_sync(~0u, x, 3); p[t + 2] = __shfl_down_sync(~0u, x, k, 16);
	p[t + 3] = __shfl_xor_sync(~0u, x, 16); p[t + 4] = __shfl_sync(mask, x, t * 3, 8); p[t + 5] = __shfl_sync(~0u, x, 0);
	p[t + 6] = __all_sync(~0u, x > 3); p[t + 7] = __any_sync(mask, x > 4); p[t + 8] = __ballot_sync(~0u, x < k); p[t + 9] = __uni_sync(~0u, x > 7);
	p[t + 10] = __activemask();
#if __CUDA_ARCH__ >= 700
	int pr;
	p[t + 11] = __match_any_sync(~0u, x); p[t + 12] = __match_all_sync(~0u, x, &pr); p[t + 13] = pr;
	p[t + 14] = __match_any_sync(~0u, (long long)x * 77777777777ll);
#endif
#if __CUDA_ARCH__ >= 800
	p[t + 15] = __reduce_add_sync(~0u, x); p[t + 16] = __reduce_min_sync(mask, x); p[t + 17] = __reduce_max_sync(~0u, (unsigned)x);
	p[t + 18] = __reduce_and_sync(~0u, (unsigned)x); p[t + 19] = __reduce_or_sync(~0u, (unsigned)x); p[t + 20] = __reduce_xor_sync(~0u, (unsigned)x);
#endif
	__syncwarp(); __syncwarp(mask);
	bool f = x & 1;
	int r; asm volatile("{ .reg .pred a; setp.ne.u32 a, %1, 0; shfl.sync.bfly.b32 %0|a, %2, 1, 31, 0xffffffff; @a add.s32 %0, %0, 1; }" : "=r"(r) : "r"((int)f), "r"(x));
	p[t + 21] = r;
}

extern "C" __global__ void control(int *p, int n, int m) {
	int t = threadIdx.x, x = p[t];
	switch (x & 15) {
	case 0: x += p[1] * n; break; case 1: x *= p[2]; break; case 2: x ^= p[3] + m; break; case 3: x = p[n]; break;
	case 4: x -= __popc(p[4]); break; case 5: x <<= p[5] & 31; break; case 6: x >>= p[6] & 31; break; case 7: x = p[7] / n; break;
	case 8: x = p[8] % m; break; case 9: x = x * x + p[9]; break; case 10: x = min(x, p[10]); break; default: x = 1;
	}
	switch (n) {
	case 0: x += p[11]; break; case 1: x *= p[12]; break; case 2: x ^= p[13]; break; case 3: x = p[m]; break;
	case 4: x -= p[14]; break; case 5: x <<= p[15] & 31; break; case 6: x >>= p[16] & 31; break; case 7: x = p[17] - n; break;
	}
	while (x > n) {
		if (p[x] == 3) { x -= 5; continue; }
		if (p[x] == 4) break;
		for (int i = 0; i < x; i++) { if (p[i] < t) { x += p[i + t]; } else if (p[i] == m) return; }
		x -= 7;
	}
	if (x == 12345) __trap();
	if (x == 12346) asm volatile("exit;");
	if (x == 99) { __nanosleep(100); asm volatile("brkpt;"); }
	if (n > 100) { __syncthreads(); x += p[x]; }
	p[t] = x;
}

__device__ __noinline__ int recurse(int n, int *p) { return n < 2 ? p[n] : recurse(n - 1, p) + recurse(n - 2, p) * p[n]; }
typedef int (*fn)(int, int *);
__device__ __noinline__ int other(int n, int *p) { return p[n] * 3; }
__device__ fn table_of_functions[2] = {recurse, other};

extern "C" __global__ void calls(int *p, int n) {
	p[0] = recurse(n, p) + table_of_functions[p[1] & 1](n, p);
	printf("%d\n", p[0]);
}

extern "C" __global__ void barriers(int *p, int n) {
	__shared__ int s[256];
	int t = threadIdx.x;
	s[t] = p[t];
	__syncthreads();
	int c = __syncthreads_count(s[t ^ 1] > 3), a = __syncthreads_and(p[t] > 5), o = __syncthreads_or(p[t + 1] > 5);
	asm volatile("bar.sync 1, 64;" ::: "memory"); asm volatile("bar.arrive 2, 128;" ::: "memory");
	asm volatile("barrier.sync %0, %1;" ::"r"(n & 15), "r"(n & ~31) : "memory");
	asm volatile("barrier.sync %0;" ::"r"(n & 7) : "memory");
	asm volatile("bar.sync 3, %0;" ::"r"(n & ~31) : "memory");
	asm volatile("bar.arrive %0, 96;" ::"r"(n & 15) : "memory");
	p[t] = c + a * 2 + o * 4 + s[255 - t];
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void async_copy(float4 *o, const char *g, int n) {
	__shared__ __align__(128) char s[2][4096];
	int t = threadIdx.x;
	unsigned a = (unsigned)__cvta_generic_to_shared(&s[0][t * 16]);
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(a), "l"(g + t * 4));
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(a), "l"(g + t * 8));
	asm volatile("cp.async.ca.shared.global [%0+64], [%1+128], 16;" ::"r"(a), "l"(g + t * 16));
	asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(a), "l"(g + t * 16 + 512));
	asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(a), "l"(g + t * 16 + 512), "r"(n));
	asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], 4, %2;" ::"r"(a), "l"(g + t * 16 + 512), "r"(n));
	asm volatile("{ .reg .pred p; setp.gt.s32 p, %2, 3; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(a), "l"(g + t * 16 + 1024), "r"(n));
	asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group 1;"); asm volatile("cp.async.wait_all;");
	__syncthreads();
	o[t] = *(float4 *)&s[1][(t ^ 3) * 16];
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[1][0]) + n), "l"(g));
	__shared__ unsigned long long bar;
	unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
	asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(b));
	asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b));
	asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(b));
	unsigned long long st;
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(st) : "r"(b));
	asm volatile("{ .reg .pred p; w: mbarrier.test_wait.shared.b64 p, [%0], %1; @!p bra w; }" ::"r"(b), "l"(st));
	asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b));
}
#endif
