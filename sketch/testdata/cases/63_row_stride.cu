// Case 63, NVIDIA/Fuser PR 155 (certainty B): ldmatrix conflicts are gcd(row stride in 16-byte units, 8)-way.
// shmoo: --block 32
#define LDMATRIX(units) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(base + row * units * 16))
__shared__ __align__(16) unsigned char tile[8 * 8 * 16];
unsigned r, base = __cvta_generic_to_shared(tile), row = threadIdx.x % 8;
LDMATRIX(3);    // want: ldmatrix requests 1 wavefronts 1 ideal 1
LDMATRIX(5);    // want: ldmatrix requests 1 wavefronts 1 ideal 1
LDMATRIX(6);    // want: ldmatrix requests 1 wavefronts 2 ideal 1
LDMATRIX(4);    // want: ldmatrix requests 1 wavefronts 4 ideal 1
LDMATRIX(8);    // want: ldmatrix requests 1 wavefronts 8 ideal 1
