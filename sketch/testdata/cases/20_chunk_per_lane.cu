// Case 20, the TileOPs page (certainty A for 32 and 64 bit, C for times at 128 bit): a chunk of S words per lane. 32 bit takes
// gcd(S, 32); 64 bit with S = 64 and 36 takes 32 and 4; 128 bit takes gcd. Halves: chunk 56 + 8 is 32 words.
// shmoo: --block 32
__shared__ __align__(16) float s[32 * 64];
__shared__ half h[32][56 + 8];
int lane = threadIdx.x;
s[lane * 33];                                   // want: load requests 1 wavefronts 1 ideal 1
s[lane * 34];                                   // want: load requests 1 wavefronts 2 ideal 1
s[lane * 36];                                   // want: load requests 1 wavefronts 4 ideal 1
s[lane * 40];                                   // want: load requests 1 wavefronts 8 ideal 1
s[lane * 48];                                   // want: load requests 1 wavefronts 16 ideal 1
s[lane * 64];                                   // want: load requests 1 wavefronts 32 ideal 1
*reinterpret_cast<float2 *>(s + lane * 64);     // want: load requests 1 wavefronts 32 ideal 2
*reinterpret_cast<float2 *>(s + lane * 36);     // want: load requests 1 wavefronts 4 ideal 2
*reinterpret_cast<float4 *>(s + lane * 36);     // want: load requests 1 wavefronts 4 ideal 4
*reinterpret_cast<float4 *>(s + lane * 40);     // want: load requests 1 wavefronts 8 ideal 4
*reinterpret_cast<float4 *>(s + lane * 48);     // want: load requests 1 wavefronts 16 ideal 4
*reinterpret_cast<float4 *>(s + lane * 64);     // want: load requests 1 wavefronts 32 ideal 4
h[lane][0];                                     // want: load requests 1 wavefronts 32 ideal 1
