package browsertests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"shmoo/web"
)

// browserNames are the programs that are looked for, in this order.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome"}

// findBrowser returns the path of a browser. Without one the tests are skipped, except where CI is set: there a missing
// browser is a failure, since a silent skip would look like a pass.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	message := fmt.Sprintf("no browser found: looked for %s", strings.Join(browserNames, ", "))
	if os.Getenv("CI") != "" {
		t.Fatal(message)
	}
	t.Skip("SKIPPED, NOTHING IS TESTED: " + message)
	return ""
}

// serve starts a server for the length of the test and returns the URL of its page.
func serve(t *testing.T, o web.Options) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	o.Ready = func(url string) { ready <- url }
	go func() { ended <- web.Serve(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("server: %v", err)
		}
	})
	select {
	case url := <-ready:
		return url
	case err := <-ended:
		ended <- err
		t.Fatalf("server did not start: %v", err)
		return ""
	}
}

// A tab is a page in a browser of its own, with a record of what it asked the network for and of what went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	errors   []string
	quiet    bool // errors are what the test is about
}

// size is what the tests look at unless they say otherwise.
var size = struct{ width, height int64 }{1280, 860}

// newTab starts a browser with an empty profile.
func newTab(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(findBrowser(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-lcd-text", true),
	)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	p := &tab{t: t}
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithListener(p.record))
	p.ctx = ctx
	t.Cleanup(func() {
		cancel()
		stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, e := range p.errors {
			if !p.quiet {
				t.Errorf("in the page: %s", e)
			}
		}
		for _, url := range p.requests {
			if !local(url) {
				t.Errorf("the page asked for %s, want nothing from outside of this machine", url)
			}
		}
	})
	// The browser lives as long as the context of the first run, so this one has no time limit.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(size.width, size.height)); err != nil {
		t.Fatalf("browser: %v", err)
	}
	command(p, network.Enable, network.EnableParams{})
	command(p, log.Enable, cdp.Empty{})
	return p
}

// command sends a command of the browser's protocol.
func command[P, R any](p *tab, c cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, c, params); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// local reports whether a URL stays on this machine.
func local(url string) bool {
	for _, prefix := range []string{"http://127.0.0.1:", "data:", "blob:", "file:", "about:"} {
		if strings.HasPrefix(url, prefix) {
			return true
		}
	}
	return false
}

func (p *tab) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		p.errors = append(p.errors, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			p.errors = append(p.errors, fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			p.errors = append(p.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		p.errors = append(p.errors, "a dialog opened: "+e.Message)
	}
}

// patience is how long the page may take for anything that a test waits for.
const patience = 10 * time.Second

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// open loads a page and waits until it has its first answer.
func (p *tab) open(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
	p.until("the page is ready", `document.body.classList.contains("ready") && !document.body.classList.contains("busy") &&
		(document.querySelector("#total-wavefronts, .totals.bad") !== null)`)
}

// until waits for a condition of the page, a JavaScript expression.
func (p *tab) until(what, condition string) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
		if err == nil && ok {
			return
		}
		if errors.Is(err, context.Canceled) {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	p.t.Fatalf("waited %v until %s: %s\nthe page says: %s", patience, what, condition, p.text("body"))
}

// settle waits until the page has answered everything that was asked of it.
func (p *tab) settle() {
	p.t.Helper()
	time.Sleep(120 * time.Millisecond) // longer than the pause after which the page evaluates what was typed
	p.until("the page has settled", `!document.body.classList.contains("busy")`)
}

// eval returns the value of a JavaScript expression, which may be a promise.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("browser: %s: %v", expression, err)
	}
	return v
}

// text returns the text of the first element that a selector finds.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("(document.querySelector(%q)?.innerText ?? '').trim()", selector))
}

// source replaces what is in the editor, as typing would.
func (p *tab) source(text string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(() => {const e = document.getElementById("source"); e.focus(); e.value = %s;
		return e.dispatchEvent(new InputEvent("input", {bubbles: true}))})()`, quote(text)))
	p.settle()
}

// quote writes a Go string as a JavaScript one.
func quote(text string) string {
	data, _ := json.Marshal(text) // a string always has a form
	return string(data)
}

// click clicks an element as a script would; what the mouse meets is not tested by it.
func (p *tab) click(selector string) {
	p.t.Helper()
	if !eval[bool](p, fmt.Sprintf("(() => {const e = document.querySelector(%s); e?.click(); return !!e})()", quote(selector))) {
		p.t.Fatalf("the page has no %s", selector)
	}
	p.settle()
}

// resize changes the size of the window.
func (p *tab) resize(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// pane shows a pane and waits for what it computes.
func (p *tab) pane(name string) {
	p.t.Helper()
	p.click("#tab-" + name)
	p.until("pane "+name+" has its answer", "!document.querySelector('[aria-busy=true]')")
}

// example opens an example from the menu.
func (p *tab) example(name string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(() => {const e = document.getElementById("example"); e.value = %s;
		return e.dispatchEvent(new Event("change", {bubbles: true}))})()`, quote(name)))
	p.settle()
	if got := eval[string](p, `document.getElementById("example").value`); got != name {
		p.t.Fatalf("example %q is open, want %q", got, name)
	}
}

// keys presses keys one after the other, as a user of the keyboard would.
func (p *tab) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.do(chromedp.KeyEvent(k))
	}
}

// downloads makes the browser put downloads into a folder, which it returns.
func (p *tab) downloads() string {
	p.t.Helper()
	dir := p.t.TempDir()
	_, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: "allow", DownloadPath: dir,
	})
	if err != nil {
		p.t.Fatalf("browser: %v", err)
	}
	return dir
}

// downloaded waits for a file in a folder and returns its path.
func (p *tab) downloaded(dir, name string) string {
	p.t.Helper()
	path := filepath.Join(dir, name)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return path
		}
	}
	entries, _ := os.ReadDir(dir)
	p.t.Fatalf("%s was not downloaded; there is %v", name, entries)
	return ""
}

func (p *tab) dark(on bool) {
	scheme := "light"
	if on {
		scheme = "dark"
	}
	command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// screenshots is where pictures for the documentation go; they are written only when SHMOO_SCREENSHOTS is set, since
// fonts differ between machines.
const screenshots = "../docs/screenshots"

func (p *tab) shoot(name string) {
	p.t.Helper()
	if os.Getenv("SHMOO_SCREENSHOTS") == "" {
		return
	}
	p.do(chromedp.Sleep(150 * time.Millisecond))
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&packed, paletted(picture)); err != nil {
		p.t.Fatal(err)
	}
	if err := os.MkdirAll(screenshots, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(screenshots, name+".png"), packed.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}
