package fix

import (
	"context"
	"errors"
	"strings"
	"testing"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/layout"
	"shmoo/smem"
)

func TestEvaluateLayouts(t *testing.T) {
	p := transpose(32).problem(t, Block{})
	half := ldmatrixTile(64, 64, false).problem(t, Block{})
	for _, test := range []struct {
		name, layout string
		p            *Problem
		wavefronts   int64
		bytes        int
		err          string
	}{
		{"as it is", "(32,32):(32,1)", p, 1056, 4096, ""},
		{"padded", "(32,32):(33,1)", p, 64, 4220, ""},
		{"column-major", "(32,32):(1,32)", p, 1056, 4096, ""},
		{"swizzled", "Swizzle<5,0,5> o (32,32):(32,1)", p, 64, 4096, ""},
		{"one mode", "Swizzle<5,0,5> o 1024:1", p, 64, 4096, ""},
		{"Triton", "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> on 64x64", half, 128, 8192, ""},
		{"too few bits", "Swizzle<2,3,3> o (64,64):(64,1)", half, 192, 8192, ""},
		{"not one-to-one", "(32,32):(16,1)", p, 0, 0, "want a one-to-one map"},
		{"another size", "(32,16):(32,1)", p, 0, 0, "got 512 indices, want 1024"},
		{"another shape", "(16,64):(64,1)", p, 0, 0, "got 16 in mode 0, want 32"},
		{"another rank", "(32,16,2):(32,2,1)", p, 0, 0, "got 3 modes, want 2"},
		{"tears 16-byte accesses", "Swizzle<3,0,6> o (64,64):(64,1)", half, 0, 0, "got 2 bytes kept in one piece, want 16"},
		{"too large", "(32,32):(2000,1)", p, 0, 0, "bytes, want at most"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := layout.Parse(test.layout)
			if err != nil {
				t.Fatal(err)
			}
			var c Candidate
			tr, err := FromLayout(test.p, l)
			if err == nil {
				c, err = Evaluate(context.Background(), test.p, tr)
			}
			var le *LayoutError
			if test.err != "" {
				if !errors.As(err, &le) || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || c.Wavefronts != test.wavefronts || c.Bytes != test.bytes {
				t.Errorf("got %d wavefronts, %d bytes, %v; want %d, %d", c.Wavefronts, c.Bytes, err, test.wavefronts, test.bytes)
			}
		})
	}
}

func TestImpossibleRequests(t *testing.T) {
	var budget *BudgetError
	p := transpose(32).problem(t, Block{})
	for _, bytes := range []int{0, -1, 4095} {
		if _, err := Search(context.Background(), p, Options{Limited: true, MaxBytes: bytes}); !errors.As(err, &budget) || budget.Want != 4096 {
			t.Errorf("budget %d: got %v", bytes, err)
		}
	}
	var limit *LimitError
	wide := &builder{arrays: []access.Array{array("tile", 4, 32, 33)}}
	wide.site("column", smem.Load, 16, 1, func(_, l int) int { return 132 * l })
	if _, err := Search(context.Background(), wide.problem(t, Block{}), Options{}); !errors.As(err, &limit) ||
		!strings.Contains(err.Error(), "lane 1 accesses offset 132, want a multiple of 16") {
		t.Errorf("a width that does not divide the row: got %v", err)
	}
	if _, err := Search(context.Background(), p, Options{Allow: []Family{"magic"}}); !errors.As(err, &limit) {
		t.Errorf("unknown family: got %v", err)
	}
	empty := &Problem{Arch: p.Arch, Array: p.Array, Sites: p.Sites}
	if _, err := Search(context.Background(), empty, Options{}); !errors.As(err, &limit) {
		t.Errorf("no requests: got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Search(ctx, p, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestProblems(t *testing.T) {
	b := &builder{arrays: []access.Array{array("a", 4, 32), array("b", 4, 32)}}
	b.arrays[1].Offset = 128
	b.site("a[i]", smem.Store, 4, 3, func(_, l int) int { return 4 * l })
	b.site("b[i]", smem.Load, 4, 2, func(w, l int) int { return 128 + 4*(l^w) })
	b.accesses = append(b.accesses, access.Access{Site: 1, Count: 5, Unresolved: "loaded value"})
	read := func() ([]*Problem, error) {
		return Problems(context.Background(), b, arch.MustLookup("sm_90"), Block{Threads: 96})
	}
	p, err := read()
	if err != nil || len(p) != 2 {
		t.Fatalf("got %d problems, %v; want 2", len(p), err)
	}
	if len(p[0].Requests) != 1 || p[0].Requests[0].Count != 3 || len(p[1].Requests) != 2 {
		t.Errorf("equal requests merge: got %d and %d", len(p[0].Requests), len(p[1].Requests))
	}
	if p[1].Requests[0].Addr[1] != 4 || p[1].Block.Shared != 256 || p[1].Unresolved != 5 {
		t.Errorf("got address %d, %d bytes of the block, %d unresolved", p[1].Requests[0].Addr[1], p[1].Block.Shared, p[1].Unresolved)
	}
	b.site("both", smem.Load, 4, 1, func(_, l int) int { return 8 * l })
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "access a and b") {
		t.Errorf("a request over two arrays: got %v", err)
	}
	b.accesses = b.accesses[:len(b.accesses)-1]
	b.site("beyond", smem.Load, 4, 1, func(_, l int) int { return 4096 })
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "outside every array") {
		t.Errorf("a request outside: got %v", err)
	}
}

// TestNarrow lets a pad break up wide accesses: 4 bytes free the columns of single words that 16 bytes cannot.
func TestNarrow(t *testing.T) {
	p := narrowColumns().problem(t, Block{})
	keep := search(t, p, Options{})
	r := search(t, p, Options{Narrow: true})
	if keep.Pareto[0].Wavefronts != 136 {
		t.Errorf("kept whole: got %d wavefronts, want 136", keep.Pareto[0].Wavefronts)
	}
	var best *Candidate
	for i := range r.Pareto {
		if len(r.Pareto[i].Narrowed) > 0 {
			best = &r.Pareto[i]
			break
		}
	}
	// 32 loads at 1 each, 2 stores of 4 words at 1 each.
	if best == nil || best.Transform.String() != "pad(+4 per 16 bytes)" || best.Wavefronts != 40 || best.Narrowed[0] != 0 {
		t.Fatalf("got %v\n%s", best, front(r))
	}
	if r.Bound.Wavefronts > best.Wavefronts {
		t.Errorf("bound %d above %d", r.Bound.Wavefronts, best.Wavefronts)
	}
	if _, err := r.Certificate(best); err == nil {
		t.Error("got a certificate for requests that are not the source's")
	}
}

// TestPresentPad takes the pad that a declaration has out before it searches, but only where it looks like one.
func TestPresentPad(t *testing.T) {
	columns := func(elem, rows, cols, used int) *builder {
		b := &builder{arrays: []access.Array{array("t", elem, rows, cols)}}
		b.site("column", smem.Load, elem, used, func(w, l int) int { return elem * (l%rows*cols + w) })
		return b
	}
	for _, test := range []struct {
		name    string
		b       *builder
		present string
		best    string
		bytes   int
	}{
		{"a pad that does no good", columns(4, 32, 64, 32), "pad(+128 per 128 bytes)", "pad(+4 per 128 bytes)", 4224},
		{"a pad that does", columns(4, 32, 33, 32), "pad(+4 per 128 bytes)", "", 4224},
		{"all columns used", columns(4, 32, 32, 32), "id", "pad(+4 per 128 bytes)", 4224},
		{"half the rows and more unused", columns(4, 32, 65, 32), "id", "", 8320},
		{"no round number is left", columns(4, 32, 32, 29), "id", "pad(+4 per 128 bytes)", 4224},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := test.b.problem(t, Block{})
			r := search(t, p, Options{Allow: []Family{PadOf}})
			if got := r.Before.Transform.String(); got != test.present || r.Before.Bytes != p.Array.Size {
				t.Errorf("present: got %s of %d bytes, want %s of %d", got, r.Before.Bytes, test.present, p.Array.Size)
			}
			c := candidate(r)
			if (r.Best == nil) != (test.best == "") || r.Best != nil && c.Transform.String() != test.best || c.Bytes != test.bytes {
				t.Errorf("got %s of %d bytes, want %s of %d", c.Transform, c.Bytes, test.best, test.bytes)
			}
			now, err := Evaluate(context.Background(), p, layout.Identity{})
			if err != nil || now.Wavefronts != r.Before.Wavefronts {
				t.Errorf("before: got %d wavefronts, the array as declared has %d (%v)", r.Before.Wavefronts, now.Wavefronts, err)
			}
			checkResult(t, r)
		})
	}
	p := columns(4, 32, 33, 32).problem(t, Block{})
	p.Unresolved = 1
	if r := search(t, p, Options{}); r.Problem.Present != nil {
		t.Error("a pad was taken out although not all addresses are known")
	}
}

// TestWithoutArrays searches the requests of an input that names no array, such as a recorded pattern.
func TestWithoutArrays(t *testing.T) {
	b := transpose(32)
	b.arrays = nil
	p := b.problem(t, Block{})
	if p.Array.Name != "shared memory" || p.Array.Size != 4096 {
		t.Errorf("got array %s of %d bytes", p.Array.Name, p.Array.Size)
	}
	r := search(t, p, Options{})
	// Rows are read off the lanes; a pad is no longer free, so the swizzle wins on bytes.
	if r.Best == nil || r.Best.Transform.String() != "Swizzle<5,2,5>" || !r.OptimalInGeneral {
		t.Fatalf("%s\n%s", r.Reason, front(r))
	}
	if got := front(search(t, p, Options{Allow: []Family{PadOf}})); !strings.Contains(got, "pad(+4 per 128 bytes): 64 wavefronts, 4220 bytes, 2") {
		t.Errorf("pads of inferred rows:\n%s", got)
	}
	text := emit(t, r, CUDA)
	for _, want := range []string{"shared_memory_index(int i)", "offsets count bytes", "return i ^ (i >> 5 & 124);"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}
