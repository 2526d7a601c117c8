package sass

// Word is one 128-bit machine instruction. Bit n of the instruction is bit n of Lo for n < 64 and bit n-64 of Hi
// otherwise; in memory Lo comes first, both little endian.
type Word struct{ Lo, Hi uint64 }

// Bits returns the width bits that start at bit lo. width is 1 to 64; bits past 127 read as zero.
func (w Word) Bits(lo, width uint) uint64 {
	var v uint64
	switch {
	case lo >= 64:
		v = w.Hi >> (lo - 64)
	case lo == 0:
		v = w.Lo
	default:
		v = w.Lo>>lo | w.Hi<<(64-lo)
	}
	return v & (^uint64(0) >> (64 - width))
}

// Special register and predicate numbers.
const (
	RZ  = 255 // general register that reads zero and drops writes
	URZ = 255 // the same for uniform registers, on every generation (older ones encode it as 63)
	PT  = 7   // predicate that is always true and drops writes, general and uniform
)

// MaxArgs is the largest number of operands an instruction has.
const MaxArgs = 8

// Inst is one decoded instruction. It is a flat value: it holds no pointers, and decoding one allocates nothing.
//
// Args[:NArgs] holds every operand the encoding has, at a position that is fixed for an Op in a generation whatever the
// operand's value: a predicate destination that the text leaves out because it is PT is present here with Reg == PT. Find an
// operand by its Role (see Arg), or by position once the position of a role has been looked up. Destinations have FlagDst.
type Inst struct {
	Op    Op
	Row   uint16 // index of the table row that matched: for diagnostics and coverage; zero is "no row"
	Arch  Arch
	NArgs uint8
	Guard Pred
	Mods  Mods
	Enc   Word
	Args  [MaxArgs]Operand
}

// Pred is a predicate read: register number (PT = always true), negation, and whether it is a uniform predicate.
type Pred struct {
	Reg     uint8
	Neg     bool
	Uniform bool
}

// Always reports whether p is true in every lane.
func (p Pred) Always() bool { return p.Reg == PT && !p.Neg }

// Never reports whether p is false in every lane: an instruction guarded by it has no effect.
func (p Pred) Never() bool { return p.Reg == PT && p.Neg }

// OperandKind says what an operand is, and so which fields of Operand have a meaning.
type OperandKind uint8

const (
	KindNone    OperandKind = iota
	KindReg                 // general register Reg (RZ = zero), Count registers long
	KindUReg                // uniform register Reg (URZ = zero), Count registers long
	KindPred                // predicate Reg (PT = true); FlagNot negates
	KindUPred               // uniform predicate Reg; FlagNot negates
	KindImm                 // integer immediate: Imm, already sign-extended where the instruction does so
	KindF32                 // 32-bit float immediate: Imm holds the 32 bits
	KindF64                 // 64-bit float immediate: Imm holds the 64 bits (the encoding has the high half)
	KindF16x2               // two half floats: Imm holds the 32 bits
	KindConst               // c[Bank][Reg + Imm]: Reg is the index register (RZ = none), Imm a byte offset
	KindUConst              // c[Bank][UReg + Imm], uniform index register
	KindCx                  // cx[Desc][Reg + UReg + Imm]: bank named by a descriptor in uniform register Desc
	KindAddr                // memory address: (Reg << Shift) + UReg + Imm; see Operand
	KindTarget              // code: Imm is the displacement from the end of this instruction, in bytes
	KindAbs                 // code: Imm is an absolute address
	KindSReg                // special register number Imm
	KindBarrier             // convergence barrier B Reg
	KindSB                  // scoreboard SB Reg
	KindDesc                // descriptor operand gdesc/idesc/tmem[UReg]
	KindPredSet             // the predicates as one value, as P2R and R2P name them
)

// Flags modify an operand.
type Flags uint16

const (
	FlagDst    Flags = 1 << iota // the instruction writes this operand
	FlagNeg                      // arithmetic minus
	FlagAbs                      // absolute value (applied before the minus)
	FlagInv                      // bitwise complement of an integer (`~`)
	FlagNot                      // logical negation of a predicate (`!`)
	FlagReuse                    // scheduling: operand is kept in the reuse cache
	FlagWide                     // address: the base register is a 64-bit pair (printed .64)
	FlagU32                      // address: the base register is a zero-extended 32-bit offset to UReg (printed .U32)
	FlagDesc                     // address: Desc names the uniform register pair of a memory descriptor
	FlagUBase                    // address: UReg takes part (it may be URZ)
	FlagHidden                   // never shown in the text of this encoding
)

// Role names what an operand is to its instruction. A role occurs at most once in an instruction.
type Role uint8

const (
	RoleNone    Role = iota
	RoleD            // destination register
	RoleD2           // second destination register
	RolePu           // first predicate destination
	RolePv           // second predicate destination
	RoleA            // first source
	RoleB            // second source
	RoleC            // third source
	RoleE            // fourth source
	RolePp           // first predicate source
	RolePq           // second predicate source
	RolePr           // third predicate source
	RoleAddr         // memory address; the shared one where there are two (LDGSTS)
	RoleAddr2        // second memory address: the global one of LDGSTS
	RoleData         // value stored (STS, STG, ATOMS ...)
	RoleData2        // second value (the new value of compare-and-swap)
	RoleTarget       // code address
	RoleLut          // truth table of LOP3/PLOP3
	RoleLut2         // second truth table of PLOP3
	RoleShift        // shift amount of LEA
	RoleMask         // mask or count immediate
	RoleBarrier      // convergence barrier or scoreboard
	RoleExtra        // anything else
	RoleExtra2
	RoleExtra3
)

// Operand is one operand.
//
// For KindAddr the lane's address is (value(Reg) << Shift) + value(UReg) + Imm, where Reg == RZ and UReg == URZ add
// nothing; FlagWide makes Reg a 64-bit pair, and FlagUBase with a 64-bit space makes UReg one. UReg takes part
// only with FlagUBase. Imm is the signed byte offset.
type Operand struct {
	Imm   int64
	Flags Flags
	Kind  OperandKind
	Role  Role
	Reg   uint8
	UReg  uint8
	Desc  uint8 // uniform register of the descriptor, with FlagDesc and for KindCx
	Bank  uint8
	Shift uint8 // left shift of the base register: 0, 2, 3 or 4 (printed .X4, .X8, .X16)
	Count uint8 // registers (32 bits each) the operand spans, 1 or more; 0 for operands that are not registers
}

// Is reports whether all of f is set.
func (o *Operand) Is(f Flags) bool { return o.Flags&f == f }

// Arg returns the operand with role r, or nil if the instruction has none.
func (i *Inst) Arg(r Role) *Operand {
	for k := range i.Args[:i.NArgs] {
		if i.Args[k].Role == r {
			return &i.Args[k]
		}
	}
	return nil
}

// Dst returns the destination register operand (KindReg or KindUReg), or nil. Its Count is the number of registers
// written, starting at Reg; a write to RZ or URZ is dropped as a whole.
func (i *Inst) Dst() *Operand {
	if o := i.Arg(RoleD); o != nil {
		return o
	}
	return nil
}

// Target returns the absolute address of the code operand of a direct branch, call or convergence instruction that stands at
// address pc of its section, and whether there is one. Register-indirect branches (BRX, RET) have one as well; it is the
// base that the register is added to.
func (i *Inst) Target(pc uint64) (uint64, bool) {
	o := i.Arg(RoleTarget)
	if o == nil {
		return 0, false
	}
	if o.Kind == KindAbs {
		return uint64(o.Imm), true
	}
	return pc + Size + uint64(o.Imm), true
}

// Size is the length of every instruction in bytes.
const Size = 16

// Control is the scheduling information that the compiler packs into every instruction. It has no effect on results.
type Control struct {
	Stall    uint8 // cycles to wait before the next instruction, 0 to 15
	Yield    bool  // the scheduler may switch to another warp
	WriteBar uint8 // scoreboard set when the result is written, 7 = none
	ReadBar  uint8 // scoreboard set when the sources have been read, 7 = none
	Wait     uint8 // scoreboards 0 to 5 to wait for, one bit each
	Reuse    uint8 // operand reuse-cache bits
}

// Control returns the scheduling fields of i.
func (i *Inst) Control() Control {
	c := i.Enc.Hi >> 41
	return Control{
		Stall:    uint8(c & 15),
		Yield:    c>>4&1 == 0,
		WriteBar: uint8(c >> 5 & 7),
		ReadBar:  uint8(c >> 8 & 7),
		Wait:     uint8(c >> 11 & 63),
		Reuse:    uint8(c >> 17 & 15),
	}
}
