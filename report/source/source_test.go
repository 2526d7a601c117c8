package source_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"shmoo/diag"
	"shmoo/internal/golden"
	"shmoo/internal/reporttest"
	"shmoo/report"
	"shmoo/report/source"
)

func TestGolden(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := source.Write(&b, c.Report, source.Options{Lines: c.Lines}); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, c.Name+".txt", b.Bytes())
		})
	}
}

// TestColorChangesNothingElse: without its escapes, coloured output is the plain one.
func TestColorChangesNothingElse(t *testing.T) {
	strip := strings.NewReplacer("\x1b[31m", "", "\x1b[2m", "", "\x1b[0m", "")
	for _, c := range reporttest.Cases(t) {
		var plain, colored bytes.Buffer
		if err := source.Write(&plain, c.Report, source.Options{Lines: c.Lines}); err != nil {
			t.Fatal(err)
		}
		if err := source.Write(&colored, c.Report, source.Options{Lines: c.Lines, Color: true}); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(strip.Replace(colored.String())) {
			lines = append(lines, strings.TrimRight(line, " \n")+"\n")
		}
		if got := strings.Join(lines, ""); got != plain.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", c.Name, got, plain.String())
		}
		if hot := strings.Contains(colored.String(), "\x1b[31m"); hot != (conflicts(c.Report) > 0 || faults(c.Report) > 0) {
			t.Errorf("%s: marked is %v", c.Name, hot)
		}
	}
}

func conflicts(r *report.Report) int64 { totals := r.Totals(); return totals.Conflicts() }
func faults(r *report.Report) int64    { totals := r.Totals(); return totals.Faulted }

// TestFolds: every line of a file is shown or counted in a fold, in order, whatever the gaps between accesses.
func TestFolds(t *testing.T) {
	const length = 100
	lines := func(p diag.Pos) (string, bool) { return fmt.Sprintf("line %d", p.Line), p.Line <= length }
	for _, at := range [][]int{{1}, {1, 2}, {4}, {12}, {13}, {1, 10}, {1, 11}, {1, 12}, {50, 99}, {100}, {3, 30, 31, 97}} {
		r := &report.Report{}
		for _, line := range at {
			var s report.Site
			s.Pos.Pos = diag.Pos{File: "k.cu", Line: line}
			r.Sites = append(r.Sites, s)
		}
		files := source.Files(r, lines)
		if len(files) != 1 {
			t.Fatalf("%v: %d files, want 1", at, len(files))
		}
		next, costs := 1, 0
		for _, row := range files[0].Rows {
			if row.Folded > 0 {
				next += row.Folded
				continue
			}
			if row.Line != next || row.Text != fmt.Sprintf("line %d", next) {
				t.Fatalf("%v: got line %d (%s), want line %d", at, row.Line, row.Text, next)
			}
			if row.Cost != nil {
				costs++
			}
			next++
		}
		if want := min(at[len(at)-1]+3, length) + 1; next != want || costs != len(at) {
			t.Errorf("%v: shows up to line %d with %d accesses, want %d and %d", at, next-1, costs, want-1, len(at))
		}
	}
}
