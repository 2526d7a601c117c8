package cubin_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shmoo/cubin"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// TestGolden describes every kernel of our own binaries, of five targets and both ABIs, and compares with the golden
// text beside them.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.*b*in")
	if err != nil || len(paths) < 4 {
		t.Fatalf("got %d binaries in testdata, want at least 4 (%v)", len(paths), err)
	}
	for _, p := range paths {
		t.Run(filepath.Base(p), func(t *testing.T) {
			got := describe(t, p)
			golden := p + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; run with -update and look at the change. Got:\n%s", golden, got)
			}
		})
	}
}

// describe writes all that the package says of a file, in few lines.
func describe(t *testing.T, path string) string {
	t.Helper()
	f, err := cubin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for _, e := range f.Entries() {
		fmt.Fprintf(&b, "entry %d: %s %d %s\n", e.Index, e.Kind, e.Arch, e.Compression)
		img, err := e.Load()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "  %s from %d, ABI %d, toolkit %s, options %q\n", img.Target, img.Virtual, img.ABI, img.Toolkit, img.Options)
		for _, d := range img.Data {
			fmt.Fprintf(&b, "  data %s %d % x\n", d.Section, d.Size, d.Init)
		}
		for _, k := range img.Kernels {
			describeKernel(t, &b, k)
		}
	}
	return b.String()
}

func describeKernel(t *testing.T, b *strings.Builder, k *cubin.Kernel) {
	t.Helper()
	fmt.Fprintf(b, "  %s\n    %s\n", k.Name, k.Demangled())
	fmt.Fprintf(b, "    code %#x (own %#x), registers %d, barriers %d, stack %d\n", len(k.Code), k.Size, k.Registers, k.Barriers,
		k.FrameSize)
	fmt.Fprintf(b, "    shared %d after %d, aligned %d; dynamic at %d\n", k.SharedStatic, k.SharedReserved, k.SharedAlign,
		k.SharedDynamicStart())
	types := k.ParamTypes()
	for _, p := range k.Params {
		fmt.Fprintf(b, "    parameter %d at %#x+%d, %d bytes, pointer %t, %s\n", p.Ordinal, k.ParamBase, p.Offset, p.Size,
			p.Pointer, types[p.Ordinal])
	}
	fmt.Fprintf(b, "    threads at most %v, required %v, cluster %v\n", k.MaxThreads, k.ReqThreads, k.Cluster)
	fmt.Fprintf(b, "    exits %x\n", k.Exits)
	for _, f := range k.Functions {
		fmt.Fprintf(b, "    function %s %#x+%#x\n", f.Name, f.Offset, f.Size)
	}
	for _, i := range k.Indirect {
		fmt.Fprintf(b, "    branch %#x to %x\n", i.PC, i.Targets)
	}
	for _, c := range k.Banks {
		fmt.Fprintf(b, "    bank %d: %d bytes", c.Index, c.Size)
		if c.Index != 0 {
			fmt.Fprintf(b, " % x", c.Data)
		}
		for _, r := range c.Relocs {
			fmt.Fprintf(b, " [%#x: type %d %s+%d in %s]", r.Offset, r.Type, r.Symbol.Name, r.Addend, r.Symbol.Section)
		}
		b.WriteByte('\n')
	}
	lines, err := k.Lines()
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for pc := 0; pc < len(k.Code); pc += 16 {
		var s []string
		for _, f := range lines.AppendAt(nil, uint32(pc)) {
			at := fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
			if f.Func != "" {
				at += " " + f.Func
			}
			s = append(s, at)
		}
		if at := strings.Join(s, " < "); at != last {
			if strings.Contains(k.Name, "inlined") || strings.Contains(k.Name, "transposeILi1") { // the others add nothing new
				fmt.Fprintf(b, "    %#x: %s\n", pc, at)
			}
			last = at
		}
	}
	if last == "" {
		t.Errorf("kernel %s: no lines", k.Name)
	}
}
