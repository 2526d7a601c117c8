package report_test

import (
	"testing"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/report"
	"shmoo/smem"
)

func at(file string, line int, s access.Site) report.Site {
	s.Pos = diag.Span{Pos: diag.Pos{File: file, Line: line}}
	return report.Site{Site: s, Tally: report.Tally{Requests: 1, Wavefronts: int64(line), Ideal: 1}}
}

func TestKeys(t *testing.T) {
	load := access.Site{Array: "t", Op: smem.Load, Width: 4, Text: "t[i]"}
	wide, store, spaced, other, code := load, load, load, load, load
	wide.Width, wide.Instr = 16, "LDS.128"
	store.Op = smem.Store
	spaced.Text = " t[i]\n"
	other.Array = "u"
	code.Text, code.Instr = "", "LDS.64"
	base := report.Report{Sites: []report.Site{at("a.cu", 1, load)}}
	want := base.Keys()[0]
	for _, test := range []struct {
		name string
		site report.Site
		same bool
	}{
		{"another line", at("a.cu", 9, load), true},
		{"another file", at("b.cu", 1, load), true},
		{"another width", at("a.cu", 1, wide), true},
		{"other blanks", at("a.cu", 1, spaced), true},
		{"another operation", at("a.cu", 1, store), false},
		{"another array", at("a.cu", 1, other), false},
		{"no text", at("a.cu", 1, code), false},
	} {
		r := report.Report{Sites: []report.Site{test.site}}
		got := r.Keys()[0]
		if same := got == want; same != test.same {
			t.Errorf("%s: key %v, want %v to be the same: %v", test.name, got, want, test.same)
		}
		if same := got.Fingerprint() == want.Fingerprint(); same != test.same {
			t.Errorf("%s: fingerprints %s and %s, want the same: %v", test.name, got.Fingerprint(), want.Fingerprint(), test.same)
		}
	}
	twice := report.Report{Sites: []report.Site{at("a.cu", 1, load), at("a.cu", 2, store), at("a.cu", 3, load)}}
	if keys := twice.Keys(); keys[0].Nth != 1 || keys[1].Nth != 1 || keys[2].Nth != 2 || keys[2].String() != "load t[i] #2" {
		t.Errorf("keys %v, want the second load to be #2", keys)
	}
}

func TestLines(t *testing.T) {
	s := access.Site{Op: smem.Load}
	r := report.Report{Sites: []report.Site{at("b.cu", 3, s), at("a.cu", 7, s), {Site: s}, at("b.cu", 3, s), at("a.cu", 2, s)}}
	lines := r.Lines()
	if len(lines) != 3 || lines[0].Line != 2 || lines[1].Line != 7 || lines[2].File != "b.cu" {
		t.Fatalf("lines %+v, want a.cu:2, a.cu:7, b.cu:3", lines)
	}
	if last := lines[2]; len(last.Sites) != 2 || last.Sites[1] != 3 || last.Tally.Wavefronts != 6 {
		t.Errorf("b.cu:3 is %+v, want sites 0 and 3 with 6 wavefronts", last)
	}
	if order := r.ByConflicts(); len(order) != 4 || order[0] != 1 || order[1] != 0 || order[2] != 3 {
		t.Errorf("by conflicts %v, want 1, 0, 3, 4", order)
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		site                       access.Site
		place, phrase, instruction string
	}{
		{access.Site{Pos: at("a.cu", 3, access.Site{}).Pos, Op: smem.Load, Instr: "LDS", Text: "t[i]"}, "a.cu:3", "load of t[i]", "LDS"},
		{access.Site{Pos: at("/x/a.cu", 3, access.Site{}).Pos, PC: 0x1a0, Op: smem.Store, Instr: "STS"}, "0x01a0 a.cu:3", "STS at 0x01a0", "STS"},
		{access.Site{PC: 0x10, Op: smem.Atomic}, "0x0010", "atomic", "atomic"},
		{access.Site{Op: smem.Atomic, Text: "atomicAdd(&t[i], 1)"}, "", "atomic atomicAdd(&t[i], 1)", "atomic"},
	} {
		s := report.Site{Site: test.site}
		if s.Place() != test.place || s.Phrase() != test.phrase || s.Instruction() != test.instruction {
			t.Errorf("got %q, %q, %q, want %q, %q, %q", s.Place(), s.Phrase(), s.Instruction(), test.place, test.phrase, test.instruction)
		}
	}
}
