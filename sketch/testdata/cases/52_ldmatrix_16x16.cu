// Case 52, wenqiny/studyNote (certainty B): bf16 16x16 with rows of 32 bytes, lanes 8-15 the right half, 16-23 the lower half.
// shmoo: --block 32
__shared__ __align__(16) __nv_bfloat16 tile[16][16];
unsigned r[4];
int lane = threadIdx.x;
unsigned at = __cvta_generic_to_shared(&tile[lane / 16 * 8 + lane % 8][lane / 8 % 2 * 8]);
asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));  // want: ldmatrix requests 1 wavefronts 8 ideal 4
