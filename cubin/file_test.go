package cubin_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shmoo/cubin"
	"shmoo/internal/cubintest"
)

const ptxText = "//\n// Generated\n//\n.version 9.0\n.target sm_75\n.address_size 64\n"

func open(data []byte) (*cubin.File, error) {
	return cubin.Read(bytes.NewReader(data), int64(len(data)))
}

// seen is what a test compares of an entry: its headers and its content.
type seen struct {
	Kind, Compression string
	Arch              int
	Member, Section   string
	Fatbin            int
	Content           string // names of the kernels, or PTX text
}

func look(t *testing.T, f *cubin.File) []seen {
	t.Helper()
	var out []seen
	for _, e := range f.Entries() {
		s := seen{e.Kind.String(), e.Compression.String(), e.Arch, e.Member, e.Section, e.Fatbin, ""}
		switch e.Kind {
		case cubin.KindELF:
			img, err := e.Load()
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range img.Kernels {
				s.Content += k.Name + " "
			}
		case cubin.KindPTX:
			b, err := e.Bytes(nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Content = string(b)
		}
		out = append(out, s)
	}
	return out
}

func TestCarriers(t *testing.T) {
	image := sample(86, false).Bytes()
	oldImage := sample(75, true).Bytes()
	kernels := "_Z5scaleILi64EEvPfPKfi plain "
	ptx := []byte(ptxText)
	fatbin := cubintest.Fatbin(
		cubintest.Entry{Kind: 1, Arch: 75, Compress: "lz4", Data: ptx},
		cubintest.Entry{Kind: 2, Arch: 86, Compress: "zstd", Data: image, Name: "a.cu"},
		cubintest.Entry{Kind: 2, Arch: 75, Data: oldImage},
		cubintest.Entry{Kind: 16, Arch: 80, Data: []byte("bitcode.")},
	)
	// two fatbins with padding between them, and a stray magic number that begins nothing
	two := append(append(append([]byte{}, fatbin...), make([]byte, 24)...), fatbin...)
	two = append(binary.LittleEndian.AppendUint64(two, 0xba55ed50), make([]byte, 32)...)
	entries := func(member, section string, first int) []seen {
		return []seen{
			{"ptx", "lz4", 75, member, section, first, ptxText},
			{"elf", "zstd", 86, member, section, first, kernels},
			{"elf", "stored", 75, member, section, first, kernels},
			{"other", "stored", 80, member, section, first, ""},
		}
	}
	tests := []struct {
		name    string
		data    []byte
		carrier cubin.Carrier
		want    []seen
	}{
		{"cubin", image, cubin.CarrierCubin, []seen{{"elf", "stored", 86, "", "", -1, kernels}}},
		{"old cubin", oldImage, cubin.CarrierCubin, []seen{{"elf", "stored", 75, "", "", -1, kernels}}},
		{"PTX", ptx, cubin.CarrierPTX, []seen{{"ptx", "stored", 75, "", "", -1, ptxText}}},
		{"fatbin", fatbin, cubin.CarrierFatbin, entries("", "", 0)},
		{"executable", cubintest.Host(".nv_fatbin", two), cubin.CarrierHost,
			append(entries("", ".nv_fatbin", 0), entries("", ".nv_fatbin", 1)...)},
		{"relocatable device code", cubintest.Host("__nv_relfatbin", fatbin), cubin.CarrierHost,
			entries("", "__nv_relfatbin", 0)},
		{"fatbin in some data section", cubintest.Host(".rodata", append(make([]byte, 40), fatbin...)), cubin.CarrierHost,
			entries("", ".rodata", 0)},
		{"Windows library", cubintest.PE(".nv_fatb", fatbin), cubin.CarrierPE, entries("", ".nv_fatb", 0)},
		{"Windows library, another section", cubintest.PE(".rdata", fatbin), cubin.CarrierPE, entries("", ".rdata", 0)},
		{"executable without GPU code", cubintest.Host(".data", []byte("nothing here")), cubin.CarrierHost, nil},
		{"archive", cubintest.Archive(
			cubintest.Member{Name: "a.o", Data: cubintest.Host(".nv_fatbin", fatbin)},
			cubintest.Member{Name: "readme.txt", Data: []byte("odd")},
			cubintest.Member{Name: "a_rather_long_member_name.cubin", Data: image},
			cubintest.Member{Name: "b.fatbin", Data: fatbin},
		), cubin.CarrierArchive, append(append(entries("a.o", ".nv_fatbin", 0),
			seen{"elf", "stored", 86, "a_rather_long_member_name.cubin", "", -1, kernels}), entries("b.fatbin", "", 1)...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := open(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			if f.Carrier != tt.carrier {
				t.Errorf("carrier: got %v, want %v", f.Carrier, tt.carrier)
			}
			if d := cmp.Diff(tt.want, look(t, f)); d != "" {
				t.Errorf("entries (-want +got):\n%s", d)
			}
		})
	}
}

func TestFor(t *testing.T) {
	elf := func(arch int, flags uint64) cubintest.Entry {
		return cubintest.Entry{Kind: 2, Arch: arch, Flags: flags, Data: []byte("8 bytes.")}
	}
	// Two modules; the second has no code for sm_8x and old code for sm_90 alone.
	data := append(cubintest.Fatbin(elf(75, 0), elf(80, 0), elf(86, 0), elf(90, 0x100000), cubintest.Entry{Kind: 1, Arch: 90, Data: []byte(ptxText)}),
		cubintest.Fatbin(elf(90, 0), elf(120, 0x200000))...)
	f, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		arch int
		want []string
	}{
		{70, nil},
		{75, []string{"sm_75"}},
		{80, []string{"sm_80"}},
		{86, []string{"sm_86"}},
		{89, []string{"sm_86"}},
		{90, []string{"sm_90a", "sm_90"}},
		{100, nil},
		{120, []string{"sm_120f"}},
		{121, []string{"sm_120f"}},
	}
	for _, tt := range tests {
		var got []string
		for _, e := range f.For(tt.arch) {
			got = append(got, e.Target())
		}
		if !cmp.Equal(got, tt.want) {
			t.Errorf("sm_%d: got %v, want %v", tt.arch, got, tt.want)
		}
	}
	if got := f.Entries()[4].Target(); got != "compute_90" {
		t.Errorf("target of PTX: got %s, want compute_90", got)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.cubin")
	if err := os.WriteFile(path, sample(90, false).Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := cubin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := f.Arches(); !cmp.Equal(got, []int{90}) {
		t.Errorf("architectures: got %v, want [90]", got)
	}
	if _, err := cubin.Open(filepath.Dir(path)); !errors.Is(err, cubin.ErrUnrecognised) {
		t.Errorf("a folder: got %v, want ErrUnrecognised", err)
	}
	if _, err := cubin.Open(path + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: got %v, want ErrNotExist", err)
	}
}

func TestFileErrors(t *testing.T) {
	image := sample(86, false).Bytes()
	fat := func(compress string, change func(b []byte)) []byte {
		b := cubintest.Fatbin(cubintest.Entry{Kind: 2, Arch: 86, Compress: compress, Data: image})
		change(b)
		return b
	}
	le := binary.LittleEndian
	archive := cubintest.Archive(cubintest.Member{Name: "a.o", Data: image})
	few := cubin.DefaultLimits()
	few.MaxEntries = 1
	tiny := cubin.DefaultLimits()
	tiny.MaxImage = 1000
	none := cubin.Limits{}
	two := append(fat("", func([]byte) {}), fat("", func([]byte) {})...)
	tests := []struct {
		name string
		data []byte
		lim  cubin.Limits
		kind error
		want string
	}{
		{"empty", nil, none, cubin.ErrUnrecognised, "no ELF or PE file, archive, fatbin, cubin or PTX text"},
		{"text", []byte("int main(void) { return 0; }\n"), none, cubin.ErrUnrecognised, "no ELF or PE file"},
		{"DOS program", append([]byte("MZ"), make([]byte, 200)...), none, cubin.ErrUnrecognised, "a DOS program without PE header"},
		{"PE header behind the end", cubintest.PE(".nv_fatb", image)[:100], none, cubin.ErrFormat,
			"offset 0x3c: PE header at 0x50: file has 0x64 bytes"},
		{"thin archive", []byte("!<thin>\nsomething"), none, cubin.ErrUnrecognised, "thin archive"},
		{"fatbin longer than the file", fat("", func(b []byte) { le.PutUint64(b[8:], 1<<63) }), none, cubin.ErrFormat,
			"offset 0x0: fatbin of 16+9223372036854775808 bytes"},
		{"entry header of 8 bytes", fat("", func(b []byte) { le.PutUint32(b[20:], 8) }), none, cubin.ErrFormat,
			"offset 0x10: entry header size: got 8, want 64 to"},
		{"entry header of 2^32-1 bytes", fat("", func(b []byte) { le.PutUint32(b[20:], 1<<32-1) }), none, cubin.ErrFormat,
			"entry header size: got 4294967295"},
		{"entry longer than the fatbin", fat("", func(b []byte) { le.PutUint64(b[24:], 1<<62) }), none, cubin.ErrFormat,
			"entry payload: got 4611686018427387904 bytes, fatbin has"},
		{"compressed size 0", fat("zstd", func(b []byte) { le.PutUint32(b[32:], 0) }), none, cubin.ErrFormat,
			"compressed size: got 0, want 1 to"},
		{"compressed size beyond the entry", fat("zstd", func(b []byte) { le.PutUint32(b[32:], 1<<30) }), none,
			cubin.ErrFormat, "compressed size: got 1073741824, want 1 to"},
		{"zstd bomb", fat("zstd", func(b []byte) { le.PutUint64(b[72:], 400<<20) }), none, cubin.ErrFormat,
			"entry 0: zstd: "},
		{"LZ4 bomb", fat("lz4", func(b []byte) { le.PutUint64(b[72:], 400<<20) }), none, cubin.ErrFormat,
			"entry 0: lz4: "},
		{"2^64-1 bytes", fat("zstd", func(b []byte) { le.PutUint64(b[72:], 1<<64-1) }), none, cubin.ErrLimit,
			"entry 0: 4611686018427387904 bytes, limit 536870912"},
		{"shorter than stated", fat("zstd", func(b []byte) { le.PutUint64(b[72:], uint64(len(image)+1)) }), none,
			cubin.ErrFormat, "entry 0: zstd: got"},
		{"longer than stated", fat("zstd", func(b []byte) { le.PutUint64(b[72:], uint64(len(image)-1)) }), none,
			cubin.ErrFormat, "entry 0: zstd: "},
		{"LZ4 longer than stated", fat("lz4", func(b []byte) { le.PutUint64(b[72:], uint64(len(image)-1)) }), none,
			cubin.ErrFormat, "entry 0: lz4: "},
		{"zstd frame damaged", fat("zstd", func(b []byte) { b[80] ^= 1 }), none, cubin.ErrFormat, "entry 0: zstd: "},
		{"more entries than allowed", two, few, cubin.ErrLimit, "more than 1 entries"},
		{"larger than allowed", fat("", func([]byte) {}), tiny, cubin.ErrLimit, "bytes, limit 1000"},
		{"member size", bytes.Replace(archive, []byte(" `"), []byte("x`"), 1), none, cubin.ErrFormat,
			"offset 0x38: member size: got"},
		{"member end", bytes.Replace(archive, []byte(" `"), []byte("  "), 1), none, cubin.ErrFormat,
			"offset 0x42: member header end: got 20 0a, want 60 0a"},
		{"member name", bytes.Replace(archive, []byte("a.o/"), []byte("/999"), 1), none, cubin.ErrFormat,
			`member name offset "999": table has 0 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := cubin.ReadLimits(bytes.NewReader(tt.data), int64(len(tt.data)), tt.lim)
			if err == nil {
				for _, e := range f.Entries() {
					if _, err = e.Load(); err != nil {
						break
					}
				}
			}
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v; want a %v with %q", err, tt.kind, tt.want)
			}
		})
	}
}

func TestLoadNeedsMachineCode(t *testing.T) {
	f, err := open([]byte(ptxText))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Entries()[0].Load(); !errors.Is(err, cubin.ErrNotELF) {
		t.Errorf("got %v, want ErrNotELF", err)
	}
}

// library is a host file with n modules of different sizes, each with one PTX and one machine-code entry.
func library(n int) []byte {
	var all []byte
	for i := range n {
		image := cubintest.Cubin{Arch: 86, Kernels: []cubintest.Kernel{{Name: "k", Code: code(4 + 4*(i%7)), Registers: i + 1}}}
		all = append(all, cubintest.Fatbin(
			cubintest.Entry{Kind: 1, Arch: 75, Data: []byte(ptxText)},
			cubintest.Entry{Kind: 2, Arch: 86, Compress: "zstd", Data: image.Bytes()})...)
	}
	return cubintest.Host(".nv_fatbin", all)
}

func TestEach(t *testing.T) {
	const n = 40
	f, err := open(library(n))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []cubin.EachOptions{{}, {Workers: 1}, {Workers: 8}, {Workers: 8, Memory: 1}} {
		var mu sync.Mutex
		got := make([]int, n)
		last := 0
		o.Progress = func(done, total int) {
			if done != last+1 || total != n {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}
		var loaded, most atomic.Int32
		err := f.Each(context.Background(), o, func(i int, img *cubin.Image) error {
			n := loaded.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(100 * time.Microsecond) // so that other workers come in, if they may
			mu.Lock()
			got[i] = img.Kernels[0].Registers
			mu.Unlock()
			loaded.Add(-1)
			return nil
		})
		if n := most.Load(); (o.Workers == 1 || o.Memory == 1) && n != 1 || o.Workers == 8 && o.Memory == 0 && n < 2 {
			t.Errorf("%d workers, memory %d: %d images at once", o.Workers, o.Memory, n)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range got {
			if r != i+1 {
				t.Errorf("workers %d: entry %d: got %d registers, want %d", o.Workers, i, r, i+1)
			}
		}
		if last != n {
			t.Errorf("workers %d: progress ended at %d, want %d", o.Workers, last, n)
		}
	}
}

func TestEachStops(t *testing.T) {
	f, err := open(library(40))
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := f.Each(context.Background(), cubin.EachOptions{Workers: 4}, func(i int, _ *cubin.Image) error {
		if i == 5 {
			return stop
		}
		return nil
	}); err != stop {
		t.Errorf("got %v, want the error of the function", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	err = f.Each(ctx, cubin.EachOptions{Workers: 1}, func(int, *cubin.Image) error {
		calls++
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("cancelled: got %v after %d calls, want Canceled after 1", err, calls)
	}
	calls = 0
	none := func(*cubin.Entry) bool { return false }
	err = f.Each(context.Background(), cubin.EachOptions{Select: none}, func(int, *cubin.Image) error { calls++; return nil })
	if err != nil || calls != 0 {
		t.Errorf("nothing selected: got %v after %d calls", err, calls)
	}
}
