package fix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/sketch"
)

// patchResult runs a sketch, searches the named array and patches it with the recommendation.
func patchResult(t *testing.T, in Input, array string, o Options) (*Result, *Patch, error) {
	t.Helper()
	source, err := in.source(in.Text)
	if err != nil {
		t.Fatal(err)
	}
	block := source.Block()
	problems, err := Problems(context.Background(), source, arch.MustLookup("sm_90"), Block{Threads: block[0] * block[1] * block[2]})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if p.Array.Name == array {
			r := search(t, p, o)
			patch, err := PatchSketch(context.Background(), in, r, candidate(r))
			return r, patch, err
		}
	}
	t.Fatalf("no problem for %s", array)
	return nil, nil, nil
}

const transposeKernel = `#define TILE 32
__global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[x * n + y] = tile[threadIdx.x][threadIdx.y];
}
`

// flatKernel is the same with plain numbers and a flat array.
const flatKernel = `__global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[1024];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y * 32 + x] = in[y * n + x];
  __syncthreads();
  out[x * n + y] = tile[x * 32 + y];
}
`

var pads, xors = Options{Allow: []Family{PadOf}}, Options{Allow: []Family{XOR}}

func TestPatches(t *testing.T) {
	square := sketch.Launch{Block: [3]int{32, 32, 1}}
	warp := sketch.Launch{Block: [3]int{32, 1, 1}}
	for _, test := range []struct {
		name, text, array string
		launch            sketch.Launch
		options           Options
		want              []string // lines of the patched sketch
		err               string
	}{
		{"pad", transposeKernel, "tile", square, pads, []string{"  __shared__ float tile[TILE][TILE + 1];"}, ""},
		{"XOR", transposeKernel, "tile", square, xors, []string{
			"  tile[threadIdx.y][threadIdx.x ^ (threadIdx.y & 31)] = in[y * n + x];",
			"  out[x * n + y] = tile[threadIdx.x][threadIdx.y ^ (threadIdx.x & 31)];"}, ""},
		{"flat pad", flatKernel, "tile", square, pads, []string{
			"  __shared__ float tile[1055];",
			"  tile[(y * 32 + x) + (y * 32 + x) / 32 * 1] = in[y * n + x];"}, ""},
		{"flat XOR", flatKernel, "tile", square, xors, []string{
			"  out[x * n + y] = tile[(x * 32 + y) ^ ((x * 32 + y) >> 5 & 31)];"}, ""},
		{"extern, XOR", strings.Replace(flatKernel, "__shared__ float tile[1024]", "extern __shared__ float tile[]", 1), "tile",
			sketch.Launch{Block: [3]int{32, 32, 1}, DynamicShared: 4096}, xors, []string{"  extern __shared__ float tile[];"}, ""},
		{"extern, pad", strings.Replace(flatKernel, "__shared__ float tile[1024]", "extern __shared__ float tile[]", 1), "tile",
			sketch.Launch{Block: [3]int{32, 32, 1}, DynamicShared: 4096}, pads, []string{"  extern __shared__ float tile[];"}, ""},
		{"wide rows need the shifted swizzle", "__shared__ float4 t[32][16];\nfor (int i = 0; i < 16; i++) t[threadIdx.x][i] = t[threadIdx.x][i];\n",
			"t", warp, xors, []string{"for (int i = 0; i < 16; i++) t[threadIdx.x][i ^ (threadIdx.x & 7)] = t[threadIdx.x][i ^ (threadIdx.x & 7)];"}, ""},
		{"three dimensions", "__shared__ float t[4][8][32];\nfor (int i = 0; i < 32; i++) t[threadIdx.x / 8][threadIdx.x % 8][i] = 0;\n", "t", warp, pads,
			[]string{"__shared__ float t[4][8][33];"}, ""},
		{"expression as a bound", "constexpr int N = 5;\n__shared__ float t[32][1 << N];\nfloat v = t[threadIdx.x][0];\n", "t", warp, pads,
			[]string{"__shared__ float t[32][(1 << N) + 1];"}, ""},
		{"through a vector pointer, pad", "__shared__ float t[32][32];\nfloat4 v = *reinterpret_cast<float4*>(&t[threadIdx.x][0]);\n", "t", warp, pads,
			[]string{"__shared__ float t[32][36];"}, ""},
		{"through a vector pointer, XOR", "__shared__ float t[32][32];\nfloat4 v = *reinterpret_cast<float4*>(&t[threadIdx.x][0]);\n", "t", warp, xors,
			[]string{"float4 v = *reinterpret_cast<float4*>(&t[threadIdx.x][0 ^ (threadIdx.x << 2 & 28)]);"}, ""},
		{"through a pointer, XOR", "__shared__ float t[32][32];\nfloat *row = t[threadIdx.x];\nfloat v = row[3];\n", "t", warp, xors,
			nil, "accesses through pointers cannot be rewritten"},
		{"macro that is more than an operand", "#define N 1 << 5\n__shared__ float t[32][N];\nfloat v = t[threadIdx.x][0];\n", "t", warp, pads,
			[]string{"__shared__ float t[32][(N) + 1];"}, ""},
		{"the pitch is in the code too", "__shared__ float t[32][32];\nfloat *p = &t[0][0];\nfloat v = p[threadIdx.x * 32];\n", "t", warp, pads,
			nil, "forms addresses in a way"},
		{"side effect", "__shared__ float t[1024];\nint i = threadIdx.x * 32;\nt[i++] = 0;\n", "t", warp, xors, nil, "side effects"},
		{"bound out of a macro", "#define BOUNDS [32][32]\n__shared__ float t BOUNDS;\nfloat v = t[threadIdx.x][0];\n", "t", warp, pads, nil, "out of a macro"},
		{"a pad that is too small", "__shared__ float t[32][36];\nint x = threadIdx.x;\nt[x][0] = t[x][31];\n", "t", warp, pads,
			[]string{"__shared__ float t[32][33];"}, ""},
		{"another pad in a sum", "#define N 32\n__shared__ float t[N][N + 2];\nfor (int i = 0; i < N; i++) t[threadIdx.x][i] = 0;\n", "t", warp, pads,
			[]string{"__shared__ float t[N][N + 1];"}, ""},
		{"an XOR takes the pad's place", "#define N 16\n__shared__ float t[N][N + 1];\nint x = threadIdx.x, y = threadIdx.y;\n" +
			"t[y][x] = 0;\nfloat v = t[x][y];\n", "t", sketch.Launch{Block: [3]int{16, 16, 1}}, Options{}, []string{
			"__shared__ float t[N][N];"}, ""},
		{"nothing to do", "__shared__ float t[32][33];\nfloat v = t[threadIdx.x][0];\n", "t", warp, Options{}, []string{"__shared__ float t[32][33];"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := Input{Name: "k.cu", Text: []byte(test.text), Launch: test.launch}
			r, patch, err := patchResult(t, in, test.array, test.options)
			if test.err != "" {
				var fe *FormError
				if !errors.As(err, &fe) || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range test.want {
				if !strings.Contains("\n"+string(patch.Text), "\n"+line+"\n") {
					t.Errorf("want the line %q in\n%s", line, patch.Text)
				}
			}
			if (patch.Diff == "") != (r.Best == nil) {
				t.Errorf("diff %q of a result whose best is %v", patch.Diff, r.Best)
			}
			applied(t, in, patch)
			// The promise once more, from nothing but the patched text.
			again := in
			again.Text = patch.Text
			if patch.Dynamic != 0 {
				again.Launch.DynamicShared = patch.Dynamic
			}
			after, _, err := patchResult(t, again, test.array, test.options)
			if err != nil || after.Before.Wavefronts != candidate(r).Wavefronts {
				t.Errorf("the patched sketch has %d wavefronts, promised %d (%v)", after.Before.Wavefronts, candidate(r).Wavefronts, err)
			}
		})
	}
}

// applied checks the diff with git, which is as strict as people's tools are.
func applied(t *testing.T, in Input, p *Patch) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil || p.Diff == "" {
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, in.Name), in.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(git, "apply", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(p.Diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, p.Diff)
	}
	got, err := os.ReadFile(filepath.Join(dir, in.Name))
	if err != nil || !bytes.Equal(got, p.Text) {
		t.Errorf("applied, the diff gives\n%s\nwant\n%s", got, p.Text)
	}
}

func TestPatchText(t *testing.T) {
	var b bytes.Buffer
	for _, o := range []Options{pads, xors} {
		in := Input{Name: "transpose.cu", Text: []byte(transposeKernel), Launch: sketch.Launch{Block: [3]int{32, 32, 1}}}
		_, patch, err := patchResult(t, in, "tile", o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(&b, patch.Diff)
	}
	golden(t, "transpose.diff", b.Bytes())
}

func TestPure(t *testing.T) {
	for text, want := range map[string]bool{
		"i": true, "i + 1": true, "a <= b": true, "a == b ? 1 : 2": true, "(a + b) * 2": true, "x - -y": true, "a >> 2": true, "a != b": true,
		"i++": false, "--i": false, "i = 2": false, "i += 2": false, "i <<= 1": false, "next()": false, "f (x)": false, "a >>= 1": false,
	} {
		if got := pure(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// TestCUDARunsInASketch puts the emitted index functions into kernels and runs those: the counts must be the promised
// ones.
func TestCUDARunsInASketch(t *testing.T) {
	for _, o := range []Options{pads, xors} {
		r := search(t, transpose(32).problem(t, Block{}), o)
		text := emit(t, r, CUDA) + `__global__ void k(float v) {
  __shared__ float tile[tile_elements];
  tile[tile_index(threadIdx.y, threadIdx.x)] = v;
  v = tile[tile_index(threadIdx.x, threadIdx.y)];
}
`
		in := Input{Name: "k.cu", Text: []byte(text), Launch: sketch.Launch{Block: [3]int{32, 32, 1}}}
		source, err := in.source(in.Text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		problems, err := Problems(context.Background(), source, arch.MustLookup("sm_90"), Block{})
		if err != nil {
			t.Fatal(err)
		}
		after := search(t, problems[0], Options{})
		if after.Before.Wavefronts != r.Best.Wavefronts || after.Best != nil {
			t.Errorf("%s: got %d wavefronts, promised %d; %s", r.Best.Transform, after.Before.Wavefronts, r.Best.Wavefronts, after.Reason)
		}
	}
}
