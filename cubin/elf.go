package cubin

import (
	"bytes"
	"encoding/binary"
)

// Numbers of the ELF format and NVIDIA's additions. Sources: ELF specification; LLVM BinaryFormat/ELF.h for the
// machine number and the flags; section types, symbol bits and the Mercury flag from experiments on cubins of CUDA
// 11.1 to 13.5.
const (
	elfHeaderSize  = 64
	sectionHdrSize = 64
	symbolSize     = 24

	machineCUDA = 190
	typeRel     = 1

	sectNull   = 0
	sectRela   = 4
	sectNobits = 8
	sectRel    = 9
	sectSymtab = 2
	sectShndx  = 18
	sectInfo   = 0x70000000

	flagMercury = 0x10000000 // clones for the Mercury capsule, not machine code

	symFunc    = 2
	symSection = 3

	otherEntry = 0x10 // STO_CUDA_ENTRY in st_other

	indexUndef  = 0
	indexXindex = 0xffff
	indexLow    = 0xff00 // reserved section indices from here
)

var elfMagic = []byte("\x7fELF")

// section is one section header with its content. data is nil for sections without bytes in the file.
type section struct {
	name    string
	typ     uint32
	flags   uint64
	link    uint32
	info    uint32
	size    uint64
	align   uint64
	entsize uint64
	data    []byte
}

// symbol is one symbol-table entry. section is an index into elfFile.sections, or 0 if undefined or special.
type symbol struct {
	name    string
	info    byte
	other   byte
	section int
	value   uint64
	size    uint64
}

func (s *symbol) kind() int { return int(s.info & 15) }

// elfFile is a parsed 64-bit little-endian ELF image in memory. debug/elf is not used: it rejects cubins of CUDA 12
// and earlier, whose e_version holds the toolkit number, and it copies.
type elfFile struct {
	data     []byte
	osabi    byte
	abi      byte
	typ      uint16
	machine  uint16
	version  uint32
	flags    uint32
	sections []section
	symbols  []symbol
	names    int // bytes of names copied so far
}

// nameBudget is how many bytes of names a file of some size may ask for. Names may share bytes, so without a bound a
// small file can ask for a quadratic amount.
func nameBudget(size int) int { return 1<<20 + 2*size }

// name copies a name from a string table.
func (f *elfFile) name(table []byte, offset uint32, where string, at int64, what string, index int) (string, error) {
	s, ok := cstring(table, uint64(offset))
	if !ok {
		return "", formatError(where, at, "%s %d: name offset %#x: table has %#x bytes", what, index, offset, len(table))
	}
	if f.names += len(s); f.names > nameBudget(len(f.data)) {
		return "", limitError(where, at, "names of more than %d bytes", nameBudget(len(f.data)))
	}
	return s, nil
}

// parseELF reads headers, section names and symbols. All of it refers to data.
func parseELF(data []byte, lim *Limits) (*elfFile, error) {
	if len(data) < elfHeaderSize {
		return nil, formatError("", int64(len(data)), "ELF header: got %d bytes, want %d", len(data), elfHeaderSize)
	}
	if !bytes.Equal(data[:4], elfMagic) {
		return nil, formatError("", 0, "ELF magic: got % x", data[:4])
	}
	le := binary.LittleEndian
	f := &elfFile{
		data:    data,
		osabi:   data[7],
		abi:     data[8],
		typ:     le.Uint16(data[16:]),
		machine: le.Uint16(data[18:]),
		version: le.Uint32(data[20:]),
		flags:   le.Uint32(data[48:]),
	}
	t, err := readSectionTable(data, uint64(len(data)), lim, func(off uint64) ([]byte, error) {
		return data[off:][:sectionHdrSize], nil
	})
	if err != nil {
		return nil, err
	}
	if err := f.readSections(t); err != nil {
		return nil, err
	}
	if err := f.readSymbols(lim); err != nil {
		return nil, err
	}
	return f, nil
}

// sectionTable is where the section headers are.
type sectionTable struct {
	offset   uint64
	count    uint64
	strIndex uint32
}

// readSectionTable reads the place of the section headers from the header of an ELF file of some size, with the escape
// for counts above 16 bits: then the first section header, which first fetches, holds them.
func readSectionTable(h []byte, size uint64, lim *Limits, first func(off uint64) ([]byte, error)) (sectionTable, error) {
	if h[4] != 2 || h[5] != 1 {
		return sectionTable{}, formatError("", 4, "ELF class %d, byte order %d: want 64-bit little-endian (2, 1)", h[4], h[5])
	}
	le := binary.LittleEndian
	t := sectionTable{
		offset:   le.Uint64(h[40:]),
		count:    uint64(le.Uint16(h[60:])),
		strIndex: uint32(le.Uint16(h[62:])),
	}
	if t.offset == 0 {
		return sectionTable{}, nil
	}
	if entsize := le.Uint16(h[58:]); entsize != sectionHdrSize {
		return t, formatError("", 58, "section header size: got %d, want %d", entsize, sectionHdrSize)
	}
	if t.offset > size || size-t.offset < sectionHdrSize {
		return t, formatError("", 40, "section headers at %#x: file has %#x bytes", t.offset, size)
	}
	if t.count == 0 || t.strIndex == indexXindex {
		b, err := first(t.offset)
		if err != nil {
			return t, err
		}
		if t.count == 0 {
			t.count = le.Uint64(b[32:])
		}
		if t.strIndex == indexXindex {
			t.strIndex = le.Uint32(b[40:])
		}
	}
	if t.count > uint64(lim.MaxSections) {
		return t, limitError("", 60, "%d sections, limit %d", t.count, lim.MaxSections)
	}
	if room := (size - t.offset) / sectionHdrSize; room < t.count {
		return t, formatError("", int64(t.offset), "%d section headers: file has room for %d", t.count, room)
	}
	if t.count > 0 && uint64(t.strIndex) >= t.count {
		return t, formatError("", 62, "section name table: index %d of %d sections", t.strIndex, t.count)
	}
	return t, nil
}

func (f *elfFile) readSections(t sectionTable) error {
	if t.count == 0 {
		return nil
	}
	le := binary.LittleEndian
	f.sections = make([]section, t.count)
	size := uint64(len(f.data))
	left := size // sections do not overlap; if they did, a small file could ask for endless work
	for i := range f.sections {
		h := f.data[t.offset+uint64(i)*sectionHdrSize:][:sectionHdrSize]
		s := &f.sections[i]
		s.typ = le.Uint32(h[4:])
		s.flags = le.Uint64(h[8:])
		offset := le.Uint64(h[24:])
		s.size = le.Uint64(h[32:])
		s.link = le.Uint32(h[40:])
		s.info = le.Uint32(h[44:])
		s.align = le.Uint64(h[48:])
		s.entsize = le.Uint64(h[56:])
		if s.typ == sectNull || s.typ == sectNobits || s.flags&flagMercury != 0 {
			continue
		}
		if offset > size || s.size > size-offset {
			return formatError("", int64(t.offset)+int64(i)*sectionHdrSize,
				"section %d: bytes %#x+%#x: file has %#x", i, offset, s.size, size)
		}
		if s.size > left {
			return formatError("", int64(t.offset)+int64(i)*sectionHdrSize, "sections of more bytes than the file's %#x", size)
		}
		left -= s.size
		s.data = f.data[offset : offset+s.size : offset+s.size]
	}
	names := &f.sections[t.strIndex]
	for i := range f.sections {
		h := f.data[t.offset+uint64(i)*sectionHdrSize:]
		if f.sections[i].typ == sectNull {
			continue
		}
		name, err := f.name(names.data, le.Uint32(h), "", int64(t.offset)+int64(i)*sectionHdrSize, "section", i)
		if err != nil {
			return err
		}
		f.sections[i].name = name
	}
	return nil
}

func (f *elfFile) readSymbols(lim *Limits) error {
	tab := f.find(func(s *section) bool { return s.typ == sectSymtab && s.flags&flagMercury == 0 })
	if tab < 0 {
		return nil
	}
	s := &f.sections[tab]
	if uint64(s.link) >= uint64(len(f.sections)) {
		return formatError(s.name, -1, "string table: section %d of %d", s.link, len(f.sections))
	}
	if len(s.data)%symbolSize != 0 {
		return formatError(s.name, int64(len(s.data)), "size %#x is not a multiple of %d", len(s.data), symbolSize)
	}
	n := len(s.data) / symbolSize
	if n > lim.MaxSymbols {
		return limitError(s.name, -1, "%d symbols, limit %d", n, lim.MaxSymbols)
	}
	strtab := f.sections[s.link].data
	le := binary.LittleEndian
	var wide []byte // section indices above 16 bits
	if x := f.find(func(s *section) bool { return s.typ == sectShndx && int(s.link) == tab }); x >= 0 {
		wide = f.sections[x].data
	}
	f.symbols = make([]symbol, n)
	for i := range f.symbols {
		b := s.data[i*symbolSize:][:symbolSize]
		index := int(le.Uint16(b[6:]))
		switch {
		case index == indexXindex && len(wide) >= 4*(i+1):
			index = int(le.Uint32(wide[4*i:]))
		case index >= indexLow:
			index = indexUndef
		}
		if index >= len(f.sections) {
			return formatError(s.name, int64(i)*symbolSize, "symbol %d: section %d of %d", i, index, len(f.sections))
		}
		name, err := f.name(strtab, le.Uint32(b), s.name, int64(i)*symbolSize, "symbol", i)
		if err != nil {
			return err
		}
		f.symbols[i] = symbol{
			name:    name,
			info:    b[4],
			other:   b[5],
			section: index,
			value:   le.Uint64(b[8:]),
			size:    le.Uint64(b[16:]),
		}
	}
	return nil
}

// find returns the index of the first section that matches, or -1.
func (f *elfFile) find(match func(*section) bool) int {
	for i := range f.sections {
		if match(&f.sections[i]) {
			return i
		}
	}
	return -1
}

// cstring copies the NUL-terminated string at an offset. An offset at the end gives "".
func cstring(b []byte, offset uint64) (string, bool) {
	if offset == 0 && len(b) == 0 {
		return "", true
	}
	if offset >= uint64(len(b)) {
		return "", false
	}
	b = b[offset:]
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		return "", false
	}
	return string(b[:end]), true
}
