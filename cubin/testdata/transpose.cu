// Tile transposes: 32 x 32 floats through shared memory, with rows of 32 and of 33 words.
template <int PAD>
__global__ void transpose(float *out, const float *in, int width) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}
template __global__ void transpose<0>(float *, const float *, int);
template __global__ void transpose<1>(float *, const float *, int);
