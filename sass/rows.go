package sass

//go:generate go run ./gen

// field is a bit field of the instruction: width bits at lo, and if width2 is not 0, width2 less significant bits at lo2.
// A width of always marks a one-bit property that every encoding of the row has.
type field struct{ lo, width, lo2, width2 uint8 }

const always = 255

func (f field) get(w Word) uint64 {
	v := w.Bits(uint(f.lo), uint(f.width))
	if f.width2 != 0 {
		v = v<<f.width2 | w.Bits(uint(f.lo2), uint(f.width2))
	}
	return v
}

// flag reads a one-bit property.
func (f field) flag(w Word) bool {
	switch f.width {
	case 0:
		return false
	case always:
		return true
	}
	return w.Bits(uint(f.lo), 1) != 0
}

// enumDesc gives the meaning of a field's values: the suffix in the text and, where mod is set, the value stored in Mods.
// canon is -1 for values that nothing is known about.
type enumDesc struct {
	mod   Mod
	text  []string
	canon []int16
}

// sufDesc is a modifier of a row: which enum, and where. A field of no bits is the constant at.lo.
type sufDesc struct {
	enum uint8
	at   field
}

func (s *sufDesc) get(w Word) uint64 {
	if s.at.width == 0 {
		return uint64(s.at.lo)
	}
	return s.at.get(w)
}

type argKind uint8

const (
	akReg argKind = iota
	akUReg
	akPred
	akUPred
	akImm
	akConst        // ALU constant: bank [58:54], offset [53:40] in words
	akCx           // ALU constant through a descriptor
	akConstLoad    // constant operand of a load, described by mem
	akConstUniform // the same with a uniform index
	akMem
	akTarget
	akAbs
	akSReg
	akBarrier
	akSB
	akPredSet
	akDesc
	akCxLoad // constant operand of a load through a descriptor
	akUPredInv
	akPredInv // predicate whose number is stored inverted
)

// showRule says when the text leaves an operand out.
type showRule uint8

const (
	showAlways   showRule = iota
	showNotPT             // not if PT
	showNotFalse          // not if !PT
	showNotRZ             // not if RZ, URZ or SRZ
	showNotZero           // not if 0
	showNever
	showNotAll // not if 15
	showNot7   // not if 7
	showNotFF  // not if 255
	showIf     // only if the modifier is set
	showIfNot  // only if the modifier is not set
)

// immStyle says how an immediate is read and printed.
type immStyle uint8

const (
	styleHex    immStyle = iota
	styleSigned          // sign-extended
	styleF32             // float
	styleF16x2           // two half floats
	styleBF16x2          // two bfloats
	styleF64             // high half of a double
	styleTwos            // sign-extended value, printed as 32-bit hex
	styleSet             // bit set
	styleGroup           // scoreboard or descriptor of a warpgroup
	styleInst            // instruction descriptor, beside a tensor address
)

// argDesc describes one operand of a row. Bit numbers of 0 mean that there is no such bit.
type argDesc struct {
	flags              Flags
	kind               argKind
	role               Role
	at                 field
	neg, abs, inv, not uint8
	negX               bool
	style              immStyle
	count              uint8 // registers, if countTab is 0
	countTab           uint8 // 1 + index in countTab
	countAt            field
	show               showRule
	showMod            Mod
	shift              uint8
	reuse              uint8  // scheduling bit, 0 = none
	swz                uint8  // two bits that select halves, 0 = none
	tail               string // printed after the operand
	tailSuf            uint16 // 1 + index in sufTab of a modifier printed after the operand, 0 = none
	mem                uint8
}

// memDesc describes an address: parts that a row does not have are zero.
type memDesc struct {
	base, ubase, off, stride, wide, desc, u32, bank, cx field
	quiet                                               field // like wide, but the text does not say so
}

type cond struct {
	at  field
	val uint64
}

// rowDesc is one row of the table for one opcode.
type rowDesc struct {
	ugd   bool // the guard is a uniform predicate
	since Arch // first generation of the families that has it, 0 = all
	op    Op
	name  string
	op13  uint16
	fams  uint8
	alias aliasKind
	suf   []uint16
	args  []uint16
	conds []cond
}
