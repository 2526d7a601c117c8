// A 16x16 block reads the columns of a 16x16 tile. A warp covers two columns, so the well-known pad of one word leaves
// 2-way conflicts on 32 banks: lanes 16 apart meet. Without the pad it is 8-way.
//
// shmoo: --block 16,16 -D PAD=1
// want: site 14:5 store requests 8 wavefronts 16 ideal 8
// want: site 16:43 load requests 8 wavefronts 16 ideal 8
// want: total requests 16 wavefronts 32 ideal 16
#ifndef PAD
#define PAD 0
#endif

__global__ void columns(float *out) {
    __shared__ float tile[16][16 + PAD];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
