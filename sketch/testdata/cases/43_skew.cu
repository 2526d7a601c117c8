// Case 43, NVlabs/tiny-cuda-nn issue 257 (certainty B): contiguous int4 are free; rows of 256 bytes want a skew of 16 bytes.
// shmoo: --block 32
__shared__ int4 flat[32];
__shared__ __align__(16) half plain[32][128];
__shared__ __align__(16) half skewed[32][128 + 8];
unsigned r[4];
#define LDMATRIX(p) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" \
    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((unsigned)__cvta_generic_to_shared(p)))
flat[threadIdx.x] = int4{};             // want: store requests 1 wavefronts 4 ideal 4
LDMATRIX(&plain[threadIdx.x][0]);       // want: ldmatrix requests 1 wavefronts 32 ideal 4
LDMATRIX(&skewed[threadIdx.x][0]);      // want: ldmatrix requests 1 wavefronts 4 ideal 4
