package inspect

import (
	"slices"

	"shmoo/cubin"
	"shmoo/sass"
)

// Bounds on the kernels whose registers are followed: a basic block costs 10 KB, an instruction 300 bytes.
const (
	maxBlocks = 4096
	maxInsts  = 1 << 18
	maxVisits = 64 // of a block, on average; compiled code needs 2 to 4
)

// registers is what is known of a thread's registers at one place.
type registers struct {
	r [256]value
	u [256]value
}

// block is a stretch of code that is entered only at its start.
type block struct {
	start, end int // PCs
	next       []int
	in         *registers // at its start; nil if it was not reached
	queued     bool
}

// flow follows the registers of a kernel through its code, forwards, until nothing changes.
type flow struct {
	k      *cubin.Kernel
	insts  []sass.Inst // by PC/16
	known  []bool      // of insts: decoded
	blocks []block
	at     map[int]int // start PC -> block
	queued int         // blocks to be visited
}

// newFlow decodes a kernel and splits it into basic blocks. It returns nil for a kernel with too many.
func newFlow(k *cubin.Kernel, arch sass.Arch) *flow {
	f := &flow{k: k, at: make(map[int]int)}
	n := len(k.Code) / sass.Size
	if n > maxInsts {
		return nil
	}
	f.insts, f.known = make([]sass.Inst, n), make([]bool, n)
	leader := make([]bool, n+1)
	mark := func(pc uint64) {
		if i := pc / sass.Size; i < uint64(n) && pc%sass.Size == 0 {
			leader[i] = true
		}
	}
	mark(0)
	for _, fn := range k.Functions {
		mark(uint64(fn.Offset))
	}
	for _, b := range k.Indirect {
		for _, t := range b.Targets {
			mark(uint64(t))
		}
	}
	for i := range f.insts {
		in := &f.insts[i]
		f.known[i] = sass.DecodeWord(in, arch, wordAt(k.Code, i*sass.Size)) == nil
		if !f.known[i] {
			continue
		}
		if t, ok := in.Target(uint64(i * sass.Size)); ok {
			mark(t)
		}
		if endsBlock(in.Op) {
			leader[i+1] = true
		}
	}
	for i := range n {
		if leader[i] {
			f.at[i*sass.Size] = len(f.blocks)
			f.blocks = append(f.blocks, block{start: i * sass.Size})
		}
	}
	if len(f.blocks) > maxBlocks {
		return nil
	}
	for i := range f.blocks {
		f.blocks[i].end = n * sass.Size
		if i+1 < len(f.blocks) {
			f.blocks[i].end = f.blocks[i+1].start
		}
	}
	f.connect()
	return f
}

// endsBlock tells whether control may go elsewhere behind an operation.
func endsBlock(op sass.Op) bool {
	switch op {
	case sass.BRA, sass.BRX, sass.BRXU, sass.CALL, sass.RET, sass.EXIT, sass.BSYNC, sass.BREAK, sass.WARPSYNC, sass.JMP,
		sass.KILL:
		return true
	}
	return false
}

// connect finds the successors of every block. Threads that wait at a BSYNC go on at the place that a BSSY of the same
// barrier named. That is mostly the next instruction; only where no BSSY names that one, any of them may be meant.
func (f *flow) connect() {
	rejoin := make(map[uint8][]int) // by barrier
	for i := range f.insts {
		in := &f.insts[i]
		if !f.known[i] || in.Op != sass.BSSY {
			continue
		}
		if t, ok := in.Target(uint64(i * sass.Size)); ok {
			b := barrier(in)
			rejoin[b] = f.appendBlock(rejoin[b], t)
		}
	}
	for i := range f.blocks {
		b := &f.blocks[i]
		last := b.end/sass.Size - 1
		in := &f.insts[last]
		through := true
		if f.known[last] {
			switch in.Op {
			case sass.BRA, sass.CALL, sass.JMP, sass.WARPSYNC:
				if t, ok := in.Target(uint64(last * sass.Size)); ok {
					b.next = f.appendBlock(b.next, t)
				}
				through = in.Op == sass.CALL || in.Op == sass.WARPSYNC || conditional(in)
			case sass.BRX, sass.BRXU:
				for _, ind := range f.k.Indirect {
					if int(ind.PC) == last*sass.Size {
						for _, t := range ind.Targets {
							b.next = f.appendBlock(b.next, uint64(t))
						}
					}
				}
				through = conditional(in)
			case sass.BSYNC:
				if places := rejoin[barrier(in)]; !slices.Contains(places, i+1) {
					b.next = append(b.next, places...)
				}
			case sass.EXIT, sass.RET, sass.KILL:
				through = conditional(in)
			}
		}
		if through && i+1 < len(f.blocks) && !slices.Contains(b.next, i+1) {
			b.next = append(b.next, i+1)
		}
	}
}

// barrier returns the convergence barrier of a BSSY or BSYNC.
func barrier(in *sass.Inst) uint8 {
	if o := in.Arg(sass.RoleBarrier); o != nil {
		return o.Reg
	}
	return 0
}

// conditional tells whether an instruction may be skipped by some thread.
func conditional(in *sass.Inst) bool {
	if !in.Guard.Always() {
		return true
	}
	for _, role := range []sass.Role{sass.RolePp, sass.RolePq} {
		if p := in.Arg(role); p != nil && (p.Reg != sass.PT || p.Is(sass.FlagNot)) {
			return true
		}
	}
	return in.Op == sass.BRA && in.Has(sass.ModBra)
}

func (f *flow) appendBlock(list []int, pc uint64) []int {
	if i, ok := f.at[int(pc)]; ok && !slices.Contains(list, i) {
		return append(list, i)
	}
	return list
}

// run computes what is known at the start of every block that can be reached. It returns false if that takes too long,
// which only code made for the purpose does.
func (f *flow) run() bool {
	if len(f.blocks) == 0 {
		return true
	}
	f.enter(f.at[int(f.k.Entry)&^15], new(registers))
	var state registers
	left := maxVisits * len(f.blocks)
	// Compilers lay code out forwards, so going through the blocks in order visits most of them after what leads there.
	for f.queued > 0 {
		for i := range f.blocks {
			b := &f.blocks[i]
			if !b.queued {
				continue
			}
			if left--; left < 0 {
				return false
			}
			b.queued = false
			f.queued--
			state = *b.in
			for pc := b.start; pc < b.end; pc += sass.Size {
				f.step(&state, pc)
			}
			f.leave(i, &state)
		}
	}
	return true
}

// leave hands the registers at the end of a block on to its successors.
func (f *flow) leave(i int, state *registers) {
	b := &f.blocks[i]
	last := b.end/sass.Size - 1
	called := f.known[last] && f.insts[last].Op == sass.CALL
	for _, n := range b.next {
		if called && n == i+1 { // behind a call nothing is known
			f.enter(n, new(registers))
			continue
		}
		f.enter(n, state)
	}
}

// enter joins a state into a block and queues the block if that changed anything. Every change takes zeros away from
// some register, so the changes come to an end.
func (f *flow) enter(i int, s *registers) {
	b := &f.blocks[i]
	changed := b.in == nil
	if changed {
		b.in = new(registers)
		*b.in = *s
	} else {
		changed = joinAll(&b.in.r, &s.r, false)
		// A uniform register is one for the whole warp, wherever its value comes from.
		changed = joinAll(&b.in.u, &s.u, true) || changed
	}
	if changed && !b.queued {
		b.queued = true
		f.queued++
	}
}

// joinAll joins a register file into another and tells whether that took anything away.
func joinAll(into, from *[256]value, uniform bool) bool {
	changed := false
	for n := range into {
		if into[n] == anything {
			continue
		}
		v := into[n].join(from[n])
		v.uniform = v.uniform || uniform
		if v != into[n] {
			into[n] = v
			changed = true
		}
	}
	return changed
}

// step applies one instruction.
func (f *flow) step(s *registers, pc int) {
	i := pc / sass.Size
	if !f.known[i] {
		*s = registers{} // who knows what it writes
		return
	}
	in := &f.insts[i]
	if in.Guard.Never() {
		return
	}
	result := s.evaluate(in)
	for n := range in.Args[:in.NArgs] {
		o := &in.Args[n]
		if !o.Is(sass.FlagDst) {
			continue
		}
		switch o.Kind {
		case sass.KindReg:
			write(&s.r, o, in, result, false)
		case sass.KindUReg:
			write(&s.u, o, in, result, true)
		}
	}
}

// write stores the results of an instruction: its first register gets result, the others are unknown.
func write(file *[256]value, o *sass.Operand, in *sass.Inst, result value, uniform bool) {
	for c := range int(max(o.Count, 1)) {
		reg := int(o.Reg) + c
		if reg >= sass.RZ {
			return
		}
		v := anything
		if c == 0 && o.Role == sass.RoleD {
			v = result
		}
		v.uniform = v.uniform || uniform
		if !in.Guard.Always() {
			v = file[reg].join(v)
			v.uniform = v.uniform || uniform
		}
		file[reg] = v
	}
}

// evaluate returns the low word of an instruction's result.
func (s *registers) evaluate(in *sass.Inst) value {
	rule := rules[in.Op]
	if rule == nil || in.Has(sass.ModX) || in.Has(sass.ModPacked) {
		return anything
	}
	return rule(s, in)
}

// arg returns the value of a source operand.
func (s *registers) arg(in *sass.Inst, role sass.Role) value {
	o := in.Arg(role)
	if o == nil {
		return anything
	}
	var v value
	switch o.Kind {
	case sass.KindReg:
		v = constant(0)
		if o.Reg != sass.RZ {
			v = s.r[o.Reg]
		}
	case sass.KindUReg:
		v = constant(0)
		if o.Reg != sass.URZ {
			v = s.u[o.Reg]
		}
	case sass.KindImm, sass.KindF32, sass.KindF16x2:
		v = constant(uint32(o.Imm))
	case sass.KindConst, sass.KindUConst, sass.KindCx:
		v = warpValue
	default:
		return anything
	}
	switch {
	case o.Is(sass.FlagAbs):
		return anything
	case o.Is(sass.FlagNeg):
		return v.neg()
	case o.Is(sass.FlagInv):
		return v.not()
	}
	return v
}

// Special registers, as package sass numbers them.
const (
	sregTidX    = 33
	sregTidZ    = 35
	sregCtaX    = 37
	sregCtaZ    = 39
	sregCgaCta  = 136
	sregNothing = 255
)

// special returns what is known of a special register.
func special(in *sass.Inst) value {
	o := in.Arg(sass.RoleA)
	if o == nil || o.Kind != sass.KindSReg {
		return anything
	}
	switch n := o.Imm; {
	case n >= sregTidX && n <= sregTidZ:
		return threadIndex(int(n - sregTidX))
	case n >= sregCtaX && n <= sregCtaZ, n == sregCgaCta:
		return warpValue
	case n == sregNothing:
		return constant(0)
	}
	return anything
}

// rules are the operations that addresses are made of. What is not here has a result of which nothing is known.
var rules = map[sass.Op]func(s *registers, in *sass.Inst) value{
	sass.S2R:      func(_ *registers, in *sass.Inst) value { return special(in) },
	sass.S2UR:     func(_ *registers, in *sass.Inst) value { return special(in) },
	sass.CS2R:     func(_ *registers, in *sass.Inst) value { return special(in) },
	sass.MOV:      func(s *registers, in *sass.Inst) value { return s.arg(in, sass.RoleB) },
	sass.UMOV:     func(s *registers, in *sass.Inst) value { return s.arg(in, sass.RoleB) },
	sass.R2UR:     func(s *registers, in *sass.Inst) value { return s.arg(in, sass.RoleA) },
	sass.LDC:      loadConstant,
	sass.ULDC:     loadConstant,
	sass.LDCU:     loadConstant,
	sass.IADD3:    sum,
	sass.UIADD3:   sum,
	sass.IADD:     sum,
	sass.VIADD:    sum,
	sass.IMAD:     product,
	sass.UIMAD:    product,
	sass.IMADWide: product,
	sass.LEA:      scaledSum,
	sass.ULEA:     scaledSum,
	sass.SHF:      shift,
	sass.USHF:     shift,
	sass.LOP3:     logic,
	sass.ULOP3:    logic,
	sass.SEL:      choose,
	sass.HFMA2:    halfMove,
}

func loadConstant(_ *registers, in *sass.Inst) value {
	if o := in.Arg(sass.RoleB); o != nil && o.Reg != sass.RZ && o.Kind == sass.KindConst { // indexed by a lane's register
		return anything
	}
	return warpValue
}

func sum(s *registers, in *sass.Inst) value {
	v := s.arg(in, sass.RoleA).add(s.arg(in, sass.RoleB))
	if in.Arg(sass.RoleC) != nil {
		v = v.add(s.arg(in, sass.RoleC))
	}
	return v
}

func product(s *registers, in *sass.Inst) value {
	return s.arg(in, sass.RoleA).mul(s.arg(in, sass.RoleB)).add(s.arg(in, sass.RoleC))
}

// scaledSum is LEA: (A << shift) + B.
func scaledSum(s *registers, in *sass.Inst) value {
	n := in.Arg(sass.RoleShift)
	if in.Has(sass.ModHi) || n == nil {
		return anything
	}
	return s.arg(in, sass.RoleA).shl(int(n.Imm)).add(s.arg(in, sass.RoleB))
}

// shift is SHF with a shift amount that is known. To the left the result comes from A; to the right, where it is the high
// word, from C.
func shift(s *registers, in *sass.Inst) value {
	n := s.arg(in, sass.RoleB)
	if !n.isConstant() {
		return anything
	}
	left, high := in.Has(sass.ModShiftLeft), in.Has(sass.ModHi)
	switch {
	case left && !high:
		return s.arg(in, sass.RoleA).shl(int(min(n.fixed, 32)))
	case !left && high && sass.ShfType(in.Mods[sass.ModShfType]) == sass.ShfU32:
		return s.arg(in, sass.RoleC).shr(int(min(n.fixed, 32)))
	}
	return anything
}

// Truth tables of LOP3 for functions of its first two operands.
const (
	lutAnd = 0xc0
	lutA   = 0xf0
)

func logic(s *registers, in *sass.Inst) value {
	lut := in.Arg(sass.RoleLut)
	if lut == nil {
		return anything
	}
	a, b, c := s.arg(in, sass.RoleA), s.arg(in, sass.RoleB), s.arg(in, sass.RoleC)
	switch {
	case lut.Imm == lutAnd:
		return a.and(b)
	case lut.Imm == lutA:
		return a
	case lut.Imm&1 == 0:
		return bitwise(a, b, c)
	}
	return anything
}

func choose(s *registers, in *sass.Inst) value {
	return s.arg(in, sass.RoleA).join(s.arg(in, sass.RoleB))
}

// halfMove is the form in which compilers load a constant on the half-precision unit: two halves added to minus zero.
func halfMove(s *registers, in *sass.Inst) value {
	a, b, c := in.Arg(sass.RoleA), in.Arg(sass.RoleB), in.Arg(sass.RoleC)
	if a == nil || b == nil || c == nil || a.Kind != sass.KindReg || a.Reg != sass.RZ || b.Kind != sass.KindReg ||
		b.Reg != sass.RZ || c.Kind != sass.KindF16x2 {
		return anything
	}
	return constant(uint32(c.Imm))
}
