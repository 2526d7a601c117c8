// Package reporttest makes the reports that the tests of the writers share: one for each thing that a report can hold.
package reporttest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"shmoo"
	"shmoo/access"
	"shmoo/arch"
	"shmoo/diag"
	"shmoo/report"
	"shmoo/smem"
)

// A Case is a report with the lines of its source.
type Case struct {
	Name   string
	Report *report.Report
	Lines  func(diag.Pos) (string, bool) // nil for machine code
	Unit   *smem.Unit
}

const transpose = `// A tile of a transpose.
__global__ void transpose(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
`

const unknown = `__global__ void histogram(unsigned *bins, const unsigned char *data) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local[data[threadIdx.x]], 1u);
}
`

const fault = `__global__ void past(float *out) {
    __shared__ float row[32];
    row[threadIdx.x + 1] = 1.0f;
    out[threadIdx.x] = row[threadIdx.x];
}
`

const clean = `__global__ void copy(float *out) {
    __shared__ float row[32];
    row[threadIdx.x] = 1.0f;
    out[threadIdx.x] = row[threadIdx.x];
}
`

// Cases returns the reports.
func Cases(t testing.TB) []Case {
	t.Helper()
	cases := []Case{
		Sketch(t, "transpose", transpose, [3]int{32, 8, 1}),
		Sketch(t, "unknown", unknown, [3]int{64, 1, 1}),
		Sketch(t, "fault", fault, [3]int{32, 1, 1}),
		Sketch(t, "clean", clean, [3]int{32, 1, 1}),
	}
	return append(cases, Machine(t), Case{Name: "empty", Report: &report.Report{Arch: "sm_90"}})
}

// Sketch analyses a sketch.
func Sketch(t testing.TB, name, text string, block [3]int) Case {
	t.Helper()
	in, err := shmoo.Open(context.Background(), name+".cu", strings.NewReader(text), shmoo.Options{Block: block})
	if err != nil {
		t.Fatal(err)
	}
	r, err := shmoo.Analyze(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return Case{name, r, in.Lines, in.Unit}
}

// Machine is a report as machine code gives it: program counters, inlined calls, sites without a line, and names that are
// markup wherever a writer forgets to escape.
func Machine(t testing.TB) Case {
	t.Helper()
	at := func(file string, line int) diag.Span { return diag.Span{Pos: diag.Pos{File: file, Line: line}} }
	unit := arch.MustLookup("sm_90").Unit
	r, err := report.Collect(context.Background(), source{
		{Pos: at("/src/tile.cuh", 12), PC: 0x1a0, Op: smem.Load, Width: 16, Instr: "LDS.128",
			Inlined: []diag.Pos{{File: "/src/tile.cuh", Line: 40}, {File: "/src/gemm.cu", Line: 7}}},
		{Pos: at("/src/tile.cuh", 12), PC: 0x1b0, Op: smem.Load, Width: 16, Instr: "LDS.128",
			Inlined: []diag.Pos{{File: "/src/tile.cuh", Line: 40}, {File: "/src/gemm.cu", Line: 9}}},
		{PC: 0x2c0, Op: smem.Store, Width: 4, Instr: "STS"},
		{Pos: at(`a<b>&"c"|d.cu`, 3), PC: 0x2d0, Op: smem.Store, Width: 4, Instr: "STS", Array: "<script>alert(1)</script>",
			Text: "x<y>[`*_|\u00e9\n1]"},
	}, unit)
	if err != nil {
		t.Fatal(err)
	}
	r.Sites[3].Bounds = &report.Bounds{Low: 2, High: 64, Open: true}
	r.Kernel = "gemm<float, (Layout)2>(float*)"
	r.Launch = &report.Launch{Block: [3]int{128, 1, 1}, Grid: [3]int{4, 2, 1}, DynamicShared: 1024}
	r.Diagnostics = diag.List{{
		ID: "emu/unknown-op", Severity: diag.Warning, Span: at("/src/gemm.cu", 9), Message: "<b>operation</b> X | has no semantics",
		Related: []diag.Related{{Span: at("/src/tile.cuh", 40), Message: "called here"}},
		Fixes: []diag.Fix{{Message: "write y", Edits: []diag.Edit{
			{Span: diag.Span{Pos: diag.Pos{File: "/src/gemm.cu", Line: 9, Col: 5}, Len: 1}, NewText: "y"},
			{Span: diag.Span{Pos: diag.Pos{File: "/src/tile.cuh", Line: 1, Col: 1}}, NewText: "#include <y>\n"},
		}}},
	}}
	return Case{Name: "machine", Report: r, Unit: unit}
}

// source accesses every site with a stride that grows from site to site, and leaves one request of the last unresolved.
type source []access.Site

func (s source) Sites() []access.Site   { return s }
func (s source) Arrays() []access.Array { return nil }

func (s source) Accesses(context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		for i := range s {
			a := &access.Access{Site: i, Count: int64(10 * (i + 1)), Request: smem.Request{
				Op: s[i].Op, Width: s[i].Width, Active: smem.Lanes(0, 32), Addr: make([]uint32, 32)}}
			for lane := range a.Request.Addr {
				a.Request.Addr[lane] = uint32(lane * s[i].Width << i)
			}
			if !yield(a, nil) {
				return
			}
		}
		last := len(s) - 1
		yield(&access.Access{Site: last, Count: 2, Unresolved: fmt.Sprintf("data %d", last)}, nil)
	}
}
