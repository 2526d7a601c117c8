package inspect

import (
	"context"
	"io"
	"testing"

	"shmoo/cubin"
)

// codeBytes is the machine code in a file.
func codeBytes(b *testing.B, f *cubin.File) int64 {
	b.Helper()
	n := int64(0)
	for _, e := range f.Entries() {
		img, err := e.Load()
		if err != nil {
			b.Fatal(err)
		}
		for _, k := range img.Kernels {
			n += int64(len(k.Code))
		}
	}
	return n
}

func BenchmarkKernels(b *testing.B) {
	f := own(b, "scan.fatbin")
	b.SetBytes(codeBytes(b, f))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Kernels(context.Background(), f, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDisassemble(b *testing.B) {
	f := own(b, "scan.fatbin")
	b.SetBytes(codeBytes(b, f))
	b.ReportAllocs()
	for b.Loop() {
		if err := Disassemble(context.Background(), io.Discard, f, DisasmOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSites(b *testing.B) {
	for _, e := range own(b, "scan.fatbin").Entries() {
		if e.Arch != 90 {
			continue
		}
		img, err := e.Load()
		if err != nil {
			b.Fatal(err)
		}
		k := img.Kernels[0]
		b.SetBytes(int64(len(k.Code)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Sites(k); err != nil {
				b.Fatal(err)
			}
		}
	}
}
