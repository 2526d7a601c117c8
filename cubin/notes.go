package cubin

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Note types in sections .note.nv.tkinfo and .note.nv.cuinfo, by experiment on CUDA 13.1 and 13.5.
const (
	noteTool = 2000
	noteCUDA = 1000
)

// noteDesc returns the content of a note section's first note if it is NVIDIA's and of a type, else nil.
func noteDesc(s *section, typ uint32) ([]byte, error) {
	if len(s.data) < 12 {
		return nil, formatError(s.name, 0, "note header: got %d bytes, want 12", len(s.data))
	}
	le := binary.LittleEndian
	nameSize, descSize := uint64(le.Uint32(s.data)), uint64(le.Uint32(s.data[4:]))
	rest := s.data[12:]
	padded := (nameSize + 3) &^ 3
	if padded > uint64(len(rest)) || descSize > uint64(len(rest))-padded {
		return nil, formatError(s.name, 0, "note of %d+%d bytes: section has %d", nameSize, descSize, len(rest))
	}
	if le.Uint32(s.data[8:]) != typ || !bytes.HasPrefix(rest[:nameSize], []byte("NVIDIA Corp")) {
		return nil, nil
	}
	return rest[padded : padded+descSize], nil
}

// readNotes fills target, toolkit and tool from the notes of the new ABI.
func (img *Image) readNotes(f *elfFile) error {
	for i := range f.sections {
		s := &f.sections[i]
		switch s.name {
		case ".note.nv.tkinfo":
			desc, err := noteDesc(s, noteTool)
			if err != nil {
				return err
			}
			img.readToolNote(desc)
		case ".note.nv.cuinfo":
			desc, err := noteDesc(s, noteCUDA)
			if err != nil {
				return err
			}
			if len(desc) >= 8 {
				img.Virtual = int(binary.LittleEndian.Uint16(desc[2:]))
				img.Toolkit = toolkit(binary.LittleEndian.Uint32(desc[4:]))
			}
		}
	}
	return nil
}

// readToolNote reads six words and a string pool: version, then offsets of object name, tool, tool version, branch and
// options. Strings that do not fit stay empty: nothing depends on them.
func (img *Image) readToolNote(desc []byte) {
	const header = 24
	if len(desc) < header {
		return
	}
	pool := desc[header:]
	text := func(i int) string {
		s, _ := cstring(pool, uint64(binary.LittleEndian.Uint32(desc[4*i:])))
		return s
	}
	img.Tool, img.Options = text(3), text(5)
	if target := targetFromOptions(img.Options, img.Arch); target != "" {
		img.Target = target
	}
}

// toolkit writes the toolkit number, 131, as its version, "13.1".
func toolkit(n uint32) string {
	if n < 10 || n > 9999 {
		return ""
	}
	return fmt.Sprintf("%d.%d", n/10, n%10)
}
