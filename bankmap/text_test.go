package bankmap_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"shmoo/bankmap"
	"shmoo/internal/golden"
	"shmoo/smem"
)

func text(t interface{ Fatal(...any) }, o bankmap.TextOptions, panels ...*bankmap.Panel) string {
	var b bytes.Buffer
	if err := bankmap.Text(&b, panels, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	pads := func(t *testing.T) []*bankmap.Panel {
		var panels []*bankmap.Panel
		for _, pad := range []int{0, 2, 4, 8} {
			panels = append(panels, panel(t, fmt.Sprintf("pad %d", pad),
				request(smem.Load, 2, func(lane int) int { return lane * (64 + pad) * 2 })))
		}
		return panels
	}
	one := func(op smem.Op, width int, addr func(int) int) func(*testing.T) []*bankmap.Panel {
		return func(t *testing.T) []*bankmap.Panel {
			return []*bankmap.Panel{panel(t, "a title", request(op, width, addr))}
		}
	}
	tests := []struct {
		name    string
		panels  func(*testing.T) []*bankmap.Panel
		options bankmap.TextOptions
	}{
		{"pads", pads, bankmap.TextOptions{Width: 140}},
		{"pads-counts", pads, bankmap.TextOptions{View: bankmap.CountView}},
		{"stride-8", one(smem.Load, 4, func(lane int) int { return 32 * lane }), bankmap.TextOptions{Width: 80}},
		{"stride-8-color", one(smem.Load, 4, func(lane int) int { return 32 * lane }),
			bankmap.TextOptions{Width: 160, Color: true}},
		{"float4-ascii", one(smem.Store, 16, func(lane int) int { return 80 * lane }),
			bankmap.TextOptions{Width: 140, ASCII: true}},
		{"broadcast", one(smem.Load, 4, func(int) int { return 512 }), bankmap.TextOptions{Width: 200}},
		{"broadcast-narrow", one(smem.Load, 16, func(lane int) int { return lane / 16 * 4096 }),
			bankmap.TextOptions{Width: 40}},
		{"atomic", one(smem.Atomic, 4, func(lane int) int { return lane / 8 * 8 }), bankmap.TextOptions{Width: 80}},
		{"ldmatrix", one(smem.LoadMatrix, 16, func(lane int) int { return 32 * lane }), bankmap.TextOptions{Width: 140}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			golden.Check(t, test.name+".txt", []byte(text(t, test.options, test.panels(t)...)))
		})
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestTextKeepsToTheTerminal draws any request at any width: no line is longer, no byte is one that was not asked for,
// and colour adds nothing but colour.
func TestTextKeepsToTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, r := drawRequest(t)
		p, err := bankmap.New(u, r, "some title of several words that wraps on narrow terminals")
		if err != nil {
			t.Fatal(err)
		}
		o := bankmap.TextOptions{Width: rapid.IntRange(40, 160).Draw(t, "width"), ASCII: rapid.Bool().Draw(t, "ascii")}
		plain := text(t, o, p)
		o.Color = true
		if diff := cmp.Diff(plain, escape.ReplaceAllString(text(t, o, p), "")); diff != "" {
			t.Errorf("colour changes the text (-plain +colour):\n%s", diff)
		}
		for _, line := range strings.Split(plain, "\n") {
			if n := utf8.RuneCountInString(line); n > o.Width {
				t.Errorf("a line of %d columns, want %d at most: %q", n, o.Width, line)
			}
			for _, c := range line {
				if c < ' ' || o.ASCII && c > '~' {
					t.Errorf("character %q in %q", c, line)
				}
			}
		}
	})
}

// TestTextNamesEveryCell reads the picture back: every access of the panel stands where it belongs, under its lanes and
// the letters of its passes, or under a star that a note explains.
func TestTextNamesEveryCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, r := drawRequest(t)
		p, err := bankmap.New(u, r, "")
		if err != nil {
			t.Fatal(err)
		}
		drawn := text(t, bankmap.TextOptions{Width: rapid.IntRange(40, 400).Draw(t, "width"), ASCII: true}, p)
		got := readPicture(t, drawn, p)
		want := map[[2]int]string{}
		for _, row := range p.Rows {
			for _, c := range row.Cells {
				if c.Run > 0 {
					want[[2]int{row.Row, c.Bank}] = cellText(p, &c)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("accesses by row and bank (-want +got):\n%s\n%s", diff, drawn)
		}
	})
}

func cellText(p *bankmap.Panel, c *bankmap.Cell) string {
	s := "lanes " + c.Lanes.String()
	if len(p.Passes) > 1 {
		s += " pass " + p.PassRange(c)
	}
	return s
}

var note = regexp.MustCompile(`^\*  row (\d+), banks? (\d+)(?:-\d+)?: lanes (.*?)(?:, pass (.*))?$`)

// readPicture returns what a picture says of each access, by row and first bank. It knows the form of the text alone.
func readPicture(t *rapid.T, drawn string, p *bankmap.Panel) map[[2]int]string {
	cells, notes := map[[2]int]string{}, map[[2]int]string{}
	var ends []int // column after each bank of the band
	first := 0
	for _, line := range unwrap(drawn) {
		switch {
		case strings.HasPrefix(line, "bank "):
			numbers := regexp.MustCompile(`\d+`).FindAllStringIndex(line, -1)
			ends = nil
			for _, n := range numbers {
				ends = append(ends, n[1])
			}
			first = number(t, line[numbers[0][0]:numbers[0][1]])
		case strings.HasPrefix(line, "row "):
			label := strings.Fields(line)[1]
			size := ends[1] - ends[0]
			for i := 0; i < len(ends); i++ {
				from := ends[i] - size + 1
				if from >= len(line) {
					break
				}
				cell := line[from:min(len(line), ends[i])]
				key := [2]int{number(t, label), first + i}
				if strings.HasPrefix(cell, "[") {
					end := from + strings.IndexByte(line[from:], ']')
					cells[key] = strings.TrimRight(line[from+1:end], "-")
					for i+1 < len(ends) && ends[i] <= end {
						i++
					}
					continue
				}
				if cell = strings.TrimSpace(cell); cell != "." && cell != "" {
					cells[key] = cell
				}
			}
		case strings.HasPrefix(line, "*  "):
			m := note.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("note %q is not of the form of a note", line)
			}
			s := "lanes " + m[3]
			if m[4] != "" {
				s += " pass " + m[4]
			}
			notes[[2]int{number(t, m[1]), number(t, m[2])}] = s
		}
	}
	for key, name := range cells {
		if strings.HasPrefix(name, "*") {
			cells[key] = notes[key]
			continue
		}
		cells[key] = readName(t, name, p)
	}
	return cells
}

// readName splits "0-3,7a-c" into lanes and passes.
func readName(t *rapid.T, name string, p *bankmap.Panel) string {
	i := strings.LastIndexAny(name, "0123456789") // the letters that number passes are no digits
	if i < 0 {
		t.Fatalf("cell %q names no lane", name)
	}
	s := "lanes " + strings.ReplaceAll(name[:i+1], ",", ", ")
	if len(p.Passes) > 1 {
		s += " pass " + name[i+1:]
	}
	return s
}

func number(t *rapid.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// unwrap joins lines that were continued with an indent of four.
func unwrap(s string) []string {
	var lines []string
	for _, line := range strings.Split(s, "\n") {
		if rest, ok := strings.CutPrefix(line, "    "); ok && len(lines) > 0 && !strings.HasPrefix(rest, " ") {
			lines[len(lines)-1] += " " + rest
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

func TestTextOfHostileTitles(t *testing.T) {
	r := request(smem.Load, 4, func(lane int) int { return 4 * lane })
	for _, title := range []string{"\x1b[31mred", "two\nlines", "\xff\xfe", strings.Repeat("x", 1<<20), "a\u202eb"} {
		for _, view := range []bankmap.View{bankmap.LaneView, bankmap.CountView} {
			got := text(t, bankmap.TextOptions{Width: 80, ASCII: true, View: view}, panel(t, title, r))
			if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\u202e") || len(got) > 8<<10 {
				t.Errorf("title %.20q gives %d bytes: %.60q", title, len(got), got)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name          string
		in            string
		width, indent int
		want          []string
	}{
		{"no limit", "a b c", 0, 0, []string{"a b c"}},
		{"fits", "a b c", 5, 0, []string{"a b c"}},
		{"breaks", "aa bb cc", 5, 0, []string{"aa bb", "cc"}},
		{"indent counts", "aa bb cc dd", 5, 3, []string{"aa bb", "cc", "dd"}},
		{"long word", "a bbbbbbbb c", 4, 0, []string{"a", "bbbbbbbb", "c"}},
		{"empty", "", 4, 0, []string{""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, bankmap.Wrap(test.in, test.width, test.indent)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
