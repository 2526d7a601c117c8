package inspect

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"shmoo/cubin"
	"shmoo/internal/cubintest"
	"shmoo/sass"
	"shmoo/smem"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update and look at the change. Got:\n%s", path, got)
	}
}

// own opens one of our own binaries. Its path is left out of what is compared.
func own(t testing.TB, name string) *cubin.File {
	t.Helper()
	f, err := cubin.Open(filepath.Join("..", "cubin", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	f.Path = name
	return f
}

func TestKernels(t *testing.T) {
	for _, name := range []string{"misc.fatbin", "moves.fatbin", "scan.fatbin", "transpose.fatbin", "transpose_sm70.cubin"} {
		l, err := Kernels(context.Background(), own(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := l.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, "ls_"+name+".txt", b.String())
	}
}

func TestKernelsJSON(t *testing.T) {
	o := Options{Arch: 90, Kernel: regexp.MustCompile(`^transpose<1>|void transpose<1>`)}
	l, err := Kernels(context.Background(), own(t, "transpose.fatbin"), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "ls_transpose.json", string(b)+"\n")
}

// TestOptions counts what is left of 5 targets with 2 kernels each.
func TestOptions(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		want int
	}{
		{"all", Options{}, 10},
		{"one target", Options{Arch: 90}, 2},
		{"a target that is not there", Options{Arch: 86}, 0},
		{"mangled name", Options{Kernel: regexp.MustCompile("^_Z9transposeILi1E")}, 5},
		{"demangled name", Options{Kernel: regexp.MustCompile("transpose<0>"), Arch: 75}, 1},
		{"one worker", Options{Workers: 1}, 10},
	}
	for _, tt := range tests {
		l, err := Kernels(context.Background(), own(t, "transpose.fatbin"), tt.o)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Kernels) != tt.want {
			t.Errorf("%s: got %d kernels, want %d", tt.name, len(l.Kernels), tt.want)
		}
		if len(l.Entries) != 5 {
			t.Errorf("%s: got %d entries, want 5", tt.name, len(l.Entries))
		}
	}
}

func TestParseArch(t *testing.T) {
	for s, want := range map[string]int{"": 0, "86": 86, "sm_86": 86, "sm_120a": 120} {
		if got, err := ParseArch(s); err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", s, got, err, want)
		}
	}
	if _, err := ParseArch("sm_35"); err == nil {
		t.Error("sm_35: no error")
	}
}

func TestDisassemble(t *testing.T) {
	source := func(path string) ([]byte, error) {
		return os.ReadFile(filepath.Join("..", "cubin", "testdata", filepath.Base(path)))
	}
	tests := []struct {
		golden, file string
		o            DisasmOptions
	}{
		{"disasm_transpose.txt", "transpose.fatbin",
			DisasmOptions{Options: Options{Arch: 80, Kernel: regexp.MustCompile("transpose<1>")}, Source: source}},
		{"disasm_inlined.txt", "misc.fatbin",
			DisasmOptions{Options: Options{Arch: 90, Kernel: regexp.MustCompile("inlined")}, Source: source}},
		{"disasm_shared.txt", "scan.fatbin",
			DisasmOptions{Options: Options{Kernel: regexp.MustCompile("half, 64, 2>|float4, 4>")}, SharedOnly: true}},
	}
	for _, tt := range tests {
		for _, workers := range []int{1, 4} {
			tt.o.Workers = workers
			var b bytes.Buffer
			if err := Disassemble(context.Background(), &b, own(t, tt.file), tt.o); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.golden, b.String())
		}
	}
}

func TestReadSource(t *testing.T) {
	path := filepath.Join("..", "cubin", "testdata", "misc.cu")
	if text, err := ReadSource(path); err != nil || !bytes.Contains(text, []byte("__global__")) {
		t.Errorf("got %d bytes, %v; want the text", len(text), err)
	}
	for _, path := range []string{os.DevNull, filepath.Dir(path), path + ".missing"} {
		if _, err := ReadSource(path); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

func TestSites(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"scan.fatbin", "misc.fatbin", "moves.fatbin"} {
		for _, e := range own(t, name).Entries() {
			img, err := e.Load()
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range img.Kernels {
				a, err := Sites(k)
				if err != nil {
					t.Fatal(err)
				}
				if len(a.Sites) > 0 {
					writeSites(&b, k, a)
				}
			}
		}
	}
	golden(t, "sites.txt", b.String())
}

func writeSites(b *strings.Builder, k *cubin.Kernel, a *Accesses) {
	fmt.Fprintf(b, "%s %s\n", k.Image.Target, k.Demangled())
	for i, s := range a.Sites {
		fmt.Fprintf(b, "  %#x %s %s, %d bytes, aligned %d", s.PC, s.Instr, s.Op, s.Width, s.Aligned)
		if len(s.Frames) > 0 {
			fmt.Fprintf(b, ", line %d", s.Frames[0].Line)
		}
		if s.Func != "" {
			fmt.Fprintf(b, ", in %s", s.Func)
		}
		if s.Run >= 0 {
			fmt.Fprintf(b, ", run %d", s.Run)
			if a.Runs[s.Run].Sites[0] == i {
				r := a.Runs[s.Run]
				fmt.Fprintf(b, "\n    %d to %d, %s: %s", r.Width, r.Wider, r.Cause, r.Note)
			}
		}
		b.WriteByte('\n')
	}
}

func TestAccesses(t *testing.T) {
	var b strings.Builder
	for _, e := range own(t, "misc.fatbin").Entries() {
		if e.Arch != 80 {
			continue
		}
		img, err := e.Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"_Z7inlinedPfi", "_Z7boundedPf"} {
			a, err := Sites(img.Kernel(name))
			if err != nil {
				t.Fatal(err)
			}
			if err := a.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			for _, s := range a.Table() {
				fmt.Fprintf(&b, "%s %d %#x %s %s %v\n", s.Op, s.Width, s.PC, s.Instr, s.Pos, s.Inlined)
			}
		}
	}
	golden(t, "accesses.txt", b.String())
}

// TestWidthFollowsPad states what the golden file shows for the kernels of scan.cu, as a rule: the compiler reads halves
// by as many bytes as a segment's stride is a multiple of, up to 8 (from sm_100 on 16), and the reason given for not more
// is the stride, or, where that would allow 16, none.
func TestWidthFollowsPad(t *testing.T) {
	name := regexp.MustCompile(`product<__half, (\d+), (\d+)>`)
	seen := 0
	for _, e := range own(t, "scan.fatbin").Entries() {
		img, err := e.Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range img.Kernels {
			m := name.FindStringSubmatch(k.Demangled())
			if m == nil {
				continue
			}
			seen++
			var chunk, pad int
			fmt.Sscan(m[1], &chunk)
			fmt.Sscan(m[2], &pad)
			stride := 2 * (chunk + pad)
			width := 8
			if img.Arch >= 100 {
				width = 16
			}
			for stride%width != 0 {
				width /= 2
			}
			a, err := Sites(k)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range a.Sites {
				if s.Op == smem.Load && s.Width != width {
					t.Errorf("%s %s: %s, want %d bytes", k.Image.Target, k.Demangled(), s.Text, width)
				}
			}
			cause := Proven
			if stride%(2*width) != 0 {
				cause = Misaligned
			}
			for _, r := range a.Runs {
				if r.Cause != cause || r.Cause == Misaligned && !strings.Contains(r.Note, fmt.Sprintf("are %d bytes apart", stride)) {
					t.Errorf("%s %s: got %s: %s; want %s with a stride of %d", k.Image.Target, k.Demangled(), r.Cause, r.Note, cause, stride)
				}
			}
			if got, want := len(a.Runs) > 0, width < 16; got != want {
				t.Errorf("%s %s: %d runs with reads of %d bytes", k.Image.Target, k.Demangled(), len(a.Runs), width)
			}
		}
	}
	if seen != 100 {
		t.Errorf("looked at %d kernels, want 100", seen)
	}
}

// brokenLibrary has a machine-code entry of each kind that Disassemble meets: many good ones and one that cannot be
// read, in the middle.
func brokenLibrary(t *testing.T) *cubin.File {
	t.Helper()
	code := cubintest.Words(0x0000000000007918, 0x000fc00000000000, 0x000000000000794d, 0x000fea0003800000)
	var all []byte
	for i := range 20 {
		image := cubintest.Cubin{Arch: 86, Kernels: []cubintest.Kernel{{Name: fmt.Sprintf("k%d", i), Code: code}}}.Bytes()
		if i == 10 {
			image[4] = 9
		}
		all = append(all, cubintest.Fatbin(cubintest.Entry{Kind: 2, Arch: 86, Data: image})...)
	}
	f, err := cubin.Read(bytes.NewReader(all), int64(len(all)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestBrokenEntry wants the error of the entry and no part that waits for it for ever.
func TestBrokenEntry(t *testing.T) {
	f := brokenLibrary(t)
	done := make(chan error, 2)
	go func() {
		done <- Disassemble(context.Background(), new(bytes.Buffer), f, DisasmOptions{Options: Options{Workers: 8}})
	}()
	go func() {
		_, err := Kernels(context.Background(), f, Options{Workers: 8})
		done <- err
	}()
	for range 2 {
		select {
		case err := <-done:
			if !errors.Is(err, cubin.ErrFormat) || !strings.Contains(err.Error(), "entry 10:") {
				t.Errorf("got %v, want a format error of entry 10", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("still running after 10 s")
		}
	}
}

// failingWriter fails on its second write.
type failingWriter struct{ writes int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.writes++; w.writes > 1 {
		return 0, errFull
	}
	return len(p), nil
}

func TestDisassembleWriteError(t *testing.T) {
	err := Disassemble(context.Background(), new(failingWriter), own(t, "scan.fatbin"), DisasmOptions{Options: Options{Workers: 4}})
	if !errors.Is(err, errFull) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Disassemble(ctx, new(bytes.Buffer), own(t, "scan.fatbin"), DisasmOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
}

// TestUnknownArch wants kernels of a generation without a decoder to be listed, and an error where code is asked for.
func TestUnknownArch(t *testing.T) {
	image := cubintest.Cubin{Arch: 61, OldABI: true, Kernels: []cubintest.Kernel{{Name: "k", Code: make([]byte, 32)}}}.Bytes()
	f, err := cubin.Read(bytes.NewReader(image), int64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Kernels(context.Background(), f, Options{})
	if err != nil || len(l.Kernels) != 1 || !strings.Contains(l.Kernels[0].NotDecoded, "sm_61: want sm_70 to sm_121") {
		t.Errorf("got %+v, %v; want a kernel that is not decoded", l, err)
	}
	var arch *ErrArch
	if err := Disassemble(context.Background(), new(bytes.Buffer), f, DisasmOptions{}); !errors.As(err, &arch) || arch.Arch != 61 {
		t.Errorf("got %v, want an ErrArch of sm_61", err)
	}
}

// TestScannerRemembers compares the scanner, which remembers opcodes, with plain decoding.
func TestScannerRemembers(t *testing.T) {
	s := make(map[int]*scanner)
	for _, name := range []string{"scan.fatbin", "misc.fatbin", "moves.fatbin", "transpose.fatbin"} {
		for _, e := range own(t, name).Entries() {
			img, err := e.Load()
			if err != nil {
				t.Fatal(err)
			}
			if s[img.Arch] == nil {
				s[img.Arch] = &scanner{arch: sass.Arch(img.Arch)}
			}
			for _, k := range img.Kernels {
				var got, want []string
				s[img.Arch].kernel(k, func(pc uint32, i *sass.Inst) { got = append(got, i.String()) })
				for pc := 0; pc < len(k.Code); pc += sass.Size {
					i, err := sass.Decode(sass.Arch(img.Arch), k.Code[pc:])
					if err == nil && (isShared(&i) || isEngine(&i)) && !i.Guard.Never() {
						want = append(want, i.String())
					}
				}
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s %s: got %q, want %q", img.Target, k.Name, got, want)
				}
			}
		}
	}
}

func FuzzSites(f *testing.F) {
	for _, name := range []string{"misc.fatbin", "transpose.fatbin"} {
		for _, e := range own(f, name).Entries() {
			img, err := e.Load()
			if err != nil {
				f.Fatal(err)
			}
			for _, k := range img.Kernels {
				f.Add(uint8(img.Arch), k.Code)
			}
		}
	}
	f.Fuzz(func(t *testing.T, arch uint8, code []byte) {
		code = code[:len(code)&^15]
		if len(code) > 1<<14 {
			return
		}
		k := &cubin.Kernel{Name: "k", Code: code, Size: uint32(len(code)), Image: emptyImage(t, int(arch))}
		if len(code) >= 64 {
			k.Indirect = []cubin.IndirectBranch{{PC: binary.LittleEndian.Uint32(code) % uint32(len(code)) &^ 15, Targets: []uint32{16, 32}}}
		}
		a, err := Sites(k)
		if err != nil {
			return
		}
		for _, r := range a.Runs {
			if len(r.Sites)*r.Width < r.Wider || r.Wider <= r.Width {
				t.Errorf("run of %d accesses of %d bytes to be %d", len(r.Sites), r.Width, r.Wider)
			}
		}
	})
}

// emptyImage is an image without kernels, for kernels that are made up.
func emptyImage(t *testing.T, arch int) *cubin.Image {
	t.Helper()
	img, err := cubin.ParseImage(cubintest.Cubin{Arch: arch}.Bytes(), cubin.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return img
}
