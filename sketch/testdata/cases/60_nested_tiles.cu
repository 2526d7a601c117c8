// Case 60, microsoft/TileFusion issues 38 and 42 (certainty B): rows of 16 and of 64 halves, swizzled by element index.
// shmoo: --block 32
#define SWIZZLE(B, x) ((x) ^ ((x) >> 3 & ((1 << B) - 1) << 3))
#define LDMATRIX(x) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" \
    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((unsigned)__cvta_generic_to_shared(tile + (x))))
__shared__ __align__(1024) half tile[16 * 64];
unsigned r[4];
int row = threadIdx.x % 16, column = threadIdx.x / 16 * 8;
LDMATRIX(row * 16 + column);                    // want: ldmatrix requests 1 wavefronts 8 ideal 4
LDMATRIX(SWIZZLE(2, row * 16 + column));        // want: ldmatrix requests 1 wavefronts 4 ideal 4
LDMATRIX(SWIZZLE(3, row * 64 + column));        // want: ldmatrix requests 1 wavefronts 4 ideal 4
LDMATRIX(SWIZZLE(2, row * 64 + column));        // want: ldmatrix requests 1 wavefronts 8 ideal 4
