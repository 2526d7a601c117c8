// The tiles of an attention step: Q and K come in by 16-byte copies into swizzled rows of 64 halves, Q and K fragments go
// out by ldmatrix, and the probabilities are handed over through a score tile whose rows are padded to 72 halves. The
// swizzle and the pad free everything, except that the store rule is only an estimate for cp.async past L1.
//
// shmoo: --smem 32768
// want: site 24:5 cp.async.cg requests 16 wavefronts 64 ideal 64
// want: site 24:5 cp.async.cg requests 16 wavefronts 64 ideal 64
// want: site 28:5 ldmatrix requests 16 wavefronts 64 ideal 64
// want: site 28:5 ldmatrix requests 64 wavefronts 256 ideal 256
// want: site 60:9 store requests 32 wavefronts 32 ideal 32
// want: total requests 144 wavefronts 480 ideal 480
#include <cuda_fp16.h>

template <int B, int M, int S>
__device__ int swizzle(int x) {
    return x ^ ((x >> S) & (((1 << B) - 1) << M));
}

__device__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void copy16(unsigned to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

__device__ void load_matrices(unsigned (&r)[4], unsigned addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(addr));
}

template <int ROWS = 64, int HEAD = 64>
__global__ void __launch_bounds__(128) attention(const half *q, const half *k) {
    extern __shared__ __align__(1024) half smem[];
    half *sq = smem;
    half *sk = sq + ROWS * HEAD;
    half *sp = sk + ROWS * HEAD;

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < ROWS * HEAD / 8; i += blockDim.x) {
        const int at = swizzle<3, 3, 3>(i * 8);
        copy16(shared_address(sq + at), q + i * 8);
        copy16(shared_address(sk + at), k + i * 8);
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();

    for (int d = 0; d < HEAD; d += 16) {
        unsigned a[4], b[4];
        const int column = d + lane / 16 * 8;
        load_matrices(a, shared_address(sq + swizzle<3, 3, 3>((warp * 16 + lane % 16) * HEAD + column)));
        for (int n = 0; n < ROWS; n += 16)
            load_matrices(b, shared_address(sk + swizzle<3, 3, 3>((n + lane % 16) * HEAD + column)));
    }

    for (int n = 0; n < ROWS; n += 8) {
        half2 p = __floats2half2_rn(0.0f, 0.0f);
        *reinterpret_cast<half2 *>(sp + (warp * 16 + lane / 4) * (ROWS + 8) + n + lane % 4 * 2) = p;
    }
}
