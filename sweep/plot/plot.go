// Package plot draws the shmoo plot of a sweep: a field of cells, one per point, coloured by how far each is from the fastest.
//
//	g := &plot.Grid{Title: "scan", Unit: "TB/s", X: "PAD", Columns: []string{"0", "2"}, Rows: rows, Measured: true}
//	err := plot.SVG(w, g)
//
// Colours come from one scale from blue (the fastest) to orange (four times as slow or more), which people with the usual
// colour weaknesses can tell apart; the figures stand in the cells, so nothing rests on colour alone.
//
// Limits: at most MaxCells cells.
package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"regexp"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// MaxCells bounds a grid.
const MaxCells = 4096

// A Grid is a shmoo plot.
type Grid struct {
	Title    string
	Unit     string // of the figures, such as "TB/s"
	X        string // the parameter of the columns
	Columns  []string
	Rows     []Row
	Measured bool // whether anything was; otherwise all figures are predictions
}

// A Row is the cells of one value, or one combination of values, of the other parameters.
type Row struct {
	Name  string
	Cells []Cell // one per column
}

// A Cell is a point.
type Cell struct {
	Text    string  // what was measured; "" for nothing
	Note    string  // what was predicted; "" for nothing
	Mark    string  // of the verdict
	Seconds float64 // which the colour shows; 0 for none
	Failed  bool
}

// Sizes in points.
const (
	cellWidth, cellHeight = 110, 44
	margin                = 16
	titleSize, textSize   = 16, 12
	noteSize              = 9
)

// SVG writes the plot as an SVG document.
func SVG(w io.Writer, g *Grid) error {
	p, err := newPainter(g)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(vg.Length(p.width), vg.Length(p.height))
	p.paint(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]g" height="%[2]g" viewBox="0 0 %[1]g %[2]g" role="img" `+
		`aria-label="%[3]s">`+"\n", p.width, p.height, escape(g.Title))
	text := svgHead.ReplaceAllLiteral(b.Bytes(), []byte(head))
	text = svgFamily.ReplaceAllLiteral(text, []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	_, err = w.Write(text)
	return err
}

var (
	svgHead   = regexp.MustCompile(`(?s)^.*?<svg .*?>\n`)
	svgFamily = regexp.MustCompile(`font-family:Liberation Sans;font-variant:[a-z]+;`)
)

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a strings.Builder does not fail
	}
	return b.String()
}

// PNG writes the plot as an image of two pixels a unit.
func PNG(w io.Writer, g *Grid) error {
	p, err := newPainter(g)
	if err != nil {
		return err
	}
	const pointsPerInch, scale = 72, 2
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(p.width), vg.Length(p.height)), vgimg.UseDPI(pointsPerInch*scale))
	p.paint(canvas)
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// A painter holds the layout of a plot.
type painter struct {
	grid          *Grid
	fonts         *font.Cache
	width, height float64
	left          float64 // of the first column
	best          float64 // seconds
}

func newPainter(g *Grid) (*painter, error) {
	if len(g.Rows) == 0 || len(g.Columns) == 0 || len(g.Rows)*len(g.Columns) > MaxCells {
		return nil, fmt.Errorf("plot: %d rows of %d cells, want some and at most %d in all", len(g.Rows), len(g.Columns), MaxCells)
	}
	p := &painter{grid: g, fonts: font.NewCache(liberation.Collection()), best: math.Inf(1)}
	widest := 0.0
	for _, r := range g.Rows {
		if len(r.Cells) != len(g.Columns) {
			return nil, fmt.Errorf("plot: row %q has %d cells, want %d", r.Name, len(r.Cells), len(g.Columns))
		}
		widest = max(widest, p.widthOf(textSize, r.Name))
		for _, c := range r.Cells {
			if c.Seconds > 0 {
				p.best = min(p.best, c.Seconds)
			}
		}
	}
	if math.IsInf(p.best, 1) {
		return nil, errors.New("plot: no point was measured or predicted")
	}
	p.left = margin + widest + margin
	p.width = max(p.left+float64(len(g.Columns))*cellWidth, margin+p.widthOf(titleSize, g.Title),
		margin+p.widthOf(noteSize, p.legend())) + margin
	p.height = margin + 2*titleSize + 2*textSize + float64(len(g.Rows))*cellHeight + 3*textSize + margin
	return p, nil
}

func (p *painter) face(size float64) font.Face {
	return p.fonts.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, font.Length(size))
}

func (p *painter) widthOf(size float64, text string) float64 {
	f := p.face(size)
	return float64(f.Width(text))
}

var ink = color.RGBA{0x22, 0x22, 0x22, 0xff}

// write writes text with its left end at x and its baseline at y from the top.
func (p *painter) write(c vg.Canvas, x, y, size float64, text string) {
	c.SetColor(ink)
	c.FillString(p.face(size), vg.Point{X: vg.Length(x), Y: vg.Length(p.height - y)}, text)
}

// middle writes text around x.
func (p *painter) middle(c vg.Canvas, x, y, size float64, text string) {
	p.write(c, x-p.widthOf(size, text)/2, y, size, text)
}

func (p *painter) legend() string {
	what := "predicted (~) with the ways of its conflicts and what they add to the time"
	if p.grid.Measured {
		what = "measured, below it " + what + "; * fastest, = cannot be told from it"
	}
	return p.grid.Unit + ": " + what + "; blue is fast, orange slow, grey not measured or failed"
}

func (p *painter) paint(c vg.Canvas) {
	g := p.grid
	p.rect(c, 0, 0, p.width, p.height, color.RGBA{0xff, 0xff, 0xff, 0xff})
	y := margin + float64(titleSize)
	p.write(c, margin, y, titleSize, g.Title)
	y += titleSize
	for i, name := range g.Columns {
		p.middle(c, p.left+(float64(i)+.5)*cellWidth, y+textSize, textSize, g.X+"="+name)
	}
	y += 2 * textSize
	for _, r := range g.Rows {
		p.write(c, margin, y+cellHeight/2+textSize/2-2, textSize, r.Name)
		for i, cell := range r.Cells {
			p.cell(c, p.left+float64(i)*cellWidth, y, &cell)
		}
		y += cellHeight
	}
	p.write(c, margin, y+2*textSize, noteSize, p.legend())
}

func (p *painter) rect(c vg.Canvas, x, y, w, h float64, fill color.Color) {
	var path vg.Path
	path.Move(vg.Point{X: vg.Length(x), Y: vg.Length(p.height - y)})
	path.Line(vg.Point{X: vg.Length(x + w), Y: vg.Length(p.height - y)})
	path.Line(vg.Point{X: vg.Length(x + w), Y: vg.Length(p.height - y - h)})
	path.Line(vg.Point{X: vg.Length(x), Y: vg.Length(p.height - y - h)})
	path.Close()
	c.SetColor(fill)
	c.Fill(path)
}

func (p *painter) cell(c vg.Canvas, x, y float64, cell *Cell) {
	fill := color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	if cell.Seconds > 0 && !cell.Failed {
		fill = shade(cell.Seconds / p.best)
	}
	p.rect(c, x+1, y+1, cellWidth-2, cellHeight-2, fill)
	center := x + cellWidth/2
	text := cell.Text + cell.Mark
	if cell.Failed {
		text = "failed"
	}
	switch {
	case text == "":
		p.middle(c, center, y+cellHeight/2+noteSize/2, noteSize, cell.Note)
	case cell.Note == "":
		p.middle(c, center, y+cellHeight/2+textSize/2-2, textSize, text)
	default:
		p.middle(c, center, y+19, textSize, text)
		p.middle(c, center, y+34, noteSize, cell.Note)
	}
}

// shade returns the colour of a point that is slow times as slow as the fastest, on a logarithmic scale up to four.
func shade(slow float64) color.RGBA {
	at := min(1, max(0, math.Log2(slow)/2))
	// Light blue, white and orange of ColorBrewer's scheme PuOr, turned round.
	low, middle, high := [3]float64{0x8f, 0xbc, 0xe6}, [3]float64{0xf7, 0xf7, 0xf7}, [3]float64{0xf1, 0xa3, 0x40}
	from, to, t := low, middle, 2*at
	if at > .5 {
		from, to, t = middle, high, 2*at-1
	}
	mix := func(i int) uint8 { return uint8(math.Round(from[i] + (to[i]-from[i])*t)) }
	return color.RGBA{mix(0), mix(1), mix(2), 0xff}
}
