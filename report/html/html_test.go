package html_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"shmoo/internal/golden"
	"shmoo/internal/reporttest"
	"shmoo/report/html"
)

func write(t *testing.T, c *reporttest.Case) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, c.Report, html.Options{Lines: c.Lines, Unit: c.Unit}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	picture = regexp.MustCompile(`(?s)<svg .*?</svg>`)
	style   = regexp.MustCompile(`(?s)<style>.*?</style>`)
)

// TestGolden compares the pages; pictures have golden files of their own in bankmap/draw, so here they are only counted.
func TestGolden(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			page := picture.ReplaceAllString(write(t, &c), "<svg/>")
			golden.Check(t, c.Name+".html", []byte(style.ReplaceAllString(page, "<style/>")))
		})
	}
}

// TestPage checks what holds for every page: elements nest, ids are there once and links lead to them, nothing is loaded, and
// nothing runs.
func TestPage(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			page := write(t, &c)
			var open []string
			ids, links := map[string]int{}, []string{}
			d := xml.NewDecoder(strings.NewReader(style.ReplaceAllString(page, "")))
			d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "br"}, xml.HTMLEntity
			for {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				switch e := token.(type) {
				case xml.StartElement:
					open = append(open, e.Name.Local)
					for _, a := range e.Attr {
						switch name := a.Name.Local; {
						case name == "id":
							ids[a.Value]++
						case name == "href":
							links = append(links, a.Value)
						case name == "src" || strings.HasPrefix(name, "on"):
							t.Errorf("<%s %s=%q>: the page must not load or run anything", e.Name.Local, name, a.Value)
						}
					}
					if e.Name.Local == "script" || e.Name.Local == "link" || e.Name.Local == "iframe" {
						t.Errorf("<%s> in the page", e.Name.Local)
					}
				case xml.EndElement:
					if last := open[len(open)-1]; last != e.Name.Local {
						t.Fatalf("</%s> ends <%s>", e.Name.Local, last)
					}
					open = open[:len(open)-1]
				}
			}
			for id, n := range ids {
				if n > 1 {
					t.Errorf("id %s is there %d times", id, n)
				}
			}
			for _, link := range links {
				if ids[strings.TrimPrefix(link, "#")] == 0 {
					t.Errorf("link to %s leads nowhere", link)
				}
			}
			if strings.Contains(page, "url(") || strings.Contains(page, "@import") {
				t.Error("the style loads something")
			}
			if len(open) != 0 {
				t.Errorf("%v are not closed", open)
			}
		})
	}
}

func TestSaysWhatMatters(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		page := write(t, &c)
		for _, want := range map[string][]string{
			"transpose": {"<mark>tile[threadIdx.x][threadIdx.y]</mark>", "<b>Fix:</b> pad each row of tile", "lanes step 32 words"},
			"unknown":   {"of what is known", "address depends on a value loaded from global memory", `class="n c">?</td>`},
			"fault":     {"at fault", `class="n c">fault</td>`},
			"clean":     {"as few as can be", "every request is known"},
			"machine":   {"x&lt;y&gt;[", "LDS.128"},
			"empty":     {"No shared-memory access found"},
		}[c.Name] {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", c.Name, want)
			}
		}
		if n := len(picture.FindAllString(page, -1)); (n > 0) != (c.Name == "transpose" || c.Name == "machine") {
			t.Errorf("%s: %d pictures", c.Name, n)
		}
	}
}

// TestManySites: a long table is folded behind its most expensive rows, and holds them all.
func TestManySites(t *testing.T) {
	var text strings.Builder
	text.WriteString("__global__ void k() {\n    __shared__ float t[32][32];\n")
	const sites = 25
	for i := range sites {
		fmt.Fprintf(&text, "    t[threadIdx.x & %d][%d] = 0;\n", 1+i%16, i)
	}
	text.WriteString("}\n")
	c := reporttest.Sketch(t, "k", text.String(), [3]int{32, 1, 1})
	page := write(t, &c)
	top, all, folded := strings.Cut(page, "<summary>All sites, in the order of the code</summary>")
	if !folded {
		t.Fatal("the table is not folded")
	}
	if n := strings.Count(top, `<td class="access">`); n != 10 {
		t.Errorf("%d rows are shown, want 10", n)
	}
	if n := strings.Count(all, `<td class="access">`); n != sites {
		t.Errorf("%d rows are folded, want %d", n, sites)
	}
	if n := strings.Count(page, "<svg "); n != 2*5 {
		t.Errorf("%d pictures, want five, light and dark", n)
	}
}
