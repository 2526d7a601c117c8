// The inner product of a 128x128x8 SGEMM tile: 256 threads, 8x8 results each. A is stored transposed, one float at a time;
// the fragments are read four floats at a time. The stores of A are 2-way conflicts (a warp writes to two rows of the tile,
// whose banks are the same), and so are the reads of B: lanes lie 8 floats apart, so the eight lanes of a quarter cover two
// rows of banks.
//
// shmoo: -D K=1024 -D N=1024
// want: site 29:9 store requests 1024 wavefronts 2048 ideal 1024
// want: site 30:9 store requests 1024 wavefronts 2048 ideal 1024
// want: site 31:9 store requests 1024 wavefronts 2048 ideal 1024
// want: site 32:9 store requests 1024 wavefronts 2048 ideal 1024
// want: site 34:9 store requests 1024 wavefronts 4096 ideal 4096
// want: site 40:54 load requests 16384 wavefronts 32768 ideal 32768
// want: site 42:54 load requests 16384 wavefronts 131072 ideal 65536
// want: total requests 37888 wavefronts 176128 ideal 106496
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;

__global__ void __launch_bounds__(BM * BN / (TM * TN)) sgemm(int N, int K, const float *A, const float *B, float *C) {
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];

    const int row = threadIdx.x / (BN / TN);
    const int col = threadIdx.x % (BN / TN);
    float acc[TM][TN] = {};
    float a[TM], b[TN];

    for (int k0 = 0; k0 < K; k0 += BK) {
        const int r = threadIdx.x / 2, c = threadIdx.x % 2 * 4;
        const float4 v = *reinterpret_cast<const float4 *>(&A[(blockIdx.y * BM + r) * K + k0 + c]);
        As[c + 0][r] = v.x;
        As[c + 1][r] = v.y;
        As[c + 2][r] = v.z;
        As[c + 3][r] = v.w;
        const int br = threadIdx.x / 32, bc = threadIdx.x % 32 * 4;
        *reinterpret_cast<float4 *>(&Bs[br][bc]) =
            *reinterpret_cast<const float4 *>(&B[(k0 + br) * N + blockIdx.x * BN + bc]);
        __syncthreads();

        for (int k = 0; k < BK; k++) {
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4 *>(&a[i]) = *reinterpret_cast<float4 *>(&As[k][row * TM + i]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4 *>(&b[j]) = *reinterpret_cast<float4 *>(&Bs[k][col * TN + j]);
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    C[(blockIdx.y * BM + row * TM) * N + blockIdx.x * BN + col * TN] = acc[0][0];
}
