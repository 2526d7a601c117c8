#!/bin/sh
# Builds the cubins that the tests run: nvcc of CUDA 13, from the PATH or $NVCC.
set -e
cd "$(dirname "$0")"
for arch in 75 80 86 90 120; do
	"${NVCC:-nvcc}" -std=c++17 -O3 -arch=sm_$arch -cubin -o kernels.sm_$arch.cubin kernels.cu
done
nvcc90="${NVCC:-nvcc} -std=c++17 -O3 -arch=sm_90 -cubin"
$nvcc90 -lineinfo -o faults.sm_90.cubin faults.cu
$nvcc90 -o async.sm_90.cubin async.cu
