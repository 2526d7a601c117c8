package browsertests

import (
	"testing"

	"shmoo/web"
)

func TestScreenshots(t *testing.T) {
	url := serve(t, web.Options{})
	p := newTab(t)
	p.open(url)
	p.settle()
	p.shoot("banks")
	for _, pane := range []string{"pads", "fix", "space"} {
		eval[bool](p, "document.getElementById('tab-"+pane+"').click() || true")
		p.settle()
		p.until("not busy", "!document.querySelector('[aria-busy]')")
		if pane == "space" {
			eval[bool](p, "(()=>{const f=document.getElementById('space'); f.value='TILE=8..40:4'; f.form.requestSubmit(); return true})()")
			p.until("not busy", "document.querySelector('.point')")
		}
		p.shoot(pane)
	}
}
