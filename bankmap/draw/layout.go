package draw

import (
	"fmt"
	"math"
	"strconv"

	"shmoo/bankmap"
)

// A theme is the colours of a picture beside those of the passes.
type theme struct {
	page, ink, muted, line, empty, alarm bankmap.Color
}

var (
	light = theme{
		page: bankmap.Color{R: 0xff, G: 0xff, B: 0xff}, ink: bankmap.Color{R: 0x1b, G: 0x1b, B: 0x20},
		muted: bankmap.Color{R: 0x58, G: 0x58, B: 0x64}, line: bankmap.Color{R: 0xd5, G: 0xd5, B: 0xde},
		empty: bankmap.Color{R: 0xf6, G: 0xf6, B: 0xf9}, alarm: bankmap.Color{R: 0xb3, G: 0x45, B: 0x00},
	}
	dark = theme{
		page: bankmap.Color{R: 0x16, G: 0x16, B: 0x1b}, ink: bankmap.Color{R: 0xee, G: 0xee, B: 0xf2},
		muted: bankmap.Color{R: 0xa8, G: 0xa8, B: 0xb6}, line: bankmap.Color{R: 0x38, G: 0x38, B: 0x43},
		empty: bankmap.Color{R: 0x1f, G: 0x1f, B: 0x26}, alarm: bankmap.Color{R: 0xff, G: 0x9d, B: 0x5c},
	}
)

// Distances in pixels.
const (
	margin     = 24.0
	panelGap   = 36.0 // between panels, both ways
	rowLabel   = 52.0 // room for "row 1815"
	gapHeight  = 15.0 // of the marker for untouched rows
	lineHeight = 18.0 // of running text
)

// minLabel is the smallest size of a label in a cell.
const minLabel = 7.5

// painter lays panels out on a scene.
type painter struct {
	*scene
	theme
	o     Options
	notes []string // about the cells of the panel at hand that cannot hold their lanes
}

// layout places the panels in columns, from left to right and then down.
func layout(panels []*bankmap.Panel, o Options) (*scene, error) {
	if err := o.defaults(panels); err != nil {
		return nil, err
	}
	title := o.Title
	if title == "" {
		title = bankmap.Printable(panels[0].Title)
	}
	if title == "" {
		title = panels[0].Request()
	}
	p := &painter{scene: newScene(o.Width, title), theme: light, o: o}
	if o.Dark {
		p.theme = dark
	}
	p.rect(0, 0, float64(o.Width), 0, p.page) // its height is known at the end
	y := margin
	if o.Title != "" {
		st := style{size: 20, bold: true, ink: p.ink}
		for _, line := range p.wrap(st, o.Title, float64(o.Width)-2*margin) {
			p.write(left, margin, y+18, st, line)
			y += 26
		}
		y += 10
	}
	columns := o.Columns
	width := math.Floor((float64(o.Width) - 2*margin - panelGap*float64(columns-1)) / float64(columns))
	for first := 0; first < len(panels); first += columns {
		bottom := y
		for i, panel := range panels[first:min(first+columns, len(panels))] {
			x := margin + float64(i)*(width+panelGap)
			bottom = max(bottom, p.panel(panel, x, y, width))
		}
		y = bottom + panelGap
	}
	p.height = int(math.Ceil(y - panelGap + margin))
	if p.height > maxHeight {
		return nil, fmt.Errorf("picture: %d panels are %d high, want at most %d: draw fewer", len(panels), p.height, maxHeight)
	}
	p.shapes[0].h = float64(p.height)
	return p.scene, nil
}

// panel draws one panel with its top left corner at x, y and returns where it ends.
func (p *painter) panel(panel *bankmap.Panel, x, y, width float64) float64 {
	p.notes = nil
	y = p.heading(panel, x, y, width)
	if panel.Refused != "" {
		return y
	}
	if p.o.View == bankmap.CountView {
		return p.countView(panel, x, y, width)
	}
	g := newGrid(panel, x, width)
	y = p.rows(panel, g, y)
	y = p.counts(panel, g, y)
	y = p.legend(panel, x, y+10, width)
	return p.footnotes(x, y, width)
}

// heading writes the title, the request and the totals.
func (p *painter) heading(panel *bankmap.Panel, x, y, width float64) float64 {
	title := style{size: 15, bold: true, ink: p.ink}
	for _, line := range p.wrap(title, bankmap.Printable(panel.Title), width) {
		p.write(left, x, y+14, title, line)
		y += 20
	}
	totals := style{size: 13, bold: true, ink: p.ink}
	if panel.Totals.Conflicts > 0 || panel.Refused != "" {
		totals.ink = p.alarm
	}
	for _, line := range p.wrap(totals, panel.Summary(), width) {
		p.write(left, x, y+13, totals, line)
		y += lineHeight
	}
	request := style{size: 12, ink: p.muted}
	text := panel.Request() + " (" + panel.Totals.Basis + ")"
	for _, line := range p.wrap(request, text, width) {
		p.write(left, x, y+12, request, line)
		y += lineHeight
	}
	return y + 6
}

// grid is the place of the cells of a panel.
type grid struct {
	x, cell, height float64 // left edge of bank 0, width and height of a cell
	banks           int
	label           float64 // size of the lanes in a cell
}

func newGrid(panel *bankmap.Panel, x, width float64) grid {
	g := grid{x: x + rowLabel, banks: panel.Banks, cell: math.Floor((width - rowLabel) / float64(panel.Banks))}
	g.height = max(15, min(24, math.Floor(g.cell*0.8)))
	g.label = max(9, min(12.5, math.Floor(g.cell*0.4*2)/2))
	return g
}

func (g *grid) at(bank int) float64 { return g.x + float64(bank)*g.cell }
func (g *grid) width() float64      { return float64(g.banks) * g.cell }

// bankNumbers writes the head of a grid.
func (p *painter) bankNumbers(g grid, y float64) float64 {
	st := style{size: 10, ink: p.muted}
	p.write(right, g.x-8, y+11, st, "bank")
	every := 1
	for p.measure(st, "31")+3 > g.cell*float64(every) {
		every *= 2
	}
	for bank := 0; bank < g.banks; bank += every {
		p.write(middle, g.at(bank)+g.cell/2, y+11, st, strconv.Itoa(bank))
	}
	return y + 16
}

// rows draws the memory rows with their cells, in stretches without a gap.
func (p *painter) rows(panel *bankmap.Panel, g grid, y float64) float64 {
	y = p.bankNumbers(g, y)
	for rows := panel.Rows; len(rows) > 0; {
		n := 1
		for n < len(rows) && rows[n].Gap == 0 {
			n++
		}
		y = p.gap(g, rows[0].Gap, y)
		y = p.stretch(panel, g, rows[:n], y)
		rows = rows[n:]
	}
	return y
}

// gap marks untouched rows: one by a break, more by a line of text.
func (p *painter) gap(g grid, rows int, y float64) float64 {
	switch {
	case rows == 0:
		return y
	case rows == 1:
		return y + 4
	}
	p.write(left, g.x+4, y+11, style{size: 10, ink: p.muted}, strconv.Itoa(rows)+" rows not touched")
	return y + gapHeight
}

// stretch draws adjacent rows: the lattice, then the cells.
func (p *painter) stretch(panel *bankmap.Panel, g grid, rows []bankmap.Row, y float64) float64 {
	height := g.height * float64(len(rows))
	p.rect(g.x, y, g.width()+1, height+1, p.empty)
	for bank := range g.banks + 1 {
		p.rect(g.at(bank), y, 1, height+1, p.line)
	}
	for i := range len(rows) + 1 {
		p.rect(g.x, y+g.height*float64(i), g.width()+1, 1, p.line)
	}
	for i := range rows {
		p.write(right, g.x-8, y+g.height/2+4, style{size: 10, ink: p.muted}, "row "+strconv.Itoa(rows[i].Row))
		for c := range rows[i].Cells {
			if cell := &rows[i].Cells[c]; cell.Run > 0 {
				p.run(panel, g, rows[i].Row, cell, y)
			}
		}
		y += g.height
	}
	return y + 1
}

// run draws an access: its lanes and, where there are several passes, the letter of the pass.
func (p *painter) run(panel *bankmap.Panel, g grid, row int, cell *bankmap.Cell, y float64) {
	x, w, h := g.at(cell.Bank)+1, g.cell*float64(cell.Run)-1, g.height-1
	face, ink, middle := p.line, p.ink, y+1+h/2
	if len(cell.Serves) == 1 {
		face = bankmap.PassColor(cell.Serves[0].Pass, len(panel.Passes))
		ink = face.Ink()
	}
	p.rect(x, y+1, w, h, face)
	if len(cell.Serves) > 1 {
		p.stripes(panel, cell, x, y+1+h-3, w)
		middle--
	}
	lanes, passes := cell.Lanes.Short(), ""
	if len(panel.Passes) > 1 {
		passes = panel.PassRange(cell)
	}
	many := "×" + strconv.Itoa(cell.Lanes.Count())
	st := style{size: g.label, bold: true, ink: ink}
	if p.label(lanes, passes, x+w/2, middle, w-1, st) {
		return
	}
	if !p.label(many, passes, x+w/2, middle, w-1, st) {
		p.label(many, "", x+w/2, middle, w-1, st)
	}
	note := fmt.Sprintf("row %d, bank %d: lanes %s", row, cell.Bank, cell.Lanes)
	if cell.Run > 1 {
		note = fmt.Sprintf("row %d, banks %d-%d: lanes %s", row, cell.Bank, cell.Bank+cell.Run-1, cell.Lanes)
	}
	if passes != "" {
		note += ", pass " + passes
	}
	p.notes = append(p.notes, note)
}

// stripes shows the passes that serve one cell side by side.
func (p *painter) stripes(panel *bankmap.Panel, cell *bankmap.Cell, x, y, w float64) {
	n := float64(len(cell.Serves))
	for i, serve := range cell.Serves {
		from, to := math.Floor(w*float64(i)/n), math.Floor(w*float64(i+1)/n)
		p.rect(x+from, y, to-from, 4, bankmap.PassColor(serve.Pass, len(panel.Passes)))
	}
}

// label centres lanes and the letters of passes on x and y, or reports that they do not fit the width.
func (p *painter) label(lanes, passes string, x, y, width float64, st style) bool {
	small := st
	small.bold = false
	for ; st.size >= minLabel; st.size -= 0.5 {
		small.size = st.size
		total := p.measure(st, lanes) + p.measure(small, passes)
		if total > width {
			continue
		}
		baseline := math.Round(y + float64(st.size*0.36))
		at := x - total/2
		at += p.write(left, at, baseline, st, lanes)
		p.write(left, at, baseline, small, passes)
		return true
	}
	return false
}

// heat returns the colour of a bank by the ways it needs: calm up to one, then from sand to brown.
func heat(ways int) bankmap.Color {
	if ways <= 1 {
		return bankmap.Color{R: 0x9f, G: 0xcb, B: 0xdd}
	}
	ramp := [...]bankmap.Color{
		{R: 0xfd, G: 0xd9, B: 0xa8}, {R: 0xfd, G: 0xae, B: 0x6b}, {R: 0xf1, G: 0x69, B: 0x13}, {R: 0xb8, G: 0x48, B: 0x01},
		{R: 0x7f, G: 0x27, B: 0x04},
	}
	step := 0
	for n := ways; n > 2 && step < len(ramp)-1; n /= 2 {
		step++
	}
	return ramp[step]
}

// counts draws the load of the banks below a grid.
func (p *painter) counts(panel *bankmap.Panel, g grid, y float64) float64 {
	y += 4
	p.strip(panel, g, y, g.height, "lanes", func(c *bankmap.Count) int { return c.Lanes })
	y += g.height
	for i := range panel.Counts {
		if c := &panel.Counts[i]; c.Ways != c.Lanes {
			p.strip(panel, g, y, g.height, "ways", func(c *bankmap.Count) int { return c.Ways })
			return y + g.height
		}
	}
	return y
}

// strip draws one number per bank on the colour of its ways.
func (p *painter) strip(panel *bankmap.Panel, g grid, y, height float64, label string, value func(*bankmap.Count) int) {
	p.write(right, g.x-8, y+height/2+4, style{size: 10, ink: p.muted}, label)
	for i := range panel.Counts {
		c := &panel.Counts[i]
		x := g.at(c.Bank) + 1
		if c.Lanes == 0 {
			p.rect(x, y+1, g.cell-1, height-1, p.empty)
			continue
		}
		face := heat(c.Ways)
		p.rect(x, y+1, g.cell-1, height-1, face)
		p.label(strconv.Itoa(value(c)), "", x+(g.cell-1)/2, y+height/2+0.5, g.cell-1,
			style{size: g.label, bold: true, ink: face.Ink()})
	}
}

// countView draws one strip for the whole panel.
func (p *painter) countView(panel *bankmap.Panel, x, y, width float64) float64 {
	g := newGrid(panel, x, width)
	y = p.bankNumbers(g, y)
	height := max(g.height, 28)
	p.strip(panel, g, y, height, "lanes", func(c *bankmap.Count) int { return c.Lanes })
	return y + height
}

// listedPasses bounds the passes whose lanes the legend lists.
const listedPasses = 8

// legend explains the letters of the passes, in the order in which they are served.
func (p *painter) legend(panel *bankmap.Panel, x, y, width float64) float64 {
	if len(panel.Passes) <= 1 {
		return y
	}
	f := flow{painter: p, left: x, x: x, y: y, right: x + width}
	text := style{size: 11.5, ink: p.muted}
	for i, group := range panel.Groups {
		if len(panel.Groups) > 1 {
			f.text(text, panel.GroupName(i)+":")
		} else {
			f.text(text, "passes in order:")
		}
		for k := group.First; k < group.First+group.Passes; k++ {
			lanes := ""
			if len(panel.Passes) <= listedPasses {
				lanes = "lanes " + panel.Passes[k].Lanes.String()
			}
			f.swatch(panel, k, text, lanes)
		}
		f.space(10)
	}
	return f.y + lineHeight
}

// shownNotes bounds the cells that are explained below a panel.
const shownNotes = 8

// footnotes names the lanes of the cells that only hold their number.
func (p *painter) footnotes(x, y, width float64) float64 {
	st := style{size: 11.5, ink: p.muted}
	for i, note := range p.notes {
		if i == shownNotes {
			note = fmt.Sprintf("and %d more cells with ×n for n lanes", len(p.notes)-shownNotes)
		}
		for _, line := range p.wrap(st, note, width) {
			p.write(left, x, y+12, st, line)
			y += lineHeight
		}
		if i == shownNotes {
			break
		}
	}
	return y
}

// flow sets swatches and words like running text.
type flow struct {
	*painter
	left, x, y, right float64
}

// room begins a new line unless there is room for the width.
func (f *flow) room(width float64) {
	if f.x > f.left && f.x+width > f.right {
		f.x, f.y = f.left, f.y+lineHeight
	}
}

func (f *flow) space(width float64) { f.x += width }

func (f *flow) text(st style, s string) {
	f.room(f.measure(st, s))
	f.x += f.write(left, f.x, f.y+12, st, s) + 8
}

// swatch sets the letter of a pass on its colour, with a text that stays beside it.
func (f *flow) swatch(panel *bankmap.Panel, pass int, st style, text string) {
	const size = 15
	f.room(size + 4 + f.measure(st, text))
	face := bankmap.PassColor(pass, len(panel.Passes))
	f.rect(f.x, f.y, size, size, face)
	f.write(middle, f.x+size/2.0, f.y+11, style{size: 11, bold: true, ink: face.Ink()}, panel.Passes[pass].Name)
	f.x += size + 4
	lines := f.wrap(st, text, f.right-f.x)
	for i, line := range lines {
		w := f.write(left, f.x, f.y+12, st, line)
		if i == len(lines)-1 {
			f.x += w + 10
			return
		}
		f.y += lineHeight
	}
}
