package text_test

import (
	"bytes"
	"encoding/csv"
	"testing"

	"shmoo/internal/golden"
	"shmoo/internal/reporttest"
	"shmoo/report/text"
)

func TestGolden(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			var plain, table, markdown bytes.Buffer
			if err := text.Write(&plain, c.Report, text.Options{Lines: c.Lines}); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, c.Name+".txt", plain.Bytes())
			if err := text.CSV(&table, c.Report); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, c.Name+".csv", table.Bytes())
			if err := text.Markdown(&markdown, c.Report); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, c.Name+".md", markdown.Bytes())
		})
	}
}

// TestCSVIsReadable: a reader gets a row per site with as many cells as the header, whatever the texts hold.
func TestCSVIsReadable(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		var b bytes.Buffer
		if err := text.CSV(&b, c.Report); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll() // it refuses rows of different lengths
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if len(rows) != 1+len(c.Report.Sites) {
			t.Errorf("%s: %d rows, want a header and %d sites", c.Name, len(rows), len(c.Report.Sites))
		}
	}
}

func TestQuiet(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		var b bytes.Buffer
		if err := text.Write(&b, c.Report, text.Options{Quiet: true}); err != nil {
			t.Fatal(err)
		}
		if silent := b.Len() == 0; silent != (c.Report.Clean() && len(c.Report.Diagnostics) == 0) {
			t.Errorf("%s: silent is %v", c.Name, silent)
		}
	}
}
