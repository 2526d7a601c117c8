package sass

import (
	"encoding/binary"
	"errors"
)

// Errors of Decode. There are no others.
var (
	// ErrTruncated is returned for fewer than Size bytes.
	ErrTruncated = errors.New("sass: instruction shorter than 16 bytes")
	// ErrArch is returned for a generation this package does not know.
	ErrArch = errors.New("sass: unknown architecture")
	// ErrUnknown is returned for an encoding that no table row describes. The Inst that comes with it has Op OpInvalid and
	// keeps guard and encoding, so a listing can go on.
	ErrUnknown = errors.New("sass: unknown instruction")
)

const numOp13 = 1 << 13

// index[f][op13] is the range of candidates in index.rows; candidates keep the order of the table.
type famIndex struct {
	span [numOp13]span
	rows []uint16
}

type span struct{ start, end uint16 }

var index [numFam]famIndex

func init() {
	for f := 1; f < numFam; f++ {
		var byOp [numOp13][]uint16
		for i := 1; i < len(rowTab); i++ {
			if r := &rowTab[i]; r.fams>>(f-1)&1 != 0 {
				byOp[r.op13] = append(byOp[r.op13], uint16(i))
			}
		}
		x := &index[f]
		for op, rows := range byOp {
			x.span[op] = span{uint16(len(x.rows)), uint16(len(x.rows) + len(rows))}
			x.rows = append(x.rows, rows...)
		}
	}
}

// Decode decodes the instruction at the start of code. The error is nil, ErrTruncated, ErrArch or ErrUnknown.
func Decode(arch Arch, code []byte) (Inst, error) {
	var i Inst
	if len(code) < Size {
		return i, ErrTruncated
	}
	err := DecodeWord(&i, arch, Word{binary.LittleEndian.Uint64(code), binary.LittleEndian.Uint64(code[8:])})
	return i, err
}

// DecodeWord decodes w into i, which it overwrites. The error is nil, ErrArch or ErrUnknown.
func DecodeWord(i *Inst, arch Arch, w Word) error {
	*i = Inst{Arch: arch, Enc: w}
	fam := family(arch)
	if fam == famNone {
		return ErrArch
	}
	i.Guard = Pred{Reg: uint8(w.Lo >> 12 & 7), Neg: w.Lo>>15&1 != 0}
	x := &index[fam]
	s := x.span[w.Lo&0xfff|w.Hi>>27&1<<12]
	for _, n := range x.rows[s.start:s.end] {
		r := &rowTab[n]
		if r.since > arch || !r.matches(w) {
			continue
		}
		if !i.fill(r, w) {
			break
		}
		i.Op, i.Row = r.op, n
		i.Guard.Uniform = r.ugd
		return nil
	}
	i.NArgs = 0
	i.Args = [MaxArgs]Operand{}
	i.Mods = Mods{}
	return ErrUnknown
}

func (r *rowDesc) matches(w Word) bool {
	for k := range r.conds {
		if c := &r.conds[k]; c.at.get(w) != c.val {
			return false
		}
	}
	return true
}

// fill sets modifiers and operands; it reports false when a modifier has a value whose meaning is not known.
func (i *Inst) fill(r *rowDesc, w Word) bool {
	for _, n := range r.suf {
		if !i.modifier(&sufTab[n], w) {
			return false
		}
	}
	i.NArgs = uint8(len(r.args))
	for k, n := range r.args {
		a := &argTab[n]
		i.operand(&i.Args[k], a, w)
		if a.tailSuf != 0 && !i.modifier(&sufTab[a.tailSuf-1], w) {
			return false
		}
	}
	return true
}

// modifier stores one modifier; it reports false for a value that nothing is known about.
func (i *Inst) modifier(s *sufDesc, w Word) bool {
	e := &enumTab[s.enum]
	c := e.canon[s.get(w)]
	if c < 0 {
		return false
	}
	if e.mod != ModNone {
		i.Mods[e.mod] = uint8(c)
	}
	return true
}

func (i *Inst) operand(o *Operand, a *argDesc, w Word) {
	o.Role, o.Flags = a.role, a.flags
	switch a.kind {
	case akReg:
		o.Kind, o.Reg = KindReg, uint8(a.at.get(w))
		if a.reuse != 0 && w.Bits(uint(a.reuse), 1) != 0 {
			o.Flags |= FlagReuse
		}
	case akUReg:
		o.Kind, o.Reg = KindUReg, i.uniform(a.at, w)
	case akPred, akUPred, akPredInv, akUPredInv:
		o.Kind, o.Reg = KindPred, uint8(w.Bits(uint(a.at.lo), 3))
		if a.kind == akPredInv || a.kind == akUPredInv {
			o.Reg ^= 7
		}
		if a.kind == akUPred || a.kind == akUPredInv {
			o.Kind = KindUPred
		}
		if a.not != 0 && w.Bits(uint(a.not), 1) != 0 {
			o.Flags |= FlagNot
		}
		return
	case akImm:
		i.immediate(o, a, w)
		return
	case akConst:
		o.Kind, o.Reg, o.UReg = KindConst, RZ, URZ
		o.Bank, o.Imm = uint8(w.Bits(54, 5)), int64(w.Bits(40, 14)<<2)
	case akCx:
		o.Kind, o.Reg, o.UReg, o.Desc = KindCx, RZ, URZ, i.uniform(field{lo: 32, width: 8}, w)
		o.Imm = int64(w.Bits(40, 14) << 2)
	case akConstLoad, akConstUniform, akCxLoad, akMem:
		i.address(o, a, w)
		return
	case akTarget:
		o.Kind = KindTarget
		o.Imm = int64(a.at.get(w)) << (64 - a.at.width - a.at.width2) >> (64 - a.at.width - a.at.width2 - a.shift)
		return
	case akAbs:
		o.Kind, o.Imm = KindAbs, int64(a.at.get(w)<<a.shift)
		return
	case akSReg:
		o.Kind, o.Imm = KindSReg, int64(a.at.get(w))
		return
	case akBarrier:
		o.Kind, o.Reg = KindBarrier, uint8(a.at.get(w))
		return
	case akSB:
		o.Kind, o.Reg = KindSB, uint8(a.at.get(w))
		return
	case akPredSet:
		o.Kind = KindPredSet
		return
	case akDesc:
		o.Kind, o.UReg = KindDesc, i.uniform(a.at, w)
		if a.countAt.width != 0 { // tensor memory addresses have an offset
			o.Imm = signExtend(a.countAt.get(w), 32)
		}
		if a.style == styleInst { // the register after the one that the field names
			o.UReg++
		}
		return
	}
	o.Count = a.count
	if a.countTab != 0 {
		o.Count = countTab[a.countTab-1][a.countAt.get(w)]
	}
	if a.neg != 0 && w.Bits(uint(a.neg), 1) != 0 {
		if a.negX && i.Mods[ModX] != 0 {
			o.Flags |= FlagInv
		} else {
			o.Flags |= FlagNeg
		}
	}
	if a.abs != 0 && w.Bits(uint(a.abs), 1) != 0 {
		o.Flags |= FlagAbs
	}
	if a.inv != 0 && w.Bits(uint(a.inv), 1) != 0 {
		o.Flags |= FlagInv
	}
}

// uniform reads a uniform register number: 6 bits before sm_100, 8 bits since.
func (i *Inst) uniform(f field, w Word) uint8 {
	if i.Arch.WideUniform() {
		return uint8(w.Bits(uint(f.lo), 8))
	}
	u := uint8(w.Bits(uint(f.lo), 6))
	if u == 63 {
		return URZ
	}
	return u
}

func signExtend(v uint64, width uint) int64 { return int64(v<<(64-width)) >> (64 - width) }

func (i *Inst) immediate(o *Operand, a *argDesc, w Word) {
	v := a.at.get(w)
	width := uint(a.at.width + a.at.width2)
	o.Kind, o.Imm = KindImm, int64(v<<a.shift)
	switch a.style {
	case styleSigned, styleTwos:
		o.Imm = signExtend(v, width) << a.shift
	case styleF32:
		o.Kind = KindF32
	case styleF16x2, styleBF16x2:
		o.Kind = KindF16x2
	case styleF64:
		o.Kind, o.Imm = KindF64, int64(v<<32)
	}
}

func (i *Inst) address(o *Operand, a *argDesc, w Word) {
	m := &memTab[a.mem]
	o.Kind, o.Reg, o.UReg = KindAddr, RZ, URZ
	if m.base.width != 0 {
		o.Reg = uint8(m.base.get(w))
	}
	if m.stride.width != 0 {
		if s := uint8(m.stride.get(w)); s != 0 {
			o.Shift = s + 1
		}
	}
	if m.wide.flag(w) || m.quiet.flag(w) {
		o.Flags |= FlagWide
	}
	if m.ubase.width != 0 {
		u := i.uniform(m.ubase, w)
		if m.desc.flag(w) {
			o.Flags |= FlagDesc
			o.Desc = u
		} else {
			o.Flags |= FlagUBase
			o.UReg = u
			if m.u32.width != 0 && !m.u32.flag(w) {
				o.Flags = o.Flags&^FlagWide | FlagU32
			}
		}
	}
	if m.off.width != 0 {
		v := m.off.get(w)
		if width := uint(m.off.width + m.off.width2); o.Reg == RZ && o.UReg == URZ && !o.Is(FlagDesc) {
			o.Imm = int64(v) << a.shift
		} else {
			o.Imm = signExtend(v, width) << a.shift
		}
	}
	switch a.kind {
	case akConstLoad:
		o.Kind = KindConst
	case akConstUniform:
		o.Kind = KindUConst
	case akCxLoad:
		o.Kind, o.Desc = KindCx, i.uniform(m.cx, w)
	}
	if m.bank.width != 0 {
		o.Bank = uint8(m.bank.get(w))
	}
	o.Count = 1
	if o.Is(FlagWide) {
		o.Count = 2
	}
}
