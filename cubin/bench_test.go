package cubin_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"shmoo/cubin"
)

// image returns the cubin of sm_90 from a fatbin of testdata.
func image(b *testing.B, name string) []byte {
	b.Helper()
	f, err := cubin.Open("testdata/" + name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for _, e := range f.Entries() {
		if e.Arch == 90 {
			data, err := e.Bytes(nil)
			if err != nil {
				b.Fatal(err)
			}
			return data
		}
	}
	b.Fatalf("%s: no sm_90", name)
	return nil
}

func BenchmarkParseImage(b *testing.B) {
	data := image(b, "scan.fatbin")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cubin.ParseImage(data, cubin.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	data := image(b, "scan.fatbin")
	b.ReportAllocs()
	for b.Loop() {
		img, err := cubin.ParseImage(data, cubin.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := img.Kernels[0].Lines(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLinesAt(b *testing.B) {
	img, err := cubin.ParseImage(image(b, "misc.fatbin"), cubin.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	k := img.Kernel("_Z7inlinedPfi")
	l, err := k.Lines()
	if err != nil {
		b.Fatal(err)
	}
	var frames []cubin.Frame
	pc := uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		frames = l.AppendAt(frames[:0], pc)
		if pc += 16; int(pc) >= len(k.Code) {
			pc = 0
		}
	}
}

// BenchmarkEach loads all images of a fatbin: reading, decompressing and parsing.
func BenchmarkEach(b *testing.B) {
	data, err := os.ReadFile("testdata/scan.fatbin")
	if err != nil {
		b.Fatal(err)
	}
	f, err := cubin.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	var size int64
	for _, e := range f.Entries() {
		size += e.Size
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Each(context.Background(), cubin.EachOptions{}, func(int, *cubin.Image) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
