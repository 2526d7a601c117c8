// Package source writes a report as annotated source: every line of code with what its shared-memory accesses cost.
//
//	source.Write(os.Stdout, r, source.Options{Lines: lines})
//
// The gutter holds requests, wavefronts, ideal and conflicts of the line, all its sites together; lines without accesses
// have an empty one. Long stretches of them are folded.
//
// Limits: an input whose source text is not at hand, such as machine code, shows its sites in place of the lines.
package source

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"shmoo/diag"
	"shmoo/report"
)

// Options says how to print.
type Options struct {
	// Lines returns a line of a source; nil shows the sites' texts only.
	Lines func(diag.Pos) (string, bool)
	Color bool // mark lines with conflicts by colour as well
}

const (
	contextLines = 3 // lines shown before and after one with accesses
	foldLines    = 8 // a gap of more lines than this is folded
	maxLines     = 1 << 20
)

const (
	red   = "\x1b[31m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

// Write prints the annotated lines of every file of the report.
func Write(w io.Writer, r *report.Report, o Options) error {
	p := &printer{o: o, r: r}
	lines := r.Lines()
	p.widths(lines)
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].File == lines[0].File {
			n++
		}
		p.file(lines[:n])
		lines = lines[n:]
	}
	p.rest()
	p.total()
	_, err := io.WriteString(w, p.b.String())
	return err
}

// columns are the gutter's, with their titles.
var columns = [...]string{"requests", "wavefronts", "ideal", "conflicts"}

type printer struct {
	o     Options
	r     *report.Report
	b     strings.Builder
	width [len(columns)]int
	last  int // digits of a line number
}

func cells(t *report.Tally) [len(columns)]string {
	conflicts := fmt.Sprint(t.Conflicts())
	switch {
	case t.Faulted > 0:
		conflicts = "fault"
	case len(t.Unresolved) > 0 && t.Requests == 0:
		return [len(columns)]string{fmt.Sprint(t.UnresolvedRequests()), "?", "?", "?"}
	case len(t.Unresolved) > 0:
		conflicts += "+?" // what is known, and something that is not
	}
	return [len(columns)]string{fmt.Sprint(t.Requests), fmt.Sprint(t.Wavefronts), fmt.Sprint(t.Ideal), conflicts}
}

func (p *printer) widths(lines []report.Line) {
	totals := p.r.Totals()
	for i, cell := range cells(&totals) {
		p.width[i] = max(len(columns[i]), len(cell))
	}
	for i := range lines {
		for j, cell := range cells(&lines[i].Tally) {
			p.width[j] = max(p.width[j], len(cell))
		}
		p.last = max(p.last, len(fmt.Sprint(lines[i].Line+contextLines)))
	}
	p.last = max(p.last, len("line"))
}

// file prints the lines of one file with their context.
func (p *printer) file(lines []report.Line) {
	fmt.Fprintf(&p.b, "%s\n", printable(lines[0].File))
	p.row(columns, "line", "", 0)
	shown := 0
	for i := range lines {
		l := &lines[i]
		p.context(l.File, shown, l.Line, i == 0)
		text, ok := p.text(l.File, l.Line)
		if !ok {
			text = p.siteTexts(l)
		}
		p.row(cells(&l.Tally), fmt.Sprint(l.Line), text, l.Tally.Conflicts()+l.Tally.Faulted)
		shown = l.Line
	}
	for n := shown + 1; n <= shown+contextLines; n++ {
		if text, ok := p.text(lines[0].File, n); ok {
			p.row([len(columns)]string{}, fmt.Sprint(n), text, 0)
		}
	}
	p.b.WriteByte('\n')
}

// context prints the lines between two with accesses, or folds them.
func (p *printer) context(file string, shown, next int, first bool) {
	from := shown + 1
	if first || next-from > foldLines {
		if !first {
			for n := from; n < from+contextLines; n++ {
				p.plain(file, n)
			}
		}
		from = max(from, next-contextLines)
		if from > 1 && p.o.Lines != nil {
			p.row([len(columns)]string{}, "...", "", 0)
		}
	}
	for n := from; n < next; n++ {
		p.plain(file, n)
	}
}

func (p *printer) plain(file string, line int) {
	if text, ok := p.text(file, line); ok {
		p.row([len(columns)]string{}, fmt.Sprint(line), text, 0)
	}
}

func (p *printer) text(file string, line int) (string, bool) {
	if p.o.Lines == nil || line < 1 || line > maxLines {
		return "", false
	}
	return p.o.Lines(diag.Pos{File: file, Line: line, Col: 1})
}

// siteTexts stands in for a line that is not at hand.
func (p *printer) siteTexts(l *report.Line) string {
	var texts []string
	for _, i := range l.Sites {
		s := &p.r.Sites[i]
		texts = append(texts, strings.TrimSpace(s.Instruction()+" "+s.Text))
	}
	return strings.Join(slices.Compact(texts), "; ")
}

// row prints one line; hot marks it.
func (p *printer) row(cell [len(columns)]string, line, text string, hot int64) {
	var b strings.Builder
	for i, c := range cell {
		fmt.Fprintf(&b, "%*s  ", p.width[i], c)
	}
	gutter := b.String()
	code := fmt.Sprintf("%*s  %s", p.last, line, printable(strings.ReplaceAll(text, "\t", "    ")))
	code = strings.TrimRight(code, " ")
	switch {
	case p.o.Color && hot > 0:
		gutter = red + gutter + reset
	case p.o.Color && cell[0] == "":
		code = dim + code + reset
	}
	p.b.WriteString(strings.TrimRight(gutter+code, " ") + "\n")
}

// rest lists the sites that have no line.
func (p *printer) rest() {
	any := false
	for i := range p.r.Sites {
		s := &p.r.Sites[i]
		if s.Pos.IsValid() {
			continue
		}
		if !any {
			p.b.WriteString("without a source line\n")
			p.row(columns, "pc", "", 0)
			any = true
		}
		p.row(cells(&s.Tally), s.Place(), s.Instruction(), s.Tally.Conflicts()+s.Tally.Faulted)
	}
	if any {
		p.b.WriteByte('\n')
	}
}

func (p *printer) total() {
	totals := p.r.Totals()
	p.row(cells(&totals), "", "total", totals.Conflicts()+totals.Faulted)
	for _, reason := range totals.Reasons() {
		fmt.Fprintf(&p.b, "unresolved: %d requests: %s\n", totals.Unresolved[reason], reason)
	}
}

// printable replaces what would disturb a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return '?'
		}
		return r
	}, s)
}
