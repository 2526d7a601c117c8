package bankmap

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// View is what a picture shows of a panel.
type View uint8

// The views.
const (
	LaneView  View = iota // memory rows by banks, lanes named in the cells
	CountView             // one line per panel: how many lanes fall in each bank
)

// TextOptions say what the terminal can show.
type TextOptions struct {
	Width int // columns; 0 for no limit
	Color bool
	ASCII bool // no character outside ASCII
	View  View
}

// minWidth is the narrowest picture: a row label and four banks.
const minWidth = 40

// glyphs are the few characters that have an ASCII stand-in.
type glyphs struct{ empty, fill, gap string }

var (
	unicodeGlyphs = glyphs{empty: "·", fill: "─", gap: "⋮"}
	asciiGlyphs   = glyphs{empty: ".", fill: "-", gap: ":"}
)

// textWriter draws panels on a terminal.
type textWriter struct {
	strings.Builder
	TextOptions
	glyphs
}

// Text draws panels on a terminal. Cells hold the lane, or the range of lanes, and the letter of the pass where there are
// several; accesses wider than a word are boxes over several cells. Banks that do not fit the width continue below.
func Text(w io.Writer, panels []*Panel, o TextOptions) error {
	t := &textWriter{TextOptions: o, glyphs: unicodeGlyphs}
	if o.ASCII {
		t.glyphs = asciiGlyphs
	}
	if o.Width > 0 {
		t.Width = max(o.Width, minWidth)
	}
	if o.View == CountView {
		t.counts(panels)
	} else {
		for i, p := range panels {
			if i > 0 {
				t.WriteByte('\n')
			}
			t.panel(p)
		}
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// Summary returns the totals of a panel in a line: "4 wavefronts, ideal 1, 3 conflicts, 4 ways".
func (p *Panel) Summary() string {
	if p.Refused != "" {
		return "refused: " + p.Refused
	}
	t := p.Totals
	s := fmt.Sprintf("%s, ideal %d, %s, %s", plural(t.Wavefronts, "wavefront"), t.Ideal,
		plural(t.Conflicts, "conflict"), plural(t.Ways, "way"))
	if p.Paired {
		s += ", paired"
	}
	return s
}

// Request returns what is asked of the unit in a few words: "load of 16 bytes per lane, lanes 0-31".
func (p *Panel) Request() string {
	size := plural(p.Width, "byte") + " per lane"
	if p.IsMatrix() {
		size = fmt.Sprintf("x%d", p.Width/4)
	}
	verb := p.Op + " of "
	if p.IsMatrix() {
		verb = p.Op + "."
	}
	return fmt.Sprintf("%s%s, lanes %s", verb, size, p.Active)
}

// IsMatrix reports whether the panel's addresses are rows of matrices.
func (p *Panel) IsMatrix() bool { return p.Op == "ldmatrix" || p.Op == "stmatrix" }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func (t *textWriter) panel(p *Panel) {
	t.line(Printable(p.Title))
	t.line(p.Request() + ": " + p.Summary())
	if p.Refused != "" {
		return
	}
	if len(p.Accesses) == 0 {
		t.line("no lane takes part")
		return
	}
	t.WriteByte('\n')
	g := t.grid(p)
	for first := 0; first < p.Banks; {
		if first > 0 {
			t.WriteByte('\n')
		}
		end := first
		for end < p.Banks && idle(p.Counts[end:end+g.banks]) {
			end += g.banks
		}
		if end > first {
			t.line(fmt.Sprintf("banks %d-%d: not touched", first, end-1))
			first = end
			continue
		}
		t.band(p, g, first)
		first += g.banks
	}
	t.WriteByte('\n')
	t.passes(p)
	for _, note := range g.notes {
		t.line(note)
	}
}

// grid is how the cells of a panel are laid out.
type grid struct {
	label int // columns of the row label
	cell  int // columns of a cell
	banks int // banks side by side; the rest goes below
	names map[int]string
	notes []string
}

// minCell holds two digits, a pass letter and a space.
const minCell = 4

// grid chooses the size of cells: as wide as the widest label needs, unless that takes more bands than the least size.
func (t *textWriter) grid(p *Panel) grid {
	g := grid{label: len("row ") + len(strconv.Itoa(p.Rows[len(p.Rows)-1].Row)) + 1, names: map[int]string{}}
	g.label = max(g.label, len("lanes "))
	want := minCell
	for _, row := range p.Rows {
		for _, c := range row.Cells {
			if c.Run > 0 {
				want = max(want, (len(p.cellName(&c))+frame(&c)+c.Run-1)/c.Run)
			}
		}
	}
	want = min(want, 8)
	g.cell = want
	g.banks = t.perBand(p, g.label, want)
	if least := t.perBand(p, g.label, minCell); least > g.banks {
		g.cell, g.banks = minCell, least
	}
	for _, row := range p.Rows {
		for _, c := range row.Cells {
			if c.Run > 0 {
				g.name(t, p, row.Row, &c)
			}
		}
	}
	return g
}

// perBand returns how many banks of the given cell width fit side by side.
func (t *textWriter) perBand(p *Panel, label, cell int) int {
	banks := p.Banks
	for t.Width > 0 && banks > 4 && label+banks*cell > t.Width {
		banks /= 2
	}
	return banks
}

// name decides what a run of cells is called, and adds a note where the name does not fit.
func (g *grid) name(t *textWriter, p *Panel, row int, c *Cell) {
	name := p.cellName(c)
	if len(name) > g.cell*c.Run-frame(c) {
		where := fmt.Sprintf("bank %d", c.Bank)
		if c.Run > 1 {
			where = fmt.Sprintf("banks %d-%d", c.Bank, c.Bank+c.Run-1)
		}
		serves := ""
		if len(p.Passes) > 1 {
			serves = ", pass " + p.PassRange(c)
		}
		g.notes = append(g.notes, fmt.Sprintf("*  row %d, %s: lanes %s%s", row, where, c.Lanes, serves))
		name = "*"
		if len(p.Passes) > 1 && len(c.Serves) == 1 {
			name += p.Passes[c.Serves[0].Pass].Name
		}
	}
	g.names[c.Word] = name
}

// frame returns the columns of a run of cells that its name cannot use: a space, and the sides of a box.
func frame(c *Cell) int {
	if c.Run > 1 {
		return 3
	}
	return 1
}

// cellName returns the lanes on a cell and, where the request takes several passes, the letters of those that serve it.
func (p *Panel) cellName(c *Cell) string {
	name := c.Lanes.Short()
	if len(p.Passes) > 1 {
		name += p.PassRange(c)
	}
	return name
}

// PassRange names the passes that serve a cell: "a", "a-d", "a,c".
func (p *Panel) PassRange(c *Cell) string {
	var parts []string
	for i := 0; i < len(c.Serves); i++ {
		end := i
		for end+1 < len(c.Serves) && c.Serves[end+1].Pass == c.Serves[end].Pass+1 {
			end++
		}
		part := p.Passes[c.Serves[i].Pass].Name
		if end > i {
			part += "-" + p.Passes[c.Serves[end].Pass].Name
		}
		parts = append(parts, part)
		i = end
	}
	return strings.Join(parts, ",")
}

// band draws banks first to first+g.banks-1 of a panel. Rows with no cell in the band count as a gap.
func (t *textWriter) band(p *Panel, g grid, first int) {
	counts := p.Counts[first : first+g.banks]
	t.row(g, "bank", func(i int) string { return strconv.Itoa(first + i) })
	last := -1
	for i := range p.Rows {
		row := &p.Rows[i]
		cells := within(row.Cells, first, first+g.banks)
		if len(cells) == 0 {
			continue
		}
		if last >= 0 {
			t.gapBefore(g, row.Row, last)
		}
		last = row.Row
		t.cells(p, g, row.Row, cells, first)
	}
	t.row(g, "lanes", func(i int) string { return t.count(counts[i].Lanes) })
	if anyCount(counts, func(c Count) bool { return c.Words != c.Lanes }) {
		t.row(g, "words", func(i int) string { return t.count(counts[i].Words) })
	}
	if anyCount(counts, func(c Count) bool { return c.Ways != c.Words }) {
		t.row(g, "ways", func(i int) string { return t.count(counts[i].Ways) })
	}
}

// gapBefore marks the rows between two that are drawn: a single one as an empty row, which takes no more room.
func (t *textWriter) gapBefore(g grid, row, last int) {
	switch gap := row - last - 1; {
	case gap == 1:
		t.row(g, fmt.Sprintf("row %d", last+1), func(int) string { return t.empty })
	case gap > 1:
		t.line(fmt.Sprintf("%s  %d rows", leftPad(t.gap, g.label-1), gap))
	}
}

// within returns the cells of banks lo to hi-1.
func within(cells []Cell, lo, hi int) []Cell {
	for len(cells) > 0 && cells[0].Bank < lo {
		cells = cells[1:]
	}
	n := len(cells)
	for n > 0 && cells[n-1].Bank >= hi {
		n--
	}
	return cells[:n]
}

func idle(counts []Count) bool {
	return !anyCount(counts, func(c Count) bool { return c.Lanes > 0 })
}

func anyCount(counts []Count, is func(Count) bool) bool { return slices.ContainsFunc(counts, is) }

func (t *textWriter) count(n int) string {
	if n == 0 {
		return t.empty
	}
	return strconv.Itoa(n)
}

// row draws a labelled line with one entry per bank.
func (t *textWriter) row(g grid, label string, entry func(i int) string) {
	fmt.Fprintf(t, "%-*s", g.label, label)
	var b strings.Builder
	for i := range g.banks {
		b.WriteString(leftPad(entry(i), g.cell-1))
		b.WriteByte(' ')
	}
	t.WriteString(strings.TrimRight(b.String(), " "))
	t.WriteByte('\n')
}

// cells draws the cells of a memory row that lie in a band.
func (t *textWriter) cells(p *Panel, g grid, row int, cells []Cell, first int) {
	fmt.Fprintf(t, "%-*s", g.label, fmt.Sprintf("row %d", row))
	var b strings.Builder
	for bank := first; bank < first+g.banks; {
		if len(cells) == 0 || cells[0].Bank != bank {
			b.WriteString(leftPad(t.empty, g.cell-1))
			b.WriteByte(' ')
			bank++
			continue
		}
		run := max(1, cells[0].Run)
		b.WriteString(t.run(p, g, &cells[0]))
		bank += run
		cells = cells[run:]
	}
	t.WriteString(strings.TrimRight(b.String(), " "))
	t.WriteByte('\n')
}

// run draws an access: a word as its name, wider ones as a box.
func (t *textWriter) run(p *Panel, g grid, c *Cell) string {
	name := g.names[c.Word]
	width := g.cell * c.Run
	var s string
	if c.Run == 1 {
		s = leftPad(name, width-frame(c))
	} else {
		s = "[" + name + strings.Repeat(t.fill, width-len(name)-frame(c)) + "]"
	}
	if !t.Color {
		return s + " "
	}
	color := PassColor(c.Serves[0].Pass, len(p.Passes))
	ink := 16
	if color.Ink() != (Color{}) {
		ink = 231
	}
	return fmt.Sprintf("\x1b[48;5;%d;38;5;%dm%s\x1b[0m ", color.ansi(), ink, s)
}

// listedPasses bounds the passes that are listed one by one.
const listedPasses = 8

// passes explains the letters.
func (t *textWriter) passes(p *Panel) {
	if len(p.Passes) == 1 {
		t.line("one pass serves every lane")
		return
	}
	if len(p.Passes) <= listedPasses {
		for _, pass := range p.Passes {
			t.line(fmt.Sprintf("%s  %s, pass %d of %d: lanes %s", pass.Name, p.GroupName(pass.Group), pass.Pass+1,
				p.Groups[pass.Group].Passes, pass.Lanes))
		}
		return
	}
	for i, g := range p.Groups {
		names := p.Passes[g.First].Name
		if g.Passes > 1 {
			names += " to " + p.Passes[g.First+g.Passes-1].Name
		}
		t.line(fmt.Sprintf("%s (lanes %s): %s, %s", p.GroupName(i), g.Lanes, passCount(g.Passes), names))
	}
}

func passCount(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return strconv.Itoa(n) + " passes"
}

// GroupName names a group by its index in the rule; the groups of a matrix operation are its matrices.
func (p *Panel) GroupName(i int) string {
	if p.IsMatrix() {
		return fmt.Sprintf("matrix %d", p.Groups[i].Index)
	}
	return fmt.Sprintf("group %d", p.Groups[i].Index)
}

// counts draws one line per panel: the number of lanes in each bank.
func (t *textWriter) counts(panels []*Panel) {
	if len(panels) == 0 {
		return
	}
	g := grid{cell: 3}
	titles := make([]string, len(panels))
	for i, p := range panels {
		titles[i] = Printable(p.Title)
		g.label = max(g.label, utf8.RuneCountInString(titles[i])+1)
	}
	g.label = min(max(g.label, len("bank ")), 28)
	banks := panels[0].Banks
	g.banks = t.perBand(panels[0], g.label, g.cell)
	for first := 0; first < banks; first += g.banks {
		if first > 0 {
			t.WriteByte('\n')
		}
		t.row(g, "bank", func(i int) string { return strconv.Itoa(first + i) })
		for i, p := range panels {
			if p.Banks != banks || p.Refused != "" {
				continue
			}
			counts := p.Counts[first : first+g.banks]
			t.row(g, cut(titles[i], g.label-1), func(i int) string { return t.count(counts[i].Lanes) })
		}
	}
	t.WriteByte('\n')
	for i, p := range panels {
		t.line(fmt.Sprintf("%-*s %s", g.label-1, titles[i], p.Summary()))
	}
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

func leftPad(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

// line writes s, wrapped at the width, continuation lines indented. An empty string writes nothing.
func (t *textWriter) line(s string) {
	if s == "" {
		return
	}
	for i, l := range Wrap(s, t.Width, 4) {
		if i > 0 {
			t.WriteString("    ")
		}
		t.WriteString(l)
		t.WriteByte('\n')
	}
}

// maxTitle bounds the characters of a title; more is cut.
const maxTitle = 400

// Printable returns s on one line without characters that would disturb a terminal or a document, cut to the length of a
// title.
func Printable(s string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		n++
		switch {
		case n > maxTitle:
			return -1
		case r == '\t' || r == '\n':
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return '?'
		}
		return r
	}, s)
}

// Wrap breaks s at spaces into lines of at most width columns, those after the first leaving room for an indent; a longer
// word stays whole. A width of 0 breaks nothing.
func Wrap(s string, width, indent int) []string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return []string{s}
	}
	var lines []string
	line, columns, room := "", 0, width
	for _, word := range strings.SplitAfter(s, " ") {
		n := utf8.RuneCountInString(strings.TrimRight(word, " "))
		if columns > 0 && columns+n > room {
			lines = append(lines, strings.TrimRight(line, " "))
			line, columns, room = "", 0, width-indent
		}
		line += word
		columns += utf8.RuneCountInString(word)
	}
	return append(lines, strings.TrimRight(line, " "))
}
