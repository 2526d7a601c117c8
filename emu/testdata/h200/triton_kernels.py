"""Compiles a few Triton kernels for the recording. Usage: triton_kernels.py OUTPUT_FOLDER

Writes NAME.cubin files and triton_launches.txt in the format of launches.txt. The arguments after a kernel's own are the
scratch pointers that Triton appends.
"""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(out, x, n: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, n)
    v = tl.load(x + row * n + cols)
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * n + cols, v / tl.sum(v, 0))


@triton.jit
def transpose(out, x, n, b: tl.constexpr):
    i = tl.program_id(0) * b + tl.arange(0, b)
    j = tl.program_id(1) * b + tl.arange(0, b)
    v = tl.load(x + i[:, None] * n + j[None, :])
    tl.store(out + j[:, None] * n + i[None, :], tl.trans(v))


@triton.jit
def row_sums(out, x, n: tl.constexpr, m: tl.constexpr):
    i = tl.arange(0, n)
    j = tl.arange(0, m)
    v = tl.load(x + i[:, None] * m + j[None, :])
    tl.store(out + i, tl.sum(v, 1))


@triton.jit
def scan_rows(out, x, n: tl.constexpr, m: tl.constexpr):
    i = tl.arange(0, n)
    j = tl.arange(0, m)
    at = i[:, None] * m + j[None, :]
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def matmul(out, a, b, n: tl.constexpr, k: tl.constexpr):
    i = tl.arange(0, n)
    j = tl.arange(0, k)
    x = tl.load(a + i[:, None] * k + j[None, :])
    y = tl.load(b + j[:, None] * n + i[None, :])
    tl.store(out + i[:, None] * n + i[None, :], tl.dot(x, y))


@triton.jit
def sort_row(out, x, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.sort(tl.load(x + i)))


folder = sys.argv[1]
f32, f16, i32 = torch.float32, torch.float16, torch.int32
z = lambda t: torch.empty(1, dtype=t, device="cuda")
cases = [
    (softmax, (z(f32), z(f32), 1024), {}, "4 1 1", "f32[4096]=zero f32[4096]=small"),
    (transpose, (z(i32), z(i32), 128, 64), {}, "2 2 1", "i32[16384]=zero i32[16384]=lcg i32=128"),
    (row_sums, (z(i32), z(i32), 32, 256), {}, "1 1 1", "i32[32]=zero i32[8192]=lcg"),
    (scan_rows, (z(i32), z(i32), 128, 32), {}, "1 1 1", "i32[4096]=zero i32[4096]=lcg"),
    (matmul, (z(f32), z(f16), z(f16), 64, 32), {}, "1 1 1", "f32[4096]=zero f16[2048]=small f16[2048]=small"),
    (sort_row, (z(i32), z(i32), 512), {}, "1 1 1", "i32[512]=zero i32[512]=lcg"),
]
with open(f"{folder}/triton_launches.txt", "w") as launches:
    for fn, args, options, grid, text in cases:
        k = fn.warmup(*args, grid=(1, ), **options)
        m = k.metadata
        name = f"triton_{m.name}.cubin"
        open(f"{folder}/{name}", "wb").write(k.asm["cubin"])
        print(f"{name}:{m.name}; {grid}; {m.num_warps * 32} 1 1; {m.shared}; {text} i64[1]=zero i64[1]=zero",
              file=launches)
