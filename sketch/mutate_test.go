package sketch

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sketches with tokens dropped, doubled, swapped and taken from other sketches come closer to meaning than random bytes.
// Every one must end in accesses or an error; a panic fails the test.
func TestMutatedSketches(t *testing.T) {
	var pools [][]token
	for _, pattern := range []string{"testdata/run.cu", "testdata/gemm.cu", "../examples/*.cu"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for chunk := range strings.SplitSeq(string(data), "---\n") {
				f := &file{src: chunk}
				if toks := lex(f, &diags{file: f}, 10000); len(toks) > 3 {
					pools = append(pools, toks[:len(toks)-1])
				}
			}
		}
	}
	rounds := 1000
	if testing.Short() {
		rounds = 300
	}
	r := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for range rounds {
		src := mutate(r, pools)
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Errorf("panic: %v\n%s", e, src)
					panic(e)
				}
			}()
			if runLimited(src) {
				ran++
			}
		}()
	}
	if ran < rounds/20 {
		t.Errorf("%d of %d mutants ran, want enough of them to mean something", ran, rounds)
	}
}

func mutate(r *rand.Rand, pools [][]token) string {
	toks := append([]token(nil), pools[r.IntN(len(pools))]...)
	for range 1 + r.IntN(3) {
		i := r.IntN(len(toks))
		switch r.IntN(8) {
		case 0:
			toks = append(toks[:i:i], toks[min(len(toks), i+1+r.IntN(3)):]...)
		case 1:
			n := min(len(toks), i+1+r.IntN(6))
			toks = append(toks[:n:n], toks[i:]...)
		case 2, 3, 4, 5, 6: // another token of the same kind, from here or elsewhere
			other := toks
			if r.IntN(2) == 0 {
				other = pools[r.IntN(len(pools))]
			}
			if j := r.IntN(len(other)); other[j].kind == toks[i].kind {
				toks[i].text = other[j].text
			}
		default:
			other := pools[r.IntN(len(pools))]
			j := r.IntN(len(other))
			part := other[j:min(len(other), j+1+r.IntN(12))]
			toks = append(append(toks[:i:i], part...), toks[i:]...)
		}
		if len(toks) == 0 {
			return ""
		}
	}
	var b strings.Builder
	for _, t := range toks {
		if t.first {
			b.WriteByte('\n')
		} else if t.space || t.kind == tokIdent {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// runLimited reports whether a sketch gave an access.
func runLimited(src string) bool {
	p, err := Parse("m.cu", []byte(src), Options{Limits: fuzzLimits, Defines: []Define{{"T", "double"}, {"N", "33"}}})
	if err != nil {
		return false
	}
	ran := false
	for _, k := range p.Kernels() {
		s, err := p.Source(Launch{Kernel: k.Name, Block: [3]int{33, 2, 1}})
		if err != nil {
			continue
		}
		for _, err := range s.Accesses(context.Background()) {
			if err != nil {
				break
			}
			ran = true
		}
	}
	return ran
}
