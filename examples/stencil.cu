// A five-point stencil on a 32x8 tile with a halo of one. Rows of 34 floats shift by two banks a row; a warp reads along a
// row, so every access is free. The halo is filled by few lanes.
//
// shmoo: --block 32,8 -D pitch=1024
// want: site 23:5 store requests 8 wavefronts 8 ideal 8
// want: site 25:9 store requests 8 wavefronts 8 ideal 8
// want: site 26:9 store requests 8 wavefronts 8 ideal 8
// want: site 29:9 store requests 1 wavefronts 1 ideal 1
// want: site 30:9 store requests 1 wavefronts 1 ideal 1
// want: site 33:36 load requests 8 wavefronts 8 ideal 8
// want: site 33:46 load requests 8 wavefronts 8 ideal 8
// want: site 33:60 load requests 8 wavefronts 8 ideal 8
// want: site 33:74 load requests 8 wavefronts 8 ideal 8
// want: site 33:88 load requests 8 wavefronts 8 ideal 8
// want: total requests 66 wavefronts 66 ideal 66
constexpr int W = 32, H = 8;

__global__ void stencil(const float *in, float *out, int pitch) {
    __shared__ float t[H + 2][W + 2];
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    const int gx = blockIdx.x * W + threadIdx.x, gy = blockIdx.y * H + threadIdx.y;

    t[y][x] = in[gy * pitch + gx];
    if (threadIdx.x == 0) {
        t[y][0] = in[gy * pitch + gx - 1];
        t[y][W + 1] = in[gy * pitch + gx + W];
    }
    if (threadIdx.y == 0) {
        t[0][x] = in[(gy - 1) * pitch + gx];
        t[H + 1][x] = in[(gy + H) * pitch + gx];
    }
    __syncthreads();
    out[gy * pitch + gx] = 0.2f * (t[y][x] + t[y][x - 1] + t[y][x + 1] + t[y - 1][x] + t[y + 1][x]);
}
