// Package table prints aligned plain-text tables for the command line.
//
//	t := table.New("array", "wavefronts>") // > aligns a column to the right
//	t.Row("tile", 32)
//	t.Write(w)
//
// Limits: a cell is one line; every rune counts as one column.
package table

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is rows of cells under a header.
type Table struct {
	header []string
	right  []bool
	rows   [][]string
	indent string
}

// New returns a table with the given column titles. A title that ends in ">" aligns its column to the right.
func New(titles ...string) *Table {
	t := &Table{}
	for _, title := range titles {
		name, right := strings.CutSuffix(title, ">")
		t.header = append(t.header, name)
		t.right = append(t.right, right)
	}
	return t
}

// Indent sets what every line starts with.
func (t *Table) Indent(s string) *Table {
	t.indent = s
	return t
}

// Row adds a row. Cells are printed as by fmt.Sprint; missing ones are empty, surplus ones are dropped.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(t.header))
	for i := range min(len(cells), len(row)) {
		row[i] = fmt.Sprint(cells[i])
	}
	t.rows = append(t.rows, row)
}

// Write prints the table: columns two spaces apart, no trailing blanks.
func (t *Table) Write(w io.Writer) error {
	widths := make([]int, len(t.header))
	lines := append([][]string{t.header}, t.rows...)
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		cells := make([]string, len(line))
		for i, cell := range line {
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				cells[i] = fill + cell
			} else {
				cells[i] = cell + fill
			}
		}
		b.WriteString(strings.TrimRight(t.indent+strings.Join(cells, "  "), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
