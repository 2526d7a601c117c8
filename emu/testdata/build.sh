#!/bin/sh
# Builds the cubins that the tests run: nvcc of CUDA 13, from the PATH or $NVCC.
set -e
cd "$(dirname "$0")"
build() { # OUTPUT ARCH SOURCE FLAG...
	out=$1 arch=$2 source=$3
	shift 3
	"${NVCC:-nvcc}" -std=c++17 -O3 -arch=sm_$arch -cubin "$@" -o $out "$source"
	# Line tables name the folder of the build: that is nobody's business.
	here=$(pwd) perl -pi -e 's/\Q$ENV{here}\E/"." . "\/" x (length($&) - 1)/ge' $out
	gzip -9 -n -f $out
}
for arch in 75 80 86 90 120; do
	build kernels.sm_$arch.cubin $arch kernels.cu
done
build faults.sm_90.cubin 90 faults.cu -lineinfo
build async.sm_90.cubin 90 async.cu
