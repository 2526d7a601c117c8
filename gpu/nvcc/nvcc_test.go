package nvcc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"shmoo/gpu"
)

// standIn writes a shell script that takes nvcc's place: it answers --version, refuses sources with "bad" in them, and gives
// its arguments and the source as the cubin.
func standIn(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	path := filepath.Join(t.TempDir(), "nvcc")
	script := `#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0; fi
for last; do :; done
if grep -q bad "$last"; then echo "$last(1): error: bad" >&2; exit 2; fi
{ echo "$@"; cat "$last"; cat sub/h.h; } > out.cubin
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompile(t *testing.T) {
	ctx := context.Background()
	c, err := Find(ctx, standIn(t))
	if err != nil {
		t.Fatal(err)
	}
	if c.Version() != "nvcc 13.0.88" {
		t.Errorf("got version %q", c.Version())
	}
	s := gpu.Source{Name: "dir/k.cu", Text: "kernel\n", Arch: "sm_90", Options: []string{"-DPAD=4"},
		Headers: map[string]string{"sub/h.h": "header\n"}}
	got, err := c.Compile(ctx, s)
	if want := "-cubin -arch=sm_90 -o out.cubin -DPAD=4 -x cu k.cu\nkernel\nheader\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	s.Text = "bad"
	var refused *gpu.CompileError
	if _, err := c.Compile(ctx, s); !errors.As(err, &refused) || !strings.Contains(refused.Log, "k.cu(1): error: bad") {
		t.Errorf("got %v, want a compile error with the log", err)
	}
	s.Headers = map[string]string{"../h.h": ""}
	if _, err := c.Compile(ctx, s); err == nil || !strings.Contains(err.Error(), "without ..") {
		t.Errorf("got %v for a header outside the folder", err)
	}
}

func TestMissing(t *testing.T) {
	_, err := Find(context.Background(), filepath.Join(t.TempDir(), "nvcc"))
	if !errors.As(err, new(*gpu.NoDriverError)) {
		t.Errorf("got %v, want a *gpu.NoDriverError", err)
	}
}
