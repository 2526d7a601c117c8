// Case 17, NVIDIA/Fuser PR 3186 (certainty B): four consecutive floats per lane, one at a time against one 128-bit load.
// shmoo: --block 32
__shared__ __align__(16) float s[128];
for (int j = 0; j < 4; j++)
    s[threadIdx.x * 4 + j];                             // want: load requests 4 wavefronts 16 ideal 4
*reinterpret_cast<float4 *>(&s[threadIdx.x * 4]);       // want: load requests 1 wavefronts 4 ideal 4
