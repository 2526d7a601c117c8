// ldmatrix on rows of 128 bytes: the eight row addresses of each 8x8 matrix start in the same bank, 8 passes per matrix.
//
// shmoo: --block 32
// want: site 14:9 ldmatrix requests 4 wavefronts 128 ideal 16
// want: total requests 4 wavefronts 128 ideal 16
#include <cuda_fp16.h>

__global__ void load_tile() {
    __shared__ __align__(128) half tile[16][64];
    int lane = threadIdx.x;
    for (int k = 0; k < 64; k += 16) {
        unsigned addr = __cvta_generic_to_shared(&tile[lane % 16][k + lane / 16 * 8]);
        unsigned r0, r1, r2, r3;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                     : "r"(addr));
    }
}
