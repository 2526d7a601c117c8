// Package source annotates source code with what its shared-memory accesses cost, line by line.
//
//	source.Write(os.Stdout, r, source.Options{Lines: lines})
//
// The gutter holds requests, wavefronts, ideal and conflicts of the line, all its sites together; lines without accesses
// have an empty one. Long stretches of those are folded. [Files] gives the same as data.
//
// Limits: an input whose source text is not at hand, such as machine code, shows its sites in place of the lines.
package source

import (
	"fmt"
	"io"
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
	red   = "\x1b[31m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

// Write prints the annotated lines of every file of the report.
func Write(w io.Writer, r *report.Report, o Options) error {
	p := &printer{o: o, r: r}
	files := Files(r, o.Lines)
	p.widths(files)
	for i := range files {
		p.file(&files[i])
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

// cells writes a tally into the gutter. A question mark is what is not known.
func cells(t *report.Tally) [len(columns)]string {
	conflicts := fmt.Sprint(t.Conflicts())
	switch {
	case t.Faulted > 0:
		conflicts = "fault"
	case len(t.Unresolved) > 0 && t.Requests == 0:
		return [len(columns)]string{fmt.Sprint(t.UnresolvedRequests()), "?", "?", "?"}
	case len(t.Unresolved) > 0:
		conflicts += "+?"
	}
	return [len(columns)]string{fmt.Sprint(t.Requests), fmt.Sprint(t.Wavefronts), fmt.Sprint(t.Ideal), conflicts}
}

func (p *printer) widths(files []File) {
	totals := p.r.Totals()
	for i, cell := range cells(&totals) {
		p.width[i] = max(len(columns[i]), len(cell))
	}
	p.last = len("line")
	for _, f := range files {
		p.last = max(p.last, len(fmt.Sprint(f.Rows[len(f.Rows)-1].Line)))
	}
}

func (p *printer) file(f *File) {
	fmt.Fprintf(&p.b, "%s\n", printable(f.Name))
	p.row(columns, "line", "", 0)
	for i := range f.Rows {
		row := &f.Rows[i]
		switch {
		case row.Folded > 0:
			p.row([len(columns)]string{}, "...", "", 0)
		case row.Cost == nil:
			p.row([len(columns)]string{}, fmt.Sprint(row.Line), row.Text, 0)
		default:
			t := &row.Cost.Tally
			p.row(cells(t), fmt.Sprint(row.Line), row.Text, t.Conflicts()+t.Faulted)
		}
	}
	p.b.WriteByte('\n')
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
	header := false
	for i := range p.r.Sites {
		s := &p.r.Sites[i]
		if s.Pos.IsValid() {
			continue
		}
		if !header {
			p.b.WriteString("without a source line\n")
			p.row(columns, "pc", "", 0)
			header = true
		}
		p.row(cells(&s.Tally), s.Place(), s.Instruction(), s.Tally.Conflicts()+s.Tally.Faulted)
	}
	if header {
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
