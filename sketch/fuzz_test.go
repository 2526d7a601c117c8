package sketch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fuzzLimits keep one input to a fraction of a second.
var fuzzLimits = Limits{Source: 1 << 16, Tokens: 20_000, Nodes: 5_000, Memory: 8 << 20, Steps: 100_000}

// seed adds the sketches of testdata and the examples, whole and in chunks.
func seed(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"testdata/*.cu", "testdata/cases/*.cu", "../examples/*.cu"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: no seeds (%v)", pattern, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			for chunk := range strings.SplitSeq(string(data), "---\n") {
				f.Add(chunk)
			}
		}
	}
}

// FuzzParse: any text parses or gives diagnostics with positions inside it.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Parse("f.cu", []byte(src), Options{Limits: fuzzLimits})
		if err == nil && len(p.Kernels()) == 0 {
			t.Error("neither kernels nor an error")
		}
	})
}

// FuzzRun: whatever parses also compiles and runs, or gives an error, in bounded time; every access is well formed.
func FuzzRun(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Parse("f.cu", []byte(src), Options{Limits: fuzzLimits, Defines: []Define{{"N", "4"}, {"T", "float"}}})
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		for _, k := range p.Kernels() {
			s, err := p.Source(Launch{Kernel: k.Name, Block: [3]int{40, 1, 1}})
			if err != nil {
				continue
			}
			sites := s.Sites()
			for i := range s.Arrays() {
				s.Decl(i)
			}
			for i := range sites {
				s.IndexSpans(i)
			}
			for a, err := range s.Accesses(ctx) {
				if err != nil {
					if ctx.Err() != nil {
						t.Fatal("runs longer than its steps allow")
					}
					break
				}
				if a.Site < 0 || a.Site >= len(sites) || a.Request.Active == 0 || a.Request.Active>>32 != 0 ||
					len(a.Request.Addr) != 32 || a.Count < 1 || a.Request.Width != sites[a.Site].Width {
					t.Fatalf("malformed access %+v", a)
				}
			}
		}
	})
}
