package sketch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/report"
)

// The cases are what people met and asked about in public, each with the answer that was measured or worked out there.
// A comment at the end of a line names what the access on it costs; accesses without a comment and comments without an
// access fail.
func TestPublicCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.cu")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d cases (%v), want the whole set", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".cu"), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			checkCosts(t, filepath.Base(name), string(src))
		})
	}
}

// checkCosts runs a sketch as its shmoo line says and compares the cost of every site with the comment on its line.
func checkCosts(t *testing.T, name, src string) {
	t.Helper()
	got := map[int]string{}
	r := collect(t, name, src)
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Fault != nil {
			t.Errorf("%s: %v", s.Pos.Pos, s.Fault.Fault)
		}
		n := s.Tally.UnresolvedRequests()
		if s.Tally.Requests+n == 0 {
			continue
		}
		cost := fmt.Sprintf("%s requests %d wavefronts %d ideal %d", s.Op, s.Tally.Requests, s.Tally.Wavefronts, s.Tally.Ideal)
		if n > 0 {
			cost = fmt.Sprintf("%s unresolved %d", s.Op, n)
		}
		if got[s.Pos.Line] != "" {
			cost = got[s.Pos.Line] + "; " + cost
		}
		got[s.Pos.Line] = cost
	}
	line := 0
	for text := range strings.Lines(src) {
		line++
		_, want, _ := strings.Cut(text, "// want: ")
		if want = strings.TrimSpace(want); want != got[line] {
			t.Errorf("%s:%d: got %q, want %q", name, line, got[line], want)
		}
	}
}

// collect runs a sketch as its shmoo line says.
func collect(t *testing.T, name, src string) *report.Report {
	t.Helper()
	a, opts, launch := arch.MustLookup("sm_90"), Options{}, Launch{}
	for line := range strings.Lines(src) {
		rest, ok := strings.CutPrefix(line, "// shmoo:")
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		for i := 0; i+1 < len(words); i += 2 {
			value := words[i+1]
			switch words[i] {
			case "--block":
				launch.Block = shape(t, value)
			case "--grid":
				launch.Grid, launch.AllBlocks = shape(t, value), true
			case "--arch":
				a = arch.MustLookup(value)
			case "--kernel":
				launch.Kernel = value
			case "-D":
				n, v, _ := strings.Cut(value, "=")
				opts.Defines = append(opts.Defines, Define{n, v})
			default:
				t.Fatalf("flag %s is not known to this test", words[i])
			}
		}
	}
	opts.Lanes = a.Unit.Lanes
	p, err := Parse(name, []byte(src), opts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Source(launch)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Collect(context.Background(), s, a.Unit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func shape(t *testing.T, s string) (out [3]int) {
	t.Helper()
	out = [3]int{1, 1, 1}
	for i, n := range strings.Split(s, ",") {
		v, err := strconv.Atoi(n)
		if err != nil || i > 2 {
			t.Fatalf("shape %q, want up to three numbers", s)
		}
		out[i] = v
	}
	return out
}
