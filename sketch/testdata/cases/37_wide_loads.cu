// Case 37, forum 359822 (certainty A: 32 and 4 wavefronts per LDS.128 were measured, conflicts are the excess over 4).
// shmoo: --block 32
__shared__ float4 bad[32][8];
__shared__ float4 good[32];
bad[threadIdx.x][0];    // want: load requests 1 wavefronts 32 ideal 4
good[threadIdx.x];      // want: load requests 1 wavefronts 4 ideal 4
