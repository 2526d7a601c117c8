package browsertests

import (
	"fmt"
	"os"
	"testing"

	"shmoo/web"
)

// TestScreenshots makes the pictures of the documentation. It is skipped unless SHMOO_SCREENSHOTS is set.
func TestScreenshots(t *testing.T) {
	if os.Getenv("SHMOO_SCREENSHOTS") == "" {
		t.Skip("SHMOO_SCREENSHOTS is not set")
	}
	p := newTab(t)
	p.quiet = true // one of the sketches is wrong on purpose
	p.open(serve(t, web.Options{}))
	fill := func(id, value string) {
		eval[bool](p, fmt.Sprintf(`(() => {const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true}));
			e.form?.requestSubmit(); return true})()`, id, value))
		p.settle()
	}
	p.example("sgemm")
	p.shoot("banks")
	p.example("scan_chunk")
	fill("defines", "PAD=12")
	for range 60 {
		p.click("#step-back")
		if p.text(".pipeline .now") == "crossbar" && eval[int](p, `document.querySelectorAll('.picture [data-look="done"]').length`) <= 16 {
			break
		}
	}
	p.shoot("steps")
	p.example("transpose")
	p.pane("pads")
	p.shoot("pads")
	p.pane("fix")
	p.click("tr.best .forms button")
	p.shoot("fix")
	p.click("tr.best .apply")
	p.pane("fix")
	p.shoot("fix-applied")
	p.example("scan_chunk")
	p.pane("space")
	fill("space", "PAD=0..16,CHUNK=16..128:8")
	p.until("the map is drawn", `document.querySelectorAll(".point").length === 255`)
	p.shoot("space")
	p.pane("banks")
	p.dark(true)
	p.example("ldmatrix")
	p.shoot("dark")
	p.dark(false)
	p.source("__global__ void k(float *out) {\n    __shared__ float tile[32][32];\n    tile[threadIdx.x][threadIdx.q] = 1.0f;\n    out[0] = tile[0][threadIdx.x];\n}\n")
	p.shoot("error")
	p.example("attention")
	p.resize(800, 1100)
	p.shoot("narrow")
}
