// Points that go wrong, one way each: MODE 0 is right and 5 is the same, 1 gives a wrong result, 2 faults (its address is odd), 3 never ends, 4 does
// not compile.
#if MODE == 4
#error this point does not compile
#endif

extern "C" __global__ void broken(int *out) {
    __shared__ int tile[256];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int v = tile[255 - threadIdx.x];
    if (MODE == 1 && blockIdx.x == 3) v++;
    if (MODE == 2 && blockIdx.x == 3) out = (int *)((char *)out + 1);
    if (MODE == 3 && blockIdx.x == 3)
        while (true) asm volatile("" ::: "memory");
    out[blockIdx.x * 256 + threadIdx.x] = v;
}
