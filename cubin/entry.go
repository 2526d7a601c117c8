package cubin

import "strconv"

// Kind tells what an entry holds.
type Kind uint8

// The kinds of entries. The numbers are this package's own.
const (
	KindOther Kind = iota // listed and not read: intermediate code, kinds not known
	KindPTX               // PTX text
	KindELF               // machine code: a cubin
)

// kindNames is indexed by Kind.
var kindNames = [...]string{"other", "ptx", "elf"}

// String names the kind.
func (k Kind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// Compression tells how an entry is stored.
type Compression uint8

// The ways an entry is stored.
const (
	Stored Compression = iota
	LZ4
	Zstd
)

// compressionNames is indexed by Compression.
var compressionNames = [...]string{"stored", "lz4", "zstd"}

// String names the compression.
func (c Compression) String() string { return compressionNames[min(int(c), len(compressionNames)-1)] }

// Entry is one piece of GPU code in a file: one module for one architecture. Its fields come from headers and are not
// checked against the content until the entry is loaded.
type Entry struct {
	Index       int // into File.Entries
	Kind        Kind
	RawKind     int    // the fatbin's own number, 0 outside a fatbin
	Arch        int    // 86 for sm_86 and compute_86; 0 if only the content says
	Member      string // archive member that holds it, "" if none
	Section     string // section of the host file that holds it, "" if none
	Fatbin      int    // number of the fatbin within the file, -1 outside a fatbin
	Name        string // object name as the fatbin has it, usually ""
	Major       int    // PTX ISA version of PTX text
	Minor       int
	Flags       uint64 // fatbin flags
	Compression Compression
	Offset      int64 // of the payload in the file
	StoredSize  int64 // bytes in the file, without padding
	Size        int64 // bytes after decompression

	file *File
}

// Flags of fatbin entries that narrow the devices that can run the code, by compiling one kernel for sm_90, sm_90a,
// sm_120, sm_120a and sm_120f with nvcc 13.5.
const (
	flagArchOnly   = 0x100000 // sm_90a: this very architecture
	flagFamilyOnly = 0x200000 // sm_120f: its family
)

// Target returns the entry's target: "sm_90a" for machine code, "compute_90" for PTX; "" if only the content says. The
// suffix is known for entries of fatbins only; an image knows it always.
func (e *Entry) Target() string {
	if e.Arch == 0 {
		return ""
	}
	name := "compute_"
	if e.Kind == KindELF {
		name = "sm_"
	}
	name += strconv.Itoa(e.Arch)
	switch {
	case e.Flags&flagArchOnly != 0:
		return name + "a"
	case e.Flags&flagFamilyOnly != 0:
		return name + "f"
	}
	return name
}

// RunsOn tells whether a device of some architecture can run the entry's machine code as it is: code for X.y runs on
// X.z with z not below y, code for an architecture alone (the suffix a) on no other (CUDA C++ Programming Guide, binary
// compatibility).
func (e *Entry) RunsOn(arch int) bool {
	if e.Kind != KindELF || e.Flags&flagArchOnly != 0 && e.Arch != arch {
		return false
	}
	return e.Arch/10 == arch/10 && e.Arch <= arch
}

// File returns the file that the entry belongs to.
func (e *Entry) File() *File { return e.file }

// Bytes returns the entry's content, decompressed: PTX text or a cubin. It is appended to dst[:0], which may be nil.
// The zeros that fill the last words of PTX text are cut off.
func (e *Entry) Bytes(dst []byte) ([]byte, error) {
	b, _, err := e.content(dst, nil)
	return b, err
}

// Load reads an entry with machine code. The image owns its memory.
func (e *Entry) Load() (*Image, error) {
	img, _, err := e.load(nil, nil)
	return img, err
}

// load is Load with buffers to be reused, which it returns grown.
func (e *Entry) load(plain, stored []byte) (*Image, loadBuffers, error) {
	keep := loadBuffers{plain, stored}
	if e.Kind != KindELF {
		return nil, keep, at(&Error{Entry: -1, Offset: -1, Err: kindError{ErrNotELF, "entry holds " + e.Kind.String() +
			", want elf"}}, memberPath(e.file.Path, e.Member), e.Index)
	}
	b, stored, err := e.content(plain, stored)
	if err != nil {
		return nil, loadBuffers{plain, stored}, err
	}
	keep = loadBuffers{b, stored}
	img, err := ParseImage(b, e.file.limits)
	if err != nil {
		return nil, keep, e.fail(err)
	}
	img.Entry = e
	return img, keep, nil
}

// loadBuffers are the two buffers that loading an entry needs.
type loadBuffers struct{ plain, stored []byte }

func (e *Entry) fail(err error) error { return at(err, memberPath(e.file.Path, e.Member), e.Index) }

// content returns the plain bytes in plain's memory and the buffer for the stored bytes.
func (e *Entry) content(plain, stored []byte) ([]byte, []byte, error) {
	lim := e.file.limits.MaxImage
	if e.Size > lim || e.StoredSize > lim {
		return nil, stored, e.fail(limitError("", -1, "%d bytes, limit %d", max(e.Size, e.StoredSize), lim))
	}
	if e.Offset < 0 || e.StoredSize < 0 || e.Offset > e.file.Size || e.StoredSize > e.file.Size-e.Offset {
		return nil, stored, e.fail(formatError("", -1, "bytes %#x+%#x: file has %#x", e.Offset, e.StoredSize, e.file.Size))
	}
	if e.Compression == Stored {
		plain = grow(plain, int(e.StoredSize))
		if err := e.file.readFull(plain, e.Offset); err != nil {
			return nil, stored, e.fail(err)
		}
		return e.trim(plain), stored, nil
	}
	if bound := e.StoredSize * maxRatio[e.Compression]; e.Size > bound {
		return nil, stored, e.fail(formatError("", -1, "%s: %d bytes cannot become %d", e.Compression, e.StoredSize, e.Size))
	}
	stored = grow(stored, int(e.StoredSize))
	if err := e.file.readFull(stored, e.Offset); err != nil {
		return nil, stored, e.fail(err)
	}
	plain = grow(plain, int(e.Size))
	if err := decompress(e.Compression, plain, stored); err != nil {
		return nil, stored, e.fail(formatError("", -1, "%s: %v", e.Compression, err))
	}
	return e.trim(plain), stored, nil
}

// trim cuts the padding from stored PTX text.
func (e *Entry) trim(b []byte) []byte {
	if e.Kind != KindPTX {
		return b
	}
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return b[:n]
}

// grow returns a slice of length n in b's memory if that suffices.
func grow(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	return make([]byte, n)
}

func (f *File) readFull(b []byte, off int64) error {
	n, err := f.r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil {
		return formatError("", off, "got %d bytes, want %d", n, len(b))
	}
	return err
}
