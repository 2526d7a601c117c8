package examples_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shmoo/arch"
	"shmoo/examples"
	"shmoo/report"
	"shmoo/sketch"
)

var update = flag.Bool("update", false, "rewrite the want lines of the examples; read the diff")

// options reads the flags of a sketch's comment.
func options(t *testing.T, flags []string) (sketch.Options, sketch.Launch) {
	var o sketch.Options
	var l sketch.Launch
	for i := 0; i+1 < len(flags); i += 2 {
		value := flags[i+1]
		switch flags[i] {
		case "--block":
			for axis, n := range strings.Split(value, ",") {
				v, err := strconv.Atoi(n)
				if err != nil || axis > 2 {
					t.Fatalf("--block %s: want up to three numbers", value)
				}
				l.Block[axis] = v
			}
		case "--smem":
			v, err := strconv.Atoi(value)
			if err != nil {
				t.Fatalf("--smem %s: want a number", value)
			}
			l.DynamicShared = v
		case "-D":
			name, v, _ := strings.Cut(value, "=")
			o.Defines = append(o.Defines, sketch.Define{Name: name, Value: v})
		default:
			t.Fatalf("flag %s: want --block, --smem or -D", flags[i])
		}
	}
	return o, l
}

// answer runs a sketch and writes what its requests cost, as want lines.
func answer(t *testing.T, name string, src []byte) []string {
	t.Helper()
	o, l := options(t, examples.Flags(src))
	p, err := sketch.Parse(name+".cu", src, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Source(l)
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
	r, err := report.Collect(context.Background(), s, arch.MustLookup("sm_90").Unit)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range r.Sites {
		site := &r.Sites[i]
		if site.Fault != nil {
			t.Errorf("%s: %v", site.Pos.Pos, site.Fault.Fault)
		}
		if site.Tally.Requests+site.Tally.UnresolvedRequests() > 0 {
			lines = append(lines, fmt.Sprintf("site %d:%d %s %s", site.Pos.Line, site.Pos.Col, site.Op, tally(&site.Tally)))
		}
	}
	totals := r.Totals()
	return append(lines, "total "+tally(&totals))
}

func tally(t *report.Tally) string {
	s := fmt.Sprintf("requests %d wavefronts %d ideal %d", t.Requests, t.Wavefronts, t.Ideal)
	if n := t.UnresolvedRequests(); n > 0 {
		s += fmt.Sprintf(" unresolved %d", n)
	}
	return s
}

const wantPrefix = "// want: "

// Every example gives the answer in its comment.
func TestAnswers(t *testing.T) {
	names := examples.Names()
	if len(names) < 12 {
		t.Errorf("%d examples, want a dozen", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			src, err := examples.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(src)) {
				if w, ok := strings.CutPrefix(strings.TrimSpace(line), wantPrefix); ok {
					want = append(want, w)
				}
			}
			if *update {
				// The lines move what follows them, so their number is settled first.
				rewrite(t, name, src, answer(t, name, src))
				src, err = os.ReadFile(name + ".cu")
				if err != nil {
					t.Fatal(err)
				}
				rewrite(t, name, src, answer(t, name, src))
				return
			}
			if diff := cmp.Diff(want, answer(t, name, src)); diff != "" {
				t.Errorf("answer differs (-want +got):\n%s", diff)
			}
		})
	}
}

// rewrite puts the want lines after the flags.
func rewrite(t *testing.T, name string, src []byte, lines []string) {
	var b strings.Builder
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, wantPrefix) {
			continue
		}
		b.WriteString(line)
		if strings.HasPrefix(line, "// shmoo:") {
			for _, l := range lines {
				b.WriteString(wantPrefix + l + "\n")
			}
		}
	}
	if err := os.WriteFile(name+".cu", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownName(t *testing.T) {
	if _, err := examples.Read("nothing"); err == nil || !strings.Contains(err.Error(), "transpose") {
		t.Errorf("got %v, want an error that lists the names", err)
	}
}
