// A copy and nothing else: what device memory gives to a kernel. VEC bytes a lane and access.
template <int bytes> struct Vector;
template <> struct Vector<4> { using type = unsigned; };
template <> struct Vector<8> { using type = uint2; };
template <> struct Vector<16> { using type = uint4; };

extern "C" __global__ void __launch_bounds__(256) copy(const void *in, void *out) {
    using V = typename Vector<VEC>::type;
    constexpr int EACH = 16384 / VEC / 256; // a block moves 16 KiB
    const V *from = (const V *)in + (size_t)blockIdx.x * EACH * 256;
    V *to = (V *)out + (size_t)blockIdx.x * EACH * 256;
#pragma unroll
    for (int i = 0; i < EACH; i++) to[i * 256 + threadIdx.x] = from[i * 256 + threadIdx.x];
}
