#!/bin/sh
# Rebuilds the binaries in this folder from the sources beside them. Needs nvcc 13.5 on PATH (PyPI: nvidia-cuda-nvcc,
# nvidia-nvvm, nvidia-cuda-crt, nvidia-cuda-runtime); the file of the old ABI also needs PTXAS12, the ptxas of CUDA 12.6
# (PyPI: nvidia-cuda-nvcc-cu12 12.6.85). Line tables hold the folder of the sources, so it is always /src.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /src
cp "$here"/*.cu /src
cd /src
targets=
for a in 75 80 90 100 120; do targets="$targets -gencode arch=compute_$a,code=sm_$a"; done
for f in transpose scan misc moves; do
    nvcc -fatbin -lineinfo -Xfatbin=-compress-all $targets -o "$here/$f.fatbin" $f.cu
done
if [ -n "$PTXAS12" ]; then
    nvcc -ptx -lineinfo -arch compute_75 -o transpose.ptx transpose.cu
    sed -e 's/^\.version .*/.version 8.0/' -e 's/^\.target .*/.target sm_70/' transpose.ptx > old.ptx
    "$PTXAS12" -arch sm_70 -lineinfo -o "$here/transpose_sm70.cubin" old.ptx
fi
