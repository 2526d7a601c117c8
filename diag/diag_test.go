package diag_test

import (
	"strings"
	"testing"

	"shmoo/diag"
)

func TestWrite(t *testing.T) {
	line := "\tfloat tile[32][foo];"
	lines := func(p diag.Pos) (string, bool) { return line, p.Line == 3 }
	at := func(col, n int) diag.Span { return diag.Span{Pos: diag.Pos{File: "k.cu", Line: 3, Col: col}, Len: n} }
	tests := []struct {
		name string
		d    *diag.Diagnostic
		want string
	}{
		{"span", diag.Errorf("sketch/name", at(18, 3), "unknown name %q", "foo"),
			"k.cu:3:18: error: unknown name \"foo\"\n    \tfloat tile[32][foo];\n    \t                ^~~\n"},
		{"past the end", diag.Warningf("x", at(99, 1), "gone"), "k.cu:3:99: warning: gone\n"},
		{"no column", diag.Errorf("x", at(0, 0), "whole line"), "k.cu:3: error: whole line\n"},
		{"no place", diag.Errorf("x", diag.Span{}, "nothing to read"), "error: nothing to read\n"},
		{"fix", &diag.Diagnostic{Severity: diag.Warning, Span: at(0, 0), Message: "32-way",
			Fixes: []diag.Fix{{Message: "pad by 1"}}}, "k.cu:3: warning: 32-way\n  fix: pad by 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := tt.d.Write(&b, lines); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got\n%q\nwant\n%q", b.String(), tt.want)
			}
		})
	}
}

// TestLongLine: a quoted line is cut around the span, and control bytes never reach the terminal.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("a", 1<<20) + "\x1b[31mX" + strings.Repeat("b", 1<<20)
	d := diag.Errorf("x", diag.Span{Pos: diag.Pos{File: "k.cu", Line: 1, Col: 1<<20 + 6}, Len: 1}, "here")
	var b strings.Builder
	if err := d.Write(&b, func(diag.Pos) (string, bool) { return long, true }); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(b.String()) > 1000 || strings.Contains(b.String(), "\x1b") {
		t.Fatalf("%d bytes, escape %v", b.Len(), strings.Contains(b.String(), "\x1b"))
	}
	if marker := strings.Index(lines[2], "^"); lines[1][marker] != 'X' {
		t.Errorf("the marker points at %q, want X:\n%s\n%s", lines[1][marker], lines[1], lines[2])
	}
}

func TestListErr(t *testing.T) {
	list := diag.List{diag.Warningf("w", diag.Span{}, "only a warning")}
	if err := list.Err(); err != nil {
		t.Errorf("a list of warnings is the error %v", err)
	}
	list = append(list, diag.Errorf("e", diag.Span{}, "broken"))
	if err := list.Err(); err == nil || err.Error() != "warning: only a warning\nerror: broken" {
		t.Errorf("got %v", err)
	}
}
