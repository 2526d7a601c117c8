package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shmoo/arch"
	"shmoo/bankmap"
	"shmoo/internal/golden"
	"shmoo/smem"
)

func panelOf(t testing.TB, name, title string, op smem.Op, width int, addr func(lane int) int) *bankmap.Panel {
	t.Helper()
	u := arch.MustLookup(name).Unit
	r := &smem.Request{Op: op, Width: width, Active: u.FullMask()}
	for lane := range u.Lanes {
		r.Addr = append(r.Addr, uint32(addr(lane)))
	}
	p, err := bankmap.New(u, r, title)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pads returns the four panels of fp16, chunk 64.
func pads(t testing.TB) []*bankmap.Panel {
	var panels []*bankmap.Panel
	for _, pad := range []int{0, 2, 4, 8} {
		panels = append(panels, panelOf(t, "sm_90", fmt.Sprintf("pad %d", pad), smem.Load, 2,
			func(lane int) int { return lane * (64 + pad) * 2 }))
	}
	return panels
}

func svg(t testing.TB, o Options, panels ...*bankmap.Panel) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, panels, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSVGGolden(t *testing.T) {
	tests := []struct {
		name    string
		panels  []*bankmap.Panel
		options Options
	}{
		{"stride-8", []*bankmap.Panel{panelOf(t, "sm_90", "", smem.Load, 4, func(lane int) int { return 32 * lane })},
			Options{Title: "float tile[32][8], tile[threadIdx.x][0]"}},
		{"pads-counts", pads(t), Options{Title: "fp16, chunk 64", View: bankmap.CountView}},
		{"broadcast-dark", []*bankmap.Panel{panelOf(t, "sm_90", "one float4 for all", smem.Load, 16,
			func(int) int { return 512 })}, Options{Dark: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := svg(t, test.options, test.panels...)
			if again := svg(t, test.options, test.panels...); !bytes.Equal(got, again) {
				t.Error("two drawings differ")
			}
			golden.Check(t, test.name+".svg", got)
		})
	}
}

// document is what the tests look for in an SVG.
type document struct {
	XMLName    xml.Name `xml:"svg"`
	Role       string   `xml:"role,attr"`
	LabelledBy string   `xml:"aria-labelledby,attr"`
	Title      labelled `xml:"title"`
	Desc       labelled `xml:"desc"`
	Texts      []string `xml:"g>text"`
}

type labelled struct {
	ID   string `xml:"id,attr"`
	Text string `xml:",chardata"`
}

func parse(t *testing.T, data []byte) document {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(data))
	for { // every token, so that a break anywhere fails
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
	var d document
	if err := xml.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSVGIsAccessible(t *testing.T) {
	p := panelOf(t, "sm_90", "pad 0", smem.Load, 4, func(lane int) int { return 128 * lane })
	d := parse(t, svg(t, Options{Title: `a < b & "c"`}, p))
	if d.Role != "img" || d.LabelledBy != d.Title.ID+" "+d.Desc.ID || d.Title.ID == "" {
		t.Errorf("role %q, labelled by %q, title %q, desc %q", d.Role, d.LabelledBy, d.Title.ID, d.Desc.ID)
	}
	if d.Title.Text != `a < b & "c"` {
		t.Errorf("title %q", d.Title.Text)
	}
	for _, want := range []string{"pad 0", "32 wavefronts", "31 conflicts", "lanes 0-31"} {
		if !strings.Contains(d.Desc.Text, want) {
			t.Errorf("desc %q lacks %q", d.Desc.Text, want)
		}
	}
	other := parse(t, svg(t, Options{Title: "other"}, p))
	if other.Title.ID == d.Title.ID {
		t.Errorf("two pictures share the id %s", d.Title.ID)
	}
}

func TestHostileTitles(t *testing.T) {
	r := func(lane int) int { return 4 * lane }
	for _, title := range []string{"\x00\x1b[0m", "\xff\xfe", "</svg><script>alert(1)</script>", strings.Repeat("w", 1<<20)} {
		data := svg(t, Options{Title: title}, panelOf(t, "sm_90", title, smem.Load, 4, r))
		parse(t, data)
		if bytes.Contains(data, []byte("<script")) || len(data) > 200<<10 {
			t.Errorf("title %.20q gives %d bytes", title, len(data))
		}
	}
}

// TestTextsStandApart draws many requests and checks that no text leaves the picture or runs into another.
func TestTextsStandApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(arch.Names()).Draw(t, "arch")
		u := arch.MustLookup(name).Unit
		width := rapid.SampledFrom([]int{4, 8, 16}).Draw(t, "width")
		span := rapid.SampledFrom([]uint32{1, 16, 600, 4000}).Draw(t, "span")
		panels := make([]*bankmap.Panel, rapid.IntRange(1, 3).Draw(t, "panels"))
		for i := range panels {
			r := &smem.Request{Op: smem.Load, Width: width, Active: u.FullMask()}
			for range u.Lanes {
				r.Addr = append(r.Addr, rapid.Uint32Range(0, span-1).Draw(t, "index")*uint32(width))
			}
			p, err := bankmap.New(u, r, "a panel with a title long enough to need a second line in two columns of a narrow picture")
			if err != nil {
				t.Fatal(err)
			}
			panels[i] = p
		}
		o := Options{
			Title: "a title", Dark: rapid.Bool().Draw(t, "dark"),
			Width: rapid.SampledFrom([]int{0, 640, 1000, 2000}).Draw(t, "picture width"),
			View:  rapid.SampledFrom([]bankmap.View{bankmap.LaneView, bankmap.CountView}).Draw(t, "view"),
		}
		s, err := layout(panels, o)
		if err != nil {
			t.Fatal(err)
		}
		checkTexts(t, s)
	})
}

func checkTexts(t *rapid.T, s *scene) {
	type box struct {
		x0, y0, x1, y1 float64
		text           string
	}
	const slack = 0.3 // rounding of positions
	var boxes []box
	for _, h := range s.shapes {
		if h.text == "" {
			if h.x < 0 || h.y < 0 || h.x+h.w > float64(s.width) || h.y+h.h > float64(s.height) {
				t.Fatalf("a rectangle at %g, %g of %g x %g leaves the picture", h.x, h.y, h.w, h.h)
			}
			continue
		}
		b := box{h.x + slack, h.y - 0.7*h.size, h.x + h.w - slack, h.y, h.text}
		if b.x0 < 0 || b.y0 < 0 || b.x1 > float64(s.width) || b.y1 > float64(s.height) {
			t.Fatalf("text %q at %g, %g leaves the picture of %d x %d", h.text, h.x, h.y, s.width, s.height)
		}
		for _, o := range boxes {
			if b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1 {
				t.Fatalf("texts %q at %g, %g and %q at %g, %g overlap", b.text, b.x0, b.y1, o.text, o.x0, o.y1)
			}
		}
		boxes = append(boxes, b)
	}
}

// TestEveryLaneIsNamed looks for the label of every lane in its cell.
func TestEveryLaneIsNamed(t *testing.T) {
	for _, panel := range pads(t) {
		s, err := layout([]*bankmap.Panel{panel}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := newGrid(panel, margin, float64(s.width)-2*margin)
		for _, a := range panel.Accesses {
			inCell := ""
			for _, h := range s.shapes {
				if h.text != "" && h.bold && h.x > g.at(a.Bank) && h.x+h.w < g.at(a.Bank+1) && h.size == g.label {
					inCell += " " + h.text
				}
			}
			label := strings.Join(apart(fmt.Sprint(a.Lane)), " ")
			if !strings.Contains(inCell+" ", " "+label+" ") {
				t.Errorf("%s: bank %d is labelled %q, want lane %d among them", panel.Title, a.Bank, inCell, a.Lane)
			}
		}
	}
}

func TestPNG(t *testing.T) {
	panel := panelOf(t, "sm_90", "", smem.Load, 4, func(lane int) int { return 32 * lane })
	for _, test := range []struct {
		name string
		o    Options
		page bankmap.Color
	}{
		{"light", Options{}, light.page},
		{"dark, small", Options{Dark: true, Scale: 1, Width: 1000}, dark.page},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := PNG(&b, []*bankmap.Panel{panel}, test.o); err != nil {
				t.Fatal(err)
			}
			img, err := png.Decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			o := test.o
			s, err := layout([]*bankmap.Panel{panel}, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.defaults([]*bankmap.Panel{panel}); err != nil {
				t.Fatal(err)
			}
			size := img.Bounds().Size()
			if size.X != s.width*o.Scale || size.Y != s.height*o.Scale {
				t.Fatalf("%d x %d pixels, want %d x %d at scale %d", size.X, size.Y, s.width, s.height, o.Scale)
			}
			at := func(x, y float64) bankmap.Color {
				c := color.NRGBAModel.Convert(img.At(int(x*float64(o.Scale)), int(y*float64(o.Scale)))).(color.NRGBA)
				return bankmap.Color{R: c.R, G: c.G, B: c.B}
			}
			if got := at(2, 2); got != test.page {
				t.Errorf("the page is %v, want %v", got, test.page)
			}
			// Eight passes of four lanes: the corner of each cell, clear of its label, has the colour of its pass.
			cells := 0
			for _, h := range s.shapes {
				for pass := range panel.Passes {
					if h.text == "" && h.fill == bankmap.PassColor(pass, len(panel.Passes)) && h.w > 20 {
						cells++
						if got := at(h.x+2, h.y+2); got != h.fill {
							t.Errorf("a cell of pass %d is %v, want %v", pass, got, h.fill)
						}
					}
				}
			}
			if cells != 32 {
				t.Errorf("%d cells, want 32", cells)
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	one := pads(t)[:1]
	tall := make([]*bankmap.Panel, 100)
	for i := range tall {
		tall[i] = pads(t)[0]
	}
	tests := []struct {
		name   string
		panels []*bankmap.Panel
		o      Options
		want   string
	}{
		{"no panels", nil, Options{}, "no panels"},
		{"narrow", one, Options{Width: 10}, "width 10"},
		{"wide", one, Options{Width: 1 << 20}, "width 1048576"},
		{"scale", one, Options{Scale: 9}, "scale 9"},
		{"tall", tall, Options{Columns: 1}, "draw fewer"},
		{"pixels", tall[:60], Options{Scale: 4, Columns: 1}, "pixels"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := PNG(io.Discard, test.panels, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestRefusedPanel draws a legal panel beside one that the unit refuses.
func TestRefusedPanel(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	r := &smem.Request{Op: smem.Load, Width: 8, Active: 1, Addr: []uint32{4}}
	_, err := bankmap.New(u, r, "pad 1")
	if err == nil {
		t.Fatal("a misaligned request is served")
	}
	d := parse(t, svg(t, Options{}, pads(t)[0], bankmap.Refused(u, r, "pad 1", err)))
	if all := strings.Join(d.Texts, " "); !strings.Contains(all, "misaligned") {
		t.Errorf("the picture does not say why pad 1 is refused: %s", all)
	}
}

func BenchmarkSVG(b *testing.B) {
	panels := pads(b)
	for b.Loop() {
		if err := SVG(io.Discard, panels, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
