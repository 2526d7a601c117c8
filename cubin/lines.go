package cubin

import (
	"slices"
	"sort"
	"sync"
)

// Frame is one source position of an instruction.
type Frame struct {
	File   string // path as the compiler stored it
	Line   int    // from 1; 0 if the compiler gave none
	Column int    // 0 if not said, as is usual
	// Func is the mangled name of the inlined function that holds the position, "" for the kernel (or local function)
	// itself.
	Func string
}

// Lines maps the PCs of one kernel to source positions. Its strings outlive the image.
type Lines struct {
	seqs  []lineSeq // ascending by start
	table *lineTable
}

// lineSeq is a run of rows from one sequence of the line program: contexts count within it.
type lineSeq struct {
	rows []lineRow // ascending by pc; the last row of a PC counts
	end  uint32    // first PC behind the sequence
}

// lineRow is one row of the line program. file and fn are indices into lineTable, context the number of the row (from
// 1, within the sequence) that holds the call, 0 if the position is not inlined.
type lineRow struct {
	pc, file, line, column, context, fn uint32
}

// lineTable holds the strings of an image's line programs.
type lineTable struct {
	files []string
	funcs []string // funcs[0] is ""
}

// lineCache parses an image's line section once, for whichever kernel asks first.
type lineCache struct {
	once  sync.Once
	table *lineTable
	seqs  map[int][]lineSeq // code section -> sequences
	err   error
}

// Lines returns the kernel's source lines; they are empty if the build kept none. The first call for an image reads
// the line section of all its kernels.
func (k *Kernel) Lines() (*Lines, error) {
	c := &k.Image.lines
	c.once.Do(func() { c.table, c.seqs, c.err = readLines(k.Image.elf, k.Image.relocs, k.Image.limits) })
	if c.err != nil {
		if e := k.Image.Entry; e != nil {
			return nil, e.fail(c.err)
		}
		return nil, c.err
	}
	return &Lines{seqs: c.seqs[k.section], table: c.table}, nil
}

// Empty tells that no PC has a position.
func (l *Lines) Empty() bool { return len(l.seqs) == 0 }

// AppendAt appends the positions of a PC to dst, innermost first: the instruction's own line, then the line of the call
// that was inlined there, and so on outwards. Without a position it appends nothing.
func (l *Lines) AppendAt(dst []Frame, pc uint32) []Frame {
	for i := range l.seqs {
		s := &l.seqs[i]
		if pc >= s.end || pc < s.rows[0].pc {
			continue
		}
		n := sort.Search(len(s.rows), func(i int) bool { return s.rows[i].pc > pc })
		// A context always points to an earlier row, so the walk ends.
		for n > 0 {
			r := &s.rows[n-1]
			dst = append(dst, Frame{File: l.table.files[r.file], Line: int(r.line), Column: int(r.column), Func: l.table.funcs[r.fn]})
			n = int(r.context)
		}
		return dst
	}
	return dst
}

// Line-program numbers: DWARF 2 to 4, and NVIDIA's two extended opcodes as elfutils reads them.
const (
	lnsCopy             = 1
	lnsAdvancePC        = 2
	lnsAdvanceLine      = 3
	lnsSetFile          = 4
	lnsSetColumn        = 5
	lnsConstAddPC       = 8
	lnsFixedAdvancePC   = 9
	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lneInlinedCall      = 0x90 // context, function name
	lneSetFunction      = 0x91 // function name
	maxLineFiles        = 1 << 20
	lineVersionMin      = 2
	lineVersionMax      = 4
	lineVersionOpsField = 4 // first version with operations per instruction in the header
)

// lineReader runs the line programs of one image.
type lineReader struct {
	elf    *elfFile
	limits *Limits
	r      byteReader
	strs   []byte // .debug_str
	table  *lineTable
	byName map[uint64]uint32 // offset in strs -> index into table.funcs
	relocs map[uint64]rawReloc
	seqs   map[int][]lineSeq
	loose  []lineSeq // sequences without relocation
	total  int
}

// readLines reads .debug_line and assigns its sequences to code sections.
func readLines(f *elfFile, relocs map[int][]int, lim *Limits) (*lineTable, map[int][]lineSeq, error) {
	table := &lineTable{funcs: []string{""}}
	index := f.find(func(s *section) bool { return s.name == ".debug_line" && s.flags&flagMercury == 0 })
	if index < 0 || len(f.sections[index].data) == 0 {
		return table, nil, nil
	}
	lr := &lineReader{
		elf: f, limits: lim, table: table,
		r:      byteReader{section: ".debug_line", data: f.sections[index].data},
		byName: make(map[uint64]uint32),
		relocs: make(map[uint64]rawReloc),
		seqs:   make(map[int][]lineSeq),
	}
	if i := f.find(func(s *section) bool { return s.name == ".debug_str" && s.flags&flagMercury == 0 }); i >= 0 {
		lr.strs = f.sections[i].data
	}
	for _, ri := range relocs[index] {
		list, err := f.relocs(ri, lim.MaxRelocs)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range list {
			lr.relocs[r.offset] = r
		}
	}
	for lr.r.pos < len(lr.r.data) {
		if err := lr.unit(); err != nil {
			return nil, nil, err
		}
	}
	lr.assignLoose()
	for _, s := range lr.seqs {
		slices.SortStableFunc(s, func(a, b lineSeq) int { return int(int64(a.rows[0].pc) - int64(b.rows[0].pc)) })
	}
	return table, lr.seqs, nil
}

// assignLoose gives sequences without relocation, whose addresses then are offsets in some code section, to the
// sections in file order; only if counts and sizes agree for all of them.
func (lr *lineReader) assignLoose() {
	if len(lr.loose) == 0 {
		return
	}
	var sections []int
	for i := range lr.elf.sections {
		s := &lr.elf.sections[i]
		if len(s.name) > 6 && s.name[:6] == ".text." && s.data != nil && s.flags&flagMercury == 0 {
			sections = append(sections, i)
		}
	}
	if len(sections) != len(lr.loose) {
		return
	}
	for i, s := range lr.loose {
		if uint64(s.end) != lr.elf.sections[sections[i]].size {
			return
		}
	}
	for i, s := range lr.loose {
		lr.seqs[sections[i]] = append(lr.seqs[sections[i]], s)
	}
}

// lineUnit is the header of one line program.
type lineUnit struct {
	minInst    uint64
	lineBase   int64
	lineRange  int64
	opcodeBase byte
	operands   []byte // of each standard opcode
	fileBase   uint32 // index of this unit's file 1 in lineTable.files
	fileCount  uint32
	nameBase   uint64 // of function names in .debug_str
}

func (lr *lineReader) unit() error {
	r := &lr.r
	length := r.u32()
	if length == 0xffffffff {
		r.fail("64-bit line program")
	}
	if r.err != nil {
		return r.err
	}
	if uint64(length) > uint64(len(r.data)-r.pos) {
		r.fail("line program of %d bytes: section has %d left", length, len(r.data)-r.pos)
		return r.err
	}
	all := r.data
	end := r.pos + int(length)
	r.data = all[:end]
	defer func() { r.data = all }()
	u, err := lr.header()
	if err != nil {
		return err
	}
	for r.pos < end {
		if err := lr.sequence(u); err != nil {
			return err
		}
	}
	return nil
}

func (lr *lineReader) header() (*lineUnit, error) {
	r := &lr.r
	version := r.u16()
	if r.err == nil && (version < lineVersionMin || version > lineVersionMax) {
		r.fail("line program version %d, want %d to %d", version, lineVersionMin, lineVersionMax)
	}
	size := r.u32()
	if r.err == nil && uint64(size) > uint64(len(r.data)-r.pos) {
		r.fail("line program header of %d bytes: %d are left", size, len(r.data)-r.pos)
	}
	if r.err != nil {
		return nil, r.err
	}
	start := r.pos + int(size)
	u := &lineUnit{minInst: uint64(r.u8())}
	if version >= lineVersionOpsField {
		r.u8()
	}
	r.u8() // whether rows begin a statement: no use here
	u.lineBase = int64(int8(r.u8()))
	u.lineRange = int64(r.u8())
	u.opcodeBase = r.u8()
	if r.err == nil && (u.opcodeBase == 0 || u.lineRange == 0) {
		r.fail("opcode base %d, line range %d: want more than 0", u.opcodeBase, u.lineRange)
	}
	if r.err == nil {
		u.operands = r.take(int(u.opcodeBase) - 1)
	}
	dirs := []string{""}
	for r.err == nil && r.pos < start {
		d := r.str()
		if d == "" {
			break
		}
		dirs = append(dirs, d)
	}
	u.fileBase = uint32(len(lr.table.files))
	for r.err == nil && r.pos < start {
		name := r.str()
		if name == "" {
			break
		}
		lr.addFile(u, name, dirs)
	}
	if r.err == nil && start-r.pos >= 4 { // NVIDIA's addition to the header
		u.nameBase = uint64(r.u32())
	}
	if r.err == nil && r.pos > start {
		r.fail("line program header: runs %d bytes over", r.pos-start)
	}
	if r.err != nil {
		return nil, r.err
	}
	r.pos = start
	return u, nil
}

// addFile reads what follows a file's name and adds the file to the table.
func (lr *lineReader) addFile(u *lineUnit, name string, dirs []string) {
	r := &lr.r
	dir := r.uleb()
	r.uleb() // time
	r.uleb() // size
	if r.err != nil {
		return
	}
	if dir >= uint64(len(dirs)) {
		r.fail("file %q: directory %d of %d", name, dir, len(dirs))
		return
	}
	if u.fileCount++; len(lr.table.files) >= maxLineFiles {
		r.err = limitError(r.section, int64(r.pos), "more than %d files", maxLineFiles)
		return
	}
	path := name
	if d := dirs[dir]; d != "" && name[0] != '/' {
		path = d + "/" + name
	}
	if lr.elf.names += len(path); lr.elf.names > nameBudget(len(lr.elf.data)) {
		r.err = limitError(r.section, int64(r.pos), "names of more than %d bytes", nameBudget(len(lr.elf.data)))
		return
	}
	lr.table.files = append(lr.table.files, path)
}

// lineState is the register set of the line machine.
type lineState struct {
	pc      uint64
	file    uint64
	line    int64
	column  uint64
	context uint64
	fn      uint32
	section int // code section, 0 if not known
	rows    []lineRow
}

// sequence runs opcodes up to the end of one sequence.
func (lr *lineReader) sequence(u *lineUnit) error {
	r := &lr.r
	st := &lineState{file: 1, line: 1}
	for r.pos < len(r.data) {
		op := r.u8()
		switch {
		case op >= u.opcodeBase:
			adj := int64(op - u.opcodeBase)
			st.pc += uint64(adj/u.lineRange) * u.minInst
			st.line += u.lineBase + adj%u.lineRange
			lr.row(u, st)
		case op == 0:
			done, err := lr.extended(u, st)
			if err != nil || done {
				return err
			}
		default:
			lr.standard(u, st, op)
		}
		if r.err != nil {
			return r.err
		}
	}
	if len(st.rows) > 0 {
		r.fail("sequence without end")
	}
	return r.err
}

func (lr *lineReader) standard(u *lineUnit, st *lineState, op byte) {
	r := &lr.r
	switch op {
	case lnsCopy:
		lr.row(u, st)
	case lnsAdvancePC:
		st.pc += r.uleb() * u.minInst
	case lnsAdvanceLine:
		st.line += r.sleb()
	case lnsSetFile:
		st.file = r.uleb()
	case lnsSetColumn:
		st.column = r.uleb()
	case lnsConstAddPC:
		st.pc += uint64(int64(255-u.opcodeBase)/u.lineRange) * u.minInst
	case lnsFixedAdvancePC:
		st.pc += uint64(r.u16())
	default: // flags without meaning here, and opcodes that the header describes
		for range u.operands[op-1] {
			r.uleb()
		}
	}
}

// extended runs an extended opcode; done tells that it ended the sequence.
func (lr *lineReader) extended(u *lineUnit, st *lineState) (done bool, err error) {
	r := &lr.r
	size := r.uleb()
	if r.err == nil && (size == 0 || size > uint64(len(r.data)-r.pos)) {
		r.fail("extended opcode of %d bytes: %d are left", size, len(r.data)-r.pos)
	}
	if r.err != nil {
		return false, r.err
	}
	next := r.pos + int(size)
	switch op := r.u8(); op {
	case lneEndSequence:
		done = true
		lr.endSequence(st)
	case lneSetAddress:
		lr.setAddress(st, int(size)-1)
	case lneInlinedCall:
		st.context = r.uleb()
		st.fn = lr.function(u, r.uleb())
	case lneSetFunction:
		st.fn = lr.function(u, r.uleb())
	case lneDefineFile:
		r.fail("file defined inside a line program")
	}
	if r.err == nil && r.pos > next {
		r.fail("extended opcode: runs %d bytes over", r.pos-next)
	}
	r.pos = next
	return done, r.err
}

// setAddress reads an address. Its relocation, if there is one, names the code section.
func (lr *lineReader) setAddress(st *lineState, size int) {
	r := &lr.r
	place := uint64(r.pos)
	switch size {
	case 8:
		lo := r.u32()
		st.pc = uint64(r.u32())<<32 | uint64(lo)
	case 4:
		st.pc = uint64(r.u32())
	default:
		r.fail("address of %d bytes, want 4 or 8", size)
	}
	if rel, ok := lr.relocs[place]; ok {
		sym := &lr.elf.symbols[rel.symbol]
		st.section = sym.section
		st.pc += sym.value + uint64(rel.addend)
	}
}

// function returns the index of a function's name.
func (lr *lineReader) function(u *lineUnit, offset uint64) uint32 {
	offset += u.nameBase
	if i, ok := lr.byName[offset]; ok {
		return i
	}
	if lr.r.err != nil {
		return 0
	}
	if offset > 1<<32-1 {
		lr.r.fail("function name offset %#x", offset)
		return 0
	}
	if len(lr.strs) == 0 { // names were stripped
		return 0
	}
	name, err := lr.elf.name(lr.strs, uint32(offset), lr.r.section, int64(lr.r.pos), "function", len(lr.table.funcs))
	if err != nil {
		lr.r.err = err
		return 0
	}
	i := uint32(len(lr.table.funcs))
	lr.table.funcs = append(lr.table.funcs, name)
	lr.byName[offset] = i
	return i
}

// row appends the state as a row.
func (lr *lineReader) row(u *lineUnit, st *lineState) {
	r := &lr.r
	if r.err != nil {
		return
	}
	if lr.total++; lr.total > lr.limits.MaxLineRows {
		r.err = limitError(r.section, int64(r.pos), "more than %d rows", lr.limits.MaxLineRows)
		return
	}
	const maxLine = 1 << 30
	n := uint64(len(st.rows))
	switch {
	case st.file == 0 || st.file > uint64(u.fileCount):
		r.fail("row %d: file %d of %d", n+1, st.file, u.fileCount)
	case st.line < 0 || st.line > maxLine:
		r.fail("row %d: line %d", n+1, st.line)
	case st.pc > 1<<32-1:
		r.fail("row %d: address %#x", n+1, st.pc)
	case n > 0 && uint64(st.rows[n-1].pc) > st.pc:
		r.fail("row %d: address %#x behind %#x", n+1, st.pc, st.rows[n-1].pc)
	case st.context > n:
		r.fail("row %d: inlined at row %d, want an earlier one", n+1, st.context)
	}
	if r.err != nil {
		return
	}
	fn := st.fn
	if st.context == 0 {
		fn = 0 // the name of the last inlined function stays behind in the register
	}
	next := lineRow{
		pc: uint32(st.pc), file: u.fileBase + uint32(st.file) - 1, line: uint32(st.line),
		column: uint32(min(st.column, maxLine)), context: uint32(st.context), fn: fn,
	}
	// At the start of a local function the compiler repeats a row, and leaves the repetition out of the numbers that
	// contexts refer to: counting it would make functions that do not recurse inlined into themselves, as nvdisasm
	// prints them (sm_90 and sm_120 code of CUDA 13.5).
	if n > 0 && st.rows[n-1] == next {
		return
	}
	st.rows = append(st.rows, next)
}

// endSequence files the rows under their code section.
func (lr *lineReader) endSequence(st *lineState) {
	if len(st.rows) == 0 {
		return
	}
	if st.pc < uint64(st.rows[len(st.rows)-1].pc) || st.pc > 1<<32-1 {
		lr.r.fail("sequence ends at %#x, last row at %#x", st.pc, st.rows[len(st.rows)-1].pc)
		return
	}
	s := lineSeq{rows: slices.Clip(st.rows), end: uint32(st.pc)}
	if st.section == 0 {
		lr.loose = append(lr.loose, s)
		return
	}
	lr.seqs[st.section] = append(lr.seqs[st.section], s)
}
