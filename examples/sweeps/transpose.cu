// A transposed copy of a square matrix of 32-bit words through a tile of 32 x 32, whose rows are PAD words longer. A block has
// 32 x ROWS threads.
constexpr int TILE = 32;
constexpr int SIZE = 16384;

extern "C" __global__ void __launch_bounds__(TILE * ROWS) transpose(const unsigned *in, unsigned *out) {
    __shared__ unsigned tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * SIZE + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) out[(size_t)(y + j) * SIZE + x] = tile[threadIdx.x][threadIdx.y + j];
}
