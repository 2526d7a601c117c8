package formats_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"shmoo/internal/reporttest"
	"shmoo/report/formats"
)

// TestEveryFormatWritesEveryReport: with all options and with none.
func TestEveryFormatWritesEveryReport(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		for _, f := range formats.All() {
			for _, o := range []formats.Options{{}, {Lines: c.Lines, Unit: c.Unit, Color: true}} {
				var b bytes.Buffer
				err := f.Write(&b, c.Report, o)
				if f.Name == "svg" && c.Name == "empty" {
					if err == nil || !strings.Contains(err.Error(), "no request") {
						t.Errorf("%s of %s: got %v, want an error that there is nothing to draw", f.Name, c.Name, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s of %s: %v", f.Name, c.Name, err)
				} else if b.Len() == 0 {
					t.Errorf("%s of %s: nothing was written", f.Name, c.Name)
				}
				if binary := bytes.IndexByte(b.Bytes(), 0) >= 0; binary && !f.Binary {
					t.Errorf("%s of %s: is binary, but the table says it is text", f.Name, c.Name)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, name := range formats.Names() {
		if f, err := formats.Lookup(name); err != nil || f.Name != name || f.About == "" {
			t.Errorf("%s: got %+v, %v", name, f, err)
		}
	}
	if _, err := formats.Lookup("xml"); err == nil || !strings.Contains(err.Error(), "text, source, json") {
		t.Errorf("got %v, want an error that names the formats", err)
	}
	if names := slices.Compact(slices.Sorted(slices.Values(formats.Names()))); len(names) != len(formats.All()) {
		t.Error("two formats have one name")
	}
}

func TestForFile(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"r.json", "json"}, {"a/b.HTML", "html"}, {"k.pb.gz", "pprof"}, {"k.sarif", "sarif"}, {"k.md", "markdown"}, {"k.csv", "csv"},
		{"k.svg", "svg"}, {"k.txt", "text"}, {"k.gz", ""}, {"json", ""}, {"", ""},
	} {
		f, ok := formats.ForFile(test.file)
		if f.Name != test.want || ok != (test.want != "") {
			t.Errorf("%q: got %q, want %q", test.file, f.Name, test.want)
		}
	}
}
