package cubin

import "encoding/binary"

// byteReader reads little-endian fields and LEB128 numbers. After the first read past the end, err is set and all
// further reads give 0.
type byteReader struct {
	section string
	data    []byte
	pos     int
	err     error
}

func (r *byteReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = formatError(r.section, int64(r.pos), format, args...)
	}
}

func (r *byteReader) take(n int) []byte {
	if r.err != nil || n > len(r.data)-r.pos {
		r.fail("got %d bytes, want %d", len(r.data)-r.pos, n)
		return nil
	}
	r.pos += n
	return r.data[r.pos-n : r.pos]
}

func (r *byteReader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *byteReader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *byteReader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// uleb reads an unsigned number of at most 64 bits.
func (r *byteReader) uleb() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.u8()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail("number of more than 64 bits")
	return 0
}

// sleb reads a signed number of at most 64 bits.
func (r *byteReader) sleb() int64 {
	var v int64
	for shift := 0; shift < 64; {
		b := r.u8()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
	r.fail("number of more than 64 bits")
	return 0
}

// str reads a NUL-terminated string.
func (r *byteReader) str() string {
	if r.err != nil {
		return ""
	}
	s, ok := cstring(r.data, uint64(r.pos))
	if !ok {
		r.fail("string without end")
		return ""
	}
	r.pos += len(s) + 1
	return s
}
