package emu

import (
	"encoding/binary"
	"fmt"

	"shmoo/sass"
)

// sinkWords is the longest result of one instruction in registers.
const sinkWords = 16

// A machine is a program made ready for one launch. It is read-only while blocks run.
type machine struct {
	program *Program
	launch  Launch
	limits  Limits
	code    []inst
	bank0   bank
	banks   map[int]bank
	memory  *memory
	argAddr []uint64 // where each argument points, 0 for other arguments

	threads int // of a block
	warps   int
	zeroRow int32
	sinkRow int32
	rows    int // of a warp's file, before local memory

	sharedBase uint32 // address of the block's first shared byte
	sharedSize int    // bytes from address 0

	// unsupported counts instructions without semantics by operation; only names are kept here.
	unsupported []bool // by instruction
}

// bank is a constant bank: contents and which bytes are known. A nil known means all.
type bank struct {
	data  []byte
	known []bool
}

// load returns n bytes, at most 8, little endian.
func (b *bank) load(off int64, n int) (uint64, bool) {
	if off < 0 || off+int64(n) > int64(len(b.data)) {
		return 0, false
	}
	var v uint64
	for k := range n {
		if b.known != nil && !b.known[off+int64(k)] {
			return 0, false
		}
		v |= uint64(b.data[off+int64(k)]) << (8 * k)
	}
	return v, true
}

func (b *bank) set(off int, data []byte) {
	for i, v := range data {
		if off+i < len(b.data) {
			b.data[off+i], b.known[off+i] = v, true
		}
	}
}

func (b *bank) set32(off int, v uint32) { b.set(off, binary.LittleEndian.AppendUint32(nil, v)) }
func (b *bank) set64(off int, v uint64) { b.set(off, binary.LittleEndian.AppendUint64(nil, v)) }

// bank0Size bounds constant bank 0: 64 KiB in hardware.
const bank0Size = 64 << 10

func newMachine(p *Program, launch Launch, limits Limits) (*machine, error) {
	m := &machine{program: p, launch: launch, limits: limits.withDefaults(), banks: map[int]bank{}}
	if err := m.checkLaunch(); err != nil {
		return nil, err
	}
	m.sharedBase = uint32(p.layout.reserved)
	m.sharedSize = p.layout.reserved + p.code.SharedStatic
	if launch.DynamicShared > 0 {
		start := p.code.SharedDynamicStart
		if start == 0 {
			start = (p.code.SharedStatic + 15) &^ 15
		}
		m.sharedSize = p.layout.reserved + start + launch.DynamicShared
	}
	m.memory = newMemory(p.code.Data)
	m.fillBank0()
	for index, data := range p.code.Constants {
		m.banks[index] = bank{data: data}
	}
	m.banks[0] = m.bank0

	m.zeroRow = int32(p.regs)
	m.sinkRow = m.zeroRow + 1
	m.rows = int(m.sinkRow) + sinkWords
	m.code = make([]inst, len(p.insts))
	m.unsupported = make([]bool, len(p.insts))
	for i := range m.code {
		m.compile(i)
	}
	return m, nil
}

// Launch bounds of all generations (CUDA C++ Programming Guide, technical specifications per compute capability).
const (
	maxThreads = 1024
	maxBlockZ  = 64
	maxGridX   = 1<<31 - 1
	maxGridYZ  = 65535
	maxShared  = 256 << 10
)

func (m *machine) checkLaunch() error {
	code, l := &m.program.code, &m.launch
	fail := func(format string, args ...any) error {
		return &LaunchError{Kernel: code.Name, Reason: fmt.Sprintf(format, args...)}
	}
	for k, axis := range []string{"x", "y", "z"} {
		gridMax, blockMax := maxGridYZ, maxThreads
		if k == 0 {
			gridMax = maxGridX
		}
		if k == 2 {
			blockMax = maxBlockZ
		}
		if l.Grid[k] < 1 || l.Grid[k] > gridMax {
			return fail("grid %s is %d, want 1 to %d", axis, l.Grid[k], gridMax)
		}
		if l.Block[k] < 1 || l.Block[k] > blockMax {
			return fail("block %s is %d, want 1 to %d", axis, l.Block[k], blockMax)
		}
	}
	m.threads = l.Block[0] * l.Block[1] * l.Block[2]
	m.warps = (m.threads + warpLanes - 1) / warpLanes
	if m.threads > maxThreads {
		return fail("block has %d threads, want at most %d", m.threads, maxThreads)
	}
	if bound := code.MaxThreads[0] * code.MaxThreads[1] * code.MaxThreads[2]; bound > 0 && m.threads > bound {
		return fail("block has %d threads, the kernel's launch bound is %d", m.threads, bound)
	}
	if code.ReqThreads != [3]int{} && code.ReqThreads != l.Block {
		return fail("block is %v, the kernel requires %v", l.Block, code.ReqThreads)
	}
	if l.DynamicShared < 0 || code.SharedStatic < 0 || code.SharedDynamicStart < 0 ||
		l.DynamicShared+max(code.SharedStatic, code.SharedDynamicStart) > maxShared {
		return fail("shared memory of %d static and %d dynamic bytes, want at most %d together", code.SharedStatic,
			l.DynamicShared, maxShared)
	}
	if len(l.Args) > len(code.Params) {
		return fail("%d arguments, the kernel has %d parameters", len(l.Args), len(code.Params))
	}
	for i, a := range l.Args {
		size := code.Params[i].Size
		if (a.kind == argBuffer || a.kind == argPointer) && size != 8 {
			return fail("argument %d is a pointer, the parameter has %d bytes", i, size)
		}
		if a.kind == argBytes && len(a.data) != size {
			return fail("argument %d has %d bytes, the parameter has %d", i, len(a.data), size)
		}
	}
	blocks := int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])
	for _, b := range l.Blocks {
		if at := int64(b); at >= blocks || -at > blocks {
			return fail("block %d, the grid has %d", b, blocks)
		}
	}
	return nil
}

// fillBank0 synthesises what the driver writes at launch, and the parameters.
func (m *machine) fillBank0() {
	l, code := m.program.layout, &m.program.code
	size := bank0Size
	b := bank{data: make([]byte, size), known: make([]bool, size)}
	for k := range 3 {
		b.set32(l.ntid+4*k, uint32(m.launch.Block[k]))
		b.set32(l.nctaid+4*k, uint32(m.launch.Grid[k]))
	}
	if l.sharedWindow != 0 {
		b.set64(l.sharedWindow, sharedWindowAddr)
	}
	if l.localWindow != 0 {
		b.set64(l.localWindow, localWindowAddr)
	}
	if l.descriptor != 0 {
		b.set64(l.descriptor, 0)
	}
	b.set32(l.stack, stackTop)
	b.set32(l.dynamic, uint32(m.launch.DynamicShared))
	for _, off := range l.zeros {
		b.set32(off, 0)
	}
	for _, off := range l.ones {
		b.set32(off, 1)
	}
	m.argAddr = make([]uint64, len(m.launch.Args))
	for i, a := range m.launch.Args {
		at := code.ParamBase + code.Params[i].Offset
		switch a.kind {
		case argBytes:
			b.set(at, a.data)
		case argBuffer:
			m.argAddr[i] = m.memory.addBuffer(a.data)
			b.set64(at, m.argAddr[i])
		case argPointer:
			m.argAddr[i] = m.memory.addOpaque()
			b.set64(at, m.argAddr[i])
		}
	}
	m.bank0 = b
}

// compile makes one instruction ready.
func (m *machine) compile(i int) {
	in := &m.program.insts[i]
	o := &m.code[i]
	o.in, o.index, o.target, o.site = in, int32(i), -1, m.program.siteOf[i]
	o.guard = predOf(&sass.Operand{Reg: in.Guard.Reg, Kind: guardKind(in.Guard)})
	o.guard.neg = in.Guard.Neg
	o.guard.always = in.Guard.Always()
	o.guarded = !o.guard.always
	if t, ok := in.Target(uint64(i) * instSize); ok && t%instSize == 0 && t/instSize < uint64(len(m.code)) {
		o.target = int32(t / instSize)
	}
	o.pu, o.pv = predDst(in.Arg(sass.RolePu)), predDst(in.Arg(sass.RolePv))
	o.pp, o.pq, o.pr = predOf(in.Arg(sass.RolePp)), predOf(in.Arg(sass.RolePq)), predOf(in.Arg(sass.RolePr))
	o.dst, o.words, o.dstU = m.destination(in.Dst())

	s, ok := semanticsOf(in.Op)
	f := formInt
	if ok {
		f = s.form
	}
	o.a = m.operand(in.Arg(sass.RoleA), f, i, ok && s.wide(in, 'a'))
	o.b = m.operand(in.Arg(sass.RoleB), f, i, ok && s.wide(in, 'b'))
	o.c = m.operand(in.Arg(sass.RoleC), f, i, ok && s.wide(in, 'c'))
	o.data = m.operand(in.Arg(sass.RoleData), formInt, i, false)
	o.data2 = m.operand(in.Arg(sass.RoleData2), formInt, i, false)
	o.count = m.operand(in.Arg(sass.RoleMask), formInt, i, false)
	o.barrier = m.operand(in.Arg(sass.RoleBarrier), formInt, i, false)
	if d := in.Arg(sass.RoleData); d != nil {
		o.dataWords = int32(max(d.Count, 1))
	}
	o.addr, o.addr2 = m.address(in.Arg(sass.RoleAddr)), m.address(in.Arg(sass.RoleAddr2))
	if !ok {
		o.exec = unsupported
		m.unsupported[i] = true
		return
	}
	o.uniform = s.uniform
	o.fold, o.probes = s.fold, s.probes
	switch {
	case s.exec != nil:
		o.exec = s.exec
	case s.uniform:
		o.exec = foldUniform
	default:
		o.exec = foldLanes
	}
	if s.prepare != nil {
		s.prepare(m, o)
	}
	if s.uniform && s.exec == nil {
		o.exec = foldUniform // whatever fast path prepare chose for lanes
	}
}

func guardKind(p sass.Pred) sass.OperandKind {
	if p.Uniform {
		return sass.KindUPred
	}
	return sass.KindPred
}

// unsupported executes an instruction without semantics: its results are unknown, and it is counted.
func unsupported(w *warp, o *inst) {
	w.block.unsupported[o.index]++
	why := because(whyOp, int(o.index))
	if o.in.Op != sass.OpInvalid {
		w.poison(o, why)
		return
	}
	// An encoding that the decoder does not know: whatever it may write by the usual places of destinations.
	const dstBits, puBits, pvBits, longest = 16, 81, 84, 4
	dst := int(o.in.Enc.Bits(dstBits, 8))
	for k := range longest {
		if r := dst + k; r < w.m.program.regs {
			w.known[r] &^= w.act
			w.why[r] = why
		}
		if r := dst + k; r < uregZero {
			w.uknown[r], w.uwhy[r] = false, why
		}
	}
	for _, at := range []uint{puBits, pvBits} {
		p := uint8(o.in.Enc.Bits(at, 3))
		if p == sass.PT {
			continue
		}
		w.pknown[p] &^= w.act
		w.pwhy[p] = why
		w.upknown[p], w.upwhy[p] = false, why
	}
}

func predDst(o *sass.Operand) uint8 {
	if o == nil || o.Reg == sass.PT {
		return sinkPred
	}
	return o.Reg
}

func (m *machine) row(reg uint8) int32 {
	if reg == sass.RZ || int(reg) >= m.program.regs {
		return m.zeroRow
	}
	return int32(reg)
}

// row2 is the row of the register behind reg.
func (m *machine) row2(reg uint8) int32 {
	if reg == sass.RZ {
		return m.zeroRow
	}
	return m.row(reg + 1)
}

func (m *machine) destination(o *sass.Operand) (row, words int32, uniform bool) {
	if o == nil {
		return m.sinkRow, 0, false
	}
	words = int32(min(max(o.Count, 1), sinkWords))
	switch {
	case o.Kind == sass.KindUReg && (o.Reg == sass.URZ || int32(o.Reg)+words > uregZero):
		return uregSink, 0, true
	case o.Kind == sass.KindUReg:
		return int32(o.Reg), words, true
	case o.Kind == sass.KindReg && o.Reg != sass.RZ && int(o.Reg)+int(words) <= m.program.regs:
		return int32(o.Reg), words, false
	}
	return m.sinkRow, words, false
}

// operand makes a source ready. wide says that the instruction reads 64 bits where the operand does not say so itself.
func (m *machine) operand(s *sass.Operand, f form, index int, wide bool) operand {
	if s == nil {
		return operand{}
	}
	o := operand{form: f, wide: wide || s.Count == 2}
	o.neg, o.abs, o.inv = s.Is(sass.FlagNeg), s.Is(sass.FlagAbs), s.Is(sass.FlagInv)
	switch s.Kind {
	case sass.KindReg:
		o.kind = fromRow
		o.row, o.row2 = m.row(s.Reg), m.row2(s.Reg)
		o.plain = !o.modified()
		if s.Reg == sass.RZ {
			o = fixed(o, 0)
		}
	case sass.KindUReg:
		o.kind = fromUniform
		o.row, o.row2 = int32(s.Reg), int32(s.Reg)+1
		if s.Reg == sass.URZ {
			o = fixed(o, 0)
		}
	case sass.KindImm, sass.KindF32, sass.KindF64, sass.KindF16x2:
		v := uint64(s.Imm)
		if !o.wide {
			v = uint64(uint32(v))
		}
		o = fixed(o, v)
	case sass.KindConst:
		if s.Reg != sass.RZ {
			o.kind, o.why = fromIndexed, because(whySpecial, index)
			o.row = m.row(s.Reg)
			return o
		}
		o = m.constant(o, int(s.Bank), s.Imm, index)
	case sass.KindUConst:
		if s.UReg != sass.URZ && s.Is(sass.FlagUBase) {
			o.kind, o.why = fromIndexed, because(whySpecial, index)
			return o
		}
		o = m.constant(o, int(s.Bank), s.Imm, index)
	default:
		o.kind, o.why = fromUnknown, because(whySpecial, index)
	}
	return o
}

// fixed makes an operand with a value that is the same in every lane.
func fixed(o operand, v uint64) operand {
	o.kind, o.plain = fromFixed, false
	o.imm = o.modify(v)
	o.lo = broadcast(uint32(o.imm))
	return o
}

// constant looks a constant up: the launch fixes its value.
func (m *machine) constant(o operand, index int, off int64, at int) operand {
	b := m.banks[index]
	n := 4
	if o.wide {
		n = 8
	}
	v, ok := b.load(off, n)
	if !ok {
		o.kind, o.why = fromUnknown, because(m.constantReason(index, off), at)
		return o
	}
	if o.form == formF64 && !o.wide {
		v <<= 32 // a 64-bit float immediate or constant of one word is its high half
	}
	return fixed(o, v)
}

// constantReason tells an argument that was not given from other launch state.
func (m *machine) constantReason(index int, off int64) reasonKind {
	if index == 0 && off >= int64(m.program.code.ParamBase) {
		return whyArg
	}
	return whySpecial
}

func (m *machine) address(s *sass.Operand) address {
	if s == nil {
		return address{base: m.zeroRow, base2: m.zeroRow}
	}
	a := address{base: m.row(s.Reg), base2: m.zeroRow, shift: s.Shift, offset: s.Imm}
	if s.Is(sass.FlagWide) {
		a.base2 = m.row2(s.Reg)
	}
	if s.Is(sass.FlagUBase) && s.UReg != sass.URZ {
		a.hasUniform, a.ubase, a.ubase2 = true, int32(s.UReg), int32(s.UReg)+1
	}
	return a
}
