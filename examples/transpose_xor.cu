// Matrix transpose with an XOR swizzle: the column index is mixed with the row, so both directions are free and the tile
// stays 4096 bytes.
//
// shmoo: --block 32,8 -D width=1024 -D height=1024
// want: site 18:9 store requests 32 wavefronts 32 ideal 32
// want: site 27:37 load requests 32 wavefronts 32 ideal 32
// want: total requests 64 wavefronts 64 ideal 64
#define TILE 32
#define ROWS 8

__global__ void transpose(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE][TILE];

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        int row = threadIdx.y + j;
        tile[row][threadIdx.x ^ row] = in[(y + j) * width + x];
    }

    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        int column = threadIdx.y + j;
        out[(y + j) * height + x] = tile[threadIdx.x][column ^ threadIdx.x];
    }
}
