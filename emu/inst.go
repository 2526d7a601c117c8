package emu

import "shmoo/sass"

// An inst is an instruction made ready for one launch: it is read-only while warps run.
type inst struct {
	exec   func(*warp, *inst)
	fold   func(*inst, *values) // the meaning in one lane, where the instruction has one
	index  int32                // its place in the code
	target int32                // the instruction that a direct branch goes to; -1 where it has none or it is invalid
	site   int32                // shared-memory site, or -1

	guard   predRef
	guarded bool // the guard is not PT

	dst     int32 // row, or uniform register, of the first destination word; the sink where it is dropped
	words   int32 // destination words
	dstU    bool  // the destination is uniform
	uniform bool  // executes once, on the uniform datapath
	probes  probe

	pu, pv     uint8 // predicate destinations: sinkPred where there is none
	a, b, c    operand
	pp, pq, pr predRef
	addr       address
	addr2      address // global side of LDGSTS
	data       operand // value stored, first word
	dataWords  int32
	data2      operand
	count      operand // BAR: threads; WARPSYNC: lanes
	barrier    operand // BAR: which one

	fixed []*lanes // LDC without an index: its words, in every lane

	sel [3]uint8 // half-precision operands A, B, C: which halves are read
	imm uint32   // operation-specific
	in  *sass.Inst
}

func (o *inst) mod(m sass.Mod) uint8 { return o.in.Mods[m] }

// values are what an instruction reads and makes in one lane. 32-bit operands come zero-extended with minus and complement
// already applied.
type values struct {
	a, b, c uint64
	p, q, r bool
	d       uint64
	u, v    bool // results for Pu and Pv
	// compare overrides the outcome of a comparison while the executor asks whether it matters.
	compare tristate
}

type tristate int8

const (
	maybe tristate = iota
	yes
	no
)

// probe says how an instruction can have a known result although a source is unknown: by trying values.
type probe uint8

const (
	probeNone    probe = iota // any unknown source makes the results unknown
	probeBits                 // results depend on each source bit alone or monotonously: all bits clear and all bits set decide
	probeCompare              // a comparison: false and true decide
	probeLogic                // as probeBits, and Pu says whether the result is not zero
	probePermute              // as probeBits for A and C; an unknown B makes the results unknown
	probeSelect               // an unknown predicate decides between two values that may be equal
)

// address is a memory address operand: (base << shift) + ubase + offset.
type address struct {
	base, base2   int32 // rows; the zero row where there is none
	ubase, ubase2 int32 // uniform registers
	shift         uint8
	hasUniform    bool
	offset        int64
}

// sinkPred takes predicates that are dropped.
const sinkPred = 8

// Uniform registers: 255 is URZ, the next the sink for results that are dropped.
const (
	uregZero  = sass.URZ
	uregSink  = 256
	numUregs  = 257
	numPreds  = 9
	numBarReg = 16
)
