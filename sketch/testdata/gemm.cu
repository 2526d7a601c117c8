// A GEMM of 128x128x32 tiles: 256 threads, 8x8 results each, A stored transposed, K = 4096.
constexpr int BM = 128, BN = 128, BK = 32, TM = 8, TN = 8;
constexpr int K = 4096, N = 4096;

__global__ void __launch_bounds__(BM * BN / (TM * TN)) gemm(const float *A, const float *B, float *C) {
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];
    const int row = threadIdx.x / (BN / TN), col = threadIdx.x % (BN / TN);
    float acc[TM][TN] = {};
    float a[TM], b[TN];
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK / 4; i += blockDim.x) {
            int r = i / (BK / 4), c = i % (BK / 4) * 4;
            float4 v = *reinterpret_cast<const float4 *>(&A[r * K + c]);
            As[c + 0][r] = v.x;
            As[c + 1][r] = v.y;
            As[c + 2][r] = v.z;
            As[c + 3][r] = v.w;
        }
        for (int i = threadIdx.x; i < BK * BN / 4; i += blockDim.x) {
            int r = i / (BN / 4), c = i % (BN / 4) * 4;
            *reinterpret_cast<float4 *>(&Bs[r][c]) = *reinterpret_cast<const float4 *>(&B[r * N + c]);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k++) {
            for (int i = 0; i < TM; i++)
                a[i] = As[k][row * TM + i];
            for (int j = 0; j < TN; j++)
                b[j] = Bs[k][col * TN + j];
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
        A += BK;
        B += BK * N;
    }
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            C[(blockIdx.y * BM + row * TM + i) * N + blockIdx.x * BN + col * TN + j] = acc[i][j];
}
