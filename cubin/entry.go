package cubin

// Kind tells what an entry holds.
type Kind uint8

// The kinds of entries. The numbers are this package's own.
const (
	KindOther Kind = iota // listed and skipped: intermediate code, kinds not known
	KindPTX               // PTX text
	KindELF               // machine code: a cubin
)

// Compression tells how an entry is stored.
type Compression uint8

// The ways an entry is stored.
const (
	Stored Compression = iota
	LZ4
	Zstd
)

// Entry is one piece of GPU code in a file: one module for one architecture. Its fields come from headers and are not
// checked against the content until the entry is loaded.
type Entry struct {
	Index       int // into File.Entries
	Kind        Kind
	RawKind     int    // the fatbin's own number, 0 outside a fatbin
	Arch        int    // 86; 0 if only the content says
	Member      string // archive member that holds it, "" if none
	Section     string // section of the host file that holds it, "" if none
	Fatbin      int    // number of the fatbin within the file, -1 outside a fatbin
	Name        string // object name as the fatbin has it, usually ""
	Major       int    // PTX ISA version of PTX text
	Minor       int
	Flags       uint64 // fatbin flags
	Compression Compression
	Offset      int64 // of the payload in the file
	StoredSize  int64 // bytes in the file
	Size        int64 // bytes after decompression

	file *File
}

// File is an open carrier of GPU code.
type File struct {
	Path    string
	Carrier Carrier
	Fatbins int // number of fatbin containers

	// unexported fields follow when the reader lands
}

// Carrier is the kind of file that holds the GPU code.
type Carrier uint8

// The carriers, recognised by content.
const (
	CarrierUnknown Carrier = iota
	CarrierHostELF         // executable, shared library or object file of the host
	CarrierArchive         // static archive
	CarrierFatbin
	CarrierCubin
	CarrierPTX
)
