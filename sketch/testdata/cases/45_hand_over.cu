// Case 45, NVIDIA/cudnn-frontend PR 941 (certainty A: 32.06 wavefronts per load against 4.00 were measured).
// shmoo: --block 32
__shared__ __align__(16) float sXfer[32][64];
int lane = threadIdx.x;
for (int c = 0; c < 16; c++) {
    *reinterpret_cast<float4 *>(&sXfer[lane][c * 4]);                   // want: load requests 16 wavefronts 512 ideal 64
    *reinterpret_cast<float4 *>(&sXfer[lane][(c ^ lane % 8) * 4]);      // want: load requests 16 wavefronts 64 ideal 64
}
