//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"shmoo/gpu"
)

// nvrtcCompilationError is the status for a source with errors (enum nvrtcResult).
const nvrtcCompilationError = 6

// compiler is NVRTC.
type compiler struct {
	lib     *library
	version string
	one     sync.Mutex // NVRTC of CUDA 11 compiles one program at a time
}

// NewCompiler loads NVRTC, which is part of the CUDA toolkit. It returns a *gpu.NoDriverError where there is none.
func NewCompiler() (gpu.Compiler, error) { return newCompiler(nvrtcFiles) }

func newCompiler(files []string) (*compiler, error) {
	l, err := load("NVIDIA's run-time compiler (NVRTC, part of the CUDA toolkit)", files, nvrtcCalls, explainCompiler)
	if err != nil {
		return nil, err
	}
	var major, minor int32
	if err := l.call(nvrtcVersion, pointer(&major), pointer(&minor)); err != nil {
		return nil, err
	}
	return &compiler{lib: l, version: fmt.Sprintf("nvrtc %d.%d", major, minor)}, nil
}

func explainCompiler(l *library, status int) (name, text string) {
	at, err := l.raw(nvrtcGetErrorString, int32(status))
	if err != nil {
		return "", ""
	}
	return textAt(at), ""
}

func (c *compiler) Version() string { return c.version }

func (c *compiler) Compile(ctx context.Context, s gpu.Source) (cubin []byte, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.one.Lock()
	defer c.one.Unlock()
	var pinner runtime.Pinner
	defer pinner.Unpin()
	names := slices.Sorted(maps.Keys(s.Headers))
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = s.Headers[name]
	}
	headerTexts, headerNames := textArray(texts, &pinner), textArray(names, &pinner)
	var program uint64
	err = c.lib.call(nvrtcCreateProgram, pointer(&program), s.Text, s.Name, int32(len(names)),
		arrayOf(headerTexts), arrayOf(headerNames))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.lib.call(nvrtcDestroyProgram, pointer(&program))) }()
	options := append([]string{"--gpu-architecture=" + s.Arch}, s.Options...)
	optionTexts := textArray(options, &pinner)
	err = c.lib.call(nvrtcCompileProgram, program, int32(len(options)), arrayOf(optionTexts))
	var failed *gpu.CallError
	if errors.As(err, &failed) && failed.Code == nvrtcCompilationError {
		log, err := c.output(program, nvrtcGetProgramLogSize, nvrtcGetProgramLog)
		if err != nil {
			return nil, err
		}
		return nil, &gpu.CompileError{Name: s.Name, Log: text(log)}
	}
	if err != nil {
		return nil, err
	}
	return c.output(program, nvrtcGetCUBINSize, nvrtcGetCUBIN)
}

// output reads a result of a program: its size, then its bytes.
func (c *compiler) output(program uint64, sizeCall, bytesCall call) ([]byte, error) {
	var size uint64
	if err := c.lib.call(sizeCall, program, pointer(&size)); err != nil {
		return nil, err
	}
	if size > math.MaxInt32 {
		return nil, fmt.Errorf("%s: got %d bytes, want less than 2 GiB", c.lib.calls[sizeCall].name, size)
	}
	out := make([]byte, max(size, 1))
	if err := c.lib.call(bytesCall, program, bytesOf(out)); err != nil {
		return nil, err
	}
	return bytes.Clone(out[:size]), nil
}

// textArray returns the texts as a C array of strings, pinned until pinner lets go.
func textArray(texts []string, pinner *runtime.Pinner) []unsafe.Pointer {
	array := make([]unsafe.Pointer, len(texts))
	for i, t := range texts {
		b := append([]byte(t), 0)
		pinner.Pin(&b[0])
		array[i] = unsafe.Pointer(&b[0])
	}
	return array
}

// arrayOf returns the address of an array's first element, or nil for an empty one.
func arrayOf(array []unsafe.Pointer) unsafe.Pointer {
	if len(array) == 0 {
		return nil
	}
	return unsafe.Pointer(&array[0])
}
