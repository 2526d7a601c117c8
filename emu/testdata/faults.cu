// Kernels that the hardware would stop, for the diagnostics of faults_test.go. Compiled with -lineinfo.
typedef unsigned int u32;

extern "C" __global__ void misaligned(u32* out, int shift) {
    __shared__ __align__(16) unsigned char s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = *(u32*)(s + threadIdx.x * 4 + (threadIdx.x == 37 ? shift : 0));
}

extern "C" __global__ void outside(u32* out, int n) {
    extern __shared__ u32 d[];
    d[threadIdx.x * n] = 1;
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x];
}

extern "C" __global__ void trapped(u32* out, int n) {
    if (threadIdx.x == 70 && n > 3) __trap();
    out[threadIdx.x] = n;
}

extern "C" __global__ void endless(volatile u32* out) {
    __shared__ volatile u32 flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    while (flag == 0) {}
    out[threadIdx.x] = 1;
}

extern "C" __global__ void stuck(u32* out) {
    __shared__ u32 s[64];
    s[threadIdx.x] = out[threadIdx.x];
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    else asm volatile("bar.sync 2, 64;");
    out[threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ __launch_bounds__(64) void bounded(u32* out) { out[threadIdx.x] = 1; }
