// Float, half, bfloat, double, conversion and matrix operations.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void f32(float *p, float a, int n) {
	int t = threadIdx.x;
	float x = p[t], y = p[t + 1], z = p[t + 2];
	float *o = p + t + 999;
	o[0] = x + y; o[1] = x * y; o[2] = fmaf(x, y, z); o[3] = x / y; o[4] = sqrtf(x); o[5] = rsqrtf(x); o[6] = __sinf(x); o[7] = __cosf(y);
	o[8] = exp2f(x); o[9] = __log2f(y); o[10] = fminf(x, y); o[11] = fmaxf(x, fabsf(z)); o[12] = -x - fabsf(y); o[13] = __fdividef(x, y); o[14] = tanhf(x);
	o[15] = x < y ? z : a; o[16] = (x == y && z != a || x >= z) ? 1.5f : -3.25e-7f; o[17] = rintf(x); o[18] = floorf(x); o[19] = ceilf(y); o[20] = truncf(z);
	o[21] = __fadd_rz(x, y); o[22] = __fmul_ru(x, y); o[23] = __fmaf_rd(x, y, z); o[24] = __saturatef(x * y); o[25] = isnan(x) ? 1 : 2; o[26] = isinf(y) ? 3 : 4;
	o[27] = sinf(x); o[28] = x * 3.14159f + 1e10f; o[29] = (float)(int)x; o[30] = (float)(unsigned)n; o[31] = (float)(long long)x; o[32] = __int2float_rz(n * t);
	o[33] = (float)((unsigned char *)p)[t * 9]; o[34] = (float)((short *)p)[t * 7]; ((int *)o)[35] = (int)rintf(x); ((unsigned *)o)[36] = (unsigned)y; ((long long *)p)[t + 37] = (long long)x;
	((unsigned char *)o)[200] = (unsigned char)x; ((short *)o)[201] = (short)y; o[40] = fmaxf(fmaxf(x, y), z); o[41] = copysignf(x, y); o[42] = ldexpf(x, n); o[43] = fmodf(x, y);
	((int *)o)[44] = (x < y) + 2 * !(x < z) + 4 * (x != z);
}

extern "C" __global__ void f64(double *p, double a, int n) {
	int t = threadIdx.x;
	double x = p[t], y = p[t + 1], z = p[t + 2];
	double *o = p + t + 999;
	o[0] = x + y; o[1] = x * y; o[2] = fma(x, y, z); o[3] = x / y; o[4] = sqrt(x); o[5] = x < y ? z : a; o[6] = (double)n; o[7] = (double)(float)x; o[8] = (double)(long long)x;
	((int *)o)[20] = (int)x; ((float *)o)[21] = (float)y; o[12] = fmin(x, y); o[13] = -x + fabs(y); o[14] = floor(x); o[15] = x * 2.5 - 1.0; o[16] = __dadd_rz(x, y); o[17] = rsqrt(x);
	((long long *)o)[18] = (long long)y; ((unsigned long long *)o)[19] = (unsigned long long)y; o[22] = (double)(unsigned long long)n; o[23] = x >= y && z != a ? 1 : 0;
}

extern "C" __global__ void f16(__half2 *p, __half *q, __nv_bfloat162 *b, int n) {
	int t = threadIdx.x;
	__half2 x = p[t], y = p[t + 1], z = p[t + 2];
	__half2 *o = p + t + 999;
	o[0] = __hadd2(x, y); o[1] = __hmul2(x, y); o[2] = __hfma2(x, y, z); o[3] = __hmin2(x, y); o[4] = __hmax2(x, z); o[5] = __hneg2(x); o[6] = __habs2(y); o[7] = __hlt2(x, y);
	o[8] = __floats2half2_rn(n * 0.5f, t * 3.0f); o[9] = __hmul2(x, __float2half2_rn(1.5f)); o[10] = __hfma2_relu(x, y, z); o[11] = h2exp2(x); o[12] = __hadd2_sat(x, y);
	q[t] = __hadd(q[t + 1], __low2half(x)); q[t + 3] = __hgt(q[t + 4], q[t + 5]) ? __high2half(y) : __low2half(z); ((float *)q)[t + 300] = __half2float(q[t + 7]) + __high2float(x);
	((int *)q)[t + 500] = __half2int_rz(q[t + 9]); q[t + 11] = __int2half_rn(n); q[t + 12] = hsqrt(q[t + 13]); q[t + 14] = hrcp(q[t + 15]); ((int *)q)[t + 501] = __hbgt2(x, y) && __hbne2(x, z);
#if __CUDA_ARCH__ >= 800
	__nv_bfloat162 u = b[t], v = b[t + 1];
	b[t + 2] = __hadd2(u, v); b[t + 3] = __hfma2(u, v, v); b[t + 4] = __hmax2(u, v); b[t + 5] = __floats2bfloat162_rn(n * 0.5f, t * 2.0f); ((float *)b)[t + 6] = __bfloat162float(u.x);
	b[t + 7] = __hmul2(u, v); b[t + 8] = __hlt2(u, v);
#endif
}

extern "C" __global__ void mma(unsigned *p, float *f, double *d) {
	int t = threadIdx.x;
	unsigned a[4], b[4], c[4];
	float g[4];
	for (int i = 0; i < 4; i++) { a[i] = p[t + i * 7]; b[i] = p[t + i * 9 + 3]; c[i] = p[t * 3 + i]; g[i] = f[t + i]; }
#if __CUDA_ARCH__ >= 750
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" : "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3},{%4},{%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
	asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0,%1},{%2},{%3},{%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(b[0]));
	asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%0,%1},{%2},{%3},{%0,%1};" : "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(b[0]));
	unsigned s = (unsigned)(t * 16), r0, r1, r2, r3;
	__shared__ __align__(128) unsigned sh[2048];
	sh[t] = p[t];
	__syncthreads();
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(s)); c[0] += r0 + r1 + r2 + r3;
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2+64];" : "=r"(r0), "=r"(r1) : "r"(s)); c[1] += r0 + r1;
	asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1];" : "=r"(r0) : "r"((unsigned)__cvta_generic_to_shared(sh) + s)); c[2] += r0;
#endif
#if __CUDA_ARCH__ >= 800
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};" : "+d"(d[0]), "+d"(d[1]) : "d"(d[t]), "d"(d[t + 1]));
	asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%0,%1,%2,%3},%12,0x0;" : "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[3]));
#endif
#if __CUDA_ARCH__ >= 890
	asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
#if __CUDA_ARCH__ >= 900
	asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0],{%1,%2,%3,%4};" ::"r"(s), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
	asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0+32],{%1,%2};" ::"r"(s), "r"(a[0]), "r"(a[1]));
	asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0],{%1};" ::"r"((unsigned)__cvta_generic_to_shared(sh) + s), "r"(a[0]));
#endif
	for (int i = 0; i < 4; i++) { p[t + i] = c[i]; f[t + i] = g[i]; }
}
