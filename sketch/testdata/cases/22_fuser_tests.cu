// Cases 22 and 33, the asserted ways of NVIDIA/Fuser's bank-conflict tests (certainty A against those tests).
// shmoo: --block 32
__shared__ float f[32][32];
__shared__ bool b[32][32];
__shared__ __align__(16) float v[32 * 64];
int lane = threadIdx.x;
f[lane][0];                                             // want: load requests 1 wavefronts 32 ideal 1
f[0][lane];                                             // want: load requests 1 wavefronts 1 ideal 1
b[lane][0];                                             // want: load requests 1 wavefronts 8 ideal 1
*reinterpret_cast<float4 *>(&v[lane * 32]) = float4();  // want: store requests 1 wavefronts 32 ideal 4
v[lane * 4];                                            // want: load requests 1 wavefronts 4 ideal 1
v[lane * 2];                                            // want: load requests 1 wavefronts 2 ideal 1
*reinterpret_cast<float2 *>(&v[lane * 64]);             // want: load requests 1 wavefronts 32 ideal 2
