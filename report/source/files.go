package source

import (
	"slices"
	"strings"

	"shmoo/diag"
	"shmoo/report"
)

// A File is the part of a source file that has accesses, with context.
type File struct {
	Name string
	Rows []Row
}

// A Row is a line of a file, or lines that are left out.
type Row struct {
	Line   int
	Text   string // "" for a fold
	Cost   *report.Line
	Folded int // lines left out here; the other fields are zero then
}

const (
	contextLines = 3 // lines shown before and after one with accesses
	foldLines    = 8 // a gap of more lines than this is folded
)

// Files returns the annotated lines of every file of the report, as Write prints them. lines may be nil; the rows then are
// the lines with accesses, whose text is that of their sites.
func Files(r *report.Report, lines func(diag.Pos) (string, bool)) []File {
	if lines == nil {
		lines = func(diag.Pos) (string, bool) { return "", false }
	}
	cost := r.Lines()
	var files []File
	for len(cost) > 0 {
		n := 1
		for n < len(cost) && cost[n].File == cost[0].File {
			n++
		}
		b := fileBuilder{r: r, lines: lines, file: File{Name: cost[0].File}}
		b.build(cost[:n])
		files = append(files, b.file)
		cost = cost[n:]
	}
	return files
}

type fileBuilder struct {
	r     *report.Report
	lines func(diag.Pos) (string, bool)
	file  File
}

func (b *fileBuilder) build(cost []report.Line) {
	shown := 0 // the last line that is in the rows
	for i := range cost {
		l := &cost[i]
		b.gap(shown, l.Line, i == 0)
		text, ok := b.text(l.Line)
		if !ok {
			text = b.siteTexts(l)
		}
		b.file.Rows = append(b.file.Rows, Row{Line: l.Line, Text: text, Cost: l})
		shown = l.Line
	}
	b.plain(shown+1, shown+contextLines)
}

// gap adds the lines between two with accesses, or folds them.
func (b *fileBuilder) gap(shown, next int, first bool) {
	from := shown + 1
	if next-from > foldLines {
		if !first {
			b.plain(from, from+contextLines-1)
			from += contextLines
		}
		if _, ok := b.text(from); ok {
			b.file.Rows = append(b.file.Rows, Row{Folded: next - contextLines - from})
		}
		from = next - contextLines
	}
	b.plain(from, next-1)
}

// plain adds the lines of a range that are at hand.
func (b *fileBuilder) plain(from, to int) {
	for n := from; n <= to; n++ {
		if text, ok := b.text(n); ok {
			b.file.Rows = append(b.file.Rows, Row{Line: n, Text: text})
		}
	}
}

func (b *fileBuilder) text(line int) (string, bool) {
	return b.lines(diag.Pos{File: b.file.Name, Line: line, Col: 1})
}

// siteTexts stands in for a line that is not at hand.
func (b *fileBuilder) siteTexts(l *report.Line) string {
	var texts []string
	for _, i := range l.Sites {
		s := &b.r.Sites[i]
		texts = append(texts, strings.TrimSpace(s.Instruction()+" "+s.Text))
	}
	return strings.Join(slices.Compact(texts), "; ")
}
