package browsertests

import (
	"os"
	"testing"

	"shmoo/web"
)

func TestBinaryPane(t *testing.T) {
	data, err := os.ReadFile("../cubin/testdata/transpose.fatbin")
	if err != nil {
		t.Fatal(err)
	}
	p := newTab(t)
	p.quiet = true // without a launch the kernel reads past its shared memory, which the server answers with status 400
	p.open(serve(t, web.Options{Binary: &web.Binary{Name: "transpose.fatbin", Data: data}}))
	p.pane("binary")
	p.until("kernels are listed", `document.querySelectorAll(".kernels tbody tr").length > 2`)
	eval[bool](p, `(() => {const s = document.getElementById("kernel-search"); s.value = "TRANSPOSE<0> sm_90"; return s.dispatchEvent(new Event("input"))})()`)
	p.until("the search leaves one", `document.querySelectorAll(".kernels tbody tr").length === 1`)
	p.click(".kernels .apply")
	p.until("the machine code is there", `document.querySelector(".asm .row")`)
	eval[bool](p, `(() => {const b = document.getElementById("block"); b.value = "32,8"; b.dispatchEvent(new Event("input")); return true})()`)
	p.settle()
	// Four loads of a column by 8 warps: 32 wavefronts each.
	p.until("the counts are there", `document.getElementById("total-wavefronts")?.textContent === "1,056"`)
	p.pane("banks")
	chosen := p.text(".asm .chosen")
	if len(chosen) < 3 || chosen[:3] != "LDS" {
		t.Errorf("the worst site is %q, want a load", chosen)
	}
	p.shoot("binary")
	before := eval[string](p, `document.querySelector(".asm .chosen").dataset.pc`)
	p.click("#next-worst")
	if after := eval[string](p, `document.querySelector(".asm .chosen").dataset.pc`); after == before {
		t.Errorf("next worst stays at %s", after)
	}
	eval[bool](p, `document.querySelector('.lane[data-lane="3"]').dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))`)
	if n := eval[int](p, `document.querySelectorAll(".asm .chosen.lit").length`); n != 1 {
		t.Errorf("hovering a lane lights %d instructions, want 1", n)
	}
	// The link does not hold the file; elsewhere the page says so and shows the sketch.
	p.click("#share")
	hash := eval[string](p, "location.hash")
	other := newTab(t)
	other.open(serve(t, web.Options{}) + hash)
	other.until("the page says what is missing", `document.getElementById("toast").textContent.includes("binary")`)
	if !eval[bool](other, `document.querySelector(".editor:not(.code-view)").checkVisibility()`) {
		t.Error("a link to a binary that is not there hides the editor")
	}
	p.pane("binary")
	p.click("#back-to-sketch")
	if got := eval[bool](p, `document.querySelector(".editor:not(.code-view)").checkVisibility()`); !got {
		t.Error("the editor does not come back")
	}
}
