package shmoo_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shmoo"
	"shmoo/diag"
	"shmoo/launch"
	"shmoo/report"
)

func analyze(t *testing.T, name, text string, o shmoo.Options) (*shmoo.Input, *report.Report) {
	t.Helper()
	in, err := shmoo.Open(context.Background(), name, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := shmoo.Analyze(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return in, r
}

const tile = `__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
`

func TestAnalyzeSaysWhyAndWhatHelps(t *testing.T) {
	_, r := analyze(t, "t.cu", tile, shmoo.Options{Block: [3]int{32, 32, 1}})
	if len(r.Diagnostics) != 1 {
		t.Fatalf("diagnostics %v, want one for the load", r.Diagnostics)
	}
	d := r.Diagnostics[0]
	if d.ID != "smem/conflict" || d.Severity != diag.Warning || d.Span.Line != 5 || !strings.Contains(d.Message, "32 wavefronts instead of 1") {
		t.Errorf("got %v", d)
	}
	want := "pad each row of tile by 1 element (4 bytes), [32] to [33]: 1056 -> 64 wavefronts over all its accesses, +128 bytes"
	if len(d.Fixes) != 1 || d.Fixes[0].Message != want {
		t.Errorf("fixes %v, want %q", d.Fixes, want)
	}
}

func TestGridRunsAllBlocks(t *testing.T) {
	text := "__global__ void k() { __shared__ int s[512]; s[threadIdx.x * 4 + blockIdx.x]; }"
	_, one := analyze(t, "k.cu", text, shmoo.Options{Block: [3]int{32, 1, 1}})
	_, all := analyze(t, "k.cu", text, shmoo.Options{Block: [3]int{32, 1, 1}, Grid: [3]int{5, 1, 1}})
	_, some := analyze(t, "k.cu", text, shmoo.Options{Block: [3]int{32, 1, 1}, Grid: [3]int{5, 1, 1}, Blocks: []int{0, 4}})
	for i, r := range []*report.Report{one, all, some} {
		if got, want := r.Totals().Requests, []int64{1, 5, 2}[i]; got != want {
			t.Errorf("%d requests, want %d", got, want)
		}
	}
}

func TestFormatsByContent(t *testing.T) {
	tests := []struct{ name, text, format string }{
		{"x.csv", tile, "sketch"}, // the name does not decide
		{"x.cu", "op,mask,addresses\nld32,1,0\n", "pattern"},
	}
	for _, tt := range tests {
		in, err := shmoo.Open(context.Background(), tt.name, strings.NewReader(tt.text), shmoo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if in.Format != tt.format {
			t.Errorf("%s is a %s, want a %s", tt.name, in.Format, tt.format)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	tests := []struct {
		name, text string
		options    shmoo.Options
		want       string
	}{
		{"ELF", "\x7fELF and no more", shmoo.Options{}, "x: "},
		{"architecture", tile, shmoo.Options{Arch: "sm_10"}, `unknown architecture "sm_10"`},
		{"too much shared memory", "__shared__ int s[1 << 20]; s[0];", shmoo.Options{}, "want at most the 232448 of sm_90"},
		{"define", tile, shmoo.Options{Defines: []string{"=1"}}, `-D "=1"`},
		{"layout", tile, shmoo.Options{Layouts: []string{"tile"}}, "want ARRAY=TRANSFORM"},
		{"layout of nothing", tile, shmoo.Options{Layouts: []string{"t=id"}}, "layout of t: no such array"},
		{"layout twice", tile, shmoo.Options{Layouts: []string{"tile=id", "tile=id"}}, "given twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := shmoo.Open(context.Background(), "x", strings.NewReader(tt.text), tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	block := [3]int{32, 32, 1}
	for _, l := range []string{"tile=Swizzle<5,2,5>", "tile=pad(+4 per 128 bytes)"} {
		_, r := analyze(t, "t.cu", tile, shmoo.Options{Block: block, Layouts: []string{l}})
		if totals := r.Totals(); totals.Wavefronts != 64 || totals.Requests != 64 {
			t.Errorf("%s: %d wavefronts of %d requests, want 64 of 64", l, totals.Wavefronts, totals.Requests)
		}
	}
	_, r := analyze(t, "t.cu", "// shmoo layout tile: pad(+4 per 128 bytes)\n"+tile, shmoo.Options{Block: block})
	if got := r.Totals().Wavefronts; got != 64 {
		t.Errorf("with a directive: %d wavefronts, want 64", got)
	}
	// A layout that tears an access apart has no answer.
	in, err := shmoo.Open(context.Background(), "t.cu", strings.NewReader(tile),
		shmoo.Options{Block: block, Layouts: []string{"tile=Swizzle<3,1,3>"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shmoo.Analyze(context.Background(), in); err == nil || !strings.Contains(err.Error(), "an access takes 4") {
		t.Errorf("got %v, want an error about the torn access", err)
	}
}

func recordedCubin(t *testing.T) string {
	t.Helper()
	f, err := os.Open("emu/testdata/h200/kernels.cubin.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func arguments(t *testing.T, texts ...string) []launch.Arg {
	t.Helper()
	var l launch.Launch
	for _, text := range texts {
		if err := l.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	return l.Args
}

// TestBinary runs machine code with given data: a load under a mask, addresses that come from data, and twice, since
// kernels write into their buffers.
func TestBinary(t *testing.T) {
	cubin := recordedCubin(t)
	tests := []struct {
		kernel     string
		args       []launch.Arg
		wavefronts int64 // of the loads, as an H200 counted them
	}{
		{"few_lanes", arguments(t, "i32[128]:zero", "i32[1024]:lcg"), 16},
		{"gather", arguments(t, "i32[256]:zero", "i32[1024]:lcg", "i32[256]:lcg"), 30},
	}
	for _, tt := range tests {
		t.Run(tt.kernel, func(t *testing.T) {
			block := map[string]int{"few_lanes": 128, "gather": 256}[tt.kernel]
			in, err := shmoo.Open(context.Background(), "k.cubin", strings.NewReader(cubin),
				shmoo.Options{Kernel: tt.kernel, Block: [3]int{block, 1, 1}, Args: tt.args})
			if err != nil {
				t.Fatal(err)
			}
			if in.Launch.Assumed != "" {
				t.Errorf("assumed %q although everything is given", in.Launch.Assumed)
			}
			for range 2 {
				r, err := shmoo.Analyze(context.Background(), in)
				if err != nil {
					t.Fatal(err)
				}
				var loads int64
				for i := range r.Sites {
					if r.Sites[i].Op.String() == "load" {
						loads += r.Sites[i].Tally.Wavefronts
					}
				}
				if loads != tt.wavefronts {
					t.Errorf("loads take %d wavefronts, the H200 counted %d", loads, tt.wavefronts)
				}
			}
		})
	}
}

// TestBinaryWithoutData: what depends on data that was not given is unresolved, and what was assumed is said.
func TestBinaryWithoutData(t *testing.T) {
	in, r := analyze(t, "k.cubin", recordedCubin(t), shmoo.Options{Kernel: "gather"})
	if !strings.Contains(in.Launch.Assumed, "ASSUMED: block 128; arguments 0, 1, 2 point to unknown data") {
		t.Errorf("assumed %q", in.Launch.Assumed)
	}
	totals := r.Totals()
	if totals.UnresolvedRequests() == 0 || r.Clean() {
		t.Error("a gather over unknown indices is resolved")
	}
}

// TestBinaryStopped: a run that reaches its limit gives what ran until then, and is never clean.
func TestBinaryStopped(t *testing.T) {
	_, r := analyze(t, "k.cubin", recordedCubin(t), shmoo.Options{Kernel: "few_lanes", Steps: 300,
		Args: arguments(t, "i32[128]:zero", "i32[1024]:lcg")})
	totals := r.Totals()
	if r.Clean() || r.Diagnostics.Err() == nil || !strings.Contains(r.Diagnostics.Err().Error(), "limit of 300 steps") {
		t.Errorf("diagnostics %v, want an error about the limit", r.Diagnostics)
	}
	if totals.Requests == 0 || totals.Requests >= 36 {
		t.Errorf("%d requests, want some of the 36", totals.Requests)
	}
}

// TestBinaryFault: an access out of bounds names where it happened.
func TestBinaryFault(t *testing.T) {
	_, r := analyze(t, "k.cubin", recordedCubin(t), shmoo.Options{Kernel: "divide_param", Block: [3]int{128, 1, 1},
		DynamicShared: 64, Args: arguments(t, "i32[975]:zero", "i32[975]:lcg", "i32=39", "i32=25")})
	err := r.Diagnostics.Err()
	if err == nil {
		t.Fatal("no error for 3,900 bytes in 64")
	}
	for _, part := range []string{"divide_param", "pc 0x", "block 0", "warp ", "lane "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
}

// TestBinaryBounds: requests that depend on missing data carry bounds.
func TestBinaryBounds(t *testing.T) {
	_, r := analyze(t, "k.cubin", recordedCubin(t), shmoo.Options{Kernel: "gather", Block: [3]int{256, 1, 1}})
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Tally.UnresolvedRequests() == 0 {
			continue
		}
		if s.Bounds == nil || s.Bounds.Low < 8 || s.Bounds.High > 8*32 || s.Bounds.Low > s.Bounds.High {
			t.Errorf("%s: bounds %+v of 8 requests, want 8 to 256 at most", s.Instr, s.Bounds)
		}
	}
}

func TestBinaryErrors(t *testing.T) {
	cubin := recordedCubin(t)
	tests := []struct {
		name    string
		options shmoo.Options
		want    string
	}{
		{"no kernel named", shmoo.Options{}, "57 kernels for sm_90, want one"},
		{"no such kernel", shmoo.Options{Kernel: "nosuch"}, `no kernel for sm_90 matches "nosuch"`},
		{"bad expression", shmoo.Options{Kernel: "("}, "missing closing"},
		{"no such target", shmoo.Options{Kernel: "gather", Arch: "sm_80"}, "no machine code for sm_80, there is some for sm_90"},
		{"block too large", shmoo.Options{Kernel: "gather", Block: [3]int{2048, 1, 1}}, "want 1 to 1024"},
		{"too many arguments", shmoo.Options{Kernel: "gather", Args: arguments(t, "7:i32=1")}, "the kernel has 3 parameters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := shmoo.Open(context.Background(), "k.cubin", strings.NewReader(cubin), tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestCompareProfile lays the prediction beside ncu's source page, whose figure for the paired load is wrong.
func TestCompareProfile(t *testing.T) {
	_, r := analyze(t, "k.cubin", recordedCubin(t), shmoo.Options{Kernel: "paired_loads", Block: [3]int{64, 1, 1},
		Args: arguments(t, "i32[64]:zero", "i32[1024]:lcg", "i32=8")})
	profile := &launch.Profile{
		Source: []launch.SourceRow{
			{PC: 0x140, Instruction: "STS", Executed: 128, Wavefronts: 128},
			{PC: 0x2d0, Instruction: "LDS.128", Executed: 2, Wavefronts: 16},
			{PC: 0x2e0, Instruction: "LDS.128", Executed: 1, Wavefronts: 16},
		},
		Metrics: map[string]float64{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 65},
	}
	c := shmoo.CompareProfile(r, profile)
	var got []shmoo.Verdict
	for _, row := range c.Rows {
		got = append(got, row.Verdict)
	}
	want := []shmoo.Verdict{shmoo.Equal, shmoo.Pairing, shmoo.WrongLaunch, shmoo.Arbitration}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("verdicts %q, want %q", got, want)
	}
}

// TestInclude: headers are looked for beside the sketch; what is not there is passed over.
func TestInclude(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("tile.h", "#define PITCH 33\n")
	path := write("k.cu", "#include \"tile.h\"\n#include \"gone.h\"\n"+
		"__global__ void k() { __shared__ int s[32 * PITCH]; s[threadIdx.x * PITCH] = 0; }\n")
	in, err := shmoo.OpenFile(context.Background(), path, shmoo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := shmoo.Analyze(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if totals := r.Totals(); totals.Wavefronts != 1 {
		t.Errorf("%d wavefronts, want 1 with the pitch of the header", totals.Wavefronts)
	}
}

func TestOpenFileMissing(t *testing.T) {
	if _, err := shmoo.OpenFile(context.Background(), "no/such/file.cu", shmoo.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
