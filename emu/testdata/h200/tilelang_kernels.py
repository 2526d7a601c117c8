"""Compiles a few TileLang kernels for the recording. Usage: tilelang_kernels.py OUTPUT_FOLDER

Writes NAME.cubin files and tilelang_launches.txt in the format of launches.txt. The first tensor of every kernel is its
output, and tensors are named so that TileLang keeps that order.
"""
import os
import re
import subprocess
import sys

import tilelang
import tilelang.language as T


def transpose(n, b):
    @T.prim_func
    def main(A: T.Tensor((n, n), "int32"), B: T.Tensor((n, n), "int32")):
        with T.Kernel(n // b, n // b, threads=128) as (bx, by):
            tile = T.alloc_shared((b, b), "int32")
            for i, j in T.Parallel(b, b):
                tile[i, j] = B[by * b + i, bx * b + j]
            for i, j in T.Parallel(b, b):
                A[bx * b + i, by * b + j] = tile[j, i]

    return main


def scan(threads, chunk, pad, dtype):
    @T.prim_func
    def main(A: T.Tensor((2, threads * chunk), dtype), B: T.Tensor((2, threads * chunk), dtype)):
        with T.Kernel(2, threads=threads) as bx:
            tx = T.get_thread_binding()
            sh = T.alloc_shared((threads * (chunk + pad),), dtype)
            acc = T.alloc_local((1,), dtype)
            for i in T.serial(chunk):
                sh[(i * threads + tx) // chunk * (chunk + pad) + (i * threads + tx) % chunk] = B[bx, i * threads + tx]
            T.sync_threads()
            acc[0] = T.cast(1, dtype)
            for c in T.serial(chunk):
                acc[0] = acc[0] * sh[tx * (chunk + pad) + c]
                sh[tx * (chunk + pad) + c] = acc[0]
            T.sync_threads()
            for i in T.serial(chunk):
                A[bx, i * threads + tx] = sh[(i * threads + tx) // chunk * (chunk + pad) + (i * threads + tx) % chunk]

    return main


def matmul(n, k):
    @T.prim_func
    def main(A: T.Tensor((n, n), "float32"), B: T.Tensor((n, k), "float16"), C: T.Tensor((k, n), "float16")):
        with T.Kernel(1, threads=128) as _:
            b = T.alloc_shared((n, k), "float16")
            c = T.alloc_shared((k, n), "float16")
            acc = T.alloc_fragment((n, n), "float32")
            T.clear(acc)
            T.copy(B, b)
            T.copy(C, c)
            T.gemm(b, c, acc)
            T.copy(acc, A)

    return main


def row_max(n, m):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n, m), "float32")):
        with T.Kernel(1, threads=128) as _:
            b = T.alloc_fragment((n, m), "float32")
            a = T.alloc_fragment((n,), "float32")
            T.copy(B, b)
            T.reduce_max(b, a, dim=1)
            T.copy(a, A)

    return main


CASES = [
    ("transpose", transpose(128, 32), "4 4 1", 128, "i32[16384]=zero i32[16384]=lcg"),
    ("scan_f16_c64_p0", scan(64, 64, 0, "float16"), "2 1 1", 64, "f16[8192]=zero f16[8192]=small"),
    ("scan_f16_c64_p8", scan(64, 64, 8, "float16"), "2 1 1", 64, "f16[8192]=zero f16[8192]=small"),
    ("scan_f32_c64_p4", scan(64, 64, 4, "float32"), "2 1 1", 64, "f32[8192]=zero f32[8192]=small"),
    ("scan_f32_c64_p8", scan(64, 64, 8, "float32"), "2 1 1", 64, "f32[8192]=zero f32[8192]=small"),
    ("matmul", matmul(64, 32), "1 1 1", 128, "f32[4096]=zero f16[2048]=small f16[2048]=small"),
    ("row_max", row_max(16, 256), "1 1 1", 128, "f32[16]=zero f32[4096]=small"),
]

folder = sys.argv[1]
root = os.path.dirname(tilelang.__file__)
includes = [os.path.join(root, "src"), os.path.join(root, "3rdparty", "cutlass", "include")]
with open(f"{folder}/tilelang_launches.txt", "w") as launches:
    for name, func, grid, threads, args in CASES:
        source = tilelang.compile(func, target="cuda").get_kernel_source()
        match = re.search(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)\s*\{", source)
        kernel = match.group(1)
        source = re.sub(rf"\b{kernel}\b", f"tilelang_{name}", source)
        path = f"{folder}/tilelang_{name}"
        with open(path + ".cu", "w") as f:
            f.write(source)
        flags = [f"-I{i}" for i in includes]
        subprocess.run(["nvcc", "-arch=sm_90a", "-O3", "-std=c++17", "--expt-relaxed-constexpr", "-cubin", *flags, "-o",
                        path + ".cubin", path + ".cu"], check=True)
        print(name, match.group(2), file=sys.stderr)
        shared = 32768 if "extern __shared__" in source else 0
        print(f"tilelang_{name}.cubin:tilelang_{name}; {grid}; {threads} 1 1; {shared}; {args}", file=launches)
