package cubintest

import "encoding/binary"

// ELF numbers that the writer needs; see package cubin for their sources.
const (
	TypeProgbits = 1
	TypeSymtab   = 2
	TypeStrtab   = 3
	TypeRela     = 4
	TypeNote     = 7
	TypeNobits   = 8
	TypeRel      = 9
	TypeInfo     = 0x70000000

	headerSize  = 64
	sectionSize = 64
)

// Section is one section of an [ELF].
type Section struct {
	Name       string
	Type       uint32
	Flags      uint64
	Link, Info uint32
	Align      uint64
	EntrySize  uint64
	Data       []byte
	Size       uint64 // of a section without bytes (TypeNobits); otherwise the length of Data
}

// Symbol is one symbol of an [ELF]. Section is the index of its section, 0 if it is undefined.
type Symbol struct {
	Name        string
	Info, Other byte
	Section     int
	Value, Size uint64
}

// ELF writes 64-bit little-endian ELF files. Section 0 is the empty one that the format asks for; sections that are
// added get the indices from 1 on. The name table, the string table and the symbol table come last.
type ELF struct {
	OSABI, ABIVersion byte
	Type, Machine     uint16
	Version, Flags    uint32
	Sections          []Section
	Symbols           []Symbol // without the empty first one
}

// Add appends a section and returns its index.
func (e *ELF) Add(s Section) int {
	e.Sections = append(e.Sections, s)
	return len(e.Sections)
}

// AddSymbol appends a symbol and returns its index.
func (e *ELF) AddSymbol(s Symbol) int {
	e.Symbols = append(e.Symbols, s)
	return len(e.Symbols)
}

// Bytes writes the file.
func (e *ELF) Bytes() []byte {
	le := binary.LittleEndian
	strtab := []byte{0}
	symtab := make([]byte, 24)
	for _, s := range e.Symbols {
		symtab = le.AppendUint32(symtab, uint32(len(strtab)))
		symtab = append(symtab, s.Info, s.Other)
		symtab = le.AppendUint16(symtab, uint16(s.Section))
		symtab = le.AppendUint64(symtab, s.Value)
		symtab = le.AppendUint64(symtab, s.Size)
		strtab = append(append(strtab, s.Name...), 0)
	}
	sections := append([]Section{{}}, e.Sections...)
	strIndex := uint32(len(sections) + 1)
	sections = append(sections,
		Section{Name: ".symtab", Type: TypeSymtab, Link: strIndex, Align: 8, EntrySize: 24, Data: symtab},
		Section{Name: ".strtab", Type: TypeStrtab, Align: 1, Data: strtab},
		Section{Name: ".shstrtab", Type: TypeStrtab, Align: 1})
	names := []byte{0}
	nameAt := make([]uint32, len(sections))
	for i, s := range sections {
		if s.Name != "" {
			nameAt[i] = uint32(len(names))
			names = append(append(names, s.Name...), 0)
		}
	}
	sections[len(sections)-1].Data = names

	out := make([]byte, headerSize)
	headers := make([]byte, 0, len(sections)*sectionSize)
	for i, s := range sections {
		size := s.Size
		if s.Type != TypeNobits {
			size = uint64(len(s.Data))
			out = pad(out, max(int(s.Align), 1))
		}
		headers = le.AppendUint32(headers, nameAt[i])
		headers = le.AppendUint32(headers, s.Type)
		headers = le.AppendUint64(headers, s.Flags)
		headers = le.AppendUint64(headers, 0)
		headers = le.AppendUint64(headers, uint64(len(out)))
		headers = le.AppendUint64(headers, size)
		headers = le.AppendUint32(headers, s.Link)
		headers = le.AppendUint32(headers, s.Info)
		headers = le.AppendUint64(headers, s.Align)
		headers = le.AppendUint64(headers, s.EntrySize)
		if s.Type != TypeNobits {
			out = append(out, s.Data...)
		}
	}
	out = pad(out, 8)
	copy(out, "\x7fELF\x02\x01\x01")
	out[7], out[8] = e.OSABI, e.ABIVersion
	le.PutUint16(out[16:], e.Type)
	le.PutUint16(out[18:], e.Machine)
	le.PutUint32(out[20:], e.Version)
	le.PutUint64(out[40:], uint64(len(out)))
	le.PutUint32(out[48:], e.Flags)
	le.PutUint16(out[52:], headerSize)
	le.PutUint16(out[58:], sectionSize)
	le.PutUint16(out[60:], uint16(len(sections)))
	le.PutUint16(out[62:], uint16(len(sections)-1))
	return append(out, headers...)
}

// pad appends zeros up to a multiple of align.
func pad(b []byte, align int) []byte {
	for len(b)%align != 0 {
		b = append(b, 0)
	}
	return b
}
