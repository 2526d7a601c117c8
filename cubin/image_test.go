package cubin_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shmoo/cubin"
	"shmoo/internal/cubintest"
)

// exit is EXIT, branchSelf a branch to itself: what every kernel's code ends with.
var (
	exit       = []uint64{0x000000000000794d, 0x000fea0003800000}
	branchSelf = []uint64{0xfffffff000007947, 0x000fc0000383ffff}
)

// code returns n instructions, the last but one an EXIT.
func code(n int) []byte {
	var halves []uint64
	for range n - 2 {
		halves = append(halves, 0x0000000000007918, 0x000fc00000000000) // NOP
	}
	return cubintest.Words(append(append(halves, exit...), branchSelf...)...)
}

// sample is a cubin that uses everything that the builder knows.
func sample(arch int, old bool) cubintest.Cubin {
	return cubintest.Cubin{
		Arch: arch, OldABI: old,
		Bank3: []byte{1, 2, 3, 4}, Bank4: make([]byte, 16),
		Bank4Relocs: []cubintest.Reloc{{Offset: 8, Type: 2, Symbol: "table", Addend: 4}},
		Globals:     []cubintest.Global{{Name: "pad", Data: []byte{9}}, {Name: "table", Data: []byte{7, 6, 5, 4}}},
		Kernels: []cubintest.Kernel{
			{
				Name: "_Z5scaleILi64EEvPfPKfi", Code: code(8), Size: 96, Registers: 40, Frame: 16,
				Locals: []cubintest.Function{{Name: "$__div", Offset: 96, Size: 32}},
				Params: []cubintest.Param{{Offset: 0, Size: 8}, {Offset: 8, Size: 8}, {Offset: 16, Size: 4}},
				Shared: 2112, SharedAl: 64, MaxThreads: [3]int{256, 1, 1}, ReqThreads: [3]int{32, 4, 1},
				Cluster: [3]int{2, 1, 1}, Barriers: 3, Exits: []uint32{96}, Bank2: []byte{96, 0, 0, 0},
				Indirect: []uint32{16, 0, 2, 32, 96},
			},
			{Name: "plain", Code: code(4), Registers: 8},
		},
	}
}

func TestImage(t *testing.T) {
	tests := []struct {
		name      string
		arch      int
		old       bool
		options   string
		target    string
		toolkit   string
		paramBase int
		reserved  int
	}{
		{"volta old", 70, true, "", "sm_70", "12.6", 0x160, 0},
		{"turing old", 75, true, "", "sm_75", "12.6", 0x160, 0},
		{"ampere new", 86, false, "", "sm_86", "13.1", 0x160, 0},
		{"hopper new", 90, false, "-arch sm_90a -m 64 ", "sm_90a", "13.1", 0x210, 1024},
		{"hopper old", 90, true, "", "sm_90", "12.6", 0x210, 1024},
		{"blackwell", 100, false, "-arch=sm_100f", "sm_100f", "13.1", 0x380, 1024},
		{"blackwell, options of another target", 120, false, "-arch sm_1200", "sm_120", "13.1", 0x380, 1024},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := sample(tt.arch, tt.old)
			c.Options = tt.options
			img, err := cubin.ParseImage(c.Bytes(), cubin.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if img.Arch != tt.arch || img.Target != tt.target || img.Toolkit != tt.toolkit || img.Virtual != tt.arch {
				t.Errorf("got arch %d, target %s, toolkit %s, virtual %d; want %d, %s, %s, %[1]d", img.Arch, img.Target,
					img.Toolkit, img.Virtual, tt.arch, tt.target, tt.toolkit)
			}
			if len(img.Kernels) != 2 {
				t.Fatalf("got %d kernels, want 2", len(img.Kernels))
			}
			k := img.Kernels[0]
			if k.ParamBase != tt.paramBase || k.SharedReserved != tt.reserved {
				t.Errorf("got parameter base %#x, reserve %d; want %#x, %d", k.ParamBase, k.SharedReserved, tt.paramBase, tt.reserved)
			}
			if got, want := k.SharedDynamicStart(), tt.reserved+2112; got != want { // a multiple of the alignment already
				t.Errorf("dynamic shared memory at %d, want %d", got, want)
			}
			if p := img.Kernels[1]; p.SharedAlign != 0 || p.SharedStatic != 0 || p.ParamBase != tt.paramBase || p.ParamBytes != 0 {
				t.Errorf("kernel without shared memory and parameters: got %+v", p)
			}
		})
	}
}

func TestKernel(t *testing.T) {
	img, err := cubin.ParseImage(sample(86, false).Bytes(), cubin.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	k := img.Kernel("_Z5scaleILi64EEvPfPKfi")
	if k == nil {
		t.Fatal("kernel not found")
	}
	check := func(what string, got, want any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	check("code", k.Code, code(8))
	check("size", k.Size, uint32(96))
	check("registers", k.Registers, 40)
	check("frame", k.FrameSize, 16)
	check("barriers", k.Barriers, 3)
	check("parameters", k.Params, []cubin.Param{{Ordinal: 0, Offset: 0, Size: 8}, {Ordinal: 1, Offset: 8, Size: 8},
		{Ordinal: 2, Offset: 16, Size: 4}})
	check("parameter bytes", k.ParamBytes, 20)
	check("shared", [2]int{k.SharedStatic, k.SharedAlign}, [2]int{2112, 64})
	check("launch bound", k.MaxThreads, [3]int{256, 1, 1})
	check("block", k.ReqThreads, [3]int{32, 4, 1})
	check("cluster", k.Cluster, [3]int{2, 1, 1})
	check("exits", k.Exits, []uint32{96})
	check("indirect", k.Indirect, []cubin.IndirectBranch{{PC: 16, Targets: []uint32{32, 96}}})
	check("functions", k.Functions, []cubin.Function{{Name: "$__div", Offset: 96, Size: 32}})
	check("function at 96", k.FunctionAt(96), &k.Functions[0])
	check("function at 80", k.FunctionAt(80), (*cubin.Function)(nil))
	check("bank 2", k.Bank(2).Data, []byte{96, 0, 0, 0})
	check("bank 3", k.Bank(3).Data, []byte{1, 2, 3, 4})
	check("bank 4 relocations", k.Bank(4).Relocs, []cubin.Reloc{{Offset: 8, Type: 2, Addend: 4,
		Symbol: cubin.Symbol{Name: "table", Section: ".nv.global.init", Value: 8, Size: 4}}})
	check("bank 0 size", k.Bank(0).Size, 0x160+20)
	check("bank 5", k.Bank(5), (*cubin.Bank)(nil))
	check("data", img.Data[0].Init, []byte{9, 0, 0, 0, 0, 0, 0, 0, 7, 6, 5, 4})
	check("name", k.Demangled(), "void scale<64>(float*, float const*, int)")
	check("short name", k.ShortName(), "scale")
	check("types", k.ParamTypes(), []string{"float*", "float const*", "int"})
	check("types of a C name", img.Kernels[1].ParamTypes(), []string(nil))
	check("C name", img.Kernels[1].Demangled(), "plain")
}

// TestRelocatable has what separate compilation leaves: no reserve in front of shared memory, device functions in
// sections of their own.
func TestRelocatable(t *testing.T) {
	for _, linked := range []bool{false, true} {
		c := cubintest.Cubin{Arch: 90, Relocatable: !linked, Kernels: []cubintest.Kernel{{Name: "k", Code: code(4), Shared: 256}},
			Functions: []cubintest.Function{{Name: "f", Size: 64}}}
		img, err := cubin.ParseImage(c.Bytes(), cubin.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if img.Relocatable == linked || len(img.Kernels) != 1 || img.Kernels[0].SharedStatic != 256 {
			t.Errorf("linked %t: got relocatable %t, kernels %+v; want one with 256 bytes", linked, img.Relocatable, img.Kernels[0])
		}
		if len(img.Functions) != 1 || img.Functions[0].Name != "f" || len(img.Functions[0].Code) != 64 {
			t.Errorf("linked %t: got functions %+v, want f of 64 bytes", linked, img.Functions)
		}
	}
}

// TestLargeParams has the record for kernels with more than 4 KB of parameters, as nvcc 13.5 wrote it for a struct of
// 6 000 bytes and a pointer, once with and once without the pointer's mark.
func TestLargeParams(t *testing.T) {
	c := cubintest.Cubin{Arch: 120, Kernels: []cubintest.Kernel{{Name: "k", Code: code(4), Attrs: slices.Concat(
		cubintest.Attr(0x45, 0, 2|0x1778<<16, 8),
		cubintest.Attr(0x45, 0, 1|0x1770<<16, 8|5<<24),
		cubintest.Attr(0x45, 0, 0, 6000),
		[]byte{3, 0x19, 0x80, 0x17},
	)}}}
	img, err := cubin.ParseImage(c.Bytes(), cubin.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []cubin.Param{{Ordinal: 0, Size: 6000}, {Ordinal: 1, Offset: 6000, Size: 8, Pointer: true},
		{Ordinal: 2, Offset: 6008, Size: 8}}
	if d := cmp.Diff(want, img.Kernels[0].Params); d != "" {
		t.Errorf("parameters (-want +got):\n%s", d)
	}
}

func TestLines(t *testing.T) {
	c := cubintest.Cubin{Arch: 90, Kernels: []cubintest.Kernel{
		{Name: "_Z1aPf", Code: code(8), Lines: []cubintest.LineRow{{PC: 0, File: "src/a.cu", Line: 3}}},
		{Name: "_Z1bPf", Code: code(8), Lines: []cubintest.LineRow{
			{PC: 0, File: "src/b.cu", Line: 10},
			{PC: 32, File: "src/b.cu", Line: 12},
			{PC: 32, File: "src/t.h", Line: 7, Context: 2, Func: "_Z4loadPfi"},
			{PC: 32, File: "src/t.h", Line: 2, Context: 3, Func: "_Z3fooPfi"},
			{PC: 48, File: "src/b.cu", Line: 13},
		}},
		{Name: "_Z1cPf", Code: code(8)},
	}}
	img, err := cubin.ParseImage(c.Bytes(), cubin.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		kernel string
		pc     uint32
		want   []cubin.Frame
	}{
		{"_Z1aPf", 0, []cubin.Frame{{File: "src/a.cu", Line: 3}}},
		{"_Z1aPf", 112, []cubin.Frame{{File: "src/a.cu", Line: 3}}},
		{"_Z1aPf", 128, nil},
		{"_Z1bPf", 16, []cubin.Frame{{File: "src/b.cu", Line: 10}}},
		{"_Z1bPf", 32, []cubin.Frame{{File: "src/t.h", Line: 2, Func: "_Z3fooPfi"},
			{File: "src/t.h", Line: 7, Func: "_Z4loadPfi"}, {File: "src/b.cu", Line: 12}}},
		{"_Z1bPf", 47, []cubin.Frame{{File: "src/t.h", Line: 2, Func: "_Z3fooPfi"},
			{File: "src/t.h", Line: 7, Func: "_Z4loadPfi"}, {File: "src/b.cu", Line: 12}}},
		{"_Z1bPf", 48, []cubin.Frame{{File: "src/b.cu", Line: 13}}},
		{"_Z1cPf", 0, nil},
	}
	for _, tt := range tests {
		l, err := img.Kernel(tt.kernel).Lines()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, l.AppendAt(nil, tt.pc)); d != "" {
			t.Errorf("%s+%#x (-want +got):\n%s", tt.kernel, tt.pc, d)
		}
	}
}

// TestImageErrors changes one thing of a good cubin and wants the error that names it.
func TestImageErrors(t *testing.T) {
	kernel := func(k cubintest.Kernel) []byte {
		k.Name, k.Code = "k", code(4)
		return cubintest.Cubin{Arch: 86, Kernels: []cubintest.Kernel{k}}.Bytes()
	}
	patch := func(f func(e *cubintest.ELF)) []byte {
		e := sample(86, false).ELF()
		f(e)
		return e.Bytes()
	}
	section := func(e *cubintest.ELF, name string) *cubintest.Section {
		i := slices.IndexFunc(e.Sections, func(s cubintest.Section) bool { return s.Name == name })
		return &e.Sections[i]
	}
	small := cubin.DefaultLimits()
	small.MaxSections = 10
	tests := []struct {
		name string
		data []byte
		lim  cubin.Limits
		kind error
		want string
	}{
		{"empty", nil, cubin.Limits{}, cubin.ErrFormat, "ELF header: got 0 bytes, want 64"},
		{"no ELF", make([]byte, 64), cubin.Limits{}, cubin.ErrFormat, "offset 0x0: ELF magic: got 00 00 00 00"},
		{"host file", cubintest.Host(".data", nil), cubin.Limits{}, cubin.ErrUnrecognised, "ELF machine 62, want 190 (CUDA)"},
		{"sections", sample(86, false).Bytes(), small, cubin.ErrLimit, "sections, limit 10"},
		{"exit beyond the code", kernel(cubintest.Kernel{Exits: []uint32{64}}), cubin.Limits{}, cubin.ErrFormat,
			"section .nv.info.k: offset 0x0: attribute 0x1c: code offset 0x40: want a multiple of 16 below 0x40"},
		{"exit between instructions", kernel(cubintest.Kernel{Exits: []uint32{8}}), cubin.Limits{}, cubin.ErrFormat,
			"code offset 0x8: want a multiple of 16"},
		{"more exits than instructions", kernel(cubintest.Kernel{Exits: make([]uint32, 6)}), cubin.Limits{}, cubin.ErrFormat,
			"6 code offsets, code has 4 instructions"},
		{"2^32 branch targets", kernel(cubintest.Kernel{Indirect: []uint32{0, 0, 1<<32 - 1, 16}}), cubin.Limits{},
			cubin.ErrFormat, "4294967295 targets, record has room for 1"},
		{"launch bound of two words", kernel(cubintest.Kernel{Attrs: cubintest.Attr(5, 1, 2)}), cubin.Limits{},
			cubin.ErrFormat, "attribute 0x05: size 8, want 12"},
		{"attribute format", kernel(cubintest.Kernel{Attrs: []byte{9, 5, 0, 0}}), cubin.Limits{}, cubin.ErrFormat,
			"attribute 0x05: format 9, want 1 to 4"},
		{"attribute cut", kernel(cubintest.Kernel{Attrs: []byte{4, 5, 12, 0, 1}}), cubin.Limits{}, cubin.ErrFormat,
			"attribute 0x05: payload of 12 bytes, section has 1 left"},
		{"parameter outside the block", kernel(cubintest.Kernel{Attrs: cubintest.Attr(0x17, 0, 0, 8<<18)}), cubin.Limits{},
			cubin.ErrFormat, "section .nv.info.k: parameter 0: bytes 0+8: parameter block has 0"},
		{"parameter missing", kernel(cubintest.Kernel{Attrs: cubintest.Attr(0x17, 0, 1, 0)}), cubin.Limits{},
			cubin.ErrFormat, "parameter 0: ordinal 1"},
		{"code of half an instruction", patch(func(e *cubintest.ELF) {
			s := section(e, ".text.plain")
			s.Data = s.Data[:24]
		}), cubin.Limits{}, cubin.ErrFormat, "section .text.plain: offset 0x18: code size 0x18 is not a multiple of 16"},
		{"function beyond its section", patch(func(e *cubintest.ELF) { e.Symbols[len(e.Symbols)-1].Size = 65 }),
			cubin.Limits{}, cubin.ErrFormat, "section .text.plain: function plain: bytes 0x0+0x41: section has 0x40"},
		{"symbol in no section", patch(func(e *cubintest.ELF) { e.Symbols[0].Section = 0x1000 }), cubin.Limits{},
			cubin.ErrFormat, "section .symtab: offset 0x18: symbol 1: section 4096 of"},
		{"attribute of no symbol", patch(func(e *cubintest.ELF) {
			section(e, ".nv.info").Data = cubintest.Attr(0x2f, 1<<32-1, 10)
		}), cubin.Limits{}, cubin.ErrFormat, "section .nv.info: offset 0x0: attribute 0x2f: symbol 4294967295 of"},
		{"relocation beyond its section", patch(func(e *cubintest.ELF) {
			section(e, ".rela.nv.constant4").Data[0] = 200
		}), cubin.Limits{}, cubin.ErrFormat, "relocation 0: offset 0xc8: section .nv.constant4 has 0x10 bytes"},
		{"relocation to no symbol", patch(func(e *cubintest.ELF) {
			section(e, ".rela.nv.constant4").Data[15] = 0xff
		}), cubin.Limits{}, cubin.ErrFormat, "section .rela.nv.constant4: offset 0x0: symbol"},
		{"a bank twice", patch(func(e *cubintest.ELF) { e.Add(*section(e, ".nv.constant3")) }), cubin.Limits{},
			cubin.ErrFormat, "section .nv.constant3: second section for constant bank 3"},
		{"note longer than its section", patch(func(e *cubintest.ELF) {
			section(e, ".note.nv.tkinfo").Data[4] = 0xff
		}), cubin.Limits{}, cubin.ErrFormat, "section .note.nv.tkinfo: offset 0x0: note of 12+"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := cubin.ParseImage(tt.data, tt.lim)
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v; want a %v with %q", err, tt.kind, tt.want)
			}
		})
	}
}
