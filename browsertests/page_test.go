package browsertests

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"shmoo/web"
)

const column = `__shared__ float t[32][32];
t[threadIdx.x][0] = 1.0f;
`

// blank opens the page with a sketch that leaves every field of the launch empty.
var blank = web.Options{Initial: &web.Document{Name: "sketch.cu", Source: "__shared__ float first[32];\nfirst[threadIdx.x];\n"}}

// gutter returns the counts beside a line: requests, wavefronts, ideal, conflicts.
func (p *tab) gutter(line int) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`[...(document.querySelector('.gutter [data-line="%d"]')?.children ?? [])].slice(1).map(c => c.textContent).join(" ")`, line))
}

func (p *tab) total(name string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.getElementById("total-%s")?.textContent ?? ""`, name))
}

func TestTypingShowsCounts(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, blank))
	p.source(column)
	if got, want := p.gutter(2), "1 32 1 31"; got != want {
		t.Errorf("counts beside the store: %q, want %q", got, want)
	}
	if got := p.total("conflicts"); got != "31" {
		t.Errorf("%s conflicts in all, want 31", got)
	}
	if got := p.text("#why"); !strings.Contains(got, "32 wavefronts instead of 1") {
		t.Errorf("the sentence says %q, want 32 wavefronts instead of 1", got)
	}
	p.source(strings.Replace(column, "[32][32]", "[32][33]", 1))
	if got, want := p.gutter(2), "1 1 1 0"; got != want {
		t.Errorf("with a pad: %q, want %q", got, want)
	}
}

func TestErrorStandsInPlace(t *testing.T) {
	p := newTab(t)
	p.quiet = true // the server answers a sketch in error with status 400, which the browser logs
	p.open(serve(t, blank))
	p.source("__shared__ float t[32];\nt[threadIdx.q] = 1.0f;\n")
	row := eval[string](p, `[...document.querySelectorAll('.paint .row')].map((r, i) => r.querySelector('.squiggle.error') ? (i + 1) + ": " + r.querySelector('.mark').textContent : "").filter(Boolean).join()`)
	if !strings.HasPrefix(row, "2: ") {
		t.Errorf("marked %q, want something of line 2", row)
	}
	message := p.text("#messages li.error")
	if !strings.Contains(message, "2:") {
		t.Errorf("message %q, want one about line 2", message)
	}
	if inplace := p.text(".paint .inplace.error"); inplace == "" || !strings.Contains(message, inplace) {
		t.Errorf("the line says %q, want the message %q", inplace, message)
	}
	p.source("__shared__ float t[32];\nt[threadIdx.x] = 1.0f;\n")
	if got := p.gutter(2); got != "1 1 1 0" {
		t.Errorf("after mending: %q, want 1 1 1 0", got)
	}
	if left := eval[int](p, `document.querySelectorAll('.squiggle').length`); left != 0 {
		t.Errorf("%d marks left after mending, want 0", left)
	}
}

func TestApplyingFixRemovesConflicts(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, web.Options{}))
	p.example("transpose")
	before := eval[string](p, `document.getElementById("source").value`)
	if got := p.total("conflicts"); got != "992" {
		t.Fatalf("%s conflicts before, want 992", got)
	}
	p.pane("fix")
	p.click("tr.best .apply")
	p.until("before and after are shown", `document.querySelector("#before-after")`)
	p.pane("fix") // the search for the new sketch
	if got := p.total("conflicts"); got != "0" {
		t.Errorf("%s conflicts after the fix, want 0", got)
	}
	if got := p.text("#before-after"); !strings.Contains(got, "992") || !strings.Contains(got, "conflicts\t992\t0") {
		t.Errorf("before and after: %q, want conflicts 992 and 0", got)
	}
	p.click("#undo-fix")
	if got := eval[string](p, `document.getElementById("source").value`); got != before {
		t.Errorf("after undoing the sketch is\n%s\nwant\n%s", got, before)
	}
	if got := p.total("conflicts"); got != "992" {
		t.Errorf("%s conflicts after undoing, want 992", got)
	}
}

func TestFixSortsAndCopies(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, web.Options{}))
	p.example("transpose")
	p.pane("fix")
	sizes := func() []string {
		return eval[[]string](p, `[...document.querySelectorAll(".fixes tbody tr")].map(r => r.children[3].textContent.replace(",", ""))`)
	}
	p.click(".fixes thead th:nth-child(4) button")
	up := sizes()
	p.click(".fixes thead th:nth-child(4) button")
	down := sizes()
	if len(up) < 2 || up[0] > up[len(up)-1] || down[0] < down[len(down)-1] {
		t.Errorf("bytes sorted up %v and down %v", up, down)
	}
	p.click("tr.best .forms button")
	if got := p.text(".code-out pre"); !strings.Contains(got, "constexpr int tile_index(int row, int col)") {
		t.Errorf("CUDA form: %q, want an index function", got)
	}
}

func TestShareLinkRestoresEverything(t *testing.T) {
	url := serve(t, web.Options{})
	p := newTab(t)
	p.open(url)
	p.example("scan_chunk")
	p.click(".gutter button:nth-of-type(2)")
	eval[bool](p, `(() => {const d = document.getElementById("defines"); d.value = "PAD=3"; d.dispatchEvent(new Event("input")); return true})()`)
	p.settle()
	p.source(eval[string](p, `document.getElementById("source").value`) + "// € and ü survive\n")
	eval[bool](p, `(() => {const s = document.getElementById("execution"); s.value = 7; s.dispatchEvent(new Event("input")); return true})()`)
	p.settle()
	p.click("#step-back")
	p.click("#step-back")
	p.click("#share")
	p.settle()
	shown := `JSON.stringify([...["source", "block", "defines", "arch", "site", "execution"].map(id => document.getElementById(id).value),
		document.querySelector(".stepno").textContent, document.getElementById("step-text").textContent,
		document.getElementById("why").textContent, document.querySelector('[aria-selected="true"]').id,
		document.getElementById("total-wavefronts").textContent])`
	want := eval[string](p, shown)
	link := eval[string](p, "location.href")

	fresh := newTab(t)
	fresh.open(link)
	fresh.settle()
	if got := eval[string](fresh, shown); got != want {
		t.Errorf("opened from the link:\n%s\nwant\n%s", got, want)
	}
}

func TestHostileLinks(t *testing.T) {
	url := serve(t, web.Options{})
	for name, hash := range map[string]string{
		"not base64":    "#s=%%%",
		"not deflated":  "#s=AAAA",
		"wrong types":   "#s=" + deflated(t, `{"source": 7, "block": "x", "pane": "nowhere", "pads": [{}], "site": null}`),
		"not an object": "#s=" + deflated(t, `[1, 2]`),
		"markup":        "#s=" + deflated(t, `{"source": "<img src=x onerror=alert(1)>", "name": "<script>alert(1)</script>"}`),
		"too large":     "#s=" + deflated(t, `{"source": "`+strings.Repeat("a", 3<<20)+`"}`),
	} {
		t.Run(name, func(t *testing.T) {
			p := newTab(t)
			p.quiet = true
			p.open(url + hash)
			p.settle()
			if n := eval[int](p, `document.querySelectorAll("img, .paint script").length`); n != 0 {
				t.Errorf("the link put %d elements into the page", n)
			}
			for _, e := range p.errors {
				if strings.Contains(e, "dialog") {
					t.Error(e)
				}
			}
		})
	}
}

func TestStepping(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, blank))
	p.source("__shared__ float t[1024];\nt[threadIdx.x * 4] = 1.0f;\n")
	looks := func() string {
		return eval[string](p, `Object.entries([...document.querySelectorAll(".picture .cell")].reduce((n, c) => ({...n, [c.dataset.look]: (n[c.dataset.look] ?? 0) + 1}), {})).sort().join(" ")`)
	}
	stage := func() string { return p.text(".pipeline .now") }
	p.click("#step-first")
	if got := stage() + ": " + looks(); got != "drop: wait,32" {
		t.Errorf("first step: %s, want drop: wait,32", got)
	}
	eval[bool](p, `document.querySelector(".picturebox").focus() || true`)
	for stage() != "resolver" {
		p.keys(kb.ArrowRight)
	}
	if got := looks(); got != "now,8 wait,24" {
		t.Errorf("first pass: %s, want now,8 wait,24", got)
	}
	p.keys(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	if got := stage() + ": " + looks(); got != "resolver: done,8 now,8 wait,16" {
		t.Errorf("second pass: %s, want resolver: done,8 now,8 wait,16", got)
	}
	p.keys(kb.Home, kb.End)
	if got := stage() + ": " + looks(); got != "retire: plain,32" {
		t.Errorf("last step: %s, want retire: plain,32", got)
	}
	p.click("#play")
	p.until("playing moves on", `document.querySelector(".pipeline .now").textContent === "decode"`)
	p.keys(" ")
}

func TestHoverLinksLaneCellLine(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, blank))
	p.source(column)
	eval[bool](p, `document.querySelector('.lane[data-lane="5"]').dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))`)
	got := eval[string](p, `[...document.querySelectorAll(".lit")].map(e => e.dataset.lanes ?? e.dataset.lane ?? "line " + e.dataset.line).sort().join()`)
	if got != "5,5,5,line 2" { // the lane, its row in the table, its cell, its line
		t.Errorf("hovering lane 5 lights %s, want 5,5,5,line 2", got)
	}
}

func TestPads(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, blank))
	p.source(column)
	p.pane("pads")
	got := eval[string](p, `[...document.querySelectorAll(".card")].map(c => c.dataset.pad + ":" + c.dataset.wavefronts).join(" ")`)
	if want := "0:32 1:1 2:2 4:4 8:8"; got != want {
		t.Errorf("pads %s, want %s", got, want)
	}
}

func TestSpace(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, web.Options{}))
	p.example("scan_chunk")
	p.pane("space")
	eval[bool](p, `(() => {const f = document.getElementById("space"); f.value = "PAD=0..10:2,CHUNK=48..64:8"; f.form.requestSubmit(); return true})()`)
	p.until("the map is drawn", `document.querySelectorAll(".point").length === 18`)
	at := func(point string) string {
		return eval[string](p, fmt.Sprintf(`document.querySelector('[data-point="%s"]').dataset.value`, point))
	}
	// 56+8 halves are 32 words a lane: all lanes in one bank. 56+2 halves are 29 words: none.
	if got := at("PAD=8 CHUNK=56") + " " + at("PAD=2 CHUNK=56"); got != "32 1" {
		t.Errorf("ways at chunk 56 with pads 8 and 2: %s, want 32 1", got)
	}
	eval[bool](p, `document.querySelector('[data-point="PAD=2 CHUNK=56"]').dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	p.settle()
	if got := p.total("conflicts"); got != "0" {
		t.Errorf("opened the free point: %s conflicts, want 0", got)
	}
}

func TestMeasuredSweep(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, web.Options{}))
	p.example("scan_chunk")
	p.pane("space")
	load := func(text string) {
		t.Helper()
		eval[bool](p, fmt.Sprintf(`(() => {const d = new DataTransfer(); d.items.add(new File([%s], "scan.json"));
			const f = document.getElementById("sweep-file"); f.files = d.files; return f.dispatchEvent(new Event("change"))})()`, quote(text)))
	}
	load(`{"schema": "shmoo.sweep/1", "space": "PAD=2,8,X=1", "rows": [
		{"point": "PAD=2,X=1", "summary": {"median": 2e-6, "low": 1.9e-6, "high": 2.1e-6, "n": 9}, "verdict": "best"},
		{"point": "PAD=8,X=1", "summary": {"median": 4e-5, "low": 3e-5, "high": 5e-5, "n": 9}},
		{"point": "PAD=9,X=1", "summary": {"median": 0, "low": 0, "high": 0, "n": 0}, "failure": "hangs"}]}`)
	texts := func() string {
		return eval[string](p, `[...document.querySelectorAll(".point > text")].map(e => e.textContent).join("; ")`)
	}
	p.until("the sweep is drawn", `document.querySelectorAll(".point").length === 3`)
	if got, want := texts(), "2\u202fµs; 40\u202fµs; –"; got != want {
		t.Errorf("cells %q, want %q", got, want)
	}
	eval[bool](p, `(() => {const b = document.getElementById("sweep-bytes"); b.value = "8000000"; return b.dispatchEvent(new Event("input"))})()`)
	if got, want := texts(), "4.00; 0.200; –"; got != want { // 8 MB in 2 and 40 microseconds
		t.Errorf("TB/s %q, want %q", got, want)
	}
	eval[bool](p, `document.querySelector('[data-point="PAD=2"]').dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	p.settle()
	if got := p.total("conflicts"); got != "0" {
		t.Errorf("opened PAD=2: %s conflicts, want 0", got)
	}
	load(`{"schema": "shmoo.sweep-log/1"}`)
	p.until("the wrong file is named", `document.querySelector("#pane-space p").textContent.includes("want shmoo.sweep/1")`)
}

func TestKeyboardOnly(t *testing.T) {
	p := newTab(t)
	p.quiet = true // half-typed sketches are wrong, which the server answers with status 400
	p.open(serve(t, blank))
	focus := func() string {
		return eval[string](p, `document.activeElement.id || document.activeElement.className || document.activeElement.tagName`)
	}
	// tabTo presses Tab until an element has the focus.
	tabTo := func(want string) {
		t.Helper()
		var seen []string
		for range 120 {
			p.keys(kb.Tab)
			if focus() == want {
				return
			}
			seen = append(seen, focus())
		}
		t.Fatalf("Tab never reaches %s, only %v", want, seen)
	}
	tabTo("source")
	eval[bool](p, `document.getElementById("source").select() || true`)
	p.keys(strings.Split("__shared__ float t[32][32];t[threadIdx.x][0];", "")...)
	p.settle()
	if got := p.total("conflicts"); got != "31" {
		t.Fatalf("typed a sketch: %s conflicts, want 31", got)
	}
	tabTo("tab-banks")
	p.keys(kb.ArrowRight, kb.ArrowRight)
	p.settle()
	if got := focus(); got != "tab-fix" {
		t.Fatalf("arrows lead to %s, want tab-fix", got)
	}
	p.until("the search is done", `document.querySelector(".fixes .apply")`)
	tabTo("apply")
	p.keys(kb.Enter)
	p.settle()
	if got := p.total("conflicts"); got != "0" {
		t.Errorf("applied a fix with Enter: %s conflicts, want 0", got)
	}
}

func TestEverythingHasAName(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, web.Options{}))
	for _, pane := range []string{"banks", "pads", "fix", "space"} {
		p.pane(pane)
		nameless := eval[[]string](p, `[...document.querySelectorAll("button, input, select, textarea, [tabindex='0'], [role=img]")]
			.filter(e => e.checkVisibility() && !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim() || e.title || e.querySelector("title")))
			.map(e => e.outerHTML.slice(0, 120))`)
		for _, e := range nameless {
			t.Errorf("pane %s: no name for %s", pane, e)
		}
	}
	described := eval[bool](p, `[...document.querySelectorAll("svg[role=img]")].every(s => s.querySelector("title")?.textContent && s.querySelector("desc")?.textContent)`)
	if !described {
		t.Error("a picture has no title or no description")
	}
}

// Every colour of text reads on every ground that it stands on: WCAG 2 asks for a contrast of 4.5.
func TestContrast(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, web.Options{}))
	const script = `(() => {
		const probe = document.body.appendChild(document.createElement("i"));
		const rgb = (name) => {
			probe.style.color = "var(" + name + ")";
			return getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
		};
		const light = (name) => {
			const [r, g, b] = rgb(name).map(v => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
			return 0.2126 * r + 0.7152 * g + 0.0722 * b;
		};
		const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
		const texts = ["--ink", "--soft", "--accent", "--warn", "--error", "--good"];
		const code = ["--ink", "--comment", "--word", "--builtin", "--number", "--string"];
		const pairs = [...texts.flatMap(t => ["--paper", "--side"].map(g => [t, g])),
			...code.flatMap(t => ["--paper", "--chosen", "--heat1"].map(g => [t, g])),
			...["--heat2", "--heat3", "--heat4", "--heat5"].map(g => ["--ink", g])];
		const bad = pairs.filter(([t, g]) => contrast(t, g) < 4.5).map(([t, g]) => t + " on " + g + ": " + contrast(t, g).toFixed(2));
		probe.remove();
		return bad;
	})()`
	p.example("transpose")
	hot := eval[bool](p, `(() => {const row = document.querySelector('.paint [data-heat="5"]');
		return [...row.children].every(e => getComputedStyle(e).color === getComputedStyle(row).color)})()`)
	if !hot {
		t.Error("the hottest line has coloured text, want ink only: nothing else has contrast there")
	}
	for _, dark := range []bool{false, true} {
		p.dark(dark)
		for _, bad := range eval[[]string](p, script) {
			t.Errorf("dark %v: %s, want 4.5", dark, bad)
		}
	}
}

func TestFitsNarrowWindows(t *testing.T) {
	p := newTab(t)
	url := serve(t, web.Options{})
	for _, width := range []int64{1280, 800} {
		p.resize(width, 860)
		p.open(url)
		for _, pane := range []string{"banks", "pads", "fix", "space"} {
			p.pane(pane)
			for _, of := range []string{"document.documentElement", "document.getElementById('panes')"} {
				if over := eval[int](p, of+".scrollWidth - "+of+".clientWidth"); over > 0 {
					t.Errorf("%d wide, pane %s: %s is %d pixels wider than its place", width, pane, of, over)
				}
			}
		}
	}
}

func TestSavedPictures(t *testing.T) {
	p := newTab(t)
	p.open(serve(t, blank))
	p.source(column)
	dir := p.downloads()
	p.click(".pane:not([hidden]) .saves button:nth-child(1)")
	svg, err := os.ReadFile(p.downloaded(dir, "banks-2.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if s := string(svg); !strings.HasPrefix(s, "<?xml") || !strings.Contains(s, "32 wavefronts, ideal 1") || strings.Contains(s, "var(") {
		t.Errorf("SVG of %d bytes begins %.80q; want a document of its own that says what it shows", len(s), s)
	}
	p.click(".pane:not([hidden]) .saves button:nth-child(2)")
	png, err := os.ReadFile(p.downloaded(dir, "banks-2.png"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(png), "\x89PNG") {
		t.Errorf("PNG begins %.8q", png)
	}
}

// deflated packs a text as the links of the page do.
func deflated(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(out.Bytes())
}
