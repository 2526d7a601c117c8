package cubintest

import "encoding/binary"

// LineRow is one row of a kernel's line table. Context is the number of the row of this kernel, from 1, that holds the
// call which was inlined here; Func is then the inlined function.
type LineRow struct {
	PC      uint64
	File    string // "dir/name" or "name"
	Line    int
	Context int
	Func    string
}

// lineBuilder collects the sequences of a cubin and writes one line program.
type lineBuilder struct {
	files   []string
	program []byte
	relocs  []lineReloc
	strs    []byte // .debug_str
	strAt   map[string]int
}

type lineReloc struct{ at, symbol int }

func (b *lineBuilder) file(path string) int {
	for i, f := range b.files {
		if f == path {
			return i + 1
		}
	}
	b.files = append(b.files, path)
	return len(b.files)
}

func (b *lineBuilder) str(s string) int {
	if at, ok := b.strAt[s]; ok {
		return at
	}
	if b.strAt == nil {
		b.strAt = make(map[string]int)
	}
	b.strAt[s] = len(b.strs)
	b.strs = append(append(b.strs, s...), 0)
	return b.strAt[s]
}

// sequence adds the rows of a kernel with some code size.
func (b *lineBuilder) sequence(rows []LineRow, size, symbol int) {
	if len(rows) == 0 {
		return
	}
	p := append(b.program, 0, 9, 2)
	b.relocs = append(b.relocs, lineReloc{len(p), symbol})
	p = binary.LittleEndian.AppendUint64(p, 0)
	pc, line, context := uint64(0), 1, 0
	for _, r := range rows {
		p = binary.AppendUvarint(append(p, 4), uint64(b.file(r.File)))
		if r.Context != context {
			args := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(r.Context)), uint64(b.str(r.Func)))
			p = append(append(p, 0, byte(1+len(args)), 0x90), args...)
			context = r.Context
		}
		if r.PC != pc {
			p = binary.AppendUvarint(append(p, 2), r.PC-pc)
			pc = r.PC
		}
		if r.Line != line {
			p = appendSleb(append(p, 3), int64(r.Line-line))
			line = r.Line
		}
		p = append(p, 1)
	}
	p = binary.AppendUvarint(append(p, 2), uint64(size)-pc)
	b.program = append(p, 0, 1, 1)
}

func appendSleb(b []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// add writes the sections, if there are any sequences.
func (b *lineBuilder) add(e *ELF) {
	if len(b.program) == 0 {
		return
	}
	le := binary.LittleEndian
	// Version 2: instruction length 1, rows begin statements, line base -5, range 14, first special opcode 10.
	tail := []byte{1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1}
	tail = append(tail, 0) // no directories: files carry their path
	for _, f := range b.files {
		tail = append(append(tail, f...), 0, 0, 0, 0)
	}
	tail = append(tail, 0)
	tail = le.AppendUint32(tail, 0) // base of the function names in .debug_str
	head := le.AppendUint16(nil, 2)
	head = le.AppendUint32(head, uint32(len(tail)))
	start := 4 + len(head) + len(tail)
	data := le.AppendUint32(nil, uint32(len(head)+len(tail)+len(b.program)))
	data = append(append(append(data, head...), tail...), b.program...)
	section := e.Add(Section{Name: ".debug_line", Type: TypeProgbits, Align: 1, Data: data})
	if len(b.strs) > 0 {
		e.Add(Section{Name: ".debug_str", Type: TypeProgbits, Align: 1, Data: b.strs})
	}
	var relocs []byte
	for _, r := range b.relocs {
		relocs = le.AppendUint64(relocs, uint64(start+r.at))
		relocs = le.AppendUint64(relocs, uint64(r.symbol)<<32|2)
		relocs = le.AppendUint64(relocs, 0)
	}
	e.Add(Section{Name: ".rela.debug_line", Type: TypeRela, Flags: flagsInfo, Info: uint32(section), Align: 8, EntrySize: 24,
		Data: relocs})
}
