package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tileops reads figures of the TileOPs page, a row of numbers each, without the header.
func tileops(t *testing.T, name string) [][]float64 {
	t.Helper()
	f, err := os.Open("../../examples/sweeps/testdata/tileops_" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for _, record := range records[1:] {
		var row []float64
		for _, text := range record {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// sideBySide writes "page / ours = ratio".
func sideBySide(page, ours float64) string {
	return fmt.Sprintf(" %.2f / %.2f = %.2f |", page, ours, ours/page)
}

// scanTable compares the 20 points of the scan, in TB/s, and shows how far each prediction is off.
func scanTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| chunk | pad 0 | pad 2 | pad 4 | pad 8 | pad 16 |\n|---|---|---|---|---|---|\n")
	r := recordedSweep(t, "scan")
	for i, page := range tileops(t, "scan") {
		row := &r.Rows[i]
		if i%5 == 0 {
			fmt.Fprintf(&b, "| %.0f |", page[0])
		}
		b.WriteString(strings.TrimSuffix(sideBySide(page[3], row.Facts[factBytes]/row.Summary.Median/1e12), " |"))
		fmt.Fprintf(&b, ", %+.0f %% |", 100*(row.Facts[factSeconds]/row.Summary.Median-1))
		if i%5 == 4 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// widthTable compares times relative to the fastest of a width; the last column is 128 bits read as two LDS.64.
func widthTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| gcd(S, 32) | 32 bit | 64 bit | 128 bit | 128 bit as two LDS.64 |\n|---|---|---|---|---|\n")
	const gcds = 6
	wide, split := medians(recordedSweep(t, "width")), medians(recordedSweep(t, "split"))
	columns := [][]float64{wide[:gcds], wide[gcds : 2*gcds], wide[2*gcds:], split}
	for i, page := range tileops(t, "width") {
		fmt.Fprintf(&b, "| %.0f |", page[0])
		for c, column := range columns {
			b.WriteString(sideBySide(page[1+min(c, 2)], column[i]/slices.Min(column)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// chunk56Table compares the two pads at the four widths, in TB/s.
func chunk56Table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| input | k = 1 | k = 2 |\n|---|---|---|\n")
	r := recordedSweep(t, "chunk56")
	for i, page := range tileops(t, "chunk56") {
		fmt.Fprintf(&b, "| %.0f x %.0f |", page[0], page[1])
		for k := range 2 {
			row := &r.Rows[2*i+k]
			b.WriteString(sideBySide(page[4+k], row.Facts[factBytes]/row.Summary.Median/1e12))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestTables holds the tables of docs/tables.md against the recordings.
func TestTables(t *testing.T) {
	const path = "../../docs/tables.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for name, table := range map[string]string{"scan": scanTable(t), "width": widthTable(t), "chunk56": chunk56Table(t)} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		before, rest, found := strings.Cut(doc, begin)
		shown, after, closed := strings.Cut(rest, end)
		switch {
		case !found || !closed:
			t.Errorf("docs/tables.md has no %s", begin)
		case shown != table && *update:
			doc = before + begin + table + end + after
		case shown != table:
			t.Errorf("docs/tables.md shows for %s\n%s\nthe recording says\n%s", name, shown, table)
		}
	}
	if *update && doc != string(text) {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
