package fix

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shmoo/access"
	"shmoo/layout"
	"shmoo/smem"
)

// emitted are results of every kind of layout, each with the candidate to write.
func emitted(t *testing.T) map[string]*Result {
	flat := transpose(32)
	flat.arrays[0].Dims = []int{1024}
	planes := &builder{arrays: []access.Array{array("planes", 4, 8, 4, 32)}}
	planes.site("down", smem.Load, 4, 4, func(w, l int) int { return 4 * (l%8*128 + l/8*32 + w) })
	return map[string]*Result{
		"pad":           search(t, transpose(32).problem(t, Block{}), Options{Allow: []Family{PadOf}}),
		"swizzle":       search(t, transpose(32).problem(t, Block{}), Options{Allow: []Family{XOR}}),
		"flat pad":      search(t, flat.problem(t, Block{}), Options{Allow: []Family{PadOf}}),
		"flat swizzle":  search(t, flat.problem(t, Block{}), Options{Allow: []Family{XOR}}),
		"half swizzle":  search(t, ldmatrixTile(64, 64, false).problem(t, Block{}), Options{Allow: []Family{XOR}}),
		"half pad":      search(t, ldmatrixTile(64, 64, false).problem(t, Block{}), Options{Allow: []Family{PadOf}}),
		"linear":        search(t, ldmatrixTile(64, 64, false).problem(t, Block{}), Options{Allow: []Family{LinearF}}),
		"three modes":   search(t, planes.problem(t, Block{}), Options{Allow: []Family{PadOf}}),
		"nothing to do": search(t, transpose(33).problem(t, Block{}), Options{}),
	}
}

// indexed checks that a list of element offsets, by flat element number, is the layout promised and has the counts
// promised.
func indexed(t *testing.T, r *Result, c *Candidate, offsets []int) {
	t.Helper()
	elem := r.Problem.Array.ElemBytes
	if len(offsets) != r.Problem.Array.Size/elem {
		t.Fatalf("got %d offsets, want %d", len(offsets), r.Problem.Array.Size/elem)
	}
	for i, o := range offsets {
		if want := int(c.Transform.Map(uint32(i * elem))); o*elem != want {
			t.Fatalf("element %d goes to byte %d, want %d", i, o*elem, want)
		}
	}
	got := make([]int64, len(r.Problem.Sites))
	for _, q := range r.Problem.Requests {
		moved := q.Request
		moved.Addr = nil
		for _, a := range q.Addr {
			moved.Addr = append(moved.Addr, uint32(offsets[int(a)/elem]*elem)+a%uint32(elem))
		}
		w, err := r.Problem.Arch.Unit.Walk(&moved)
		if err != nil {
			t.Fatal(err)
		}
		got[q.Site] += int64(w.Outcome.Wavefronts) * q.Count
	}
	if !slices.Equal(got, c.Sites) {
		t.Errorf("counts: got %v, promised %v", got, c.Sites)
	}
}

// elementsOf lists the coordinates of an array in row-major order.
func elementsOf(a *access.Array) [][]int {
	dims := a.Dims
	if len(dims) < 2 {
		dims = []int{a.Size / a.ElemBytes}
	}
	out := [][]int{nil}
	for _, d := range dims {
		var next [][]int
		for _, c := range out {
			for i := range d {
				next = append(next, append(slices.Clone(c), i))
			}
		}
		out = next
	}
	return out
}

func calls(a *access.Array, name string) []string {
	var out []string
	for _, c := range elementsOf(a) {
		out = append(out, name+"_index("+strings.Trim(strings.ReplaceAll(fmt.Sprint(c), " ", ","), "[]")+")")
	}
	return out
}

func candidate(r *Result) *Candidate {
	if r.Best != nil {
		return r.Best
	}
	return &r.Before
}

func emit(t *testing.T, r *Result, form Form) string {
	t.Helper()
	var b bytes.Buffer
	if err := Emit(&b, r, candidate(r), form); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parseInts(t *testing.T, text string) []int {
	t.Helper()
	var out []int
	for _, f := range strings.Fields(text) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func TestPythonGivesThePromisedCounts(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	results := emitted(t)
	names := slices.Sorted(maps.Keys(results))
	var code strings.Builder
	for _, name := range names {
		r := results[name]
		code.WriteString(emit(t, r, Python))
		values := "[" + strings.Join(calls(&r.Problem.Array, r.Problem.Array.Name), ",") + "]"
		fmt.Fprintf(&code, "\nvalues = %s\nassert max(values) < %s_elements\nprint(*values)\n", values, r.Problem.Array.Name)
	}
	cmd := exec.Command(python, "-")
	cmd.Stdin = strings.NewReader(code.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		t.Run(names[i], func(t *testing.T) {
			r := results[names[i]]
			indexed(t, r, candidate(r), parseInts(t, line))
		})
	}
}

func TestCUDAGivesThePromisedCounts(t *testing.T) {
	t.Parallel()
	cxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("g++ is not installed")
	}
	// One program for all results: each in a namespace of its own, its table computed by the compiler.
	var code strings.Builder
	code.WriteString("#include <cstdio>\n#define __host__\n#define __device__\n")
	results := emitted(t)
	names := slices.Sorted(maps.Keys(results))
	for i, name := range names {
		r := results[name]
		fmt.Fprintf(&code, "namespace n%d {\n%sconstexpr int table[] = {%s};\n}\n", i, emit(t, r, CUDA),
			strings.Join(calls(&r.Problem.Array, r.Problem.Array.Name), ","))
	}
	code.WriteString("int main() {\n")
	for i := range names {
		fmt.Fprintf(&code, "for (int v : n%d::table) std::printf(\"%%d \", v);\nstd::printf(\"\\n\");\n", i)
	}
	code.WriteString("}\n")
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "index.cc"), filepath.Join(dir, "index")
	if err := os.WriteFile(src, []byte(code.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cxx, "-std=c++14", "-Wall", "-Wno-parentheses", "-Werror", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	out, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		t.Run(names[i], func(t *testing.T) {
			r := results[names[i]]
			indexed(t, r, candidate(r), parseInts(t, line))
		})
	}
}

// TestNotationsGiveThePromisedCounts reads CuTe and Triton text back and runs the requests over it.
func TestNotationsGiveThePromisedCounts(t *testing.T) {
	cannot := map[string]bool{"cute linear": true, "triton flat pad": true,
		"triton three modes": true}
	for name, r := range emitted(t) {
		for _, form := range []Form{CuTe, Triton} {
			key := string(form) + " " + name
			t.Run(key, func(t *testing.T) {
				var b bytes.Buffer
				err := Emit(&b, r, candidate(r), form)
				if cannot[key] {
					if err == nil {
						t.Errorf("got text for a layout the form cannot say:\n%s", b.String())
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSpace(b.String()), "\n")
				text := strings.TrimPrefix(lines[2], "// ")
				l, err := layout.Parse(text)
				if err != nil {
					t.Fatalf("%v in\n%s", err, b.String())
				}
				// Row-major element numbers against indices that count the first coordinate fastest.
				var offsets []int
				sizes := l.Shape().Flat()
				modes := l.Shape().Modes()
				for _, c := range elementsOf(&r.Problem.Array) {
					index, step := 0, 1
					if len(c) == 1 { // an index may be split into modes without a change
						offsets = append(offsets, int(l.At(uint32(c[0]))))
						continue
					}
					if len(modes) != len(c) {
						t.Fatalf("%s: got %d modes (%v), want %d", text, len(modes), sizes, len(c))
					}
					for k, x := range c {
						index += x * step
						n := 1
						for _, s := range modes[k].Flat() {
							n *= int(s)
						}
						step *= n
					}
					offsets = append(offsets, int(l.At(uint32(index))))
				}
				indexed(t, r, candidate(r), offsets)
			})
		}
	}
}

func TestEmittedText(t *testing.T) {
	var b bytes.Buffer
	results := emitted(t)
	for _, name := range []string{"pad", "swizzle", "half swizzle", "linear", "three modes"} {
		for _, form := range Forms() {
			fmt.Fprintf(&b, "== %s, %s\n", name, form)
			if err := Emit(&b, results[name], candidate(results[name]), form); err != nil {
				fmt.Fprintln(&b, err)
			}
		}
		fmt.Fprintf(&b, "== %s, text\n", name)
		if err := WriteText(&b, results[name]); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "emit.golden", b.Bytes())
}
