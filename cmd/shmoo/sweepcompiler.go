package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"shmoo/gpu"
	"shmoo/gpu/cuda"
	"shmoo/gpu/nvcc"
	"shmoo/sweep"
)

// A pointCompiler compiles the points of a sweep and keeps what it made. A folder that the user names is for keeping: its
// files do not depend on the compiler, so that a machine without one can use them. Otherwise they go to the user's cache,
// where another compiler makes another file. The compiler is looked for when it is first needed.
type pointCompiler struct {
	dir  string // of --cubins; "" for the cache
	nvcc string // of --nvcc
	name string // of the kernel

	once  sync.Once
	found gpu.Compiler
	err   error
}

var _ gpu.Compiler = (*pointCompiler)(nil)

// Version returns "": a kept file may come from any compiler.
func (c *pointCompiler) Version() string { return "" }

// Compile returns the kept cubin, or compiles the source.
func (c *pointCompiler) Compile(ctx context.Context, s gpu.Source) ([]byte, error) {
	path := ""
	if c.dir != "" {
		path = filepath.Join(c.dir, fmt.Sprintf("%s-%s.cubin", fileName(c.name), sourceKey(&s)))
		if cubin, err := os.ReadFile(path); err == nil {
			return cubin, nil
		}
	}
	c.once.Do(func() { c.find(ctx) })
	if c.err != nil {
		return nil, c.err
	}
	cubin, err := c.found.Compile(ctx, s)
	if err != nil || path == "" {
		return cubin, err
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, err
	}
	return cubin, sweep.WriteFile(path, cubin)
}

// find finds a compiler: the nvcc that the user names, NVRTC, or any nvcc.
func (c *pointCompiler) find(ctx context.Context) {
	if c.nvcc == "" {
		if c.found, c.err = cuda.NewCompiler(); c.err == nil {
			c.found = includes{c.found}
		}
	}
	if c.found == nil || c.err != nil {
		c.found, c.err = nvcc.Find(ctx, c.nvcc)
	}
	if c.err != nil {
		c.err = &gpu.NoDriverError{Reason: "no compiler for CUDA C++: neither NVRTC nor nvcc; name one with --nvcc", Err: c.err}
		return
	}
	if dir, err := os.UserCacheDir(); err == nil && c.dir == "" {
		c.found = &sweep.Cache{Compiler: c.found, Dir: filepath.Join(dir, "shmoo", "cubins")}
	}
}

// sourceKey is a hash of what is compiled.
func sourceKey(s *gpu.Source) string {
	h := sha256.New()
	for _, text := range append([]string{s.Name, s.Text, s.Arch}, s.Options...) {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// fileName keeps of a kernel's name what every file system takes.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name[:min(len(name), 64)])
}

// includes gives NVRTC, which knows no folders of its own, the toolkit's headers.
type includes struct{ gpu.Compiler }

// Compile adds the folders of the toolkit that are there.
func (c includes) Compile(ctx context.Context, s gpu.Source) ([]byte, error) {
	for _, root := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"} {
		for _, dir := range []string{filepath.Join(root, "include"), filepath.Join(root, "include", "cccl")} {
			if info, err := os.Stat(dir); root != "" && err == nil && info.IsDir() {
				s.Options = append(s.Options[:len(s.Options):len(s.Options)], "-I"+dir)
			}
		}
	}
	return c.Compiler.Compile(ctx, s)
}
