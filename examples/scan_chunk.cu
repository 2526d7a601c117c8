// Every lane scans a chunk of its own: 56 halves, padded by the customary 16 bytes. 56 + 8 halves are 32 words, so each
// lane starts in the same bank and every access takes 32 passes. A pad of 2 halves (29 words) would free it.
//
// shmoo: --block 32
// want: site 18:27 load requests 56 wavefronts 1792 ideal 56
// want: site 19:9 store requests 56 wavefronts 1792 ideal 56
// want: total requests 112 wavefronts 3584 ideal 112
#include <cuda_fp16.h>

constexpr int CHUNK = 56;
constexpr int PAD = 8;

__global__ void scan_chunks(half *data) {
    __shared__ half rows[32][CHUNK + PAD];
    int lane = threadIdx.x;
    half sum = __float2half(0.0f);
    for (int i = 0; i < CHUNK; i++) {
        sum = __hadd(sum, rows[lane][i]);
        rows[lane][i] = sum;
    }
}
