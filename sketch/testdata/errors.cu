__shared__ int s[4];
s[0] = foo;  // want "'foo' is not declared, want a declaration or -D foo=VALUE"
---
__shared__ Foo s[4];  // want "unknown type 'Foo'"
---
#define TILE 32
__global__ void k() {
    __shared__ float t[TILE][TILE;  // want "got ';', want ']' after an array bound"
    t[0][0] = 1;
}
---
__global__ void k() {
    __shared__ int s[4];
    s[0] = 1 +;  // want "got ';', want an expression"
    s[1] = 2;
    s[2] = );  // want "got '\)', want an expression"
}
---
__global__ void k() {
    __shared__ int s[4];
    s[0] = 1  // comment
    s[1] = 2;  // want "got 's', want ';' after an expression"
}
---
__global__ void k(int n) {
    __shared__ int s[n];  // want "an array bound is not constant: want constants, or a -D for each name in it"
}
---
template <int TILE, typename T>
__global__ void k() {  // want "template parameter TILE of k has no value, want -D TILE=VALUE"
    __shared__ T s[TILE];
    s[0] = 1;
}
---
__device__ int f(int x) {
    return x > 0 ? f(x - 1) : 0;  // want "f calls itself, want a function without recursion"
}
__global__ void k() {
    __shared__ int s[4];
    s[f(2)] = 1;
}
---
__global__ void k() {
    __shared__ int s[4];
again:  // want "label again: goto is outside the subset"
    s[0] = 1;
    goto again;  // want "goto is outside the subset"
}
---
struct Tile {
    int x : 3;  // want "bit-field x: bit-fields are outside the subset"
};
__global__ void k() {
    __shared__ Tile s[4];
    s[0].x;
}
---
__global__ void k() {
    __shared__ float4 s[4];
    s[0].w = s[1].q;  // want "type float4 has no member 'q'"
}
---
__global__ void k() {
    __shared__ int s[4];
    int x = 3;
    x[0] = 1;  // want "got a value of type int, want an array or pointer to index"
    *x = 2;  // want "got a value of type int, want a pointer"
    s[1.5f] = 1;  // want "got an index of type float, want an integer"
    5 = x;  // want "got a value, want a place to assign to"
    s = 0;  // want "got a value of type int, want an element of the array to assign to"
}
---
__global__ void k() {
    __shared__ int s[4];
    s[threadIdx.w] = 1;  // want "threadIdx has no member 'w', want x, y or z"
    break;  // want "break or continue outside a loop"
}
---
__global__ void k() {
    __shared__ int s[4];
    for (int i = 0; i < 4; i++) {
        s[4 / (i - i)] = 1;  // want "division by zero in lane 0 of warp 0"
    }
}
---
__global__ void k() {
    __shared__ int s[4];
    int i = 0;
    while (i < 4) s[i & 3] = 1;  // want "runs more than \d+ steps: is the loop endless"
}
---
#if 1
__shared__ int s[4];
s[0];
#else
#endif
#endif  // want "#endif without #if"
---
#error do not use  // want "#error do not use"
__shared__ int s[4]; s[0];
---
#if 1 +  // want "#if expression ends early"
#endif
__shared__ int s[4]; s[0];
---
#define F(a, b) a + b
__shared__ int s[4];
s[F(1)];  // want "macro F got 1 arguments, want 2"
---
__global__ void k() {
    __shared__ __align__(3) int s[4];  // want "alignment is 3, want a power of two"
    s[0] = 1;
}
---
__global__ void k() {
    __shared__ int s[4];
    auto x;  // want "auto x has no initializer"
    int &r;  // want "reference r has no initializer"
    void v;  // want "variable v has type void"
    s[0] = 1;
}
---
__global__ void k() {
    __shared__ char s[64];
    unsigned r;
    asm volatile("ld.shared.v4.b64 {%0,%0,%0,%0}, [%1];" : "=r"(r) : "r"(0));  // want "asm access of 32 bytes, want at most 16"
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" :: "r"(0), "l"(s), "r"(12));  // want "size of cp.async is '%2', want 4, 8 or 16"
    s[0] = 1;
}
---
// Host code is passed over, whatever is in it.
#include <vector>
template <class... Ts> struct Bag { std::tuple<Ts...> all; };
void host(std::vector<int>& v) { for (auto& x : v) { try { x++; } catch (...) {} } goto end; end: return; }
class Timer { public: Timer() : t(0) {} ~Timer() {} private: int t; };
__global__ void k() { __shared__ int s[4]; s[threadIdx.x & 3] = 1; }
int main() { host(v); k<<<1, 32>>>(); auto f = [&](int a) { return a; }; return f(0); }
