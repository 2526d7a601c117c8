package cubintest

import (
	"encoding/binary"
	"fmt"
)

// Cubin describes a cubin.
type Cubin struct {
	Arch        int
	OldABI      bool   // the ABI of CUDA 12 and earlier for targets below sm_100
	Toolkit     int    // 131 for 13.1; 0 means 131, or 126 in the old ABI
	Options     string // of the tool note, new ABI only; "" means "-arch sm_ARCH -m 64 "
	Relocatable bool
	Kernels     []Kernel
	Functions   []Function // device functions with sections of their own; Size bytes of code
	Bank3       []byte     // user constants
	Bank4       []byte     // address table
	Bank4Relocs []Reloc    // against Globals
	Globals     []Global
}

// Global is initialised device memory with one symbol.
type Global struct {
	Name string
	Data []byte
}

// Reloc fills an address: Symbol is a global's name.
type Reloc struct {
	Offset uint64
	Type   uint32
	Symbol string
	Addend int64
}

// Kernel describes one kernel.
type Kernel struct {
	Name       string
	Code       []byte
	Size       int // by its symbol; 0 means all of Code
	Locals     []Function
	Registers  int
	Params     []Param
	ParamBase  int // 0 means the target's usual one
	Shared     int // static bytes without the system's own
	SharedSect bool
	SharedAl   int // 0 means 16
	Frame      int
	MaxThreads [3]int
	ReqThreads [3]int
	Cluster    [3]int
	Barriers   int
	Exits      []uint32
	Indirect   []uint32 // raw words of the record
	Bank2      []byte
	Lines      []LineRow
	Attrs      []byte // more attribute records, as they are
}

// Function is a local function in a kernel's code, or one with a section of its own, whose Offset is 0.
type Function struct {
	Name         string
	Offset, Size int
}

// Param is a kernel parameter.
type Param struct{ Offset, Size int }

const (
	flagsCode   = 0x6
	flagsConst  = 0x42
	flagsShared = 0x43
	flagsInfo   = 0x40
)

// Bytes writes the cubin.
func (c Cubin) Bytes() []byte { return c.ELF().Bytes() }

// ELF returns the cubin before it is written, for tests that change it.
func (c Cubin) ELF() *ELF {
	e := &ELF{OSABI: 0x41, ABIVersion: 8, Type: 2, Machine: 190, Version: 1}
	toolkit := c.Toolkit
	if toolkit == 0 {
		toolkit = 131
		if c.OldABI {
			toolkit = 126
		}
	}
	e.Flags = 0x06000004 | uint32(c.Arch)<<8
	if c.OldABI {
		e.OSABI, e.ABIVersion, e.Version = 0x33, 7, uint32(toolkit)
		e.Flags = 0x500 | uint32(c.Arch) | uint32(c.Arch)<<16
	}
	if c.Relocatable {
		e.Type = 1
	}
	if !c.OldABI {
		e.Add(Section{Name: ".note.nv.tkinfo", Type: TypeNote, Flags: 0x2000000, Align: 4, Data: c.toolNote()})
		e.Add(Section{Name: ".note.nv.cuinfo", Type: TypeNote, Flags: 0x1000000, Align: 4, Data: note(1000,
			binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16([]byte{2, 0}, uint16(c.Arch)), uint32(toolkit)))})
	}
	symbols := c.addGlobals(e)
	c.addBanks(e, symbols)
	var info []byte
	var lines lineBuilder
	for _, k := range c.Kernels {
		sym := c.addKernel(e, k)
		info = append(info, Attr(0x2f, uint32(sym), uint32(k.Registers))...)
		info = append(info, Attr(0x11, uint32(sym), uint32(k.Frame))...)
		info = append(info, Attr(0x12, uint32(sym), uint32(k.Frame))...)
		lines.sequence(k.Lines, len(k.Code), sym)
	}
	for _, f := range c.Functions {
		text := e.Add(Section{Name: ".text." + f.Name, Type: TypeProgbits, Flags: flagsCode, Align: 128,
			Data: make([]byte, f.Size)})
		e.AddSymbol(Symbol{Name: f.Name, Info: 1<<4 | 2, Section: text, Size: uint64(f.Size)})
	}
	e.Add(Section{Name: ".nv.info", Type: TypeInfo, Align: 4, Data: info})
	lines.add(e)
	return e
}

func (c Cubin) toolNote() []byte {
	options := c.Options
	if options == "" {
		options = fmt.Sprintf("-arch sm_%d -m 64 ", c.Arch)
	}
	le := binary.LittleEndian
	pool := []byte{0}
	desc := le.AppendUint32(nil, 2)
	for _, s := range []string{"", "tool", "Cuda compilation tools, a release", "Build a", options} {
		if s == "" {
			desc = le.AppendUint32(desc, 0)
			continue
		}
		desc = le.AppendUint32(desc, uint32(len(pool)))
		pool = append(append(pool, s...), 0)
	}
	return note(2000, append(desc, pool...))
}

// note writes one ELF note of NVIDIA's.
func note(typ uint32, desc []byte) []byte {
	le := binary.LittleEndian
	out := le.AppendUint32(nil, 12)
	out = le.AppendUint32(out, uint32(len(desc)))
	out = le.AppendUint32(out, typ)
	out = append(out, "NVIDIA Corp\x00"...)
	return pad(append(out, desc...), 4)
}

func (c Cubin) addGlobals(e *ELF) map[string]int {
	symbols := make(map[string]int)
	if len(c.Globals) == 0 {
		return symbols
	}
	var data []byte
	index := len(e.Sections) + 1
	for _, g := range c.Globals {
		data = pad(data, 8)
		symbols[g.Name] = e.AddSymbol(Symbol{Name: g.Name, Info: 1, Section: index, Value: uint64(len(data)),
			Size: uint64(len(g.Data))})
		data = append(data, g.Data...)
	}
	e.Add(Section{Name: ".nv.global.init", Type: TypeProgbits, Flags: 3, Align: 8, Data: data})
	return symbols
}

func (c Cubin) addBanks(e *ELF, symbols map[string]int) {
	if c.Bank3 != nil {
		e.Add(Section{Name: ".nv.constant3", Type: TypeProgbits, Flags: 2, Align: 4, Data: c.Bank3})
	}
	if c.Bank4 == nil {
		return
	}
	bank := e.Add(Section{Name: ".nv.constant4", Type: TypeProgbits, Flags: 2, Align: 8, Data: c.Bank4})
	var relocs []byte
	le := binary.LittleEndian
	for _, r := range c.Bank4Relocs {
		relocs = le.AppendUint64(relocs, r.Offset)
		relocs = le.AppendUint64(relocs, uint64(symbols[r.Symbol])<<32|uint64(r.Type))
		relocs = le.AppendUint64(relocs, uint64(r.Addend))
	}
	e.Add(Section{Name: ".rela.nv.constant4", Type: TypeRela, Flags: flagsInfo, Info: uint32(bank), Align: 8, EntrySize: 24,
		Data: relocs})
}

// paramBase is the offset of the parameters in constant bank 0.
func paramBase(arch int) int {
	switch {
	case arch >= 100:
		return 0x380
	case arch >= 90:
		return 0x210
	}
	return 0x160
}

// addKernel adds the sections of a kernel and returns the index of its symbol.
func (c Cubin) addKernel(e *ELF, k Kernel) int {
	base := k.ParamBase
	if base == 0 {
		base = paramBase(c.Arch)
	}
	paramBytes := 0
	for _, p := range k.Params {
		paramBytes = max(paramBytes, p.Offset+p.Size)
	}
	text := len(e.Sections) + 1
	size := k.Size
	if size == 0 {
		size = len(k.Code)
	}
	sym := e.AddSymbol(Symbol{Name: k.Name, Info: 1<<4 | 2, Other: 0x10, Section: text, Size: uint64(size)})
	info := uint32(sym)
	if c.OldABI {
		info |= uint32(k.Registers) << 24
	}
	e.Add(Section{Name: ".text." + k.Name, Type: TypeProgbits, Flags: flagsCode | uint64(k.Barriers)<<20, Info: info,
		Align: 128, Data: k.Code})
	for _, f := range k.Locals {
		e.AddSymbol(Symbol{Name: f.Name, Info: 2, Section: text, Value: uint64(f.Offset), Size: uint64(f.Size)})
	}
	e.Add(Section{Name: ".nv.info." + k.Name, Type: TypeInfo, Flags: flagsInfo, Info: uint32(text), Align: 4,
		Data: k.attrs(uint32(sym), base, paramBytes)})
	e.Add(Section{Name: ".nv.constant0." + k.Name, Type: TypeProgbits, Flags: flagsConst, Info: uint32(text), Align: 4,
		Data: make([]byte, base+paramBytes)})
	if k.Bank2 != nil {
		e.Add(Section{Name: ".nv.constant2." + k.Name, Type: TypeProgbits, Flags: flagsConst, Info: uint32(text), Align: 4,
			Data: k.Bank2})
	}
	if k.Shared > 0 || k.SharedSect {
		bytes := k.Shared
		if c.Arch >= 90 && !c.Relocatable {
			bytes += 1024
		}
		align := k.SharedAl
		if align == 0 {
			align = 16
		}
		e.Add(Section{Name: ".nv.shared." + k.Name, Type: TypeNobits, Flags: flagsShared, Info: uint32(text),
			Align: uint64(align), Size: uint64(bytes)})
	}
	return sym
}

func (k Kernel) attrs(sym uint32, base, paramBytes int) []byte {
	var out []byte
	for i := len(k.Params) - 1; i >= 0; i-- {
		p := k.Params[i]
		out = append(out, Attr(0x17, 0, uint32(i)|uint32(p.Offset)<<16, uint32(p.Size)<<18|0x1f000)...)
	}
	if len(k.Params) > 0 {
		out = append(out, Attr(0x0a, sym, uint32(paramBytes)<<16|uint32(base))...)
		out = append(out, 3, 0x19, byte(paramBytes), byte(paramBytes>>8))
	}
	shapes := []struct {
		code  byte
		shape [3]int
	}{{0x05, k.MaxThreads}, {0x10, k.ReqThreads}, {0x3d, k.Cluster}}
	for _, s := range shapes {
		if s.shape != [3]int{} {
			out = append(out, Attr(s.code, uint32(s.shape[0]), uint32(s.shape[1]), uint32(s.shape[2]))...)
		}
	}
	if k.Barriers > 0 {
		out = append(out, 2, 0x4c, byte(k.Barriers), 0)
	}
	if len(k.Exits) > 0 {
		out = append(out, Attr(0x1c, k.Exits...)...)
	}
	if len(k.Indirect) > 0 {
		out = append(out, Attr(0x34, k.Indirect...)...)
	}
	return append(out, k.Attrs...)
}

// Attr writes an attribute record with a payload of words.
func Attr(code byte, words ...uint32) []byte {
	le := binary.LittleEndian
	out := le.AppendUint16([]byte{4, code}, uint16(4*len(words)))
	for _, w := range words {
		out = le.AppendUint32(out, w)
	}
	return out
}
