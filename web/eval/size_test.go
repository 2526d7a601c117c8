package eval

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What a page must not load: each of these would add a tenth or more to the WebAssembly build, which has a limit of 1.5 MiB.
var tooHeavy = []string{
	"regexp", "math/big", "net/http", "text/template", "html/template", "compress/flate", "encoding/csv", "gonum.org/v1/plot",
	"shmoo/sass", "shmoo/cubin", "shmoo/emu", "shmoo/inspect", "shmoo/pattern", "shmoo/bankmap/draw",
}

func TestPageBuildImportsNothingHeavy(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "shmoo/web/wasm")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "shmoo/web/eval") {
		t.Fatalf("the build for pages does not hold this package: %v", deps)
	}
	for _, p := range tooHeavy {
		if slices.Contains(deps, p) {
			t.Errorf("the build for pages imports %s: leave it out with a build constraint, as formats_js.go does", p)
		}
	}
}
