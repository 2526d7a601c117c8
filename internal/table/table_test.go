package table

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	tab := New("array", "ways>", "why").Indent("  ")
	tab.Row("tile", 32, "column")
	tab.Row("a", 1)
	var b strings.Builder
	if err := tab.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "  array  ways  why\n  tile     32  column\n  a         1\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
