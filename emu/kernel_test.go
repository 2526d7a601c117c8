package emu

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"shmoo/cubin"
)

// readCubin parses a cubin of testdata, compressed or not.
func readCubin(t testing.TB, path string) *cubin.Image {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	img, err := cubin.ParseImage(data, cubin.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// codeOf fills a Code from a kernel of a cubin, as the root package does.
func codeOf(k *cubin.Kernel) Code {
	code := Code{
		Name: k.Name, Arch: k.Image.Arch, Text: k.Code, Entry: k.Entry, ParamBase: k.ParamBase,
		SharedStatic: k.SharedStatic, MaxThreads: k.MaxThreads, ReqThreads: k.ReqThreads, Constants: map[int][]byte{},
	}
	code.SharedDynamicStart = k.SharedDynamicStart() - k.SharedReserved
	for _, p := range k.Params {
		code.Params = append(code.Params, Param{Offset: p.Offset, Size: p.Size})
	}
	for _, b := range k.Indirect {
		code.Indirect = append(code.Indirect, IndirectBranch{PC: b.PC, Targets: b.Targets})
	}
	for _, b := range k.Banks {
		if b.Index != 0 && b.Data != nil && len(b.Relocs) == 0 {
			code.Constants[b.Index] = b.Data
		}
	}
	return code
}

func programOf(t testing.TB, img *cubin.Image, name string) *Program {
	t.Helper()
	k := img.Kernel(name)
	if k == nil {
		t.Fatalf("no kernel %s", name)
	}
	p, err := NewProgram(codeOf(k))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
