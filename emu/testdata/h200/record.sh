#!/usr/bin/env bash
# Records what a Hopper GPU does with the kernels of this folder. Needs nvcc, PyTorch with Triton, TileLang, Nsight Compute,
# and the right to read counters. Usage: record.sh SCRATCH_FOLDER; the files of this folder are rewritten.
# Recorded on an H200, driver 580.159.04, nvcc 13.0.88, Triton 3.6.0, TileLang 0.1.15.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tmp=$1
mkdir -p "$tmp"
nvcc -arch=sm_90 -O3 -lineinfo -std=c++17 -cubin -o "$tmp/kernels.cubin" "$here/kernels.cu"
gzip -9 -n -c "$tmp/kernels.cubin" > "$here/kernels.cubin.gz"
nvcc -O2 -std=c++17 -o "$tmp/runner" "$here/runner.cpp" -lcuda
TRITON_DISABLE_LINE_INFO=1 python3 "$here/triton_kernels.py" "$tmp"
python3 "$here/tilelang_kernels.py" "$tmp"
cp "$tmp"/t[ri]*_*.cubin "$tmp"/t[ri]*_launches.txt "$here"

pattern='^(l1tex__data_(pipe_lsu_wavefronts|bank_conflicts_pipe_lsu)_mem_shared)[a-z0-9_]*'
metrics=$(ncu --query-metrics --chips gh100 | grep -oE "$pattern" | sed 's/$/.sum/' | paste -sd,)
for name in "" triton_ tilelang_; do
  run=("$tmp/runner" "$here/${name}launches.txt" "$tmp")
  "${run[@]}" > "$here/${name}outputs.txt"
  ncu --clock-control none --cache-control none --metrics "$metrics" --csv --print-units base "${run[@]}" \
    > "$tmp/${name}counters.csv"
  ncu --clock-control none --cache-control none --section SourceCounters -f -o "$tmp/${name}source" "${run[@]}"
  ncu --import "$tmp/${name}source.ncu-rep" --page source --csv --print-units base > "$tmp/${name}source.csv"
  python3 "$here/condense.py" "$tmp" "$name"
done
