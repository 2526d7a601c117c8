package sketch

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/report"
	"shmoo/smem"
)

func source(t *testing.T, src string, l Launch, defines ...Define) *Source {
	t.Helper()
	p, err := Parse("k.cu", []byte(src), Options{Defines: defines})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Source(l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The layout of shared memory: statics in the order of their declarations, aligned; dynamic arrays behind them.
func TestArrays(t *testing.T) {
	s := source(t, `__global__ void k() {
	__shared__ char a[5];
	extern __shared__ float dyn[];
	__shared__ alignas(64) double b[2][3 + 1];
	__shared__ short c;
	a[0]; b[0][0]; c; dyn[0];
}`, Launch{DynamicShared: 1000})
	want := []access.Array{
		{Name: "a", Offset: 0, Size: 5, Type: "char[5]", ElemBytes: 1, Dims: []int{5}},
		{Name: "dyn", Offset: 144, Size: 1000, Type: "float[]", ElemBytes: 4, Dims: []int{-1}, Dynamic: true},
		{Name: "b", Offset: 64, Size: 64, Type: "double[2][4]", ElemBytes: 8, Dims: []int{2, 4}},
		{Name: "c", Offset: 128, Size: 2, Type: "short", ElemBytes: 2},
	}
	got := slices.Clone(s.Arrays())
	for i := range got {
		got[i].Pos = want[i].Pos
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arrays (-want +got):\n%s", diff)
	}
	if static, dynamic := s.SharedBytes(); static != 130 || dynamic != 1000 {
		t.Errorf("shared bytes %d and %d, want 130 and 1000", static, dynamic)
	}
}

// What a rewriter needs: the bounds of the declaration and the index expressions, with their places.
func TestEditableSpans(t *testing.T) {
	src := `#define TILE 32
__global__ void k(int n) {
	__shared__ float tile[TILE][16 * 2];
	tile[threadIdx.x][(n + 1) & 31] = 1;
	float *p = &tile[0][0];
	p[threadIdx.x
		* 2];
	*reinterpret_cast<float4 *>(&tile[threadIdx.x][TILE - 4]);
}`
	s := source(t, src, Launch{}, Define{"n", "3"})
	lines := strings.Split(src, "\n")
	d := s.Decl(0)
	if got := lines[d.Name.Line-1][d.Name.Col-1:][:d.Name.Len]; got != "tile" {
		t.Errorf("name at %v is %q, want tile", d.Name, got)
	}
	if len(d.Dims) != 2 || d.Dims[0].Editable || !d.Dims[1].Editable || d.Dims[1].Text != "16 * 2" || d.Dims[1].Length != 32 {
		t.Errorf("dimensions %+v, want one from a macro and '16 * 2'", d.Dims)
	}
	at := d.Dims[1].Span
	if got := lines[at.Line-1][at.Col-1:][:at.Len]; got != "16 * 2" {
		t.Errorf("span of the second bound covers %q", got)
	}
	type index struct {
		text     string
		editable bool
	}
	var got [][]index
	for i := range s.Sites() {
		var list []index
		for _, x := range s.IndexSpans(i) {
			list = append(list, index{x.Text, x.Editable})
			line := lines[x.Span.Line-1]
			if covered := line[x.Span.Col-1:][:x.Span.Len]; x.Editable && covered != x.Text {
				t.Errorf("span covers %q, want %q", covered, x.Text)
			}
		}
		got = append(got, list)
	}
	want := [][]index{
		{{"threadIdx.x", true}, {"(n + 1) & 31", true}},
		{{"threadIdx.x * 2", false}},
		{{"threadIdx.x", true}, {"TILE - 4", false}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(index{})); diff != "" {
		t.Errorf("indices (-want +got):\n%s", diff)
	}
}

func TestSites(t *testing.T) {
	s := source(t, `__device__ void put(float *p, int i) { p[i] = 0; }
__global__ void k(float *g, int pick) {
	__shared__ float a[64], b[64];
	put(a, threadIdx.x);
	put(b, 2 * threadIdx.x);
	put(g, threadIdx.x);
	float *either = pick ? a : b;
	either[0];
	g[0];
	unsigned at = __cvta_generic_to_shared(&b[1]);
	asm volatile("st.shared.f32 [%0], %1;" :: "r"(at), "f"(0.0f));
}`, Launch{})
	type site struct {
		Text, Array, Instr string
		Op                 smem.Op
		Inlined            int
	}
	var got []site
	for _, x := range s.Sites() {
		got = append(got, site{x.Text, x.Array, x.Instr, x.Op, len(x.Inlined)})
	}
	want := []site{
		{"p[i]", "a", "STS", smem.Store, 1},
		{"p[i]", "b", "STS", smem.Store, 1},
		{"either[0]", "", "LDS", smem.Load, 0},
		{"st.shared.f32 [at]", "b", "STS", smem.Store, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sites (-want +got):\n%s", diff)
	}
}

// Several goroutines may run one source at the same time, and a run may be left early.
func TestConcurrentRuns(t *testing.T) {
	s := source(t, "__shared__ int s[64]; for (int i = 0; i < 50; i++) { s[(threadIdx.x + i) & 63] = i; }",
		Launch{Block: [3]int{64, 1, 1}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				r, err := report.Collect(context.Background(), s, arch.MustLookup("sm_90").Unit)
				if err != nil {
					t.Error(err)
					return
				}
				if totals := r.Totals(); totals.Requests != 100 || totals.Wavefronts != 100 {
					t.Errorf("got %d requests and %d wavefronts, want 100 of each", totals.Requests, totals.Wavefronts)
				}
				for range s.Accesses(context.Background()) {
					break
				}
			}
		})
	}
	wg.Wait()
}

// Blocks differ in blockIdx and run where they are asked for.
func TestBlocks(t *testing.T) {
	src := "__shared__ int s[4096]; s[(blockIdx.z * 6 + blockIdx.y * 3 + blockIdx.x) * 64 + threadIdx.x];"
	s := source(t, src, Launch{Grid: [3]int{3, 2, 2}, Blocks: []int{0, 7, 11}})
	var got []uint32
	for a, err := range s.Accesses(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, uint32(a.Block), a.Request.Addr[0]/256)
	}
	if want := []uint32{0, 0, 7, 7, 11, 11}; !slices.Equal(got, want) {
		t.Errorf("blocks and what they read: %v, want %v", got, want)
	}
}

func TestKernels(t *testing.T) {
	p, err := Parse("k.cu", []byte(`#define N 64
template <int A, int B = 2> __global__ void __launch_bounds__(A * B) a() {}
__global__ void __launch_bounds__(N, 2) b() {}
__global__ void c() {}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range p.Kernels() {
		got = append(got, k.Name, strings.Join(k.Params, ","), string(rune('0'+k.MaxThreads/32)))
	}
	if want := []string{"a", "A", "0", "b", "", "2", "c", "", "0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	p, err = Parse("k.cu", []byte("template <int A> __global__ void __launch_bounds__(A * 2) a() {}"),
		Options{Defines: []Define{{"A", "96"}}})
	if err != nil {
		t.Fatal(err)
	}
	if k := p.Kernels()[0]; k.MaxThreads != 192 || p.DefaultBlock(&k) != [3]int{192, 1, 1} {
		t.Errorf("launch bound %d, want 192 from -D A=96", k.MaxThreads)
	}
}

func TestIncludes(t *testing.T) {
	files := map[string]string{
		"tile.h":  "#pragma once\n#include \"size.h\"\n__device__ void put(float *p) { p[threadIdx.x * TILE] = 0; }\n",
		"size.h":  "#define TILE 32\n#include \"tile.h\"\n",
		"bad.h":   "__device__ void broken( { ;\n",
		"error.h": "#error not this one\n",
	}
	var asked []string
	opts := Options{Include: func(name string) ([]byte, error) {
		asked = append(asked, name)
		if src, ok := files[name]; ok {
			return []byte(src), nil
		}
		return nil, fs.ErrNotExist
	}}
	src := "#include <cuda.h>\n#include \"tile.h\"\n#include \"missing.h\"\n#if 0\n#include \"error.h\"\n#endif\n" +
		"__global__ void k() { __shared__ float t[TILE * TILE]; t[0] = 1; put(t); }"
	p, err := Parse("k.cu", []byte(src), opts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Source(Launch{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"tile.h", "size.h", "missing.h"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	if got := s.Sites()[1].Pos.String(); len(s.Sites()) != 2 || got != "tile.h:3:33" {
		t.Errorf("second of %d sites at %s, want 2 and tile.h:3:33", len(s.Sites()), got)
	}
	if line, ok := p.Line(s.Sites()[1].Pos.Pos); !ok || !strings.Contains(line, "put(float *p)") {
		t.Errorf("line of the second site is %q", line)
	}
	_, err = Parse("k.cu", []byte("#include \"bad.h\"\n__global__ void k() {}"), opts)
	if err == nil || !strings.Contains(err.Error(), "bad.h:1:25") {
		t.Errorf("got %v, want an error in bad.h", err)
	}
}

func TestWarnings(t *testing.T) {
	s := source(t, "__global__ void k(int *g) { __shared__ int s[N]; s[mystery(g)] = 1; }", Launch{},
		Define{"N", "4"}, Define{"M", "5"})
	var got []string
	for _, w := range s.Warnings() {
		got = append(got, w.Error())
	}
	want := []string{
		"k.cu: warning: -D M is not used: nothing in the source has this name",
		"k.cu:1:52: warning: unknown function 'mystery': its result and what it does to shared memory are not known",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
