package fix

import (
	"context"
	"testing"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/layout"
	"shmoo/smem"
)

// TestPublicCases holds figures that people printed or asked for in public, each with the place where it was met.
func TestPublicCases(t *testing.T) {
	column := func(pitch int) *Problem { // one column of floats
		b := &builder{arrays: []access.Array{array("t", 4, 32, pitch)}}
		b.site("column", smem.Load, 4, 1, func(_, l int) int { return 4 * pitch * l })
		return b.problem(t, Block{})
	}
	matrix := func(op smem.Op, rowBytes int) *Problem { // one x4 access to a 16x16 piece of a tile of 2-byte elements
		b := &builder{arrays: []access.Array{array("t", 2, 64, rowBytes/2)}}
		b.site("x4", op, 16, 1, func(_, l int) int { return l%16*rowBytes + l/16*16 })
		return b.problem(t, Block{})
	}
	rows := func(rowBytes int) *Problem { // one x4 access to 32 rows
		b := &builder{arrays: []access.Array{array("t", 2, 64, rowBytes/2)}}
		b.site("x4", smem.LoadMatrix, 16, 1, func(_, l int) int { return l * rowBytes })
		return b.problem(t, Block{})
	}
	private := func() *Problem { // 64 floats a lane, read 16 bytes at a time
		b := &builder{arrays: []access.Array{array("sXfer", 4, 32, 64)}}
		b.site("load", smem.Load, 16, 16, func(w, l int) int { return 256*l + 16*w })
		return b.problem(t, Block{})
	}
	const none = "id"
	for _, test := range []struct {
		source    string
		p         *Problem
		transform string
		want      int64
	}{
		{"NVlabs/cuda-oxide 544: column of pitch 32", column(32), none, 32},
		{"NVlabs/cuda-oxide 544: column of pitch 64", column(64), none, 32},
		{"NVlabs/cuda-oxide 544: column of pitch 16", column(16), none, 16},
		{"NVlabs/cuda-oxide 544: column of pitch 33", column(33), none, 1},
		{"NVlabs/cuda-oxide 544: <5,0,5> with absolute source bits", column(32), "Swizzle<5,0,@5> on 4-byte elements", 1},
		{"NVlabs/cuda-oxide 544: <3,0,5>", column(32), "Swizzle<3,0,@5> on 4-byte elements", 4},
		{"NVlabs/cuda-oxide 544: <2,0,5>", column(32), "Swizzle<2,0,@5> on 4-byte elements", 8},
		{"NVIDIA/cutlass 2015: 128-byte rows", rows(128), none, 32},
		{"NVIDIA/cutlass 2015: 128-byte rows, SW128", rows(128), "Swizzle<3,4,3>", 4},
		{"NVIDIA/cutlass 2015: 128-byte rows, SW128 on elements", rows(128), "Swizzle<3,3,3> on 2-byte elements", 4},
		{"NVIDIA/cutlass 2015: 64-byte rows", rows(64), none, 16},
		{"NVIDIA/cutlass 2015: 64-byte rows, SW64", rows(64), "Swizzle<2,4,3>", 4},
		{"NVIDIA/cutlass 2015: 32-byte rows", rows(32), none, 8},
		{"NVIDIA/cutlass 2015: 32-byte rows, SW32", rows(32), "Swizzle<1,4,3>", 4},
		{"microsoft/TileFusion 42: 16-wide halves", matrix(smem.LoadMatrix, 32), none, 8},
		{"microsoft/TileFusion 42: 16-wide halves, <2,3,3>", matrix(smem.LoadMatrix, 32), "Swizzle<2,3,3> on 2-byte elements", 4},
		{"microsoft/TileFusion 42: 64-wide halves, <3,3,3>", matrix(smem.LoadMatrix, 128), "Swizzle<3,3,3> on 2-byte elements", 4},
		{"microsoft/TileFusion 42: 64-wide halves, <2,3,3> stays 2-way", matrix(smem.LoadMatrix, 128), "Swizzle<2,3,3> on 2-byte elements", 8},
		{"NVIDIA/Fuser 3499: stmatrix into 128-byte rows", matrix(smem.StoreMatrix, 128), none, 32},
		{"NVIDIA/Fuser 3499: stmatrix, 128-byte swizzle", matrix(smem.StoreMatrix, 128), "Swizzle<3,4,3>", 4},
		{"NVIDIA/Fuser 155: rows of 6 16-byte units", rows(96), none, 8},
		{"NVIDIA/Fuser 155: rows of 3 16-byte units", rows(48), none, 4},
		{"NVIDIA/cudnn-frontend 941: private rows of 256 bytes", private(), none, 16 * 32},
		{"NVIDIA/cudnn-frontend 941: 16-byte pieces XOR lane mod 8", private(), "Swizzle<3,4,4>", 16 * 4},
	} {
		tr, err := layout.ParseTransform(test.transform)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Evaluate(context.Background(), test.p, tr)
		if err != nil || c.Wavefronts != test.want {
			t.Errorf("%s: got %d wavefronts, %v; want %d", test.source, c.Wavefronts, err, test.want)
		}
	}
}

// TestRocmPermutation is the gfx950 case of ROCm/rocm-libraries 6070: 64 banks, rows of 64 bytes in four chunks, the
// wave's 64 lanes reading 16 bytes each. A swizzle takes the place of the page's swap and rotation.
func TestRocmPermutation(t *testing.T) {
	b := &builder{arrays: []access.Array{array("lds", 1, 32, 64)}}
	b.sites = []access.Site{{Text: "read", Op: smem.Load, Width: 16}}
	a := access.Access{Count: 1, Request: smem.Request{Op: smem.Load, Width: 16, Active: smem.Lanes(0, 64)}}
	for l := range 64 {
		a.Request.Addr = append(a.Request.Addr, uint32(64*(l%32)+16*(l/32)))
	}
	b.accesses = []access.Access{a}
	p, err := Problems(context.Background(), b, arch.MustLookup("gfx950"), Block{})
	if err != nil {
		t.Fatal(err)
	}
	r := search(t, p[0], Options{Allow: []Family{XOR}})
	if 4*r.Bound.Wavefronts != r.Before.Wavefronts || r.Best == nil || r.Best.Wavefronts != r.Bound.Wavefronts {
		t.Errorf("want a 4-fold loss and its cure: %s\n%s", r.Reason, front(r))
	}
	checkResult(t, r)
}
