// Kernels whose shared-memory counters were recorded on an H200; record.sh compiles and runs them, launches.txt says how.
// They are written for the recording: every kernel's addresses follow from its launch and the given data.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <stdint.h>

#define KERNEL extern "C" __global__ void

// --- transposes -----------------------------------------------------------------------------------------------------

template <int PITCH, bool XOR>
__device__ void transpose(int *out, const int *in, int n)
{
    __shared__ int tile[32 * PITCH];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        int column = XOR ? threadIdx.x ^ y : threadIdx.x;
        tile[y * PITCH + column] = in[(y0 + y) * n + x];
    }
    __syncthreads();
    int xo = blockIdx.y * 32 + threadIdx.x, yo = blockIdx.x * 32;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        int column = XOR ? y ^ threadIdx.x : y;
        out[(yo + y) * n + xo] = tile[threadIdx.x * PITCH + column];
    }
}

KERNEL transpose_naive(int *out, const int *in, int n) { transpose<32, false>(out, in, n); }
KERNEL transpose_pad(int *out, const int *in, int n) { transpose<33, false>(out, in, n); }
KERNEL transpose_pad2(int *out, const int *in, int n) { transpose<34, false>(out, in, n); }
KERNEL transpose_xor(int *out, const int *in, int n) { transpose<32, true>(out, in, n); }

KERNEL transpose16(float *out, const float *in, int n)
{
    __shared__ float tile[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL transpose_half(half *out, const half *in, int n)
{
    __shared__ half tile[32][34];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][threadIdx.x] = in[(y0 + y) * n + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}

KERNEL transpose_byte(uint8_t *out, const uint8_t *in, int n)
{
    __shared__ uint8_t tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][threadIdx.x] = in[(y0 + y) * n + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}

KERNEL transpose_double(double *out, const double *in, int n)
{
    __shared__ double tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][threadIdx.x] = in[(y0 + y) * n + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}

KERNEL transpose_3d(int *out, const int *in)
{
    __shared__ int cube[8][8][9];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    cube[z][y][x] = in[(z * 8 + y) * 8 + x];
    __syncthreads();
    out[(z * 8 + y) * 8 + x] = cube[x][y][z];
}

// --- a run per thread: the scan pattern ------------------------------------------------------------------------------

template <typename T, typename V, int CHUNK, int PAD>
__device__ void scan(T *out, const T *in)
{
    constexpr int P = CHUNK + PAD, W = sizeof(V) / sizeof(T);
    extern __shared__ __align__(16) unsigned char raw[];
    T *sh = reinterpret_cast<T *>(raw);
    for (int i = threadIdx.x; i < blockDim.x * CHUNK; i += blockDim.x)
        sh[i / CHUNK * P + i % CHUNK] = in[blockIdx.x * blockDim.x * CHUNK + i];
    __syncthreads();
    T acc = 0;
    for (int c = 0; c < CHUNK; c += W) {
        V v = *reinterpret_cast<V *>(&sh[threadIdx.x * P + c]);
        T *e = reinterpret_cast<T *>(&v);
#pragma unroll
        for (int k = 0; k < W; k++) {
            acc = acc * 3 + e[k];
            e[k] = acc;
        }
        *reinterpret_cast<V *>(&sh[threadIdx.x * P + c]) = v;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < blockDim.x * CHUNK; i += blockDim.x)
        out[blockIdx.x * blockDim.x * CHUNK + i] = sh[i / CHUNK * P + i % CHUNK];
}

#define SCAN(NAME, T, V, CHUNK, PAD) \
    KERNEL NAME(T *out, const T *in) { scan<T, V, CHUNK, PAD>(out, in); }

SCAN(scan_i16_c64_p0, uint16_t, uint16_t, 64, 0)
SCAN(scan_i16_c64_p2, uint16_t, uint16_t, 64, 2)
SCAN(scan_i16_c56_p8, uint16_t, uint2, 56, 8)
SCAN(scan_i16_c56_p16, uint16_t, uint2, 56, 16)
SCAN(scan_i32_c64_p0, uint32_t, uint32_t, 64, 0)
SCAN(scan_i32_c64_p1, uint32_t, uint32_t, 64, 1)
SCAN(scan_i32_c64_p2_v2, uint32_t, uint2, 64, 2)
SCAN(scan_i32_c64_p4_v2, uint32_t, uint2, 64, 4)
SCAN(scan_i32_c64_p4_v4, uint32_t, uint4, 64, 4)
SCAN(scan_i32_c64_p8_v4, uint32_t, uint4, 64, 8)
SCAN(scan_i32_c64_p0_v4, uint32_t, uint4, 64, 0)

// --- reductions and warp primitives ----------------------------------------------------------------------------------

KERNEL reduce_interleaved(int *out, const int *in)
{
    __shared__ int sh[256];
    sh[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int i = 2 * s * threadIdx.x;
        if (i < 256)
            sh[i] += sh[i + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sh[0];
}

KERNEL reduce_modulo(int *out, const int *in)
{
    __shared__ int sh[256];
    sh[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (unsigned s = 1; s < 256; s *= 2) {
        if (threadIdx.x % (2 * s) == 0)
            sh[threadIdx.x] += sh[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sh[0];
}

KERNEL reduce_shuffle(int *out, const int *in)
{
    __shared__ int sh[32];
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        sh[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? sh[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffff, v, d);
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

KERNEL blelloch(int *out, const int *in)
{
    __shared__ int sh[512];
    int t = threadIdx.x, offset = 1;
    sh[2 * t] = in[2 * t];
    sh[2 * t + 1] = in[2 * t + 1];
    for (int d = 256; d > 0; d >>= 1, offset *= 2) {
        __syncthreads();
        if (t < d)
            sh[offset * (2 * t + 2) - 1] += sh[offset * (2 * t + 1) - 1];
    }
    if (t == 0)
        sh[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = sh[a];
            sh[a] = sh[b];
            sh[b] += v;
        }
    }
    __syncthreads();
    out[2 * t] = sh[2 * t];
    out[2 * t + 1] = sh[2 * t + 1];
}

KERNEL bitonic(uint32_t *out, const uint32_t *in)
{
    __shared__ uint32_t sh[512];
    int t = threadIdx.x;
    sh[t] = in[t];
    sh[t + 256] = in[t + 256];
    for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int a = 2 * t - (t & (j - 1)), b = a + j;
            uint32_t x = sh[a], y = sh[b];
            if ((x > y) == ((a & k) == 0)) {
                sh[a] = y;
                sh[b] = x;
            }
        }
    __syncthreads();
    out[t] = sh[t];
    out[t + 256] = sh[t + 256];
}

KERNEL ballot_compact(int *out, const int *in)
{
    __shared__ int sh[32][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    int v = in[threadIdx.x];
    unsigned keep = __ballot_sync(0xffffffff, v & 1);
    int to = __popc(keep & ((1u << lane) - 1));
    sh[warp][lane] = -1;
    __syncwarp();
    if (v & 1)
        sh[warp][to] = v;
    __syncthreads();
    out[threadIdx.x] = sh[lane % (blockDim.x / 32)][lane] + sh[warp][lane];
}

// --- masks and divergence ---------------------------------------------------------------------------------------------

KERNEL few_lanes(int *out, const int *in)
{
    __shared__ int sh[32 * 32];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        sh[i] = in[i];
    __syncthreads();
    int v = 0;
    if ((threadIdx.x & 31) < 4)
        v = sh[(threadIdx.x & 31) * 32 + threadIdx.x / 32];
    out[threadIdx.x] = v;
}

KERNEL partial_warp(int *out, const int *in)
{
    __shared__ int2 sh[100];
    sh[threadIdx.x] = make_int2(in[threadIdx.x], threadIdx.x);
    __syncthreads();
    int2 v = sh[(threadIdx.x * 7) % 100];
    out[threadIdx.x] = v.x + v.y;
}

KERNEL divergent_loop(int *out, const int *in)
{
    __shared__ int sh[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        sh[i] = in[i];
    __syncthreads();
    int v = 0;
    for (int i = 0; i < (threadIdx.x & 7) + 1; i++)
        v += sh[(threadIdx.x * (i + 1) * 4) & 1023];
    out[threadIdx.x] = v;
}

KERNEL switch_sides(int *out, const int *in)
{
    __shared__ int sh[2048], extra[256];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        sh[i] = in[i & 1023];
    __syncthreads();
    int t = threadIdx.x, v = 0;
    switch (t % 5) {
    case 0: v = sh[t]; break;
    case 1: v = sh[t * 2] * 3; break;
    case 2: v = sh[t * 4] ^ 5; break;
    case 3: v = sh[t * 8 & 2047] + 7; break;
    default: extra[255 - t] = t;
    }
    __syncthreads();
    out[t] = v + (t % 5 == 4 ? extra[255 - t] : 0);
}

KERNEL early_exit(int *out, const int *in, int n)
{
    __shared__ int sh[256];
    if (threadIdx.x >= n)
        return;
    sh[threadIdx.x] = in[threadIdx.x];
    __syncwarp(__activemask());
    out[threadIdx.x] = sh[threadIdx.x & ~3] + sh[(threadIdx.x & ~31) + (threadIdx.x * 4 & 15)];
}

// --- pairing -----------------------------------------------------------------------------------------------------------

KERNEL paired_loads(int *out, const int *in, int step)
{
    __shared__ __align__(16) int sh[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        sh[i] = in[i & 1023];
    __syncthreads();
    int lane = threadIdx.x & 31;
    int2 a = *reinterpret_cast<int2 *>(&sh[(lane / 2) * 2 * step]);
    int4 b = *reinterpret_cast<int4 *>(&sh[(lane / 4) * 4 + (lane & 1) * 4 * step]);
    int4 c = *reinterpret_cast<int4 *>(&sh[(lane & ~2) * 4]);
    int4 d = *reinterpret_cast<int4 *>(&sh[(lane & ~4) * 4 * step]);
    out[threadIdx.x] = a.x + a.y + b.x + b.y + b.z + b.w + c.x + c.w + c.y + c.z + d.x + d.y + d.z + d.w;
}

// --- matrix multiply ----------------------------------------------------------------------------------------------------

KERNEL gemm_int(int *c, const int *a, const int *b, int n)
{
    __shared__ int as[16][16], bs[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, acc = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        as[threadIdx.y][threadIdx.x] = a[y * n + k0 + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            acc += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = acc;
}

// A 64x64 tile, 16 deep, 256 threads, 4x4 results a thread; A is kept transposed with a pad.
template <int PAD>
__device__ void gemm_float4(float *c, const float *a, const float *b, int n)
{
    __shared__ __align__(16) float as[16][64 + PAD], bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        float4 va = *reinterpret_cast<const float4 *>(&a[(blockIdx.y * 64 + t / 4) * n + k0 + t % 4 * 4]);
        as[t % 4 * 4 + 0][t / 4] = va.x;
        as[t % 4 * 4 + 1][t / 4] = va.y;
        as[t % 4 * 4 + 2][t / 4] = va.z;
        as[t % 4 * 4 + 3][t / 4] = va.w;
        *reinterpret_cast<float4 *>(&bs[t / 16][t % 16 * 4]) =
            *reinterpret_cast<const float4 *>(&b[(k0 + t / 16) * n + blockIdx.x * 64 + t % 16 * 4]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 x = *reinterpret_cast<float4 *>(&as[k][ty * 4]), y = *reinterpret_cast<float4 *>(&bs[k][tx * 4]);
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    acc[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4 + j] = acc[i][j];
}

KERNEL gemm_f4_p0(float *c, const float *a, const float *b, int n) { gemm_float4<0>(c, a, b, n); }
KERNEL gemm_f4_p4(float *c, const float *a, const float *b, int n) { gemm_float4<4>(c, a, b, n); }

// One warp, 16x8 results from 64-deep half tiles through ldmatrix and mma; SW swizzles 16-byte chunks within a row.
template <bool SW>
__device__ void mma_tile(float *c, const half *a, const half *b)
{
    __shared__ __align__(128) half as[64 * 64], bs[64 * 64];
    int lane = threadIdx.x;
    for (int i = lane; i < 64 * 8; i += 32) {
        int row = i / 8, chunk = i % 8, to = SW ? chunk ^ (row & 7) : chunk;
        *reinterpret_cast<uint4 *>(&as[row * 64 + to * 8]) = *reinterpret_cast<const uint4 *>(&a[row * 64 + chunk * 8]);
        *reinterpret_cast<uint4 *>(&bs[row * 64 + to * 8]) = *reinterpret_cast<const uint4 *>(&b[row * 64 + chunk * 8]);
    }
    __syncwarp();
    for (int m0 = 0; m0 < 64; m0 += 16) {
        float d[4] = {};
        for (int k0 = 0; k0 < 64; k0 += 16) {
            int row = m0 + lane % 16, chunk = k0 / 8 + lane / 16;
            uint32_t pa = __cvta_generic_to_shared(&as[row * 64 + (SW ? chunk ^ (row & 7) : chunk) * 8]);
            uint32_t ra[4], rb[2];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
            int brow = k0 + lane % 16;
            uint32_t pb = __cvta_generic_to_shared(&bs[brow * 64 + (SW ? 0 ^ (brow & 7) : 0) * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                         : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                         "{%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        }
        for (int i = 0; i < 4; i++)
            c[(m0 + lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
    }
}

KERNEL mma_plain(float *c, const half *a, const half *b) { mma_tile<false>(c, a, b); }
KERNEL mma_swizzle(float *c, const half *a, const half *b) { mma_tile<true>(c, a, b); }

template <int PITCH>
__device__ void stmatrix_tile(uint32_t *out, const uint32_t *in)
{
    __shared__ __align__(128) half sh[32 * PITCH];
    int lane = threadIdx.x;
    uint32_t r0 = in[lane], r1 = in[lane + 32], r2 = in[lane + 64], r3 = in[lane + 96];
    uint32_t p = __cvta_generic_to_shared(&sh[lane * PITCH]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
                 :: "r"(p), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};"
                 :: "r"(p + 16), "r"(r0), "r"(r1) : "memory");
    __syncwarp();
    for (int i = 0; i < 8; i++)
        out[i * 32 + lane] = *reinterpret_cast<uint32_t *>(&sh[lane * PITCH + i * 2]);
}

KERNEL stmatrix_64(uint32_t *out, const uint32_t *in) { stmatrix_tile<64>(out, in); }
KERNEL stmatrix_72(uint32_t *out, const uint32_t *in) { stmatrix_tile<72>(out, in); }

// --- cp.async -----------------------------------------------------------------------------------------------------------

template <typename T, int STEP>
__device__ void copy_async(T *out, const T *in)
{
    __shared__ __align__(16) T sh[128 * STEP];
    __pipeline_memcpy_async(&sh[threadIdx.x * STEP], &in[threadIdx.x], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = sh[(127 - threadIdx.x) * STEP];
}

KERNEL async4_s1(int *out, const int *in) { copy_async<int, 1>(out, in); }
KERNEL async4_s2(int *out, const int *in) { copy_async<int, 2>(out, in); }
KERNEL async8_s1(int2 *out, const int2 *in) { copy_async<int2, 1>(out, in); }
KERNEL async8_s4(int2 *out, const int2 *in) { copy_async<int2, 4>(out, in); }

KERNEL async16_ca(int4 *out, const int4 *in)
{
    __shared__ int4 sh[128 * 2];
    uint32_t p = __cvta_generic_to_shared(&sh[threadIdx.x * 2]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(p), "l"(&in[threadIdx.x]) : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = sh[(127 - threadIdx.x) * 2];
}

KERNEL async16_cg(int4 *out, const int4 *in) { copy_async<int4, 1>(out, in); }

// --- atomics and data-dependent addresses ---------------------------------------------------------------------------------

KERNEL histogram(unsigned *out, const uint32_t *in, int n)
{
    __shared__ unsigned bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] & 255], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&out[i], bins[i]);
}

KERNEL histogram_bytes(unsigned *out, const uint32_t *in, int n)
{
    __shared__ unsigned bins[8][257];
    for (int i = threadIdx.x; i < 8 * 257; i += blockDim.x)
        bins[0][i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        uint32_t v = in[i];
        for (int k = 0; k < 4; k++, v >>= 8)
            atomicAdd(&bins[threadIdx.x / 32 & 7][v & 255], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < 8; w++)
            sum += bins[w][i];
        out[i] = sum;
    }
}

KERNEL atomics_mix(int *out, const int *in)
{
    __shared__ int sh[128];
    if (threadIdx.x < 128)
        sh[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int t = threadIdx.x, v = in[t] & 127;
    int a = atomicMax(&sh[t * 4 & 127], t);
    __syncthreads();
    int b = atomicExch(&sh[t & 127], t + a);
    __syncthreads();
    int c = atomicCAS(&sh[t * 2 & 127], -1, t);
    __syncthreads();
    atomicOr(&sh[v], 1 << (t & 15));
    __syncthreads();
    out[t] = sh[t & 127] * 0 + (a >= 0) + (b >= 0) + (c != -1);
}

KERNEL gather(int *out, const int *table, const int *index)
{
    __shared__ int sh[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        sh[i] = table[i];
    __syncthreads();
    out[threadIdx.x] = sh[index[threadIdx.x] & 1023];
}

KERNEL pointer_chase(int *out, const int *next)
{
    __shared__ int sh[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        sh[i] = next[i] & 1023;
    __syncthreads();
    int at = threadIdx.x;
    for (int i = 0; i < 8; i++)
        at = sh[at];
    out[threadIdx.x] = at;
}

KERNEL xor_param(int *out, const int *in, int row)
{
    __shared__ int sh[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        sh[i] = in[i & 1023];
    __syncthreads();
    int lane = threadIdx.x & 31;
    out[threadIdx.x] = sh[((row & 63) * 32 + lane) ^ ((row & 7) << 2)] + sh[lane * 64 ^ (row & 31)];
}

KERNEL divide_param(int *out, const int *in, int w, int h)
{
    extern __shared__ int sh[];
    for (int i = threadIdx.x; i < w * h; i += blockDim.x) {
        int y = i / w, x = i % w;
        sh[x * h + y] = in[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < w * h; i += blockDim.x)
        out[i] = sh[i];
}

// --- several arrays, structs, stencils --------------------------------------------------------------------------------------

KERNEL dynamic_arrays(int *out, const int *in, int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    int *ints = reinterpret_cast<int *>(raw);
    double *doubles = reinterpret_cast<double *>(raw + n * 4);
    uint8_t *bytes = raw + n * 12;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        ints[i] = in[i];
        doubles[i] = i;
        bytes[i] = in[i];
    }
    __syncthreads();
    int i = threadIdx.x * 5 % n;
    out[threadIdx.x] = ints[i] + static_cast<int>(doubles[i]) + bytes[i];
}

struct particle {
    float x, y, z;
    int id;
    float mass;
};

KERNEL structs(float *out, const float *in)
{
    __shared__ particle sh[128];
    int t = threadIdx.x;
    sh[t] = {in[t], in[t + 1], in[t + 2], t, in[t + 3]};
    __syncthreads();
    particle &p = sh[(t * 3) & 127];
    out[t] = p.x + p.z + p.id + p.mass;
}

KERNEL stencil2d(int *out, const int *in, int n)
{
    __shared__ int sh[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        int yy = blockIdx.y * 16 + i / 18 - 1, xx = blockIdx.x * 16 + i % 18 - 1;
        sh[i / 18][i % 18] = xx >= 0 && yy >= 0 && xx < n && yy < n ? in[yy * n + xx] : 0;
    }
    __syncthreads();
    int i = threadIdx.y + 1, j = threadIdx.x + 1;
    out[y * n + x] = sh[i][j] * 4 - sh[i - 1][j] - sh[i + 1][j] - sh[i][j - 1] - sh[i][j + 1];
}

KERNEL byte_lanes(uint8_t *out, const uint8_t *in)
{
    __shared__ uint8_t sh[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        sh[i] = in[i];
    __syncthreads();
    out[threadIdx.x] = sh[threadIdx.x] + sh[threadIdx.x * 4] + sh[(threadIdx.x * 130) & 4095];
}

KERNEL volatile_columns(int *out, const int *in, int pitch)
{
    __shared__ volatile int sh[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        sh[i] = in[i & 1023];
    __syncthreads();
    int v = 0;
    for (int k = 0; k < 16; k++)
        v = v * 5 + sh[((threadIdx.x & 31) * pitch + k) & 4095];
    out[threadIdx.x] = v;
}
