// Case 61, HazyResearch/ThunderKittens issue 147 (certainty B): a swizzle of the absolute address in 128-byte mode frees the
// rows of an 8x8 matrix.
// shmoo: --block 32
__shared__ __align__(1024) unsigned char tile[8 * 128];
unsigned r;
unsigned at = __cvta_generic_to_shared(tile) + threadIdx.x % 8 * 128;
asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at));  // want: ldmatrix requests 1 wavefronts 8 ideal 1
at ^= ((at % 1024) >> 7) << 4;
asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at));  // want: ldmatrix requests 1 wavefronts 1 ideal 1
