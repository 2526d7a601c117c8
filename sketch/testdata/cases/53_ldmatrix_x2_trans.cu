// Case 53, Bruce-Lee-LY/cuda_hgemm issue 4 (certainty A: the profiler showed 2 conflicts).
// shmoo: --block 32
__shared__ __align__(16) half b[16][16];
unsigned r[2];
unsigned at = __cvta_generic_to_shared(&b[threadIdx.x % 16][0]);
asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));  // want: ldmatrix requests 1 wavefronts 4 ideal 2
