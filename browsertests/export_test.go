package browsertests

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"shmoo/web"
)

// needModel ends a test of the model in the page when the program is built without it.
func needModel(t *testing.T, url string) {
	t.Helper()
	reply, err := http.Get(url + "model.wasm.gz")
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode == http.StatusOK {
		return
	}
	const message = `built without the model: "make model", then "go test -tags webmodel"`
	if os.Getenv("CI") != "" {
		t.Fatal(message)
	}
	t.Skip("SKIPPED, NOTHING IS TESTED: " + message)
}

func TestExportedPageWorksFromDisk(t *testing.T) {
	findBrowser(t)
	url := serve(t, web.Options{})
	needModel(t, url)
	p := newTab(t)
	p.open(url)
	p.example("transpose")
	p.click(".gutter [data-line='23']")
	dir := p.downloads()
	p.click("#export")
	path := p.downloaded(dir, "transpose.html")

	disk := newTab(t)
	disk.open("file://" + path)
	disk.settle()
	if got := disk.total("wavefronts"); got != "1,056" {
		t.Errorf("%s wavefronts from disk, want 1,056", got)
	}
	// It computes: another sketch, stepped through.
	disk.source(column)
	if got, want := disk.gutter(2), "8 256 8 248"; got != want { // the block of the example stays
		t.Errorf("counts from disk: %q, want %q", got, want)
	}
	eval[bool](disk, `document.querySelector(".picturebox").focus() || true`)
	disk.keys(kb.Home)
	for range 5 {
		disk.keys(kb.ArrowRight)
	}
	if got := disk.text("#step-text"); !strings.Contains(got, "bank") {
		t.Errorf("step 6 from disk says %q, want something about a bank", got)
	}
	disk.pane("fix")
	disk.click("tr.best .apply")
	disk.settle()
	if got := disk.total("conflicts"); got != "0" {
		t.Errorf("%s conflicts after a fix from disk, want 0", got)
	}
	// And it can be exported again.
	again := disk.downloads()
	disk.click("#export")
	second := newTab(t)
	second.open("file://" + disk.downloaded(again, "transpose.html"))
	second.settle()
	if got := second.total("conflicts"); got != "0" {
		t.Errorf("%s conflicts in the second export, want 0", got)
	}
}

func TestWebAssemblySize(t *testing.T) {
	url := serve(t, web.Options{})
	needModel(t, url)
	reply, err := http.Get(url + "model.wasm.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	const most = 3 << 19 // 1.5 MiB
	if reply.ContentLength > most {
		t.Errorf("the model has %d bytes, want at most %d", reply.ContentLength, most)
	}
}

// TestSite opens the folder that "make site" writes, behind a server that knows nothing but files.
func TestSite(t *testing.T) {
	findBrowser(t)
	needModel(t, serve(t, web.Options{}))
	site := t.TempDir()
	build := exec.Command("go", "run", "-C", "../tools", "./uibuild", "-site", site, "-model", "../web/model")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := httptest.NewServer(http.FileServer(http.Dir(site)))
	t.Cleanup(files.Close)
	p := newTab(t)
	p.open(files.URL + "/")
	p.example("scan_chunk")
	if got := p.total("conflicts"); got != "3,472" {
		t.Errorf("%s conflicts, want 3,472", got)
	}
	for _, url := range p.requests {
		if strings.Contains(url, "/api/") {
			t.Errorf("the site asked for %s, want it to compute by itself", url)
		}
	}
}
