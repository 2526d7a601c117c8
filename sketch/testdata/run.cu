// Divergence: lanes that leave a loop early take no part in what is left of it.
// shmoo: --block 32
__shared__ int s[64];
for (int i = 0; i < threadIdx.x % 4; i++)
    s[threadIdx.x] = i;         // want: store requests 3 wavefronts 3 ideal 3
---
// break, continue and return by lane. Lanes below 16 leave the loop at i == 2; odd lanes skip i == 1.
// shmoo: --block 32
__global__ void k() {
    __shared__ int s[64];
    for (int i = 0; i < 4; i++) {
        if (i == 2 && threadIdx.x < 16) break;
        if (i == 1 && threadIdx.x % 2) continue;
        s[threadIdx.x * 2] = i;     // want: store requests 4 wavefronts 6 ideal 4
    }
    if (threadIdx.x >= 8) return;
    s[threadIdx.x * 8];             // want: load requests 1 wavefronts 2 ideal 1
}
---
// switch with fall through, default in the middle.
// shmoo: --block 32
__shared__ int s[1024];
switch (threadIdx.x & 3) {
case 0:
    s[threadIdx.x] = 0;             // want: store requests 1 wavefronts 1 ideal 1
default:
    s[threadIdx.x * 32] = 0;        // want: store requests 1 wavefronts 24 ideal 1
    break;
case 3:
    s[threadIdx.x * 32] = 1;        // want: store requests 1 wavefronts 8 ideal 1
}
---
// && and || touch only the lanes that need them; so does ?:.
// shmoo: --block 32
__shared__ int s[1024];
int lane = threadIdx.x;
lane < 8 && s[lane * 32];                       // want: load requests 1 wavefronts 8 ideal 1
lane < 8 || s[lane * 32];                       // want: load requests 1 wavefronts 24 ideal 1
int v = lane < 4 ? s[lane * 32] : s[lane];      // want: load requests 1 wavefronts 4 ideal 1; load requests 1 wavefronts 1 ideal 1
---
// Under a condition that is not known both sides are unresolved; after it everything is known again.
// shmoo: --block 32
__global__ void k(int n, const int *g) {
    __shared__ int s[64];
    int i = threadIdx.x;
    if (n > 4)
        s[i] = 1;                   // want: store unresolved 1
    else
        s[2 * i] = 1;               // want: store unresolved 1
    s[2 * i] = 2;                   // want: store requests 1 wavefronts 2 ideal 1
    if (i < n) i = 5;
    s[i] = 3;                       // want: store unresolved 1
    s[g[i] & 31] = 4;               // want: store unresolved 1
    s[n & 0 ? 1 : 2] = 4;           // want: store unresolved 1
}
---
// A loop whose trip count is not known runs its body once, unresolved; what it changes is not known after it.
// shmoo: --block 32
__global__ void k(int n) {
    __shared__ int s[64];
    int a = 0, b = 1;
    for (int i = 0; i < n; i++) {
        s[threadIdx.x] = 1;         // want: store unresolved 1
        a++;
    }
    s[a] = 1;                       // want: store unresolved 1
    s[b] = 1;                       // want: store requests 1 wavefronts 1 ideal 1
    while (true) {
        s[threadIdx.x] = 1;         // want: store requests 1 wavefronts 1 ideal 1
        if (n == 3) break;
        s[threadIdx.x] = 2;         // want: store unresolved 1
    }
    s[threadIdx.x] = 2;             // want: store requests 1 wavefronts 1 ideal 1
}
---
// An unknown early return leaves the rest of the kernel in doubt; an unknown continue only the rest of the iteration.
// shmoo: --block 32
__global__ void k(int n, const int *g) {
    __shared__ int s[64];
    for (int i = 0; i < 3; i++) {
        if (g[i]) continue;
        s[threadIdx.x] = 1;         // want: store unresolved 3
    }
    s[threadIdx.x] = 1;             // want: store requests 1 wavefronts 1 ideal 1
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = 1;             // want: store unresolved 1
}
---
// The same with the parameter given: known.
// shmoo: --block 64 -D n=40
__global__ void k(int n) {
    __shared__ int s[64];
    if (threadIdx.x >= n) return;
    s[threadIdx.x * n % 64] = 1;    // want: store requests 2 wavefronts 4 ideal 2
}
---
// Structs, vectors and what they are moved with.
// shmoo: --block 32
struct Pixel { unsigned char r, g, b; };
struct alignas(16) Body { float x, y, z; int id[5]; };
struct Pair { double d; char c; };
__global__ void k() {
    __shared__ Pixel p[32];
    __shared__ Body b[32];
    __shared__ float3 f3[32];
    __shared__ double2 d2[32];
    __shared__ Pair q[32];
    int i = threadIdx.x;
    Pixel one = p[i];               // want: load requests 1 wavefronts 1 ideal 1; load requests 1 wavefronts 1 ideal 1; load requests 1 wavefronts 1 ideal 1
    b[i].id[2] = 7;                 // want: store requests 1 wavefronts 8 ideal 1
    Body body = b[i];               // want: load requests 1 wavefronts 8 ideal 4; load requests 1 wavefronts 8 ideal 4
    float3 v = f3[i];               // want: load requests 1 wavefronts 1 ideal 1; load requests 1 wavefronts 1 ideal 1; load requests 1 wavefronts 1 ideal 1
    d2[i].y = 1.0;                  // want: store requests 1 wavefronts 4 ideal 2
    d2[i] = make_double2(1, 2);     // want: store requests 1 wavefronts 4 ideal 4
    q[i].c = 1;                     // want: store requests 1 wavefronts 4 ideal 1
}
---
// Local arrays keep what is stored in them; pointers and references to variables reach them.
// shmoo: --block 32
__device__ void swap(int &a, int &b) { int t = a; a = b; b = t; }
__device__ void put(int *p, int v) { *p = v; }
__global__ void k() {
    __shared__ int s[1024];
    int stride[4] = {1, 2, 4};
    for (int i = 0; i < 4; i++)
        s[threadIdx.x * stride[i]];             // want: load requests 4 wavefronts 8 ideal 4
    int a = 32, b = 1;
    swap(a, b);
    s[threadIdx.x * b];                         // want: load requests 1 wavefronts 32 ideal 1
    put(&a, 8);
    s[threadIdx.x * a];                         // want: load requests 1 wavefronts 8 ideal 1
    put(stride + 3, 16);
    s[threadIdx.x * stride[3]];                 // want: load requests 1 wavefronts 16 ideal 1
    int2 two = make_int2(4, 2);
    two.x *= two.y;
    s[threadIdx.x * two.x];                     // want: load requests 1 wavefronts 8 ideal 1
    int table[2] = {(int)threadIdx.x, 0};
    s[table[threadIdx.x & 1]];                  // want: load requests 1 wavefronts 1 ideal 1
}
---
// Pointers into shared memory: arithmetic, differences, comparison, walking, casts to integers and back.
// shmoo: --block 32
__global__ void k(float *out) {
    extern __shared__ float s[];
    float *p = s + threadIdx.x * 2;
    *p++ = 0;                                   // want: store requests 1 wavefronts 2 ideal 1
    *p = 1;                                     // want: store requests 1 wavefronts 2 ideal 1
    p[-1] += 1;                                 // want: load requests 1 wavefronts 2 ideal 1; store requests 1 wavefronts 2 ideal 1
    int n = p - s;
    s[n * 2];                                   // want: load requests 1 wavefronts 4 ideal 1
    for (float *q = s; q < s + 4; ++q)
        *q = 1;                                 // want: store requests 4 wavefronts 4 ideal 4
    unsigned long long raw = reinterpret_cast<unsigned long long>(s + threadIdx.x * 33);
    raw = raw & ~127ull;
    *reinterpret_cast<float *>(raw);            // want: load requests 1 wavefronts 32 ideal 1
    float *either = threadIdx.x < 16 ? s : out;
    either[threadIdx.x * 32];                   // want: load requests 1 wavefronts 16 ideal 1
    ((char *)s)[threadIdx.x];                   // want: load requests 1 wavefronts 1 ideal 1
    *((volatile float *)s + threadIdx.x);       // want: load requests 1 wavefronts 1 ideal 1
}
---
// Passing tiles to functions: by reference with deduced bounds, by pointer to array, as open arrays.
// shmoo: --block 32
template <typename T, int R, int C>
__device__ T column(T (&t)[R][C]) { return t[threadIdx.x][0]; }     // want: load requests 1 wavefronts 32 ideal 1; load requests 1 wavefronts 2 ideal 2
__device__ float rows(float (*t)[32]) { return t[threadIdx.x][0]; } // want: load requests 1 wavefronts 32 ideal 1
__device__ float open(const float t[][32], int i) { return t[0][i]; }     // want: load requests 1 wavefronts 1 ideal 1
__global__ void k() {
    __shared__ float a[32][32];
    __shared__ double b[32][33];
    float x = column(a);
    double y = column(b);
    x += rows(a) + open(a, threadIdx.x);
}
---
// Lambdas, default arguments, overloads by count, constexpr functions, enums, aliases, sizeof.
// shmoo: --block 32
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
enum { ROWS = 4, COLS = ROWS * 8 };
enum class Kind : int { A = 1, B };
using Word = unsigned int;
typedef float Tile[ROWS][COLS + 1];
template <typename T> using Four = T[4];
__device__ int at(int i, int step = 2) { return i * step; }
__global__ void k() {
    __shared__ Tile t;
    __shared__ Word w[ceil_div(1000, 32) * 32 + sizeof(Tile) / sizeof(float)];
    auto index = [&](int i) { return at(i, 4) + static_cast<int>(Kind::B) - 2; };
    t[threadIdx.x % 4][threadIdx.x / 4];        // want: load requests 1 wavefronts 4 ideal 1
    w[index(threadIdx.x)];                      // want: load requests 1 wavefronts 4 ideal 1
    w[at(threadIdx.x)];                         // want: load requests 1 wavefronts 2 ideal 1
}
---
// Atomics: with and without a result, compare and swap, floats, on global memory.
// shmoo: --block 32
__global__ void k(int *g) {
    __shared__ int s[32];
    __shared__ float f[32];
    __shared__ unsigned long long u[32];
    atomicAdd(&s[0], 1);                        // want: red requests 1 wavefronts 32 ideal 1
    int old = atomicAdd(&s[threadIdx.x], 1);    // want: atomic requests 1 wavefronts 1 ideal 1
    atomicCAS(s + threadIdx.x / 2, 0, 1);       // want: cas requests 1 wavefronts 4 ideal 2
    atomicAdd(&f[threadIdx.x], 1.0f);           // want: atomic unresolved 1
    atomicAdd(&u[threadIdx.x], 1ull);           // want: atomic unresolved 1
    atomicAdd(g, 1);
    atomicMax(&s[old], 1);                      // want: red unresolved 1
}
---
// Inline PTX: loads and stores of all widths, predicates, registers of its own, cp.async, red.
// shmoo: --block 32
__global__ void k(const float *g) {
    __shared__ __align__(16) float s[1024];
    unsigned base, lane;
    asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }" : "=r"(base) : "l"(s));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    float a, b, c, d;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(base + lane * 16));  // want: load requests 1 wavefronts 4 ideal 4
    asm volatile("st.shared.f32 [%0 + 128], %1;" :: "r"(base + lane * 128 % 2048), "f"(a));     // want: store requests 1 wavefronts 16 ideal 1
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, 8; @p st.shared.u8 [%1], %2; }" :: "r"(lane), "r"(base + lane * 128), "r"(1));    // want: store requests 1 wavefronts 8 ideal 1
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(base + lane * 8), "l"(g));    // want: cp.async.ca requests 1 wavefronts 2 ideal 1
    asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(base), "r"(1));                          // want: red requests 1 wavefronts 32 ideal 1
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(a) : "l"(g));
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("st.shared.v2.b32 [%[at]], {%[x], %[x]};" :: [at] "r"(base + lane * 8), [x] "r"(3));  // want: store requests 1 wavefronts 2 ideal 2
}
---
// Warp functions with exact values: shuffles, votes, bit counts; cooperative groups.
// shmoo: --block 64
namespace cg = cooperative_groups;
__global__ void k() {
    __shared__ int s[2048];
    int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
    int up = __shfl_up_sync(~0u, (int)threadIdx.x, 1);
    s[warp];                                            // want: load requests 2 wavefronts 2 ideal 2
    s[up * 2];                                          // want: load requests 2 wavefronts 4 ideal 2
    s[__shfl_xor_sync(~0u, threadIdx.x, 16) % 32 * 32]; // want: load requests 2 wavefronts 64 ideal 2
    s[__popc(threadIdx.x) + __ballot_sync(~0u, threadIdx.x & 1) % 7];   // want: load requests 2 wavefronts 2 ideal 2
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    s[block.thread_rank() * 2];                         // want: load requests 2 wavefronts 4 ideal 2
    s[tile.thread_rank() * 4 + tile.meta_group_rank()]; // want: load requests 2 wavefronts 8 ideal 2
    block.sync();
}
---
// Function-like macros, conditionals, -D over #define.
// shmoo: --block 32 -D PAD=1 -D MODE=2
#define PAD 0
#define IDX(r, c, ld) ((r) * (ld) + (c))
#define CAT(a, b) a##b
#define EACH(f, ...) f(__VA_ARGS__)
#if defined(MODE) && MODE == 2
#define STRIDE (32 + PAD)
#elif MODE == 3
#error wrong branch
#else
#define STRIDE 32
#endif
__shared__ float CAT(ti, le)[32 * STRIDE];
tile[IDX(threadIdx.x, 0, STRIDE)];          // want: load requests 1 wavefronts 1 ideal 1
tile[EACH(IDX, threadIdx.x, 0, 32)];        // want: load requests 1 wavefronts 32 ideal 1
---
// Template parameters from -D and defaults, types among them.
// shmoo: --block 32 -D T=double -D N=33
template <typename T, int N, int M = N - 1>
__global__ void k(T *out) {
    __shared__ T s[32][N];
    s[threadIdx.x][0];                      // want: load requests 1 wavefronts 2 ideal 2
    __shared__ T u[32][M];
    u[threadIdx.x][0];                      // want: load requests 1 wavefronts 32 ideal 2
}
---
// Out-of-range indices wrap as 32-bit addresses do: s[i - 1u] of lane 0 lies before the array t of this sketch.
// shmoo: --block 32
__shared__ int pad[32];
__shared__ int s[32];
s[threadIdx.x - 1];         // want: load requests 1 wavefronts 1 ideal 1
---
// Compound assignment evaluates its place once.
// shmoo: --block 32
__shared__ int s[64];
int i = threadIdx.x;
s[i++] += 1;                // want: load requests 1 wavefronts 1 ideal 1; store requests 1 wavefronts 1 ideal 1
s[2 * (i - threadIdx.x)]++; // want: load requests 1 wavefronts 1 ideal 1; store requests 1 wavefronts 1 ideal 1
---
// Structs with functions: the SharedMemory helper of the samples, static members, functors, traits, this, a storage struct.
// shmoo: --block 32
template <class T> struct SharedMemory {
    __device__ inline operator T *() {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
    __device__ inline operator const T *() const {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};
template <int B, int M, int S> struct Swizzle {
    static constexpr int mask = (1 << B) - 1;
    __host__ __device__ static int apply(int x) { return x ^ ((x >> S) & (mask << M)); }
};
template <typename T> struct Traits { using Word = T; static const int lanes = 16 / sizeof(T); };
struct Layout {
    int pitch, base;
    __device__ int operator()(int r, int c) const { return base + offset(r) + c; }
    __device__ int offset(int r) const { return r * this->pitch; }
};
struct Storage {
    float a[32][32];
    union { float4 v[64]; float f[256]; } u;
};
__global__ void k() {
    float *s = SharedMemory<float>();
    s[threadIdx.x * 2];                                         // want: load requests 1 wavefronts 2 ideal 1
    s[Swizzle<5, 0, 5>::apply(threadIdx.x * 32)];               // want: load requests 1 wavefronts 1 ideal 1
    s[threadIdx.x * Traits<half>::lanes];                       // want: load requests 1 wavefronts 8 ideal 1
    Layout at{32, 0};
    s[at(threadIdx.x, 3)];                                      // want: load requests 1 wavefronts 32 ideal 1
    Storage &st = *reinterpret_cast<Storage *>(s);
    st.a[threadIdx.x][0] = 1;                                   // want: store requests 1 wavefronts 32 ideal 1
    st.u.v[threadIdx.x];                                        // want: load requests 1 wavefronts 4 ideal 4
    st.u.f[threadIdx.x];                                        // want: load requests 1 wavefronts 1 ideal 1
    union { int i; float f; } both;
    both.i = 1;
    both.f = 2.0f;
    s[both.i];                                                  // want: load unresolved 1
}
---
// Library types: fragments, barriers, and what cannot be known about them.
// shmoo: --block 32
#include <mma.h>
using namespace nvcuda;
__global__ void k(const half *g, float *out) {
    __shared__ half a[16][24];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    a[threadIdx.x / 2][threadIdx.x % 2 * 8] = g[threadIdx.x];   // want: store requests 1 wavefronts 4 ideal 1
    wmma::load_matrix_sync(fa, &a[0][0], 24);                   // want: load unresolved 1
    wmma::mma_sync(fc, fa, fa, fc);
    for (int t = 0; t < fc.num_elements; t++) fc.x[t] = fc.x[t] * 2.0f;
    typedef cub::BlockReduce<float, 32> BlockReduce;
    float sum = BlockReduce().Sum(fc.x[0]);
    if (threadIdx.x == 0) out[0] = sum;
}
---
// Reduction with a volatile pointer in the last warp, unrolled by template parameter.
// shmoo: --block 128 -D T=float -D blockSize=128 -D n=1000
template <unsigned blockSize, class T>
__device__ void warpReduce(volatile T *sdata, unsigned tid) {
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];     // want: load requests 1 wavefronts 1 ideal 1; store requests 1 wavefronts 1 ideal 1; load requests 1 wavefronts 1 ideal 1
    if (blockSize >= 16) sdata[tid] += sdata[tid + 8];      // want: load requests 1 wavefronts 1 ideal 1; store requests 1 wavefronts 1 ideal 1; load requests 1 wavefronts 1 ideal 1
}
template <class T, unsigned blockSize>
__global__ void reduce(T *in, T *out, unsigned n) {
    extern __shared__ T sdata[];
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + tid, gridSize = blockSize * 2 * gridDim.x;
    T sum = 0;
    while (i < n) { sum += in[i]; if (i + blockSize < n) sum += in[i + blockSize]; i += gridSize; }
    sdata[tid] = sum;                                       // want: store requests 4 wavefronts 4 ideal 4
    __syncthreads();
    if (blockSize >= 512) { if (tid < 256) sdata[tid] += sdata[tid + 256]; __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sdata[tid] = sum = sum + sdata[tid + 64]; } __syncthreads(); }   // want: store requests 2 wavefronts 2 ideal 2; load requests 2 wavefronts 2 ideal 2
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
    if (tid == 0) out[blockIdx.x] = sdata[0];               // want: load requests 1 wavefronts 1 ideal 1
}
---
// Functions as arguments and as template arguments; a struct template that names itself; local arrays behind unknown calls.
// shmoo: --block 32
__device__ int twice(int x) { return 2 * x; }
template <typename F> __device__ int apply(F f, int x) { return f(x); }
typedef int (*Map)(int);
template <Map f> __device__ int mapped(int x) { return f(x); }
template <class T> struct Packed {
    static constexpr int size = 16 / sizeof(T);
    T payload[size];
    __device__ static Packed zeros() { Packed p; for (int i = 0; i < size; i++) p[i] = 0; return p; }
    __device__ T &operator[](int i) { return payload[i]; }
};
template <class T> __device__ T cast_value(T v) { return v; }
template <> __device__ float cast_value(float v) { return v; }
__global__ void k(const int *g) {
    __shared__ int s[1024];
    s[apply(twice, threadIdx.x)];                       // want: load requests 1 wavefronts 2 ideal 1
    s[mapped<twice>(threadIdx.x)];                      // want: load requests 1 wavefronts 2 ideal 1
    auto p = Packed<int>::zeros();
    p[1] = 8;
    s[threadIdx.x * p[1]];                              // want: load requests 1 wavefronts 8 ideal 1
    s[threadIdx.x * Packed<short>::size];               // want: load requests 1 wavefronts 8 ideal 1
    memcpy(&p, g, sizeof(p));
    s[p[1]];                                            // want: load unresolved 1
}
---
// auto results: of functions, of lambdas that use their own variables, pointers among them; references as results.
// shmoo: --block 32
template <typename T> __device__ auto row(T *t, int r) { int at = r * 32; return t + at; }
__device__ int &element(int *t, int i) { return t[i * 2]; }     // want: store requests 1 wavefronts 2 ideal 1
__global__ void k() {
    __shared__ int s[1024];
    auto p = row(s, threadIdx.x);
    p[0];                                       // want: load requests 1 wavefronts 32 ideal 1
    auto skew = [&](int r) { int k = r & 1; auto twice = 2 * k; return s + r * 2 + twice; };
    *skew(threadIdx.x);                         // want: load requests 1 wavefronts 3 ideal 1
    element(s, threadIdx.x) = 1;
    int v[4] = {1, 2, 3, 4};
    element(v, 1) = 16;
    s[threadIdx.x * v[2]];                      // want: load requests 1 wavefronts 16 ideal 1
    auto nothing = [&] { s[threadIdx.x] = 0; }; // want: store requests 1 wavefronts 1 ideal 1
    nothing();
}
---
// What a function that is not known may have written is not known, however it got there; the rest stays.
// shmoo: --block 32
__global__ void k() {
    __shared__ int s[1024];
    int a[2] = {1, 2}, b = 3, c = 4, d = 5;
    int *p = a;
    __mystery(p, &b, c, d + 0);
    s[a[0]];                    // want: load unresolved 1
    s[b];                       // want: load unresolved 1
    s[c];                       // want: load unresolved 1
    s[d];                       // want: load requests 1 wavefronts 1 ideal 1
    __mystery(s + 1);           // want: load unresolved 1
}
---
// -D sets constants of the file, of a function and of a struct, and parameters; variables keep what they are given.
// shmoo: --block 32 -D A=2 -D B=4 -D C=8 -D d=16 -D e=3
constexpr int A = 1;
struct Config { static constexpr int C = 1; };
__global__ void k(unsigned d) {
    __shared__ int s[1024];
    const int B = A / 2;
    int e = 1;
    s[threadIdx.x * A];             // want: load requests 1 wavefronts 2 ideal 1
    s[threadIdx.x * B];             // want: load requests 1 wavefronts 4 ideal 1
    s[threadIdx.x * Config::C];     // want: load requests 1 wavefronts 8 ideal 1
    s[threadIdx.x * d];             // want: load requests 1 wavefronts 16 ideal 1
    s[threadIdx.x * e];             // want: load requests 1 wavefronts 1 ideal 1
    d = 1;
    s[threadIdx.x * d];             // want: load requests 1 wavefronts 1 ideal 1
    s[(d - 2) / 2 == 2147483647];   // want: load requests 1 wavefronts 1 ideal 1
}
