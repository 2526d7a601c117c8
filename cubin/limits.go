package cubin

// Limits bounds what one file may make this package do. The zero value means [DefaultLimits].
type Limits struct {
	MaxEntries  int   // entries of one file
	MaxMembers  int   // members of one archive
	MaxImage    int64 // bytes of one entry after decompression
	MaxSections int   // sections of one ELF file
	MaxSymbols  int   // symbols of one cubin
	MaxParams   int   // parameters of one kernel
	MaxLineRows int   // rows of the line table of one cubin
	MaxRelocs   int   // relocations of one cubin
}

// DefaultLimits returns the limits that [Open] and [Read] use. They leave room for ten times what was seen in libraries of
// 150 to 200 MB (1 001 entries, images of 40 MB with 6 000 sections), and end hostile files early.
func DefaultLimits() Limits {
	return Limits{
		MaxEntries:  1 << 20,
		MaxMembers:  1 << 20,
		MaxImage:    512 << 20,
		MaxSections: 1 << 20,
		MaxSymbols:  1 << 22,
		MaxParams:   4096,
		MaxLineRows: 1 << 24,
		MaxRelocs:   1 << 22,
	}
}

// orDefault replaces a zero value as a whole; single zero fields keep their meaning of "none".
func (l Limits) orDefault() Limits {
	if l == (Limits{}) {
		return DefaultLimits()
	}
	return l
}
