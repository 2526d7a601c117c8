package cubintest

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Entry is one entry of a fatbin.
type Entry struct {
	Kind     int // 1 PTX, 2 ELF
	Arch     int
	Major    int
	Minor    int
	Compress string // "", "lz4" or "zstd"
	Flags    uint64 // more flags, such as 0x100000 for code of one architecture alone
	Name     string
	Data     []byte
}

const (
	entryHeader = 64
	flagLZ4     = 0x2000
	flagZstd    = 0x8000
	flagsCommon = 0x11 // 64-bit, Linux
)

// Fatbin writes a fatbin. Compressors fail only on settings out of range, so a failure panics.
func Fatbin(entries ...Entry) []byte {
	le := binary.LittleEndian
	var body []byte
	for _, e := range entries {
		header := pad(append(make([]byte, entryHeader), e.Name...), 8)
		flags, payload, plain := flagsCommon|e.Flags, e.Data, 0
		switch e.Compress {
		case "lz4":
			payload, plain = compressLZ4(e.Data), len(e.Data)
			flags |= flagLZ4
		case "zstd":
			payload, plain = compressZstd(e.Data), len(e.Data)
			flags |= flagZstd
		}
		if plain > 0 {
			le.PutUint32(header[16:], uint32(len(payload)))
		}
		payload = pad(append([]byte(nil), payload...), 8)
		le.PutUint16(header, uint16(e.Kind))
		le.PutUint16(header[2:], 0x101)
		le.PutUint32(header[4:], uint32(len(header)))
		le.PutUint64(header[8:], uint64(len(payload)))
		le.PutUint16(header[24:], uint16(e.Minor))
		le.PutUint16(header[26:], uint16(e.Major))
		le.PutUint32(header[28:], uint32(e.Arch))
		if e.Name != "" {
			le.PutUint32(header[32:], entryHeader)
			le.PutUint32(header[36:], uint32(len(e.Name)))
		}
		le.PutUint64(header[40:], flags)
		le.PutUint64(header[56:], uint64(plain))
		body = append(append(body, header...), payload...)
	}
	out := le.AppendUint32(nil, 0xba55ed50)
	out = le.AppendUint16(out, 1)
	out = le.AppendUint16(out, 16)
	out = le.AppendUint64(out, uint64(len(body)))
	return append(out, body...)
}

func compressLZ4(data []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, out, nil)
	if err != nil || n == 0 {
		panic(fmt.Sprintf("cubintest: lz4: %d bytes, %v", n, err))
	}
	return out[:n]
}

func compressZstd(data []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic("cubintest: zstd: " + err.Error())
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// Host writes a host ELF file (x86-64) with data in a section of some name, as linkers leave fatbins.
func Host(section string, data []byte) []byte {
	e := &ELF{Type: 3, Machine: 62, Version: 1}
	e.Add(Section{Name: ".text", Type: TypeProgbits, Flags: 6, Align: 16, Data: make([]byte, 32)})
	e.Add(Section{Name: section, Type: TypeProgbits, Flags: 2, Align: 8, Data: data})
	return e.Bytes()
}

// PE writes a Windows library (x86-64) with code in a first section and data in a second one of some name.
func PE(section string, data []byte) []byte {
	le := binary.LittleEndian
	const header, optional, code = 0x50, 240, 16
	out := make([]byte, header)
	copy(out, "MZ")
	le.PutUint32(out[0x3c:], header)
	out = append(out, "PE\x00\x00"...)
	out = le.AppendUint16(out, 0x8664)
	out = le.AppendUint16(out, 2)
	out = append(out, make([]byte, 12)...)
	out = le.AppendUint16(out, optional)
	out = le.AppendUint16(out, 0x2022)
	out = append(out, make([]byte, optional)...)
	start := len(out) + 2*40
	add := func(name string, at, size int, flags uint32) {
		h := make([]byte, 40)
		copy(h[:8], name)
		le.PutUint32(h[8:], uint32(size))
		le.PutUint32(h[16:], uint32(size))
		le.PutUint32(h[20:], uint32(at))
		le.PutUint32(h[36:], flags)
		out = append(out, h...)
	}
	add(".text", start, code, 0x60000020)
	add(section, start+code, len(data), 0x40000040)
	return append(append(out, make([]byte, code)...), data...)
}

// Member is one file of an [Archive].
type Member struct {
	Name string
	Data []byte
}

// Archive writes a static archive with GNU long names.
func Archive(members ...Member) []byte {
	out := []byte("!<arch>\n")
	var long []byte
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name + "/"
		if len(names[i]) > 16 {
			names[i] = fmt.Sprintf("/%d", len(long))
			long = append(append(long, m.Name...), '/', '\n')
		}
	}
	add := func(name string, data []byte) {
		out = fmt.Appendf(out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, len(data))
		out = pad(append(out, data...), 2)
	}
	if long != nil {
		add("//", long)
	}
	for i, m := range members {
		add(names[i], m.Data)
	}
	return out
}
