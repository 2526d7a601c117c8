package cubin

import "encoding/binary"

// relocIndex maps a section to the relocation sections that apply to it.
func (f *elfFile) relocIndex() map[int][]int {
	var m map[int][]int
	for i := range f.sections {
		s := &f.sections[i]
		if (s.typ != sectRel && s.typ != sectRela) || s.flags&flagMercury != 0 || s.size == 0 {
			continue
		}
		if m == nil {
			m = make(map[int][]int)
		}
		m[int(s.info)] = append(m[int(s.info)], i)
	}
	return m
}

// rawReloc is a relocation before its symbol is looked up.
type rawReloc struct {
	offset uint64
	typ    uint32
	symbol int
	addend int64
	inWord bool // no addend of its own: it is in the place that the relocation fills
}

// relocs reads one relocation section. Cubins below sm_100 of older toolkits write the form without addend.
func (f *elfFile) relocs(index, limit int) ([]rawReloc, error) {
	s := &f.sections[index]
	size := 24
	if s.typ == sectRel {
		size = 16
	}
	if len(s.data)%size != 0 {
		return nil, formatError(s.name, int64(len(s.data)), "size %#x is not a multiple of %d", len(s.data), size)
	}
	n := len(s.data) / size
	if n > limit {
		return nil, limitError(s.name, -1, "%d relocations, limit %d", n, limit)
	}
	le := binary.LittleEndian
	out := make([]rawReloc, n)
	for i := range out {
		b := s.data[i*size:][:size]
		info := le.Uint64(b[8:])
		r := rawReloc{offset: le.Uint64(b), typ: uint32(info), symbol: int(info >> 32),
			inWord: s.typ == sectRel}
		if size == 24 {
			r.addend = int64(le.Uint64(b[16:]))
		}
		if r.symbol >= len(f.symbols) {
			return nil, formatError(s.name, int64(i*size), "symbol %d of %d", r.symbol, len(f.symbols))
		}
		out[i] = r
	}
	return out, nil
}

// symbolRef describes a symbol for users.
func (f *elfFile) symbolRef(i int) Symbol {
	s := &f.symbols[i]
	r := Symbol{Name: s.name, Value: s.value, Size: s.size}
	if s.section != indexUndef {
		r.Section = f.sections[s.section].name
		if s.kind() == symSection {
			r.Name = r.Section
		}
	}
	return r
}

// Relocation types that fill a plain address.
const (
	relocAddr32 = 1
	relocAddr64 = 2
)

// addendIn reads the addend of an address relocation from the place that it fills.
func (r *rawReloc) addendIn(data []byte) int64 {
	at := r.offset
	switch left := uint64(len(data)) - min(at, uint64(len(data))); {
	case r.typ == relocAddr64 && left >= 8:
		return int64(binary.LittleEndian.Uint64(data[at:]))
	case r.typ == relocAddr32 && left >= 4:
		return int64(binary.LittleEndian.Uint32(data[at:]))
	}
	return 0
}
