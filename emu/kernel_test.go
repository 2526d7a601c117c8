package emu

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
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
	at := map[string]uint64{}
	next := uint64(GlobalBase)
	for _, d := range k.Image.Data {
		data := d.Init
		if data == nil {
			data = make([]byte, min(d.Size, 1<<20))
		}
		at[d.Section] = next
		code.Data = append(code.Data, Segment{Addr: next, Data: data})
		next += uint64(len(data)+4095) &^ 4095
	}
	for _, b := range k.Banks {
		if b.Index == 0 || b.Data == nil {
			continue
		}
		data := bytes.Clone(b.Data)
		for _, r := range b.Relocs {
			const address64 = 2
			base, ok := at[r.Symbol.Section]
			if !ok {
				base, next = next, next+4096 // something outside the module: an address of its own
			}
			if p := data[r.Offset:]; r.Type == address64 {
				binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)+base+r.Symbol.Value+uint64(r.Addend))
			}
		}
		code.Constants[b.Index] = data
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
