package cubin

import (
	"encoding/binary"
	"io"
)

// Fatbin container. Layout by experiment on toolkits 12.6, 13.1 and 13.5: a 16-byte header (magic, u16 version 1, u16
// header size, u64 payload), then entries, each with a header of its own size (64, 80 and 104 bytes seen) and a padded
// payload.
const (
	fatbinMagic      = 0xba55ed50
	fatbinHeaderSize = 16
	entryHeaderMin   = 64
	entryHeaderMax   = 1 << 20

	rawKindPTX      = 1
	rawKindELF      = 2
	rawKindOldCubin = 4

	flagLZ4Old = 0x1000 // older toolkits; the same block format
	flagLZ4    = 0x2000
	flagZstd   = 0x8000
)

// region is a byte range of a file that may hold fatbins.
type region struct {
	member  string
	section string
	offset  int64
	size    int64
}

// scanner lists the entries of one file.
type scanner struct {
	file   *File
	r      io.ReaderAt
	limits *Limits
	buf    []byte
}

// scanFatbins walks a region that holds fatbins back to back, with padding between them.
func (s *scanner) scanFatbins(g region) error {
	for off := int64(0); off+fatbinHeaderSize <= g.size; {
		next, err := s.findMagic(g, off)
		if err != nil {
			return err
		}
		if next < 0 {
			return nil
		}
		if off, err = s.fatbin(g, next); err != nil {
			return err
		}
	}
	return nil
}

// findMagic returns the offset of the next fatbin header from off on, or -1. A header is the magic number, version 1
// and a plausible header size, so stray magic numbers in other data do not count.
func (s *scanner) findMagic(g region, off int64) (int64, error) {
	const chunk = 1 << 16
	if s.buf == nil {
		s.buf = make([]byte, chunk)
	}
	off = (off + 7) &^ 7
	for first := true; off+fatbinHeaderSize <= g.size; first = false {
		n := min(g.size-off, chunk)
		if first { // mostly the next fatbin follows at once
			n = min(n, fatbinHeaderSize)
		}
		b := s.buf[:n]
		if err := s.read(g, off, b); err != nil {
			return 0, err
		}
		i := 0
		for ; i+fatbinHeaderSize <= len(b); i += 8 {
			if isFatbin(b[i:]) {
				return off + int64(i), nil
			}
		}
		off += int64(i)
	}
	return -1, nil
}

func isFatbin(b []byte) bool {
	le := binary.LittleEndian
	return le.Uint32(b) == fatbinMagic && le.Uint16(b[4:]) == 1 && le.Uint16(b[6:]) >= fatbinHeaderSize
}

// fatbin lists the entries of the fatbin at off and returns the offset behind it.
func (s *scanner) fatbin(g region, off int64) (int64, error) {
	var h [entryHeaderMin]byte
	if err := s.read(g, off, h[:fatbinHeaderSize]); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	headerSize := int64(le.Uint16(h[6:]))
	payload := le.Uint64(h[8:])
	if left := g.size - off; headerSize > left || payload > uint64(left-headerSize) {
		return 0, s.fail(formatError(g.section, off, "fatbin of %d+%d bytes: %d are left", headerSize, payload, left), g)
	}
	number := s.file.Fatbins
	s.file.Fatbins++
	pos := off + headerSize
	end := pos + int64(payload)
	for pos < end {
		if end-pos < entryHeaderMin {
			return 0, s.fail(formatError(g.section, pos, "entry header: got %d bytes, want %d", end-pos, entryHeaderMin), g)
		}
		if err := s.read(g, pos, h[:]); err != nil {
			return 0, err
		}
		size := int64(le.Uint32(h[4:]))
		stored := le.Uint64(h[8:])
		if size < entryHeaderMin || size > entryHeaderMax || size > end-pos {
			return 0, s.fail(formatError(g.section, pos, "entry header size: got %d, want %d to %d", size, entryHeaderMin,
				min(entryHeaderMax, end-pos)), g)
		}
		if stored > uint64(end-pos-size) {
			return 0, s.fail(formatError(g.section, pos, "entry payload: got %d bytes, fatbin has %d left", stored,
				end-pos-size), g)
		}
		e, err := s.entry(g, pos, h[:], size, int64(stored))
		if err != nil {
			return 0, err
		}
		e.Fatbin = number
		if err := s.file.add(e, s.limits); err != nil {
			return 0, err
		}
		pos += size + int64(stored)
	}
	return end, nil
}

// entry reads one entry header of which h is the fixed part.
func (s *scanner) entry(g region, pos int64, h []byte, size, stored int64) (*Entry, error) {
	le := binary.LittleEndian
	e := &Entry{
		RawKind: int(le.Uint16(h)),
		Minor:   int(le.Uint16(h[24:])),
		Major:   int(le.Uint16(h[26:])),
		Arch:    clampInt(le.Uint32(h[28:])),
		Flags:   le.Uint64(h[40:]),
		Member:  g.member,
		Section: g.section,
		Offset:  g.offset + pos + size,
	}
	switch e.RawKind {
	case rawKindPTX:
		e.Kind = KindPTX
	case rawKindELF, rawKindOldCubin:
		e.Kind = KindELF
	}
	compressed, plain := int64(le.Uint32(h[16:])), le.Uint64(h[56:])
	switch {
	case e.Flags&flagZstd != 0:
		e.Compression = Zstd
	case e.Flags&(flagLZ4|flagLZ4Old) != 0:
		e.Compression = LZ4
	}
	e.StoredSize, e.Size = stored, stored
	if e.Compression != Stored {
		// The payload is padded; a decoder needs the exact length.
		if compressed == 0 || compressed > stored {
			return nil, s.fail(formatError(g.section, pos, "compressed size: got %d, want 1 to %d", compressed, stored), g)
		}
		if plain == 0 { // LZ4's decoder faults without room
			return nil, s.fail(formatError(g.section, pos, "uncompressed size: got 0"), g)
		}
		e.StoredSize, e.Size = compressed, int64(min(plain, 1<<62))
	}
	nameOff, nameLen := int64(le.Uint32(h[32:])), int64(le.Uint32(h[36:]))
	if nameLen > 0 && nameLen <= maxName && nameOff >= 0 && nameOff+nameLen <= size {
		name := make([]byte, nameLen)
		if err := s.read(g, pos+nameOff, name); err != nil {
			return nil, err
		}
		e.Name = untilNUL(name)
	}
	return e, nil
}

// maxName bounds object and member names.
const maxName = 1 << 12

func (s *scanner) read(g region, off int64, b []byte) error {
	n, err := s.r.ReadAt(b, g.offset+off)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = formatError(g.section, off, "got %d bytes, want %d", n, len(b))
	}
	return s.fail(err, g)
}

// fail names the file and the archive member.
func (s *scanner) fail(err error, g region) error {
	return at(err, memberPath(s.file.Path, g.member), -1)
}

func memberPath(path, member string) string {
	if member == "" {
		return path
	}
	return path + "(" + member + ")"
}
