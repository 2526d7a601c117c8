package cubin

import "encoding/binary"

// Windows executables and libraries: a DOS header that points to a PE header, a table of sections behind it. Names have
// eight characters, so .nv_fatbin is .nv_fatb there. Source: Microsoft's PE format specification.
const (
	dosHeaderSize = 64
	dosPointer    = 0x3c // of the offset of the PE header
	peHeaderSize  = 24   // signature and COFF header
	peSectionSize = 40
	peCode        = 0x20 // section flag
)

// scanPE lists the fatbins of a Windows executable or library.
func (s *scanner) scanPE(g region) error {
	var dos [dosHeaderSize]byte
	if g.size < dosHeaderSize {
		return s.fail(formatError("", g.size, "DOS header: got %d bytes, want %d", g.size, dosHeaderSize), g)
	}
	if err := s.read(g, 0, dos[:]); err != nil {
		return err
	}
	le := binary.LittleEndian
	at := int64(le.Uint32(dos[dosPointer:]))
	if at > g.size-peHeaderSize {
		return s.fail(formatError("", dosPointer, "PE header at %#x: file has %#x bytes", at, g.size), g)
	}
	var h [peHeaderSize]byte
	if err := s.read(g, at, h[:]); err != nil {
		return err
	}
	if string(h[:4]) != "PE\x00\x00" {
		return s.fail(&Error{Entry: -1, Offset: at, Err: kindError{ErrUnrecognised, "a DOS program without PE header"}}, g)
	}
	sections, optional := int64(le.Uint16(h[6:])), int64(le.Uint16(h[20:]))
	table := at + peHeaderSize + optional
	if sections*peSectionSize > g.size-table {
		return s.fail(formatError("", at+6, "%d section headers at %#x: file has %#x bytes", sections, table, g.size), g)
	}
	b := make([]byte, sections*peSectionSize)
	if err := s.read(g, table, b); err != nil {
		return err
	}
	var out []region
	left := g.size // sections do not overlap
	for i := int64(0); len(b) > 0; i, b = i+1, b[peSectionSize:] {
		size, off := int64(le.Uint32(b[16:])), int64(le.Uint32(b[20:]))
		if off > g.size || size > g.size-off {
			return s.fail(formatError("", table+i*peSectionSize, "section %d: bytes %#x+%#x: file has %#x", i, off, size, g.size), g)
		}
		if left -= size; left < 0 {
			return s.fail(formatError("", table, "sections of more bytes than the file's %#x", g.size), g)
		}
		if le.Uint32(b[36:])&peCode == 0 {
			out = append(out, region{member: g.member, section: untilNUL(b[:8]), offset: g.offset + off, size: size})
		}
	}
	return s.scanSections(out)
}
