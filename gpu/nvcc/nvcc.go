// Package nvcc is a [gpu.Compiler] that runs the compiler of the CUDA toolkit, for machines without a GPU and for sources
// that need the toolkit's headers.
//
//	c, err := nvcc.Find(ctx, "")                                       // the nvcc on PATH
//	cubin, err := c.Compile(ctx, gpu.Source{Name: "scan.cu", Text: text, Arch: "sm_90", Options: []string{"-DPAD=4"}})
//
// Limits: a source is compiled from a copy, so what it includes by a relative path must be in Headers or on an -I option.
package nvcc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"shmoo/gpu"
)

// A Compiler is an nvcc.
type Compiler struct {
	path    string
	version string
}

var _ gpu.Compiler = (*Compiler)(nil)

var release = regexp.MustCompile(`release [0-9.]+, V([0-9.]+)`)

// usual is where toolkits are installed that are not on PATH.
const usual = "/usr/local/cuda/bin/nvcc"

// Find returns the compiler at path, or for "" the one on PATH or in the usual place. It returns a *gpu.NoDriverError where
// there is none.
func Find(ctx context.Context, path string) (*Compiler, error) {
	found, err := exec.LookPath(path)
	if path == "" {
		if found, err = exec.LookPath("nvcc"); err != nil {
			found, err = exec.LookPath(usual)
		}
	}
	if err != nil {
		return nil, &gpu.NoDriverError{Reason: "nvcc not found", Err: err}
	}
	out, err := exec.CommandContext(ctx, found, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", found, err)
	}
	m := release.FindSubmatch(out)
	if m == nil {
		return nil, fmt.Errorf("%s --version: got %.80q, want a release number", found, out)
	}
	return &Compiler{path: found, version: "nvcc " + string(m[1])}, nil
}

// Version returns "nvcc" and its version.
func (c *Compiler) Version() string { return c.version }

// Compile returns a cubin. A refused source gives a *gpu.CompileError.
func (c *Compiler) Compile(ctx context.Context, s gpu.Source) ([]byte, error) {
	dir, err := os.MkdirTemp("", "shmoo-nvcc-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Base(s.Name)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(s.Text), 0o600); err != nil {
		return nil, err
	}
	for header, text := range s.Headers {
		path := filepath.Join(dir, filepath.FromSlash(header))
		if !filepath.IsLocal(filepath.FromSlash(header)) {
			return nil, fmt.Errorf("header %q: want a name without .. and not absolute", header)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, err
		}
	}
	args := append([]string{"-cubin", "-arch=" + s.Arch, "-o", "out.cubin"}, s.Options...)
	cmd := exec.CommandContext(ctx, c.path, append(args, "-x", "cu", name)...)
	cmd.Dir = dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, &gpu.CompileError{Name: s.Name, Log: strings.TrimSpace(log.String())}
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "out.cubin"))
}
