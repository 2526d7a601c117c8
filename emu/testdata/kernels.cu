// Integer kernels whose results emu_test.go computes in Go. See build.sh for how the cubins are made.
#include <cstdint>
#include <cuda_fp16.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

__device__ __forceinline__ u32 gid() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ u32 mix(u32 x) {
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    return x;
}

extern "C" __global__ void hash(u32* out, int rounds) {
    u32 x = gid();
    for (int i = 0; i < rounds; i++) x = mix(x + i) * 1664525u + 1013904223u;
    out[gid()] = x;
}

// Inclusive prefix sum in shared memory, and through shuffles.
extern "C" __global__ void scan(const u32* in, u32* out) {
    __shared__ u32 s[2][256];
    u32 t = threadIdx.x, p = 0;
    s[0][t] = in[gid()];
    __syncthreads();
    for (u32 d = 1; d < blockDim.x; d <<= 1) {
        s[1 - p][t] = s[p][t] + (t >= d ? s[p][t - d] : 0);
        p = 1 - p;
        __syncthreads();
    }
    u32 v = in[gid()];
    for (int d = 1; d < 32; d <<= 1) {
        u32 o = __shfl_up_sync(~0u, v, d);
        if ((t & 31) >= d) v += o;
    }
    out[gid()] = s[p][t] * 31 + v;
}

extern "C" __global__ void bitonic(u32* data) {
    __shared__ u32 s[512];
    u32 t = threadIdx.x, n = 2 * blockDim.x;
    s[t] = data[t]; s[t + blockDim.x] = data[t + blockDim.x];
    for (u32 k = 2; k <= n; k <<= 1)
        for (u32 j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            u32 i = 2 * t - (t & (j - 1)), x = i ^ j;
            bool up = (i & k) == 0;
            if ((s[i] > s[x]) == up) { u32 v = s[i]; s[i] = s[x]; s[x] = v; }
        }
    __syncthreads();
    data[t] = s[t]; data[t + blockDim.x] = s[t + blockDim.x];
}

// Votes, ballots, matches, shuffles of every kind, warp and block reductions.
extern "C" __global__ void warpwide(const u32* in, u32* out) {
    u32 t = threadIdx.x, v = in[gid()], r = 0;
    r += __ballot_sync(~0u, v & 1);
    r = r * 31 + __any_sync(~0u, v > 4000000000u) + 2 * __all_sync(~0u, v > 4096);
    r = r * 31 + __match_any_sync(~0u, v & 3);
    int pred;
    r = r * 31 + __match_all_sync(~0u, v >> 31, &pred) + pred;
    r = r * 31 + __shfl_sync(~0u, v, (t * 7) & 31);
    r = r * 31 + __shfl_sync(~0u, v, t + 3, 8);
    r = r * 31 + __shfl_xor_sync(~0u, v, 5);
    r = r * 31 + __shfl_down_sync(~0u, v, 3, 16);
    r = r * 31 + __shfl_up_sync(~0u, v, 2, 4);
    u32 sum = v;
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    r = r * 31 + sum;
    r = r * 31 + __syncthreads_count(v & 2) + __syncthreads_or(v == 77) + __syncthreads_and(v != 78);
    out[gid()] = r;
}

extern "C" __global__ void histogram(const u32* in, u32* out, int n) {
    __shared__ u32 bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i] & 63], in[i] >> 28);
    __syncthreads();
    if (threadIdx.x < 64) {
        atomicMax(&out[threadIdx.x], bins[threadIdx.x]);
        atomicXor(&out[64 + (threadIdx.x & 7)], bins[threadIdx.x]);
    }
}

extern "C" __global__ void transpose(const u32* in, u32* out, int w, int h) {
    __shared__ u32 tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y) out[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void matmul(const int* a, const int* b, int* c, int n) {
    __shared__ int sa[16][16], sb[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x, sum = 0;
    for (int k = 0; k < n; k += 16) {
        sa[y][x] = a[row * n + k + x];
        sb[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += sa[y][i] * sb[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

__device__ __noinline__ u32 called(u32 x, u32 y) { return mix(x) ^ (y * 2654435761u); }

// A jump table, device function calls, and loops whose lanes leave at different times.
extern "C" __global__ void control(const u32* in, u32* out) {
    u32 v = in[gid()], r = 0;
    switch (v % 11) {
    case 0: r = v + 1; break;
    case 1: r = v * 3; break;
    case 2: r = v ^ 0x5555; break;
    case 3: r = v >> 3; break;
    case 4: r = called(v, 4); break;
    case 5: r = ~v; break;
    case 6: r = v * v; break;
    case 7: r = called(v, v); break;
    case 8: r = v - 12345; break;
    case 9: r = v | 0xff00; break;
    default: r = __brev(v);
    }
    u32 n = 0;
    while (v != 1 && n < 200) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        n++;
        if ((v & 0xfff) == 0x123) { r += called(n, v); continue; }
        if (n > 150 && (v & 7) == 5) break;
    }
    out[gid()] = r * 7 + n;
}

extern "C" __global__ void divisions(const u64* a, const u64* b, u64* out) {
    u32 i = gid();
    u64 x = a[i], y = b[i];
    s64 sx = (s64)x, sy = (s64)y;
    u64* o = out + 8 * i;
    o[0] = x / y; o[1] = x % y;
    o[2] = sx / sy; o[3] = sx % sy;
    o[4] = (u32)x / (u32)y; o[5] = (u32)x % (u32)y;
    o[6] = (s64)((int)x / (int)y); o[7] = (s64)((int)x % (int)y);
}

extern "C" __global__ void bits(const u32* in, u32* out) {
    u32 i = gid(), a = in[i], b = in[i ^ 1], c = in[i ^ 2], r = 0;
    r = r * 31 + __popc(a) + (__clz(b) << 8) + (__ffs(c) << 16);
    r = r * 31 + __brev(a);
    r = r * 31 + __byte_perm(a, b, c);
    r = r * 31 + __funnelshift_l(a, b, c) + __funnelshift_r(a, b, c) * 3;
    r = r * 31 + __funnelshift_lc(a, b, c & 63) + __funnelshift_rc(a, b, c & 63) * 3;
    r = r * 31 + __dp4a((int)a, (int)b, (int)c) + __dp4a(a, b, c) * 3;
    u32 f;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(f) : "r"(a), "r"(b & 31), "r"(c & 31)); r = r * 31 + f;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(f) : "r"(a), "r"(b & 31), "r"(c & 31)); r = r * 31 + f;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(f) : "r"(a), "r"(b), "r"(c & 31), "r"(a & 31)); r = r * 31 + f;
    r = r * 31 + min((int)a, (int)b) + max(a, c) * 5 + abs((int)b);
    r = r * 31 + __mulhi((int)a, (int)b) + __umulhi(b, c) * 3;
    r = r * 31 + __sad(a, b, c) + (a << (b & 31)) + ((int)c >> (a & 31)) + __usad(a, b, c);
    u64 q = ((u64)a << 32 | b);
    q = q * 6364136223846793005ull + c;
    q = (q >> (c & 63)) ^ (q << (a & 63)) ^ (u64)((s64)q >> (b & 63));
    q += (s64)q > (s64)a * (int)b ? 17 : -q;
    q -= (u64)a * b;
    r = r * 31 + (u32)q + (u32)(q >> 32) * 3;
    out[i] = r;
}

extern "C" __global__ void blocks3d(u32* out) {
    u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    u32 b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    u32 n = blockDim.x * blockDim.y * blockDim.z;
    out[b * n + t] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20;
}

// Two arrays in dynamic shared memory, partial warps, and accesses of every width.
extern "C" __global__ void dynamicshared(const u32* in, u32* out, int n) {
    extern __shared__ u32 dyn[];
    unsigned short* half = (unsigned short*)(dyn + n);
    int t = threadIdx.x;
    if (t < n) { dyn[t] = in[t] * 3; half[t] = (unsigned short)in[t]; }
    __syncthreads();
    if (t < n / 4) {
        uint4 v = ((uint4*)dyn)[t];
        ushort2 h = ((ushort2*)half)[t];
        signed char c = ((signed char*)half)[t];
        out[t] = v.x ^ v.y * 3 ^ v.z * 5 ^ v.w * 7 + h.x - h.y * 9 + c;
    }
}

// Local memory: an array indexed by data.
extern "C" __global__ void localarray(const u32* in, u32* out) {
    u32 a[16];
    u32 x = in[gid()];
    for (int i = 0; i < 16; i++) a[i] = x * (i + 1);
    for (int i = 0; i < 40; i++) { x = mix(x); a[x & 15] += a[x >> 28] ^ i; }
    u32 r = 0;
    for (int i = 0; i < 16; i++) r = r * 31 + a[i];
    out[gid()] = r;
}

// Control flow that depends on floats: exact operations only.
extern "C" __global__ void floats(const u32* in, u32* out) {
    u32 v = in[gid()];
    float f = (float)(v & 0xffff), g = (float)(int)v;
    double d = (double)v;
    u32 n = 0;
    while (f > 1.5f && n < 64) { f = f * 0.5f - 0.25f; n++; if (f < 0.0f) f = -f; }
    g = fmaf(g, 0.25f, f);
    if (g != g || g > 1e8f) n += 100;
    d = d * d + 0.5;
    n = n * 31 + (u32)f + (u32)(int)g;
    n = n * 31 + (u32)fmod(d, 1000.0) + (u32)(u64)d;
    n = n * 31 + __float_as_uint(sqrtf(f * f)) + (u32)(v / 3.0f);
    out[gid()] = n;
}

// Half precision on finite numbers: arithmetic, comparisons, conversions.
__device__ __forceinline__ u32 raw(__half2 h) { return *reinterpret_cast<u32*>(&h); }

extern "C" __global__ void halves(const u32* in, u32* out) {
    u32 i = gid(), x = in[i] & 0xbfffbfff, y = in[i ^ 1] & 0xbfffbfff; // magnitudes below 2
    __half2 a = *reinterpret_cast<__half2*>(&x), b = *reinterpret_cast<__half2*>(&y);
    u32 r = raw(__hadd2(a, b));
    r = r * 31 + raw(__hmul2(a, b));
    r = r * 31 + raw(__hfma2(a, b, a));
    r = r * 31 + raw(__hsub2(__high2half2(a), b));
    r = r * 31 + raw(__hfma2(__low2half2(a), b, __hneg2(b)));
    r = r * 31 + (__hgt(__low2half(a), __high2half(b)) ? 5 : 3) + (__hbeq2(a, a) ? 7 : 0) + (__hble2(a, b) ? 11 : 0);
    r = r * 31 + raw(__hgt2(a, b));
    r = r * 31 + __float_as_uint(__low2float(a) * 3.0f) + __float_as_uint(__high2float(b));
    r = r * 31 + raw(__floats2half2_rn((float)(int)x * 1e-6f, (float)y * 1e-5f));
    if (__hlt(__low2half(a), __float2half(0.5f))) r ^= 0x1234;
    out[i] = r;
}

// Tables that the module brings along, in global and in constant memory.
__device__ u32 table[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
__constant__ u32 scale[8] = {2, 3, 5, 7, 11, 13, 17, 19};

extern "C" __global__ void tables(u32* out) {
    __shared__ u32 s[512];
    u32 t = threadIdx.x;
    for (int i = t; i < 512; i += blockDim.x) s[i] = i * 7;
    __syncthreads();
    out[t] = s[table[t & 31] * 32 + t] * scale[table[(t * 3) & 31] & 7];
}

// Lanes of one warp take turns: forward progress of lanes that wait for each other.
extern "C" __global__ void locks(u32* out) {
    __shared__ u32 lock, count;
    if (threadIdx.x == 0) { lock = 0; count = 0; }
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            count = count * 3 + 1;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = count;
}

#if __CUDA_ARCH__ >= 800
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void asynccopy(const u32* in, u32* out) {
    __shared__ __align__(16) u32 s[2][512];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][4 * t], in + 4 * t, 16);
    __pipeline_memcpy_async(&s[1][2 * t], in + 2 * t, 8, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    int i = (t * 5) & 127;
    out[t] = s[0][4 * i] + s[0][4 * i + 3] * 3 + s[1][2 * i] * 5 + s[1][2 * i + 1] * 7;
}

extern "C" __global__ void reduxes(const u32* in, u32* out) {
    u32 v = in[gid()];
    u32 r = __reduce_add_sync(~0u, v);
    r = r * 31 + __reduce_min_sync(~0u, v) + __reduce_max_sync(~0u, (int)v);
    r = r * 31 + (__reduce_and_sync(~0u, v) ^ __reduce_or_sync(~0u, v) * 3 ^ __reduce_xor_sync(~0u, v) * 5);
    out[gid()] = r;
}
#endif

// ldmatrix, plain and transposed.
extern "C" __global__ void matrices(const u32* in, u32* out) {
    __shared__ __align__(16) u32 s[128];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++) s[t + 32 * i] = in[t + 32 * i];
    __syncthreads();
#if __CUDA_ARCH__ >= 750
    u32 at = (u32)__cvta_generic_to_shared(&s[4 * t]), a, b, c, d, e, f;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(e), "=r"(f) : "r"(at));
    out[t] = a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13;
#endif
}

// Branches, loops, guarded stores and collectives that depend on data, whose results do so only in part.
extern "C" __global__ void unsure(const u32* in, u32* out) {
    __shared__ u32 s[256];
    u32 t = threadIdx.x, v = in[t], r = t, a[4] = {t, t + 1, t + 2, t + 3};
    s[t] = t * 3;
    __syncthreads();
    if (v & 1) { r = r * 5 + 1; s[t] = 7; __threadfence_block(); out[2048 + t] = 1; }
    else { r = r * 5 + 1; __threadfence_block(); out[2304 + t] = 2; }
    u32 members = 0;
    if (v & 2) { members = __popc(__activemask()); __threadfence_block(); s[t] = t * 3; }
    u32 n = 0;
    for (u32 i = 0; i < ((v >> 4) & 3); i++) { n += i + t; s[t] ^= n; __threadfence_block(); }
    if (v & 8) {
        for (u32 i = 0; i < ((v >> 8) & 3); i++) { a[(i + t) & 3] = r + i; if ((v >> i) & 0x8000) break; }
        if (v & 0x400) r += 9; else { r += 9; a[1] = a[1]; }
    }
    u32 w = __shfl_xor_sync(~0u, v & 64 ? r : r, 3) + __shfl_xor_sync(~0u, members, 1);
    if (t < 128 && (v & 0x1000)) { s[t] = 1; __threadfence_block(); if (v & 0x2000) out[1024 + t] = 5; else out[1024 + t] = 5; }
    __syncthreads();
    out[t] = r; out[256 + t] = s[t]; out[512 + t] = a[t & 3] * 31 + a[(t + 1) & 3]; out[768 + t] = s[(t * 5) & 255] + w;
    out[1280 + t] = n; out[1536 + t] = members; out[1792 + t] = t & 1 ? s[t] : t;
}

// The same, one construct at a time, each with shared memory and output of its own. Calls keep the compiler from predicating.
extern "C" __global__ void unsure2(const u32* in, u32* out) {
    __shared__ u32 s[5][128];
    u32 t = threadIdx.x, v = in[t], c = 0, flag = 0, x = t;
    for (int k = 0; k < 5; k++) s[k][t] = t;
    if (v & 1) { s[0][t] = 7; out[t] = called(t, 1); }              // a store on one side
    if (v & 2) { c = __popc(__activemask()); out[128 + t] = called(t, c); } // who is here
    if (!(v & 2)) { asm volatile(""); c = __popc(__activemask()); s[4][t] = called(t, c); }
    for (u32 i = 0; i < ((v >> 2) & 7); i++) {                       // what later rounds do
        if (i == 5) flag = 1;
        s[1][t] = called(s[1][t], 0);
    }
    if (v & 32) s[2][t] = 9;                                         // a guarded store
    u32 at = (u32)__cvta_generic_to_shared(&s[3][0]);
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p add.u32 %0, %0, 1; @!p st.shared.u32 [%2], %0; @p st.shared.u32 [%2], 99; }"
                 : "+r"(x) : "r"(v & 64), "r"(at + 4 * t) : "memory");
    out[384 + t] = s[0][t]; out[512 + t] = c; out[640 + t] = flag; out[768 + t] = s[1][t];
    out[896 + t] = s[2][t]; out[1024 + t] = s[3][t]; out[1152 + t] = x;
    if (v & 128) { s[4][t] = called(t, 3); return; }                 // lanes that leave
    out[1408 + t] = 1;
    s[4][t] = 5;
    out[1536 + t] = s[4][t];
}

// What depends on data, for runs in which the data is not given.
extern "C" __global__ void dependent(const u32* in, u32* out, int n) {
    __shared__ u32 s[256];
    int t = threadIdx.x;
    s[t] = t;                             // exact
    __syncthreads();
    if ((t & 31) < 4) s[t * 32 & 255] += 1; // exact: four lanes
    __syncthreads();
    u32 v = in[t];
    atomicAdd(&s[v & 255], 1);            // data-dependent address
    __syncthreads();
    if (v > 10) s[255 - t] = 7;           // exact address, maybe
    __syncthreads();
    int m = in[0] & 7;
    for (int i = 0; i < m; i++) s[t ^ i] = i; // unknown trip count
    __syncthreads();
    out[t] = s[t];                        // exact again
}
