// Package draw turns bank pictures into SVG and PNG: the panels of package bankmap, from one drawing.
//
//	err := draw.SVG(file, panels, draw.Options{Title: "tile[threadIdx.x][k]"})
//
// A picture brings its own background, light or dark, so that it reads on any page. Every cell names its lanes and, where
// there are several passes, the letter of the pass; colour repeats that. An SVG has a title and a description in words.
// The same panels give the same bytes.
//
// Limits: text is set in Liberation Sans; an SVG names it with fallbacks of the same metrics and does not embed it.
package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"shmoo/bankmap"
)

// Options say how a picture looks. The zero value is a light picture 1280 wide.
type Options struct {
	Title string
	View  bankmap.View
	Dark  bool
	Width int // in pixels at scale 1; 0 for 1280
	// Columns is how many panels stand side by side; 0 puts two where there are several.
	Columns int
	Scale   int // pixels per unit of a PNG; 0 for 2
}

const (
	defaultWidth = 1280
	minWidth     = 640
	maxWidth     = 8192
	maxScale     = 4
	// maxHeight keeps coordinates of an SVG exact: they are written with five digits.
	maxHeight = 65536
	// maxPixels bounds the memory of a PNG: 64 Mi pixels of 4 bytes.
	maxPixels = 64 << 20
)

// wideBanks is the most banks that a panel can show beside another one.
const wideBanks = 32

func (o *Options) defaults(panels []*bankmap.Panel) error {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	if o.Scale == 0 {
		o.Scale = 2
	}
	if o.Width < minWidth || o.Width > maxWidth {
		return fmt.Errorf("picture: width %d, want %d to %d", o.Width, minWidth, maxWidth)
	}
	if o.Scale < 1 || o.Scale > maxScale {
		return fmt.Errorf("picture: scale %d, want 1 to %d", o.Scale, maxScale)
	}
	if len(panels) == 0 {
		return fmt.Errorf("picture: no panels, want at least one")
	}
	o.Title = bankmap.Printable(o.Title)
	if o.Columns <= 0 {
		o.Columns = 1
		if len(panels) > 1 && o.View == bankmap.LaneView && panels[0].Banks <= wideBanks {
			o.Columns = 2
		}
	}
	o.Columns = min(o.Columns, len(panels))
	return nil
}

// SVG writes panels as one SVG document.
func SVG(w io.Writer, panels []*bankmap.Panel, o Options) error {
	s, err := layout(panels, o)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(vg.Length(s.width), vg.Length(s.height))
	s.render(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err = w.Write(accessible(b.Bytes(), s, describe(panels, o)))
	return err
}

// PNG writes panels as one PNG image, Options.Scale pixels per unit.
func PNG(w io.Writer, panels []*bankmap.Panel, o Options) error {
	if err := o.defaults(panels); err != nil {
		return err
	}
	s, err := layout(panels, o)
	if err != nil {
		return err
	}
	scale := o.Scale
	if pixels := s.width * s.height * scale * scale; pixels > maxPixels {
		return fmt.Errorf("picture: %d x %d at scale %d is %d pixels, want at most %d: draw fewer panels, or SVG",
			s.width, s.height, scale, pixels, maxPixels)
	}
	const pointsPerInch = 72
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(s.width), vg.Length(s.height)), vgimg.UseDPI(pointsPerInch*scale))
	s.render(canvas)
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

var (
	svgHead   = regexp.MustCompile(`(?s)^.*?<svg .*?>\n`)
	svgFamily = regexp.MustCompile(`font-family:Liberation Sans;font-variant:[a-z]+;`)
)

// accessible gives an SVG of vgsvg a head in pixels, with the title and the description that a screen reader speaks, and
// fonts to fall back on.
func accessible(svg []byte, s *scene, description string) []byte {
	hash := fnv.New32a() // ids of their own for pictures that share a page
	hash.Write(svg)
	id := fmt.Sprintf("shmoo-%08x", hash.Sum32())
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" `+
		`role="img" aria-labelledby="%[3]s-title %[3]s-desc">`+
		"\n<title id=\"%[3]s-title\">%[4]s</title>\n<desc id=\"%[3]s-desc\">%[5]s</desc>\n",
		s.width, s.height, id, escape(s.title), escape(description))
	svg = svgHead.ReplaceAllLiteral(svg, []byte(head))
	return svgFamily.ReplaceAllLiteral(svg, []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a strings.Builder does not fail
	}
	return b.String()
}

// describe says in words what the picture shows.
func describe(panels []*bankmap.Panel, o Options) string {
	parts := make([]string, len(panels))
	for i, p := range panels {
		lead := ""
		if p.Title != "" {
			lead = bankmap.Printable(p.Title) + ": "
		}
		parts[i] = lead + p.Request() + ": " + p.Summary() + "."
	}
	what := "Memory rows by banks; every cell names the lanes on its word and the pass that serves them. "
	if o.View == bankmap.CountView {
		what = "The number of lanes that fall in each bank. "
	}
	return what + strings.Join(parts, " ")
}
