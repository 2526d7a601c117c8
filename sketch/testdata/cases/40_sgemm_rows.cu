// Case 40, xlite-dev/LeetCUDA issue 399 (certainty B): contiguous float4 in s_b[8][128] are free, lanes 0/8/16/24 do not meet.
// shmoo: --block 256
__shared__ __align__(16) float s_b[8][128];
*reinterpret_cast<float4 *>(&s_b[threadIdx.x / 32][threadIdx.x % 32 * 4]) = float4{};  // want: store requests 8 wavefronts 32 ideal 32
