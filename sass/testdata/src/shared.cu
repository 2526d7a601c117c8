// Shared-memory accesses of every width and kind, local memory, and the address arithmetic around them.
// Compile: see compile.txt.
#include <cstdint>

template <class T>
__device__ void roundtrip(T *out, const T *in, T *s) {
	int t = threadIdx.x;
	s[t] = in[t];
	__syncthreads();
	out[t] = s[t ^ 5];
	__syncthreads();
}

extern "C" __global__ void widths(char *p) {
	__shared__ __align__(16) unsigned char raw[16384];
	roundtrip((uint8_t *)p, (const uint8_t *)p + 64, (uint8_t *)raw);
	roundtrip((uint16_t *)p, (const uint16_t *)p + 64, (uint16_t *)raw);
	roundtrip((float *)p, (const float *)p + 64, (float *)raw);
	roundtrip((float2 *)p, (const float2 *)p + 64, (float2 *)raw);
	roundtrip((float4 *)p, (const float4 *)p + 64, (float4 *)raw);
	int8_t *s8 = (int8_t *)raw;
	int16_t *s16 = (int16_t *)raw;
	((int *)p)[threadIdx.x] = s8[threadIdx.x * 3] + s16[threadIdx.x * 5 + 1];
}

extern "C" __global__ void transpose(float *out, const float *in, int w) {
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += 8) out[(y + j) * w + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void atoms(int *p, unsigned long long *q, float *f) {
	__shared__ int a[256];
	__shared__ unsigned u[256];
	__shared__ unsigned long long l[256];
	__shared__ float fs[256];
	int t = threadIdx.x;
	a[t] = p[t]; u[t] = p[t + 1]; l[t] = q[t]; fs[t] = f[t];
	__syncthreads();
	int k = p[t + 256] & 255;
	atomicAdd(&a[k], 1);
	p[t] = atomicAdd(&a[k], t);
	atomicMin(&a[k], t); atomicMax(&a[k], t); atomicMin(&u[k], 7u + t); atomicMax(&u[k], 9u + t);
	atomicInc(&u[k], 17u); atomicDec(&u[k], 17u);
	atomicAnd(&a[k], t); atomicOr(&a[k], t); atomicXor(&a[k], t);
	p[t + 1] = atomicExch(&a[k], t);
	p[t + 2] = atomicCAS(&a[k], t, 5);
	q[t] = atomicCAS(&l[k], 5ull, (unsigned long long)t);
	q[t + 1] = atomicExch(&l[k], 6ull);
	atomicAdd(&l[k], 3ull); atomicMax(&l[k], 3ull); atomicMin((long long *)&l[k], (long long)-3);
	atomicAdd(&fs[k], 1.5f);
	atomicAdd(&u[0], 1u);
	__syncthreads();
	p[t] += a[t] + u[t]; q[t] += l[t]; f[t] = fs[t];
}

extern "C" __global__ void gatoms(int *p, unsigned long long *q, float *f, double *d) {
	int t = threadIdx.x;
	p[t] = atomicAdd(&p[t + 32], t);
	atomicAdd(&p[t + 3], 4);
	atomicMin(&p[t], t); atomicMax((unsigned *)&p[t], 3u); atomicInc((unsigned *)&p[t], 9u); atomicDec((unsigned *)&p[t], 9u);
	atomicAnd(&p[t], t); atomicOr(&p[t], t); atomicXor(&p[t], t);
	p[t + 1] = atomicExch(&p[t + 8], t);
	p[t + 2] = atomicCAS(&p[t + 9], t, 5);
	q[t] = atomicCAS(&q[t + 3], 5ull, (unsigned long long)t);
	q[t + 1] = atomicExch(&q[t + 5], 6ull);
	atomicAdd(&q[t], 3ull); atomicMax(&q[t], 3ull);
	q[t] = atomicMin((long long *)&q[t + 9], (long long)-3);
	f[t] = atomicAdd(&f[t + 1], 1.5f);
	atomicAdd(&f[t + 2], 1.5f);
	atomicAdd(&d[t], 2.0);
	p[t + 4] = atomicAdd_system(&p[t + 64], 1);
	atomicAdd_block(&p[t + 65], 1);
}

extern "C" __global__ void dynamic_shared(int *p, int n, int pitch) {
	extern __shared__ int dyn[];
	int t = threadIdx.x + blockDim.x * threadIdx.y;
	for (int i = t; i < n; i += blockDim.x * blockDim.y) dyn[i * pitch + (i >> 3)] = p[i];
	__syncthreads();
	long long acc = 0;
	for (int i = 0; i < n; i++) acc += (long long)dyn[(i * 7 + t) % n] * pitch;
	p[t] = (int)(acc >> 7) ^ (int)acc;
	if (pitch == 4) ((int4 *)p)[t] = ((int4 *)dyn)[t];
	if (pitch == 2) ((int2 *)p)[t] = *(int2 *)&dyn[t * 2 + 2];
}

__device__ __noinline__ int generic_sum(const int *a, int n) {
	int s = 0;
	for (int i = 0; i < n; i++) s += a[i];
	return s;
}

extern "C" __global__ void generic_and_calls(int *p, int n) {
	__shared__ int s[64];
	s[threadIdx.x & 63] = p[threadIdx.x];
	__syncthreads();
	p[0] = generic_sum(n & 1 ? s : p + 5, n) + generic_sum(s, 3);
	int *w = n & 2 ? s : p;
	w[threadIdx.x & 31] = 7;
	*(char *)(w + 33) = 3;
	((long long *)w)[40] = 9;
	atomicAdd(w, 3);
	p[9] = atomicCAS(w + 1, 3, 4);
}

extern "C" __global__ void local_arrays(int *p, int n) {
	int a[64];
	short b[32];
	double d[16];
	for (int i = 0; i < 64; i++) a[i] = p[i * n];
	for (int i = 0; i < 32; i++) b[i] = (short)p[i + n];
	for (int i = 0; i < 16; i++) d[i] = p[i + n];
	for (int i = 0; i < n; i++) { a[(i * i) & 63] += b[i & 31]; d[i & 15] += 1.0; }
	p[0] = a[n & 63] + b[n & 31] + (int)d[n & 15];
	((int4 *)p)[1] = *(int4 *)&a[(n & 15) * 4];
}

extern "C" __global__ void loads(const int *__restrict__ r, volatile int *v, int *p, const float4 *__restrict__ q, float4 *o) {
	int t = threadIdx.x;
	p[t] = r[t] + v[t] + __ldcg(p + t + 1) + __ldcs(p + t + 2) + __ldlu(p + t + 3) + __ldcv(p + t + 4) + __ldca(p + t + 5);
	o[t] = q[t];
	o[t + 99] = __ldg(q + t + 5);
	__stcg(p + t + 9, 4); __stcs(p + t + 10, 5); __stwt(p + t + 11, 6); __stwb(p + t + 12, 6);
	((short *)p)[t + 1000] = ((const short *)r)[t + 3];
	((signed char *)p)[t + 5000] = (signed char)(((const signed char *)r)[t + 3] + ((const unsigned char *)r)[t * 2] + ((const unsigned short *)r)[t * 2 + 9]);
	((long long *)p)[t + 700] = ((const long long *)r)[t];
	v[t] = 3;
	int x;
	asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(x) : "l"(p + 3) : "memory");
	asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(p + 4), "r"(x) : "memory");
	asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(x) : "l"(p + 3) : "memory");
	asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p + 5), "r"(x) : "memory");
	asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(x) : "l"(p + 13) : "memory");
	p[t + 40] = x;
	__threadfence(); __threadfence_block(); __threadfence_system();
	asm volatile("prefetch.global.L2 [%0];" ::"l"(p + 33));
	asm volatile("prefetch.global.L1 [%0];" ::"l"(p + 33));
}

#if __CUDA_ARCH__ >= 1000
extern "C" __global__ void vectors256(float *o, const float *__restrict__ g) {
	float a[8], b[8];
	int t = threadIdx.x * 8;
	asm volatile("ld.global.v8.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : "=f"(a[0]), "=f"(a[1]), "=f"(a[2]), "=f"(a[3]), "=f"(a[4]), "=f"(a[5]), "=f"(a[6]), "=f"(a[7]) : "l"(g + t));
	asm volatile("ld.global.nc.v4.b64 {%0,%1,%2,%3}, [%4+64];" : "=d"(*(double *)&b[0]), "=d"(*(double *)&b[2]), "=d"(*(double *)&b[4]), "=d"(*(double *)&b[6]) : "l"(g + t));
	asm volatile("st.global.v8.f32 [%8], {%0,%1,%2,%3,%4,%5,%6,%7};" ::"f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "f"(b[4]), "f"(b[5]), "f"(b[6]), "f"(b[7]), "l"(o + t));
}
#endif
