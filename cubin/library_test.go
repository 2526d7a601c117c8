package cubin_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"shmoo/cubin"
)

// TestLibrary reads a real library whole. SHMOO_CUDA_LIB names it; the one that figures are quoted for is
// libggml-cuda.so of npm's @node-llama-cpp/linux-x64-cuda 3.22.1.
func TestLibrary(t *testing.T) {
	path := os.Getenv("SHMOO_CUDA_LIB")
	if path == "" {
		t.Skip("SHMOO_CUDA_LIB names no library")
	}
	f, err := cubin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var mu sync.Mutex
	kernels, insts := make(map[string]int), make(map[string]int)
	err = f.Each(context.Background(), cubin.EachOptions{}, func(_ int, img *cubin.Image) error {
		mu.Lock()
		defer mu.Unlock()
		if img.Entry.Arch != img.Arch {
			t.Errorf("entry %d: header says sm_%d, content sm_%d", img.Entry.Index, img.Entry.Arch, img.Arch)
		}
		kernels[img.Target] += len(img.Kernels)
		for _, k := range img.Kernels {
			insts[img.Target] += len(k.Code) / 16
			checkKernel(t, k)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for target, n := range kernels {
		t.Logf("%s: %d kernels, %d instructions", target, n, insts[target])
	}
}

// checkKernel holds what is true of every kernel that a compiler wrote.
func checkKernel(t *testing.T, k *cubin.Kernel) {
	if k.Registers == 0 || k.Registers > 255 {
		t.Errorf("%s: %d registers", k.Name, k.Registers)
	}
	if b := k.Bank(0); b == nil || b.Size != k.ParamBase+k.ParamBytes {
		t.Errorf("%s: bank 0 %+v, parameters at %#x+%d", k.Name, b, k.ParamBase, k.ParamBytes)
	}
	for _, pc := range k.Exits {
		if op := binary.LittleEndian.Uint16(k.Code[pc:]) & 0xfff; op != 0x94d { // EXIT on every target
			t.Errorf("%s+%#x: opcode %#x, want EXIT", k.Name, pc, op)
		}
	}
	for _, b := range k.Indirect {
		if op := binary.LittleEndian.Uint16(k.Code[b.PC:]) & 0xfff; op != 0x949 && op != 0x958 && op != 0x959 { // BRX, BRXU
			t.Errorf("%s+%#x: opcode %#x, want an indirect branch", k.Name, b.PC, op)
		}
	}
}

func TestOwnKernels(t *testing.T) {
	for _, name := range []string{"misc.fatbin", "moves.fatbin", "scan.fatbin", "transpose.fatbin", "transpose_sm70.cubin"} {
		f, err := cubin.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Entries() {
			img, err := e.Load()
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range img.Kernels {
				checkKernel(t, k)
			}
		}
		f.Close()
	}
}

// TestLinesAgainstNvdisasm compares the inline chains of our own kernels with what NVIDIA's disassembler prints, where
// it is installed. It prints a chain when the innermost line changes, so only those places are compared.
func TestLinesAgainstNvdisasm(t *testing.T) {
	tool, err := exec.LookPath("nvdisasm")
	if err != nil {
		t.Skip("nvdisasm is not installed")
	}
	f, err := cubin.Open("testdata/misc.fatbin")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compared := 0
	for _, e := range f.Entries() {
		image, err := e.Bytes(nil)
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/k.cubin"
		if err := os.WriteFile(path, image, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool, "-gi", "-c", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		img, err := cubin.ParseImage(image, cubin.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range parseChains(out) {
			k := img.Kernel(c.kernel)
			lines, err := k.Lines()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, fr := range lines.AppendAt(nil, c.pc) {
				got = append(got, fr.File+":"+strconv.Itoa(fr.Line))
			}
			compared++
			if g := strings.Join(got, " "); g != c.chain && !selfInlined(c.chain) {
				t.Errorf("sm_%d %s+%#x: got %s, want %s", e.Arch, c.kernel, c.pc, g, c.chain)
			}
		}
	}
	if compared < 250 {
		t.Errorf("compared %d places, want at least 250", compared)
	}
}

// selfInlined tells whether a chain has a line inlined into itself, which nvdisasm prints where the compiler repeated a
// row (see lineReader.row); nothing in misc.cu recurses.
func selfInlined(chain string) bool {
	parts := strings.Fields(chain)
	for i := 1; i < len(parts); i++ {
		if parts[i] == parts[i-1] {
			return true
		}
	}
	return false
}

// chain is the source position of the first instruction behind a position comment.
type chain struct {
	kernel string
	pc     uint32
	chain  string
}

func parseChains(out []byte) []chain {
	var all []chain
	var kernel string
	var frames []string
	for line := range bytes.Lines(out) {
		s := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(s, "//-----"):
			kernel, frames = strings.TrimPrefix(strings.Fields(s)[1], ".text."), nil
		case strings.HasPrefix(s, "//## File "):
			parts := strings.SplitN(strings.TrimPrefix(s, "//## File "), ", line ", 2)
			number, _, _ := strings.Cut(parts[1], " ")
			frames = append(frames, strings.Trim(parts[0], `"`)+":"+number)
		case strings.HasPrefix(s, "/*") && len(frames) > 0:
			pc := uint32(0)
			for _, c := range s[2:6] {
				pc = pc<<4 | uint32(strings.IndexRune("0123456789abcdef", c))
			}
			all = append(all, chain{kernel, pc, strings.Join(frames, " ")})
			frames = nil
		}
	}
	return all
}
