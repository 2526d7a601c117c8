// Package layers checks that packages import only packages of a lower layer.
package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// layer gives every package its number. A package imports only packages with a lower one, so the core stays small
// enough for WebAssembly and a reader can learn the program from the bottom up. docs/architecture.md draws the same table.
var layer = map[string]int{
	"shmoo/smem": 0,
	"shmoo/gf2":  0,
	"shmoo/diag": 0,

	"shmoo/access": 1,
	"shmoo/arch":   1,
	"shmoo/layout": 1,
	"shmoo/ncu":    1,
	"shmoo/space":  1,
	"shmoo/sass":   1,
	"shmoo/cubin":  1,

	"shmoo/sketch":   2,
	"shmoo/emu":      2,
	"shmoo/pattern":  2,
	"shmoo/report":   2,
	"shmoo/bankmap":  2,
	"shmoo/pad":      2,
	"shmoo/gpu":      2,
	"shmoo/unitfile": 2,

	"shmoo/explain": 3,
	"shmoo/launch":  3,
	"shmoo/inspect": 3,

	"shmoo/bankmap/draw": 3,
	"shmoo/fix":          3,
	"shmoo/fix/verify":   3,

	"shmoo/report/text":   3,
	"shmoo/report/json":   3,
	"shmoo/report/source": 3,
	"shmoo/report/pprof":  3,
	"shmoo/report/sarif":  3,
	"shmoo/compare":       3,

	"shmoo/report/html":    4,
	"shmoo/report/formats": 5,

	"shmoo/gpu/cuda":   3,
	"shmoo/gpu/nvcc":   3,
	"shmoo/gpu/replay": 3,
	"shmoo/probe":      4,
	"shmoo/sweep":      4,

	"shmoo":            4,
	"shmoo/predict":    5,
	"shmoo/sweep/plot": 3,
	"shmoo/web/eval":   5,
	"shmoo/web":        6,
	"shmoo/web/wasm":   6,
	"shmoo/cmd/shmoo":  7,
}

// loose packages may be imported from, or import, any layer: examples, internal tools and tests.
func loose(path string) bool {
	return strings.HasPrefix(path, "shmoo/internal/") || strings.HasPrefix(path, "shmoo/examples") ||
		strings.HasPrefix(path, "shmoo/sass/")
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range list(t) {
		if loose(p.ImportPath) {
			continue
		}
		own, ok := layer[p.ImportPath]
		if !ok {
			t.Errorf("package %s has no layer: add it to the table in internal/layers and to docs/architecture.md", p.ImportPath)
			continue
		}
		for _, path := range p.Imports {
			if !strings.HasPrefix(path, "shmoo") || loose(path) {
				continue
			}
			if other, ok := layer[path]; ok && other >= own {
				t.Errorf("package %s (layer %d) imports %s (layer %d): a package imports only packages of a lower layer",
					p.ImportPath, own, path, other)
			}
		}
	}
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "shmoo/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
