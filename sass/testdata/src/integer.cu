// Integer, bit, compare and select operations in 32 and 64 bits, uniform and per lane.
#include <cstdint>

extern "C" __global__ void divide(int *p, int a, unsigned b, long long c, unsigned long long d) {
	int t = threadIdx.x;
	int x = p[t];
	p[t + 1] = x / a; p[t + 2] = x % a;
	p[t + 3] = (unsigned)x / b; p[t + 4] = (unsigned)x % b;
	p[t + 5] = x / 7; p[t + 6] = (unsigned)x % 11u;
	long long y = ((long long *)p)[t + 100];
	((long long *)p)[t + 101] = y / c;
	((long long *)p)[t + 102] = y % c;
	((long long *)p)[t + 103] = (unsigned long long)y / d;
	((long long *)p)[t + 104] = (unsigned long long)y % d;
	((long long *)p)[t + 105] = y / 9;
}

extern "C" __global__ void wide(long long *p, long long k, int n, unsigned m) {
	int t = threadIdx.x;
	long long x = p[t], y = p[t + 1];
	p[t + 2] = x + y * 3 - k; p[t + 3] = x * y; p[t + 4] = x << (n & 63); p[t + 5] = x >> n; p[t + 6] = (unsigned long long)x >> n;
	p[t + 7] = (x < y) ? x : y; p[t + 8] = max(x, k); p[t + 9] = -x; p[t + 10] = ~x & y | k;
	p[t + 11] = __mul64hi(x, y); p[t + 12] = __umul64hi(x, y); p[t + 13] = (long long)n * m; p[t + 14] = (long long)(int)x * (int)y + k;
	p[t + 15] = (unsigned long long)(unsigned)x * (unsigned)y + (unsigned long long)k;
	p[t + 16] = __popcll(x); p[t + 17] = __clzll(y); p[t + 18] = __ffsll(x); p[t + 19] = __brevll(x);
	p[t + 20] = x >= k; p[t + 21] = (unsigned long long)x > (unsigned long long)y; p[t + 22] = x == y;
	p[t + 23] = x - 5; p[t + 24] = x + 0x123456789all; p[t + 25] = llabs(x); p[t + 26] = x << 5; p[t + 27] = x >> 9;
	unsigned lo = (unsigned)x, hi = (unsigned)y, r0, r1, r2;
	asm("add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %4, %5; addc.u32 %2, %3, 0;" : "=r"(r0), "=r"(r1), "=r"(r2) : "r"(lo), "r"(hi), "r"(m));
	p[t + 28] = r0 + r1 * 3ull + r2;
	asm("sub.cc.u32 %0, %3, %4; subc.cc.u32 %1, %4, %5; subc.u32 %2, %3, 0;" : "=r"(r0), "=r"(r1), "=r"(r2) : "r"(lo), "r"(hi), "r"(m));
	p[t + 29] = r0 + r1 * 3ull + r2;
	asm("mad.lo.cc.u32 %0, %3, %4, %5; madc.hi.u32 %1, %3, %4, %5; add.u32 %2, %3, 1;" : "=r"(r0), "=r"(r1), "=r"(r2) : "r"(lo), "r"(hi), "r"(m));
	p[t + 30] = r0 + r1 * 3ull + r2;
}

extern "C" __global__ void bits(unsigned *p, unsigned a, int b, unsigned c) {
	int t = threadIdx.x;
	unsigned x = p[t], y = p[t + 1], z = p[t + 2];
	unsigned *o = p + 1024 + t;
	o[0] = x & y; o[1] = x | y ^ z; o[2] = (x & y) | (~x & z); o[3] = ~x; o[4] = x ^ 0x80000000u;
	o[5] = x << (y & 31); o[6] = x >> (y & 31); o[7] = (int)x >> (y & 31); o[8] = __funnelshift_l(x, y, z); o[9] = __funnelshift_r(x, y, z);
	o[10] = __funnelshift_lc(x, y, z); o[11] = __funnelshift_rc(x, y, 7); o[12] = __byte_perm(x, y, 0x5410); o[13] = __byte_perm(x, y, z);
	o[14] = __brev(x); o[15] = __clz(x); o[16] = __popc(x); o[17] = __ffs(x); o[18] = 31 - __clz((int)y);
	unsigned v;
	asm("bfe.u32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(z)); o[19] = v;
	asm("bfe.s32 %0, %1, 5, 9;" : "=r"(v) : "r"(x)); o[20] = v;
	asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(v) : "r"(x), "r"(y), "r"(z), "r"(a)); o[21] = v;
	asm("bfind.s32 %0, %1;" : "=r"(v) : "r"(x)); o[22] = v;
	asm("bfind.shiftamt.u32 %0, %1;" : "=r"(v) : "r"(x)); o[23] = v;
	asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(z)); o[24] = v;
	asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(z)); o[25] = v;
	asm("szext.wrap.s32 %0, %1, %2;" : "=r"(v) : "r"(x), "r"(y)); o[26] = v;
	asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(v) : "r"(x), "r"(y)); o[27] = v;
	o[28] = __vadd2(x, y); o[29] = __vmaxs2(x, y); o[30] = __vabsdiffu4(x, y); o[31] = __sad(x, y, z); o[32] = __usad(x, y, z);
	asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(z)); o[33] = v;
	asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(z)); o[34] = v;
	asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(z)); o[35] = v;
	o[36] = min((int)x, (int)y); o[37] = max(x, y); o[38] = min(x, 17u); o[39] = max((int)x, b); o[40] = abs((int)x);
	o[41] = __mulhi((int)x, (int)y); o[42] = __umulhi(x, y); o[43] = __mul24(x, y); o[44] = __hadd(x, y); o[45] = __rhadd(x, y);
	o[46] = x * 9 + y; o[47] = x * c - y; o[48] = (x << 4) + y; o[49] = x + y + z; o[50] = x - y - z; o[51] = -x - 1;
	o[52] = min(min((int)x, (int)y), (int)z); o[53] = max(max(x, y), 5u); o[54] = max(min((int)x + b, (int)z), 0);
	bool q = ((int)x < b) && (y > c) || (z == 3) ^ (x != 5 && (int)y >= (int)z);
	o[55] = q ? x : 5; o[56] = q && x <= y ? a : c; o[57] = (x == 0) + (y == 0) * 2 + (z > 4) * 4;
	o[58] = (a * 3 + c) / (c + 1) + (b << 3) + __popc(a) + __clz(c) + __brev(a) + min(a, c);
	o[59] = (a & c | 0xff00) ^ (b >> 3) ^ (a >> (c & 31)) ^ __byte_perm(a, c, 0x3210 + b);
}

__constant__ int table[64];
__device__ int gtable[64];

extern "C" __global__ void uniform(int *p, int a, int b, unsigned c, long long d, float f) {
	int s = 0;
	for (int i = a; i < b; i += (c >> 2) + 1) s += table[(i * a + b) & 63] + gtable[i & 63];
	if (d > a && (d & 7) == 3) s += (int)(d * 5 >> 3);
	if (f * 2.0f > 3.0f) s ^= (int)f;
	p[blockIdx.x * a + blockIdx.y * b + threadIdx.x] = s + table[threadIdx.x];
	p[gridDim.x + gridDim.y * 5 + blockDim.z] = clock() + (int)clock64();
	unsigned l, w, sm, m;
	asm volatile("mov.u32 %0, %%laneid; mov.u32 %1, %%warpid; mov.u32 %2, %%smid; mov.u32 %3, %%lanemask_lt;" : "=r"(l), "=r"(w), "=r"(sm), "=r"(m));
	p[5] = l + w + sm + m;
	unsigned long long g;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
	p[6] = (int)g;
}
