package draw

import (
	"image/color"
	"math"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"

	"shmoo/bankmap"
)

// A scene is a picture before it is drawn: shapes in pixels from the top left corner.
type scene struct {
	width, height int
	title         string
	shapes        []shape
	fonts         *font.Cache
}

// A shape is a filled rectangle, or a text if text is not empty.
type shape struct {
	x, y, w, h float64 // of a text: its left end, its baseline and its width
	fill       bankmap.Color
	text       string
	size       float64
	bold       bool
}

func newScene(width int, title string) *scene {
	return &scene{width: width, title: title, fonts: font.NewCache(liberation.Collection())}
}

func (s *scene) rect(x, y, w, h float64, fill bankmap.Color) {
	s.shapes = append(s.shapes, shape{x: x, y: y, w: w, h: h, fill: fill})
}

// anchor is the point of a text that its x names.
type anchor float64

const (
	left   anchor = 0
	middle anchor = 0.5
	right  anchor = 1
)

// A style is how a text is set.
type style struct {
	size float64
	bold bool
	ink  bankmap.Color
}

// write sets a text on a baseline and returns its width.
func (s *scene) write(at anchor, x, baseline float64, st style, text string) float64 {
	total := s.measure(st, text)
	// Quarters of a pixel have short decimals and are the same on every machine.
	x = math.Round((x-float64(total*float64(at)))*4) / 4
	for _, part := range apart(text) {
		w := s.widthOf(st, part)
		s.shapes = append(s.shapes, shape{
			x: x, y: baseline, w: w, fill: st.ink, text: part, size: st.size, bold: st.bold,
		})
		x += w
	}
	return total
}

// measure returns the width of a text.
func (s *scene) measure(st style, text string) float64 {
	w := 0.0
	for _, part := range apart(text) {
		w += s.widthOf(st, part)
	}
	return w
}

func (s *scene) widthOf(st style, text string) float64 {
	face := s.face(st.size, st.bold)
	return math.Ceil(face.Width(text).Points()*4) / 4
}

// apart splits a text between ones: the font's kerning would run 11 together.
func apart(text string) []string {
	var parts []string
	for {
		i := strings.Index(text, "11")
		if i < 0 {
			break
		}
		parts = append(parts, text[:i+1])
		text = text[i+1:]
	}
	if text != "" {
		parts = append(parts, text)
	}
	return parts
}

func (s *scene) face(size float64, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return s.fonts.Lookup(f, vg.Length(size))
}

// wrap breaks text at spaces into lines of at most the given width.
func (s *scene) wrap(st style, text string, width float64) []string {
	var lines []string
	line := ""
	for _, word := range s.fields(st, text, width) {
		longer := word
		if line != "" {
			longer = line + " " + word
		}
		if line != "" && s.measure(st, longer) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fields splits text at spaces, and words that are wider than width inside.
func (s *scene) fields(st style, text string, width float64) []string {
	var words []string
	for _, word := range strings.Fields(text) {
		runes := []rune(word)
		for len(runes) > 1 && s.measure(st, string(runes)) > width {
			n := len(runes) - 1
			for n > 1 && s.measure(st, string(runes[:n])) > width {
				n--
			}
			words = append(words, string(runes[:n]))
			runes = runes[n:]
		}
		words = append(words, string(runes))
	}
	return words
}

// render draws the shapes in order.
func (s *scene) render(c vg.Canvas) {
	for i := range s.shapes {
		h := &s.shapes[i]
		c.SetColor(color.NRGBA{h.fill.R, h.fill.G, h.fill.B, 255})
		if h.text != "" {
			c.FillString(s.face(h.size, h.bold), vg.Point{X: vg.Length(h.x), Y: vg.Length(float64(s.height) - h.y)}, h.text)
			continue
		}
		top, bottom := vg.Length(float64(s.height)-h.y), vg.Length(float64(s.height)-h.y-h.h)
		var p vg.Path
		p.Move(vg.Point{X: vg.Length(h.x), Y: top})
		p.Line(vg.Point{X: vg.Length(h.x + h.w), Y: top})
		p.Line(vg.Point{X: vg.Length(h.x + h.w), Y: bottom})
		p.Line(vg.Point{X: vg.Length(h.x), Y: bottom})
		p.Close()
		c.Fill(p)
	}
}
