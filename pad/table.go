package pad

import (
	"io"
	"strings"
	"unicode/utf8"

	plain "shmoo/internal/table"
)

// A column is the head of a table's column. Words stand left, numbers right.
type column struct {
	head string
	left bool
}

// A table is rows of cells, written as plain text or Markdown.
type table struct {
	columns []column
	rows    [][]string
}

func (t *table) head(left bool, heads ...string) {
	for _, head := range heads {
		t.columns = append(t.columns, column{head, left})
	}
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// widths returns the width of every column.
func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = utf8.RuneCountInString(c.head)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// writeText writes the table as the rest of the program does.
func (t *table) writeText(w io.Writer) error {
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.head
		if !c.left {
			titles[i] += ">"
		}
	}
	text := plain.New(titles...)
	for _, row := range t.rows {
		cells := make([]any, len(row))
		for i := range row {
			cells[i] = row[i]
		}
		text.Row(cells...)
	}
	return text.Write(w)
}

// writeMarkdown writes the table in the form that GitHub reads.
func (t *table) writeMarkdown(w io.Writer) error {
	widths := t.widths()
	var b strings.Builder
	for i, c := range t.columns {
		b.WriteString("| " + t.align(i, strings.ReplaceAll(c.head, "|", `\|`), widths[i]) + " ")
	}
	b.WriteString("|\n")
	for i, c := range t.columns {
		if rule := strings.Repeat("-", widths[i]+1); c.left {
			b.WriteString("|:" + rule)
		} else {
			b.WriteString("|" + rule + ":")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		for i, cell := range row {
			b.WriteString("| " + t.align(i, strings.ReplaceAll(cell, "|", `\|`), widths[i]) + " ")
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) align(i int, cell string, width int) string {
	fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(cell)))
	if t.columns[i].left {
		return cell + fill
	}
	return fill + cell
}
