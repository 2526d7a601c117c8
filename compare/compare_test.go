package compare_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shmoo/access"
	"shmoo/compare"
	"shmoo/diag"
	"shmoo/internal/golden"
	"shmoo/internal/reporttest"
	"shmoo/report"
	"shmoo/report/json"
	"shmoo/smem"
)

// site returns a load of text at a line with some conflicts in 10 requests.
func site(text string, line int, conflicts, unresolved, faults int64) report.Site {
	s := report.Site{Site: access.Site{
		Pos: diag.Span{Pos: diag.Pos{File: "k.cu", Line: line, Col: 5}}, Array: "t", Op: smem.Load, Width: 4, Text: text,
	}}
	s.Tally = report.Tally{Requests: 10, Wavefronts: 10 + conflicts, Ideal: 10, Faulted: faults}
	if unresolved > 0 {
		s.Tally.Unresolved = map[string]int64{"data": unresolved}
	}
	return s
}

func of(sites ...report.Site) *report.Report {
	return &report.Report{Arch: "sm_90", Kernel: "k", Sites: sites}
}

func TestKinds(t *testing.T) {
	base := site("t[i]", 3, 30, 5, 0)
	more := base
	more.Tally.Requests, more.Tally.Wavefronts, more.Tally.Ideal = 20, 50, 20
	for _, test := range []struct {
		name          string
		before, after *report.Report
		want          string // kind and why of every change
		regressions   int
	}{
		{"same", of(base), of(base), "same", 0},
		{"moved", of(base), of(site("t[i]", 9, 30, 5, 0)), "same", 0},
		{"more conflicts", of(base), of(site("t[i]", 3, 31, 5, 0)), "worse conflicts 30 -> 31", 1},
		{"fewer conflicts", of(base), of(site("t[i]", 3, 0, 5, 0)), "better conflicts 30 -> 0", 0},
		{"fewer conflicts, less known", of(base), of(site("t[i]", 3, 0, 6, 0)), "worse unresolved requests 5 -> 6", 1},
		{"more known", of(base), of(site("t[i]", 3, 30, 0, 0)), "better unresolved requests 5 -> 0", 0},
		{"a fault", of(base), of(site("t[i]", 3, 0, 0, 1)), "worse faults 0 -> 1", 1},
		{"more work", of(base), of(more), "changed wavefronts 40 -> 50", 0},
		{"new and clean", of(base), of(base, site("t[j]", 4, 0, 0, 0)), "new wavefronts 0 -> 10; same", 0},
		{"new with conflicts", of(base), of(base, site("t[j]", 4, 1, 0, 0)), "new conflicts 0 -> 1; same", 1},
		{"new and unknown", of(base), of(base, site("t[j]", 4, 0, 2, 0)), "new unresolved requests 0 -> 2; same", 1},
		{"gone", of(base, site("t[j]", 4, 1, 0, 0)), of(base), "gone conflicts 1 -> 0; same", 0},
		{"rewritten on its line", of(base), of(site("t[i ^ 1]", 3, 0, 5, 0)), "better conflicts 30 -> 0", 0},
		{"rewritten elsewhere", of(base), of(site("t[i ^ 1]", 4, 0, 0, 0)), "new wavefronts 0 -> 10; gone unresolved requests 5 -> 0", 0},
		{"the second of two", of(base, base), of(base, site("t[i]", 3, 40, 5, 0)), "worse conflicts 30 -> 40; same", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := compare.Reports(test.before, test.after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range r.Changes {
				got = append(got, strings.TrimSpace(string(c.Kind)+" "+c.Why))
			}
			if s := strings.Join(got, "; "); s != test.want {
				t.Errorf("got %s, want %s", s, test.want)
			}
			if n := len(r.Regressions()); n != test.regressions {
				t.Errorf("%d regressions, want %d", n, test.regressions)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	a, b := of(), of()
	b.Arch = "sm_80"
	if _, err := compare.Reports(a, b); err == nil {
		t.Error("reports on different architectures compare")
	}
	c := of()
	c.Kernel, c.Launch = "other", &report.Launch{Block: [3]int{64, 1, 1}, Grid: [3]int{1, 1, 1}}
	r, err := compare.Reports(a, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Notes, "\n"); !strings.Contains(got, "kernel was k, now it is other") || !strings.Contains(got, "block 64") {
		t.Errorf("notes %q, want the kernel and the launch", got)
	}
	d := of()
	d.Launch = &report.Launch{Block: [3]int{64, 1, 1}, Grid: [3]int{1, 1, 1}, Assumed: "launch bounds"}
	if !compare.SameLaunch(c, d) {
		t.Error("how a launch became known makes it another one")
	}
}

// sites draws sites with few texts and lines, so that keys and places collide often.
func sites(t *rapid.T, label string) []report.Site {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) report.Site {
		return site(fmt.Sprintf("t[%d]", rapid.IntRange(0, 3).Draw(t, "text")), rapid.IntRange(1, 4).Draw(t, "line"),
			rapid.Int64Range(0, 2).Draw(t, "conflicts"), rapid.Int64Range(0, 1).Draw(t, "unresolved"), 0)
	}), 0, 8).Draw(t, label)
}

// TestLaws: every site is in exactly one change, a report compared with itself is the same, and what one direction calls
// better the other calls worse.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := of(sites(t, "before")...), of(sites(t, "after")...)
		r, err := compare.Reports(before, after)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[*report.Site]int{}
		for _, c := range r.Changes {
			for _, s := range []*report.Site{c.Before, c.After} {
				if s != nil {
					seen[s]++
				}
			}
		}
		for _, side := range []*report.Report{before, after} {
			for i := range side.Sites {
				if n := seen[&side.Sites[i]]; n != 1 {
					t.Fatalf("site %d is in %d changes, want 1", i, n)
				}
			}
		}
		self, err := compare.Reports(after, after)
		if err != nil {
			t.Fatal(err)
		}
		if n := self.Count(compare.Same); n != len(after.Sites) {
			t.Fatalf("%d of %d sites are the same as themselves", n, len(after.Sites))
		}
		back, err := compare.Reports(after, before)
		if err != nil {
			t.Fatal(err)
		}
		if r.Count(compare.New) != back.Count(compare.Gone) || r.Count(compare.Better) > back.Count(compare.Worse) {
			t.Fatalf("forth %+v, back %+v", r.Changes, back.Changes)
		}
	})
}

// TestGolden compares a kernel with its mended version.
func TestGolden(t *testing.T) {
	const before = `__global__ void k(float *out) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = 1;
    out[0] = t[threadIdx.x][threadIdx.y];
    out[1] = t[threadIdx.x][0];
}
`
	after := strings.Replace(strings.Replace(before, "[32][32]", "[32][33]", 1), "    out[1] = t[threadIdx.x][0];\n",
		"    out[2] = t[2 * (threadIdx.x & 15)][threadIdx.x & 1];\n", 1)
	block := [3]int{32, 4, 1}
	r, err := compare.Reports(reporttest.Sketch(t, "before", before, block).Report, reporttest.Sketch(t, "after", after, block).Report)
	if err != nil {
		t.Fatal(err)
	}
	var text, document bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "transpose.txt", text.Bytes())
	if err := json.Encode(&document, r.Document()); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "transpose.json", document.Bytes())
}
