package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"shmoo/internal/golden"
)

func grid() *Grid {
	return &Grid{Title: `scan <"&">`, Unit: "TB/s", X: "PAD", Columns: []string{"0", "2", "4"}, Measured: true, Rows: []Row{
		{"CHUNK=16", []Cell{{Text: "1.66", Note: "~1.79, 8-way", Seconds: 6.4e-4}, {Text: "4.06", Mark: "*", Note: "~3.80, 2-way",
			Seconds: 2.6e-4}, {Mark: "!", Failed: true}}},
		{"CHUNK=128", []Cell{{Note: "~0.51, 32-way", Seconds: 2.1e-3}, {Text: "3.91", Seconds: 2.7e-4}, {}}},
	}}
}

func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := SVG(&b, grid()); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "scan.svg", b.Bytes())
	d := xml.NewDecoder(&b)
	var texts strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := token.(xml.CharData); ok {
			texts.Write(c)
		}
	}
	for _, want := range []string{"4.06*", "failed", "~0.51, 32-way", "PAD=4", "CHUNK=128", `scan <"&">`} {
		if !strings.Contains(texts.String(), want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}

func TestPNG(t *testing.T) {
	var b bytes.Buffer
	if err := PNG(&b, grid()); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X < 2*3*cellWidth || size.Y < 2*2*cellHeight {
		t.Errorf("got a picture of %v", size)
	}
}

func TestShade(t *testing.T) {
	fast, slow := shade(1), shade(4)
	if fast.B <= fast.R || slow.R <= slow.B || shade(100) != slow || shade(0.5) != fast {
		t.Errorf("got %v for the fastest, %v for four times as slow", fast, slow)
	}
}

func TestErrors(t *testing.T) {
	ragged, empty, many := grid(), grid(), grid()
	ragged.Rows[1].Cells = ragged.Rows[1].Cells[:1]
	empty.Rows = []Row{{"a", make([]Cell, 3)}}
	many.Columns = make([]string, MaxCells)
	for _, test := range []struct {
		name, want string
		g          *Grid
	}{
		{"ragged", `row "CHUNK=128" has 1 cells, want 3`, ragged}, {"nothing known", "no point", empty},
		{"too many", "at most 4096", many}, {"none", "0 rows", &Grid{}},
	} {
		if err := SVG(io.Discard, test.g); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.name, err, test.want)
		}
		if err := PNG(io.Discard, test.g); err == nil {
			t.Errorf("%s: no error for PNG", test.name)
		}
	}
}
