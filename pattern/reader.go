package pattern

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"shmoo/diag"
	"shmoo/smem"
)

// Limits that keep hostile files cheap. A row of 64 lanes takes about 1 KiB.
const (
	maxLineBytes  = 64 << 10
	maxColumns    = 256
	maxQuietBytes = 16 << 20 // of comments and empty lines on end
	gotBytes      = 40       // of a bad field that an error quotes
)

// A Pattern is one row of a pattern file. Figures that the row does not have are -1.
type Pattern struct {
	Line int // from 1
	Op   *Op // do not modify
	Mask smem.Mask
	Addr []uint32 // one byte offset per lane; valid until the next Read

	Cycles        float64 // per instruction, by the clock probe, with the probe's constant
	UnitCycles    float64 // per instruction, of the saturated unit alone, by a meter without a constant
	Wavefronts    int     // hardware counter, per instruction
	Conflicts     int     // hardware counter, per instruction
	NcuWavefronts int     // what Nsight Compute's source page shows for the instruction

	opIndex int // of Op in opTable
}

// Request returns the pattern as a request to a unit. It shares Addr.
func (p *Pattern) Request() smem.Request {
	return smem.Request{Op: p.Op.Op, Width: p.Op.Width, Active: p.Mask, Addr: p.Addr}
}

// column parses one field into a pattern. want completes "want ...".
type column struct {
	name     string
	required bool
	want     string
	parse    func(p *Pattern, field []byte) bool
}

// columns is the format: what each column is called and holds.
var columns = []column{
	{"op", true, "", parseOp},
	{"mask", true, "the active lanes as 1 to 16 hex digits", parseMask},
	{"addresses", true, "1 to 64 byte offsets below 2^32, separated by spaces", parseAddresses},
	{"cycles", false, "a number of cycles, or nothing",
		func(p *Pattern, f []byte) bool { return parseCycles(&p.Cycles, f) }},
	{"unit_cycles", false, "a number of cycles, or nothing",
		func(p *Pattern, f []byte) bool { return parseCycles(&p.UnitCycles, f) }},
	{"wavefronts", false, "a whole number of wavefronts, or nothing",
		func(p *Pattern, f []byte) bool { return parseCount(&p.Wavefronts, f) }},
	{"conflicts", false, "a whole number of conflicts, or nothing",
		func(p *Pattern, f []byte) bool { return parseCount(&p.Conflicts, f) }},
	{"ncu_sass_wavefronts", false, "a whole number of wavefronts, or nothing",
		func(p *Pattern, f []byte) bool { return parseCount(&p.NcuWavefronts, f) }},
}

// A Reader reads a pattern file row by row in constant memory.
type Reader struct {
	name     string
	lines    *bufio.Reader
	line     int
	layout   []int // per column of the file the index in columns, or -1
	addr     [smem.MaxLanes]uint32
	fields   [][]byte // of the line at hand
	unquoted bool     // some of them are shorter than in the file
}

// NewReader returns a reader of the pattern file r, which it calls name in errors. It unpacks gzip, recognised by content,
// and reads the header.
//
// A file that breaks the format gives a *diag.Diagnostic that names line and column; a failing r gives its error, wrapped.
func NewReader(r io.Reader, name string) (*Reader, error) {
	d := &Reader{name: name, lines: bufio.NewReaderSize(r, maxLineBytes)}
	if magic, _ := d.lines.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(d.lines)
		if err != nil {
			return nil, d.ioError(err)
		}
		d.lines = bufio.NewReaderSize(unpacked, maxLineBytes)
	}
	if bom, _ := d.lines.Peek(3); string(bom) == "\ufeff" {
		d.lines.Discard(len(bom)) // cannot fail: they were just peeked
	}
	header, err := d.next()
	if errors.Is(err, io.EOF) {
		d.line = 1
		return nil, d.errorf("pattern/header", 0, "got an empty file, want a header that names the columns op, mask, addresses")
	}
	if err != nil {
		return nil, err
	}
	return d, d.readHeader(header)
}

// Name returns the name of the file as given to NewReader.
func (d *Reader) Name() string { return d.name }

func (d *Reader) readHeader(line []byte) error {
	fields, err := d.split(line)
	if err != nil {
		return err
	}
	seen := make([]bool, len(columns))
	for _, field := range fields {
		index := -1
		for i := range columns {
			if strings.EqualFold(columns[i].name, string(bytes.TrimSpace(field))) {
				index = i
			}
		}
		if index >= 0 && seen[index] {
			return d.errorf("pattern/header", 0, "got column %s twice, want it once", columns[index].name)
		}
		if index >= 0 {
			seen[index] = true
		}
		d.layout = append(d.layout, index)
	}
	for i, c := range columns {
		if c.required && !seen[i] {
			return d.errorf("pattern/header", 1, "got header %s, want a column %s", quote(line), c.name)
		}
	}
	return nil
}

// Read reads the next pattern into p. At the end it returns io.EOF. Errors are as in NewReader; after one the reader is
// spent.
func (d *Reader) Read(p *Pattern) error {
	line, err := d.next()
	if err != nil {
		return err
	}
	fields, err := d.split(line)
	if err != nil {
		return err
	}
	if len(fields) != len(d.layout) {
		return d.errorf("pattern/row", 0, "got %d fields, want %d as in the header", len(fields), len(d.layout))
	}
	*p = Pattern{Line: d.line, Addr: d.addr[:0], Cycles: -1, UnitCycles: -1, Wavefronts: -1, Conflicts: -1,
		NcuWavefronts: -1}
	at := 1
	for i, index := range d.layout {
		field := bytes.TrimSpace(fields[i])
		if index >= 0 && !columns[index].parse(p, field) {
			return d.valueError(at, &columns[index], field)
		}
		at += len(fields[i]) + 1
	}
	if lanes := bits.Len64(uint64(p.Mask)); lanes > len(p.Addr) {
		return d.errorf("pattern/value", 0, "column addresses: got %d byte offsets, want at least %d: lane %d is active",
			len(p.Addr), lanes, lanes-1)
	}
	return nil
}

// valueError reports a field that its column does not take. at is where the field starts; quoted fields before it are
// shorter here than in the file, so the place is left out when there were any.
func (d *Reader) valueError(at int, c *column, field []byte) error {
	if d.unquoted {
		at = 0
	}
	want := c.want
	if c.name == "op" {
		names := make([]string, len(opTable))
		for i := range opTable {
			names[i] = opTable[i].Name
		}
		want = "one of " + strings.Join(names, " ")
	}
	return d.errorf("pattern/value", at, "column %s: got %s, want %s", c.name, quote(field), want)
}

// next returns the next line that is neither empty nor a comment (#), without its end. It is valid until the next call.
func (d *Reader) next() ([]byte, error) {
	for quiet := 0; quiet <= maxQuietBytes; {
		line, err := d.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			d.line++
			return nil, d.errorf("pattern/line", 0, "got a line of more than %d bytes, want at most that", maxLineBytes)
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return nil, d.ioError(err)
		}
		d.line++
		quiet += len(line)
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			return line, nil
		}
	}
	return nil, d.errorf("pattern/line", 0, "got more than %d bytes of comments and empty lines, want a row", maxQuietBytes)
}

// split cuts a line at its commas. A field in double quotes may hold commas and, doubled, quotes; it cannot hold a line
// end. The fields are valid until the next call.
func (d *Reader) split(line []byte) ([][]byte, error) {
	d.fields = d.fields[:0]
	d.unquoted = false
	for {
		if len(d.fields) == maxColumns {
			return nil, d.errorf("pattern/row", 0, "got more than %d fields, want at most that", maxColumns)
		}
		var field []byte
		more := false
		if len(line) > 0 && line[0] == '"' {
			var ok bool
			if field, line, ok = unquote(line[1:]); !ok {
				return nil, d.errorf("pattern/row", 0, "got a field in quotes without end, want a closing quote")
			}
			d.unquoted = true
			rest := line
			if line, more = bytes.CutPrefix(line, []byte(",")); !more && len(rest) > 0 {
				return nil, d.errorf("pattern/row", 0, "got %s after a closing quote, want a comma", quote(rest))
			}
		} else {
			field, line, more = bytes.Cut(line, []byte(","))
		}
		d.fields = append(d.fields, field)
		if !more {
			return d.fields, nil
		}
	}
}

// unquote returns the field that ends at the next single quote of s, with doubled quotes made one in place, and what
// follows it.
func unquote(s []byte) (field, rest []byte, ok bool) {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			if i+1 == len(s) || s[i+1] != '"' {
				return s[:n], s[i+1:], true
			}
			i++
		}
		s[n] = s[i]
		n++
	}
	return nil, nil, false
}

func parseOp(p *Pattern, field []byte) bool {
	p.opIndex = lookup(field)
	if p.opIndex < 0 {
		return false
	}
	p.Op = &opTable[p.opIndex]
	return true
}

func parseMask(p *Pattern, field []byte) bool {
	if digits, ok := bytes.CutPrefix(field, []byte("0x")); ok {
		field = digits
	}
	if len(field) == 0 || len(field) > 16 {
		return false
	}
	mask, err := strconv.ParseUint(string(field), 16, 64)
	p.Mask = smem.Mask(mask)
	return err == nil
}

func parseAddresses(p *Pattern, field []byte) bool {
	for i := 0; i < len(field); {
		if field[i] == ' ' {
			i++
			continue
		}
		value := uint64(0)
		for ; i < len(field) && field[i] != ' '; i++ {
			digit := field[i] - '0'
			if digit > 9 {
				return false
			}
			if value = value*10 + uint64(digit); value > math.MaxUint32 {
				return false
			}
		}
		if len(p.Addr) == cap(p.Addr) {
			return false
		}
		p.Addr = append(p.Addr, uint32(value))
	}
	return len(p.Addr) > 0
}

func parseCycles(to *float64, field []byte) bool {
	if len(field) == 0 {
		return true
	}
	if len(field) > 32 {
		return false
	}
	value, err := strconv.ParseFloat(string(field), 64)
	*to = value
	return err == nil && value >= 0 && !math.IsInf(value, 0)
}

func parseCount(to *int, field []byte) bool {
	if len(field) == 0 {
		return true
	}
	if len(field) > 9 {
		return false
	}
	value, err := strconv.ParseUint(string(field), 10, 32)
	*to = int(value)
	return err == nil
}

// errorf returns a diagnostic at the reader's line; col 0 leaves the column out.
func (d *Reader) errorf(id string, col int, format string, args ...any) error {
	return diag.Errorf(id, diag.Span{Pos: diag.Pos{File: d.name, Line: d.line, Col: col}}, format, args...)
}

// ioError passes io.EOF on. A broken gzip stream is the file's fault and gets a place; other errors are wrapped.
func (d *Reader) ioError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == io.EOF:
		return io.EOF
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &corrupt):
		d.line++
		return d.errorf("pattern/gzip", 0, "got broken gzip data (%v), want a whole gzip stream", err)
	}
	return fmt.Errorf("%s: %w", d.name, err)
}

// quote returns a field as an error shows it.
func quote(field []byte) string {
	if len(field) > gotBytes {
		return fmt.Sprintf("%q...", field[:gotBytes])
	}
	return fmt.Sprintf("%q", field)
}
