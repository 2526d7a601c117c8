package browsertests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shmoo/examples"
	"shmoo/web"
)

// TestNumbersEqualCheck compares what the page shows for every example with what shmoo check --json says.
func TestNumbersEqualCheck(t *testing.T) {
	findBrowser(t) // before the program is built for nothing
	program := filepath.Join(t.TempDir(), "shmoo")
	build := exec.Command("go", "build", "-o", program, "./cmd/shmoo")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := newTab(t)
	p.open(serve(t, web.Options{}))
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			p.t = t
			p.example(name)
			want := check(t, program, name)
			type figures struct{ Requests, Wavefronts, Ideal, Conflicts int64 }
			lines := map[int]figures{}
			for _, s := range want.Sites {
				f := lines[s.Line]
				lines[s.Line] = figures{f.Requests + s.Requests, f.Wavefronts + s.Wavefronts, f.Ideal + s.Ideal, f.Conflicts + s.Conflicts}
			}
			for line, f := range lines {
				text := fmt.Sprintf("%d %d %d %d", f.Requests, f.Wavefronts, f.Ideal, f.Conflicts)
				got := strings.NewReplacer(",", "", "+?", "", "?", "0").Replace(p.gutter(line))
				if got != text {
					t.Errorf("line %d: %q, want %q", line, got, text)
				}
			}
			for id, n := range map[string]int64{"requests": want.Totals.Requests, "wavefronts": want.Totals.Wavefronts,
				"ideal": want.Totals.Ideal, "conflicts": want.Totals.Conflicts, "ways": want.Totals.Ways} {
				if got := strings.ReplaceAll(p.total(id), ",", ""); got != fmt.Sprint(n) {
					t.Errorf("total %s: %s, want %d", id, got, n)
				}
			}
		})
	}
	p.t = t
}

type tally struct{ Requests, Wavefronts, Ideal, Conflicts, Ways int64 }

type document struct {
	Totals tally
	Sites  []struct {
		Line int
		tally
	}
}

func check(t *testing.T, program, name string) *document {
	t.Helper()
	text, err := examples.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append([]string{"check", "--example", name, "--json"}, examples.Flags(text)...)...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() > 1) { // 1: findings
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	// encoding/json takes embedded fields only from exported types, so the figures are read apart.
	var d document
	var sites struct{ Sites []tally }
	for _, v := range []any{&d, &sites} {
		if err := json.Unmarshal(out.Bytes(), v); err != nil {
			t.Fatal(err)
		}
	}
	for i := range d.Sites {
		d.Sites[i].tally = sites.Sites[i]
	}
	return &d
}
