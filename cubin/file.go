package cubin

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Carrier is the kind of file that holds the GPU code.
type Carrier uint8

// The carriers, recognised by content.
const (
	CarrierUnknown Carrier = iota
	CarrierHost            // executable, shared library or object file of the host, ELF
	CarrierPE              // executable or library of Windows
	CarrierArchive         // static archive
	CarrierFatbin
	CarrierCubin
	CarrierPTX
)

// carrierNames is indexed by Carrier.
var carrierNames = [...]string{"unknown", "host ELF", "host PE", "archive", "fatbin", "cubin", "PTX"}

// String names the carrier.
func (c Carrier) String() string { return carrierNames[min(int(c), len(carrierNames)-1)] }

// File is an open carrier of GPU code. Its methods may be called from several goroutines.
type File struct {
	Path    string // "" for Read
	Carrier Carrier
	Fatbins int   // fatbin containers found
	Size    int64 // bytes

	r       io.ReaderAt
	closer  io.Closer
	limits  Limits
	entries []*Entry
}

// Open opens a file and lists its GPU code. The caller closes it.
func Open(path string) (*File, error) { return OpenLimits(path, Limits{}) }

// OpenLimits is [Open] with limits of the caller's; the zero value means [DefaultLimits].
func OpenLimits(path string, lim Limits) (*File, error) {
	h, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := h.Stat()
	if err != nil {
		h.Close()
		return nil, err
	}
	if !st.Mode().IsRegular() {
		h.Close()
		return nil, &Error{File: path, Entry: -1, Offset: -1, Err: kindError{ErrUnrecognised, "not a regular file"}}
	}
	f, err := read(path, h, st.Size(), lim)
	if err != nil {
		h.Close()
		return nil, err
	}
	f.closer = h
	return f, nil
}

// Read lists the GPU code of a file of some size behind r, which must stay readable while the File is in use.
func Read(r io.ReaderAt, size int64) (*File, error) { return read("", r, size, Limits{}) }

// ReadLimits is [Read] with limits of the caller's; the zero value means [DefaultLimits].
func ReadLimits(r io.ReaderAt, size int64, lim Limits) (*File, error) { return read("", r, size, lim) }

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Entries returns the file's GPU code in file order. The slice is the file's own.
func (f *File) Entries() []*Entry { return f.entries }

// Arches returns the architectures of the machine code that the entry headers name, ascending.
func (f *File) Arches() []int {
	var out []int
	for _, e := range f.entries {
		if e.Kind == KindELF && e.Arch != 0 && !slices.Contains(out, e.Arch) {
			out = append(out, e.Arch)
		}
	}
	slices.Sort(out)
	return out
}

// For returns the machine code that a device of some architecture would run: of every fatbin the entry with the highest
// architecture that runs on it, and of what stands outside fatbins all that run on it. It is empty where a driver would
// compile PTX.
func (f *File) For(arch int) []*Entry {
	var out []*Entry
	best := make(map[int]int) // fatbin -> index into out
	for _, e := range f.entries {
		if !e.RunsOn(arch) {
			continue
		}
		i, ok := best[e.Fatbin]
		switch {
		case e.Fatbin < 0 || !ok:
			best[e.Fatbin] = len(out)
			out = append(out, e)
		case e.Arch > out[i].Arch:
			out[i] = e
		}
	}
	return out
}

func (f *File) add(e *Entry, lim *Limits) error {
	if len(f.entries) >= lim.MaxEntries {
		return at(limitError("", -1, "more than %d entries", lim.MaxEntries), f.Path, -1)
	}
	e.file, e.Index = f, len(f.entries)
	f.entries = append(f.entries, e)
	return nil
}

func read(path string, r io.ReaderAt, size int64, lim Limits) (*File, error) {
	f := &File{Path: path, Size: size, r: r, limits: lim.orDefault()}
	s := &scanner{file: f, r: r, limits: &f.limits}
	whole := region{size: size}
	head := make([]byte, min(size, sniffSize))
	if err := s.read(whole, 0, head); err != nil {
		return nil, err
	}
	f.Carrier = sniff(head)
	var err error
	switch f.Carrier {
	case CarrierHost:
		err = s.scanHost(whole)
	case CarrierPE:
		err = s.scanPE(whole)
	case CarrierArchive:
		err = s.scanArchive(whole, head)
	case CarrierFatbin:
		err = s.scanFatbins(whole)
	case CarrierCubin:
		err = s.addWhole(whole, KindELF, head)
	case CarrierPTX:
		err = s.addWhole(whole, KindPTX, head)
	default:
		err = at(&Error{Entry: -1, Offset: -1, Err: kindError{ErrUnrecognised,
			"no ELF or PE file, archive, fatbin, cubin or PTX text"}}, path, -1)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

const sniffSize = 4096

// sniff recognises a carrier by its first bytes.
func sniff(head []byte) Carrier {
	switch {
	case len(head) >= 20 && bytes.Equal(head[:4], elfMagic):
		if binary.LittleEndian.Uint16(head[18:]) == machineCUDA {
			return CarrierCubin
		}
		return CarrierHost
	case bytes.HasPrefix(head, []byte("MZ")):
		return CarrierPE
	case bytes.HasPrefix(head, archiveMagic), bytes.HasPrefix(head, thinMagic):
		return CarrierArchive
	case len(head) >= fatbinHeaderSize && isFatbin(head):
		return CarrierFatbin
	case isPTX(head):
		return CarrierPTX
	}
	return CarrierUnknown
}

// isPTX tells whether text begins with PTX's first directive, after comments and blank space.
func isPTX(head []byte) bool {
	b := head
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		switch {
		case bytes.HasPrefix(b, []byte("//")):
			end := bytes.IndexByte(b, '\n')
			if end < 0 {
				return false
			}
			b = b[end:]
		case bytes.HasPrefix(b, []byte("/*")):
			end := bytes.Index(b, []byte("*/"))
			if end < 0 {
				return false
			}
			b = b[end+2:]
		default:
			return bytes.HasPrefix(b, []byte(".version"))
		}
	}
}

// ptxHeader reads target and version from the directives that PTX text begins with; what is not there is 0.
func ptxHeader(head []byte) (arch, major, minor int) {
	for line := range bytes.Lines(head) {
		f := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) })
		if len(f) < 2 {
			continue
		}
		// Atoi gives 0 for what is no number.
		switch f[0] {
		case ".version":
			before, after, _ := strings.Cut(f[1], ".")
			major, _ = strconv.Atoi(before)
			minor, _ = strconv.Atoi(after)
		case ".target":
			arch, _ = strconv.Atoi(strings.TrimRight(strings.TrimPrefix(f[1], "sm_"), "af"))
			return arch, major, minor
		}
	}
	return arch, major, minor
}

// addWhole lists a region that is one entry by itself.
func (s *scanner) addWhole(g region, kind Kind, head []byte) error {
	e := &Entry{Kind: kind, Fatbin: -1, Member: g.member, Section: g.section, Offset: g.offset, StoredSize: g.size,
		Size: g.size}
	switch {
	case kind == KindELF && len(head) >= elfHeaderSize:
		e.Arch, _, _ = archFromFlags(head[8], binary.LittleEndian.Uint32(head[48:]))
	case kind == KindPTX:
		e.Arch, e.Major, e.Minor = ptxHeader(head)
	}
	return s.file.add(e, s.limits)
}

// Sections of host files that hold fatbins: in linked files, in objects for relocatable device code, and in Windows files.
var fatbinSections = []string{".nv_fatbin", "__nv_relfatbin", ".nv_fatb"}

// scanHost lists the fatbins of a host ELF file. Without sections of the known names (other linkers, loaders that
// embed fatbins as data) all data sections are searched.
func (s *scanner) scanHost(g region) error {
	secs, err := s.hostSections(g)
	if err != nil {
		return err
	}
	return s.scanSections(secs)
}

// scanSections lists the fatbins in sections of the known names or, if there are none, in all.
func (s *scanner) scanSections(secs []region) error {
	known := slices.ContainsFunc(secs, func(r region) bool { return slices.Contains(fatbinSections, r.section) })
	for _, r := range secs {
		if known && !slices.Contains(fatbinSections, r.section) || strings.HasPrefix(r.section, ".debug") {
			continue
		}
		if err := s.scanFatbins(r); err != nil {
			return err
		}
	}
	return nil
}

// hostSections returns the sections of a host ELF file that hold data.
func (s *scanner) hostSections(g region) ([]region, error) {
	var h [elfHeaderSize]byte
	if err := s.read(g, 0, h[:min(g.size, elfHeaderSize)]); err != nil {
		return nil, err
	}
	if g.size < elfHeaderSize {
		return nil, s.fail(formatError("", g.size, "ELF header: got %d bytes, want %d", g.size, elfHeaderSize), g)
	}
	t, err := readSectionTable(h[:], uint64(g.size), s.limits, func(off uint64) ([]byte, error) {
		b := make([]byte, sectionHdrSize)
		return b, s.read(g, int64(off), b)
	})
	if err != nil {
		return nil, s.fail(err, g)
	}
	if t.count == 0 {
		return nil, nil
	}
	table := make([]byte, t.count*sectionHdrSize)
	if err := s.read(g, int64(t.offset), table); err != nil {
		return nil, err
	}
	return s.hostRegions(g, table, int(t.strIndex))
}

// hostRegions turns section headers into regions: sections with bytes that are neither code nor tables.
func (s *scanner) hostRegions(g region, table []byte, strIndex int) ([]region, error) {
	const (
		progbits = 1
		execFlag = 4
	)
	le := binary.LittleEndian
	bounds := func(h []byte) (off, size int64, err error) {
		o, n := le.Uint64(h[24:]), le.Uint64(h[32:])
		if o > uint64(g.size) || n > uint64(g.size)-o {
			return 0, 0, s.fail(formatError("", -1, "section bytes %#x+%#x: file has %#x", o, n, g.size), g)
		}
		return int64(o), int64(n), nil
	}
	namesOff, namesSize, err := bounds(table[strIndex*sectionHdrSize:])
	if err != nil {
		return nil, err
	}
	var out []region
	var name [64]byte
	left := g.size // sections do not overlap
	for ; len(table) > 0; table = table[sectionHdrSize:] {
		if le.Uint32(table[4:]) != progbits || le.Uint64(table[8:])&execFlag != 0 {
			continue
		}
		off, size, err := bounds(table)
		if err != nil {
			return nil, err
		}
		if left -= size; left < 0 {
			return nil, s.fail(formatError("", -1, "sections of more bytes than the file's %#x", g.size), g)
		}
		at := int64(le.Uint32(table))
		if at > namesSize {
			return nil, s.fail(formatError("", -1, "section name offset %#x: table has %#x bytes", at, namesSize), g)
		}
		b := name[:min(namesSize-at, int64(len(name)))]
		if err := s.read(g, namesOff+at, b); err != nil {
			return nil, err
		}
		out = append(out, region{member: g.member, section: untilNUL(b), offset: g.offset + off, size: size})
	}
	return out, nil
}

func untilNUL(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
