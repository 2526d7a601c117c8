package cubin_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shmoo/cubin"
	"shmoo/internal/cubintest"
)

// readAll does everything with a file that this package offers and returns the first error.
func readAll(data []byte, lim cubin.Limits) error {
	f, err := cubin.ReadLimits(bytes.NewReader(data), int64(len(data)), lim)
	if err != nil {
		return err
	}
	for _, e := range f.Entries() {
		if _, err := e.Bytes(nil); err != nil {
			return err
		}
	}
	return f.Each(context.Background(), cubin.EachOptions{Workers: 1}, func(_ int, img *cubin.Image) error {
		var frames []cubin.Frame
		for _, k := range img.Kernels {
			_ = k.Demangled() + k.ShortName()
			k.ParamTypes()
			k.SharedDynamicStart()
			l, err := k.Lines()
			if err != nil {
				return err
			}
			for pc := 0; pc < len(k.Code); pc += 16 {
				frames = l.AppendAt(frames[:0], uint32(pc))
				k.FunctionAt(uint32(pc))
			}
		}
		return nil
	})
}

// hostileLimits keep a fuzzed file from taking long; the defaults are for real libraries.
var hostileLimits = cubin.Limits{
	MaxEntries: 1000, MaxMembers: 1000, MaxImage: 1 << 20, MaxSections: 1000, MaxSymbols: 1000, MaxParams: 100,
	MaxLineRows: 100000, MaxRelocs: 1000,
}

func seeds() map[string][]byte {
	small := cubintest.Cubin{Arch: 90, Kernels: []cubintest.Kernel{{
		Name: "_Z1kPf", Code: code(4), Registers: 10, Params: []cubintest.Param{{Offset: 0, Size: 8}}, Shared: 64,
		MaxThreads: [3]int{64, 1, 1}, Exits: []uint32{32}, Indirect: []uint32{0, 0, 1, 32},
		Lines: []cubintest.LineRow{{File: "a.cu", Line: 1}, {File: "a.cu", Line: 2},
			{PC: 16, File: "b.h", Line: 9, Context: 2, Func: "_Z1fv"}},
	}}}
	image := small.Bytes()
	fatbin := cubintest.Fatbin(
		cubintest.Entry{Kind: 2, Arch: 90, Compress: "zstd", Data: image},
		cubintest.Entry{Kind: 1, Arch: 75, Compress: "lz4", Data: []byte(strings.Repeat(ptxText, 3)), Name: "k.cu"})
	return map[string][]byte{
		"cubin":   image,
		"old":     cubintest.Cubin{Arch: 75, OldABI: true, Kernels: small.Kernels}.Bytes(),
		"fatbin":  fatbin,
		"host":    cubintest.Host(".nv_fatbin", fatbin),
		"pe":      cubintest.PE(".nv_fatb", fatbin),
		"archive": cubintest.Archive(cubintest.Member{Name: "a_rather_long_name.o", Data: cubintest.Host(".nv_fatbin", fatbin)}),
	}
}

// TestTruncated cuts files at every byte. What is left is never a whole file.
func TestTruncated(t *testing.T) {
	for name, data := range seeds() {
		if err := readAll(data, cubin.Limits{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := range data {
			err := readAll(data[:n], cubin.Limits{})
			if err == nil && !(name == "archive" && archiveEnd(data, n)) {
				t.Errorf("%s cut at %d of %d: no error", name, n, len(data))
			}
		}
	}
}

// archiveEnd tells whether an archive may end at n: in front of the table of names, behind it, or without the byte that
// fills the last member up to an even length.
func archiveEnd(data []byte, n int) bool {
	return n == len("!<arch>\n") || n == bytes.Index(data, []byte("/0 ")) || n == len(data)-1
}

// TestBitFlips flips every bit. Whether a flip is an error depends on the bit; that nothing worse happens is the test.
func TestBitFlips(t *testing.T) {
	for name, data := range seeds() {
		b := bytes.Clone(data)
		bad := 0
		for i := range b {
			for bit := range 8 {
				b[i] ^= 1 << bit
				if readAll(b, hostileLimits) != nil {
					bad++
				}
				b[i] ^= 1 << bit
			}
		}
		if bad == 0 {
			t.Errorf("%s: no flip of %d was noticed", name, 8*len(b))
		}
	}
}

// TestSharedNames has 4 096 symbols with one long name: without a bound on the bytes of names
// it takes half a gigabyte.
func TestSharedNames(t *testing.T) {
	e := cubintest.Cubin{Arch: 86}.ELF()
	e.AddSymbol(cubintest.Symbol{Name: strings.Repeat("x", 1<<17)})
	for range 1 << 12 {
		e.Symbols = append(e.Symbols, cubintest.Symbol{})
	}
	data := e.Bytes()
	// Every symbol's name is at offset 1: the long one.
	at := bytes.Index(data, append([]byte{1, 0, 0, 0}, make([]byte, 20)...))
	if at < 0 {
		t.Fatal("symbol table not found")
	}
	for i := range 1 << 12 {
		binary.LittleEndian.PutUint32(data[at+24*i:], 1)
	}
	_, err := cubin.ParseImage(data, cubin.Limits{})
	if err == nil || !strings.Contains(err.Error(), "names of more than") {
		t.Errorf("got %v, want an error on the names", err)
	}
}

// TestDeepNames has mangled names that nest deeply or grow by doubling: they come back in time, and not longer than names
// may be.
func TestDeepNames(t *testing.T) {
	doubling := "_Z1fI1AE" // each argument is the function's type so far, twice
	for i := range 40 {
		doubling += "PFS" + string(rune('0'+i%10)) + "_S_E"
	}
	tuples := "_Z1fSt5tupleIJiiEE"
	for range 60 {
		tuples += "S0_S1_S2_"
	}
	for _, name := range []string{
		"_Z1f" + strings.Repeat("P", 60000) + "i",
		"_Z1f" + strings.Repeat("P", 16000) + "i",
		"_Z1f" + strings.Repeat("PF", 5000) + "v" + strings.Repeat("vE", 2500),
		"_Z1f" + strings.Repeat("A1_", 5000) + "i",
		"_Z" + strings.Repeat("N", 16000),
		doubling, tuples,
	} {
		start := time.Now()
		k := &cubin.Kernel{Name: name, Params: make([]cubin.Param, 1)}
		for _, got := range []string{k.Demangled(), k.ShortName()} {
			if len(got) > 1<<16 {
				t.Errorf("%.20s...: got %d bytes", name, len(got))
			}
		}
		k.ParamTypes()
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%.20s...: took %s", name, d)
		}
	}
}

// TestOverlappingSections has two sections with the same bytes.
func TestOverlappingSections(t *testing.T) {
	e := cubintest.Cubin{Arch: 86}.ELF()
	big := make([]byte, 1<<16)
	e.Add(cubintest.Section{Name: ".nv.info.a", Type: cubintest.TypeInfo, Align: 4, Data: big})
	e.Add(cubintest.Section{Name: ".nv.info.b", Type: cubintest.TypeInfo, Align: 4, Data: make([]byte, 8)})
	data := e.Bytes()
	headers := len(data) - 64*(len(e.Sections)+4)
	a := data[headers+64*(len(e.Sections)-1):]
	copy(data[headers+64*len(e.Sections)+24:][:16], a[24:40])
	_, err := cubin.ParseImage(data, cubin.Limits{})
	if err == nil || !strings.Contains(err.Error(), "sections of more bytes than the file's") {
		t.Errorf("got %v, want an error on the sizes", err)
	}
}

func FuzzFile(f *testing.F) {
	for _, data := range seeds() {
		f.Add(data)
	}
	f.Add([]byte(ptxText))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = readAll(data, hostileLimits) })
}

func FuzzImage(f *testing.F) {
	f.Add(seeds()["cubin"])
	f.Add(seeds()["old"])
	paths, err := filepath.Glob("testdata/*.cubin")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 32<<10 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := cubin.ParseImage(data, hostileLimits)
		if err != nil {
			return
		}
		for _, k := range img.Kernels {
			if len(k.Code)%16 != 0 || int(k.Entry)+int(k.Size) > len(k.Code) {
				t.Errorf("kernel %q: entry %#x, size %#x, code %#x", k.Name, k.Entry, k.Size, len(k.Code))
			}
			for _, pc := range k.Exits {
				_ = k.Code[pc : pc+16]
			}
			for _, p := range k.Params {
				if p.Offset+p.Size > k.ParamBytes {
					t.Errorf("kernel %q: parameter %+v outside %d bytes", k.Name, p, k.ParamBytes)
				}
			}
		}
	})
}
