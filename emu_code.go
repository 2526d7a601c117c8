//go:build !js

package shmoo

import (
	"bytes"
	"encoding/binary"

	"shmoo/cubin"
	"shmoo/diag"
	"shmoo/emu"
)

// codeOf fills the emulator's view of a kernel.
func codeOf(k *cubin.Kernel) emu.Code {
	code := emu.Code{
		Name: k.Demangled(), Arch: k.Image.Arch, Text: k.Code, Entry: k.Entry, ParamBase: k.ParamBase,
		SharedStatic: k.SharedStatic, SharedDynamicStart: k.SharedDynamicStart() - k.SharedReserved,
		MaxThreads: k.MaxThreads, ReqThreads: k.ReqThreads, Constants: map[int][]byte{}, Pos: positions(k),
	}
	for _, p := range k.Params {
		code.Params = append(code.Params, emu.Param{Offset: p.Offset, Size: p.Size})
	}
	for _, b := range k.Indirect {
		code.Indirect = append(code.Indirect, emu.IndirectBranch{PC: b.PC, Targets: b.Targets})
	}
	globals := globalMemory{at: map[string]uint64{}, next: emu.GlobalBase}
	for _, d := range k.Image.Data {
		code.Data = append(code.Data, globals.place(&d))
	}
	for _, b := range k.Banks {
		if b.Index != 0 && b.Data != nil {
			code.Constants[b.Index] = globals.link(&b)
		}
	}
	return code
}

// globalMemory gives the device memory that a module brings along its addresses.
type globalMemory struct {
	at   map[string]uint64 // by section
	next uint64
}

const (
	globalPage = 4096
	// maxZeroes bounds what is kept of memory that the file only sizes, in bytes: tables that matter have contents.
	maxZeroes = 1 << 20
)

// place gives a section an address.
func (g *globalMemory) place(d *cubin.Data) emu.Segment {
	data := d.Init
	if data == nil {
		data = make([]byte, min(max(d.Size, 0), maxZeroes))
	}
	s := emu.Segment{Addr: g.next, Data: data}
	g.at[d.Section] = g.next
	g.next += uint64(roundUp(len(data), globalPage))
	return s
}

// relocAddress64 is the relocation that stores a 64-bit address (R_CUDA_64).
const relocAddress64 = 2

// link returns a constant bank with the addresses of the module's memory filled in. What lies outside the module gets an
// address of its own, where nothing is known.
func (g *globalMemory) link(b *cubin.Bank) []byte {
	data := bytes.Clone(b.Data)
	for _, r := range b.Relocs {
		if r.Type != relocAddress64 || uint64(r.Offset)+8 > uint64(len(data)) {
			continue
		}
		base, ok := g.at[r.Symbol.Section]
		if !ok {
			base, g.next = g.next, g.next+globalPage
		}
		p := data[r.Offset:]
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)+base+r.Symbol.Value+uint64(r.Addend))
	}
	return data
}

// positions returns the source positions of a kernel's instructions, nil without a line table.
func positions(k *cubin.Kernel) func(pc uint64) (diag.Span, []diag.Pos) {
	lines, err := k.Lines()
	if err != nil || lines == nil || lines.Empty() {
		return nil // a broken line table costs the positions, not the analysis
	}
	return func(pc uint64) (diag.Span, []diag.Pos) {
		var at diag.Span
		var chain []diag.Pos
		for i, f := range lines.AppendAt(nil, uint32(pc)) {
			pos := diag.Pos{File: f.File, Line: f.Line, Col: f.Column}
			if i == 0 {
				at.Pos = pos
				continue
			}
			chain = append(chain, pos)
		}
		return at, chain
	}
}
