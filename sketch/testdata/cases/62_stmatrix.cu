// Case 62, NVIDIA/Fuser PR 3499 (certainty A for 0 conflicts with the swizzle, B without): stmatrix into rows of 128 bytes.
// shmoo: --block 32
__shared__ __align__(1024) unsigned char tile[32 * 128];
unsigned at = __cvta_generic_to_shared(tile) + threadIdx.x * 128;
asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(0));  // want: stmatrix requests 1 wavefronts 32 ideal 4
at ^= at >> 3 & 0x70;
asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(0));  // want: stmatrix requests 1 wavefronts 4 ideal 4
