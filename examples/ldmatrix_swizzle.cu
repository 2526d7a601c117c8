// ldmatrix on the same rows of 128 bytes with the 16-byte chunks of row r exchanged by r % 8: every matrix in one pass.
//
// shmoo: --block 32
// want: site 18:9 ldmatrix requests 4 wavefronts 16 ideal 16
// want: total requests 4 wavefronts 16 ideal 16
#include <cuda_fp16.h>

__device__ int swizzled(int row, int column) {
    return row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8;
}

__global__ void load_tile() {
    __shared__ __align__(128) half tile[16 * 64];
    int lane = threadIdx.x;
    for (int k = 0; k < 64; k += 16) {
        unsigned addr = __cvta_generic_to_shared(&tile[swizzled(lane % 16, k + lane / 16 * 8)]);
        unsigned r0, r1, r2, r3;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                     : "r"(addr));
    }
}
