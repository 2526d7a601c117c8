package sass

import (
	"math"
	"strconv"
)

// String returns the text of i as it would stand at address 0. See AppendText.
func (i *Inst) String() string { return string(i.AppendText(nil, 0)) }

// AppendText appends the disassembly text of i, which stands at byte offset pc of its section, to dst: guard, mnemonic with
// modifiers, operands, no trailing semicolon. Branch targets are absolute offsets. An unknown instruction gives its encoding.
func (i *Inst) AppendText(dst []byte, pc uint64) []byte {
	if i.Op == OpInvalid {
		dst = append(dst, ".inst 0x"...)
		dst = appendHex64(dst, i.Enc.Hi)
		return appendHex64(dst, i.Enc.Lo)
	}
	dst = i.appendGuard(dst)
	r := &rowTab[i.Row]
	dst = append(dst, r.name...)
	if r.alias != aliasNone {
		dst = aliasText[r.alias](i, dst)
	}
	for _, n := range r.suf {
		dst = i.appendSuffix(dst, n)
	}
	sep := byte(' ')
	for k := range i.Args[:i.NArgs] {
		a := &argTab[r.args[k]]
		o := &i.Args[k]
		if i.hidden(a, o) {
			continue
		}
		if sep == ',' {
			dst = append(dst, ',', ' ')
		} else {
			dst = append(dst, sep)
		}
		sep = ','
		if (o.Kind == KindTarget || o.Kind == KindAbs) && r.alias != aliasNone { // register-relative: the register stands before it
			dst = trimComma(dst)
			dst = i.appendRelative(dst, o, r.alias, pc)
			continue
		}
		dst = i.appendOperand(dst, a, o, pc)
	}
	return dst
}

// appendSuffix writes the modifier with index n in sufTab.
func (i *Inst) appendSuffix(dst []byte, n uint16) []byte {
	s := &sufTab[n]
	return append(dst, enumTab[s.enum].text[s.get(i.Enc)]...)
}

func trimComma(b []byte) []byte {
	if n := len(b); n >= 2 && b[n-2] == ',' {
		b[n-2] = ' '
		return b[:n-1]
	}
	return b
}

// appendRelative writes the displacement of a branch whose target is a register plus the section's start: RET gives the sum,
// BRX the distance from its own address.
func (i *Inst) appendRelative(dst []byte, o *Operand, alias aliasKind, pc uint64) []byte {
	if o.Kind == KindAbs {
		return appendSigned(dst, o.Imm)
	}
	if alias == aliasRel && (i.Op == BRX || i.Op == BRXU) {
		return appendSigned(dst, o.Imm)
	}
	return appendSigned(dst, int64(pc)+Size+o.Imm)
}

func (i *Inst) appendGuard(dst []byte) []byte {
	g := i.Guard
	if g.Always() {
		return dst
	}
	dst = append(dst, '@')
	if g.Neg {
		dst = append(dst, '!')
	}
	return append(appendPred(dst, g.Reg, g.Uniform), ' ')
}

func appendPred(dst []byte, reg uint8, uniform bool) []byte {
	if uniform {
		dst = append(dst, 'U')
	}
	if reg == PT {
		return append(dst, 'P', 'T')
	}
	return append(dst, 'P', '0'+reg)
}

func appendReg(dst []byte, reg uint8) []byte {
	if reg == RZ {
		return append(dst, 'R', 'Z')
	}
	return strconv.AppendUint(append(dst, 'R'), uint64(reg), 10)
}

func appendUReg(dst []byte, reg uint8) []byte { return appendReg(append(dst, 'U'), reg) }

func appendHexU(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 16) }

func appendHex64(dst []byte, v uint64) []byte {
	for s := 60; s >= 0; s -= 4 {
		dst = append(dst, "0123456789abcdef"[v>>s&15])
	}
	return dst
}

func appendSigned(dst []byte, v int64) []byte {
	if v < 0 {
		return appendHexU(append(dst, '-', '0', 'x'), uint64(-v))
	}
	return appendHexU(append(dst, '0', 'x'), uint64(v))
}

func (i *Inst) hidden(a *argDesc, o *Operand) bool {
	switch a.show {
	case showNotPT:
		return o.Reg == PT && !o.Is(FlagNot)
	case showNotFalse:
		return o.Reg == PT && o.Is(FlagNot)
	case showNotRZ:
		return o.Reg == RZ
	case showNotZero:
		return o.Imm == 0
	case showNotAll:
		return o.Imm == 15
	case showNotFF:
		return o.Imm == 255
	case showNot7:
		return o.Reg == 7
	case showNever:
		return true
	case showIf:
		return i.Mods[a.showMod] == 0
	case showIfNot:
		return i.Mods[a.showMod] != 0
	}
	return false
}

func (i *Inst) appendOperand(dst []byte, a *argDesc, o *Operand, pc uint64) []byte {
	switch o.Kind {
	case KindReg, KindUReg, KindConst, KindUConst, KindCx:
		dst = i.appendValue(dst, o)
		if a.swz != 0 {
			dst = append(dst, halfNames[i.Enc.Bits(uint(a.swz), 2)]...)
		}
		if a.tailSuf != 0 {
			dst = i.appendSuffix(dst, a.tailSuf-1)
		}
		return append(dst, a.tail...)
	case KindPred, KindUPred:
		if o.Is(FlagNot) {
			dst = append(dst, '!')
		}
		return appendPred(dst, o.Reg, o.Kind == KindUPred)
	case KindImm:
		if a.tailSuf != 0 { // a name in operand position
			s := &sufTab[a.tailSuf-1]
			return append(dst, enumTab[s.enum].text[s.get(i.Enc)][1:]...)
		}
		return appendImm(dst, a, o)
	case KindF32:
		return appendFloat(dst, float64(math.Float32frombits(uint32(o.Imm))), uint64(uint32(o.Imm))>>22&1 != 0)
	case KindF64:
		return appendFloat(dst, math.Float64frombits(uint64(o.Imm)), uint64(o.Imm)>>51&1 != 0)
	case KindF16x2:
		return appendHalves(dst, uint32(o.Imm), a.style)
	case KindAddr:
		return i.appendAddr(dst, o, memTab[a.mem].quiet.width != 0)
	case KindTarget:
		return appendSigned(dst, int64(pc)+Size+o.Imm)
	case KindAbs:
		return appendHexU(append(dst, "0x"...), uint64(o.Imm))
	case KindSReg:
		return append(dst, specialName(i.Arch, uint8(o.Imm))...)
	case KindBarrier:
		return strconv.AppendUint(append(dst, 'B'), uint64(o.Reg), 10)
	case KindSB:
		return strconv.AppendUint(append(dst, sbName[a.style]...), uint64(o.Reg), 10)
	case KindPredSet:
		if i.Guard.Uniform {
			dst = append(dst, 'U')
		}
		return append(dst, "PR"...)
	case KindDesc:
		dst = appendUReg(append(dst, descName[a.style]...), o.UReg)
		if o.Imm != 0 {
			dst = appendSigned(append(dst, '+'), o.Imm)
		}
		dst = append(dst, ']')
		if a.tailSuf != 0 {
			dst = i.appendSuffix(dst, a.tailSuf-1)
		}
		return dst
	}
	return append(dst, '?')
}

// Names by style: scoreboards of the warp and of the warpgroup, descriptors of matrices and of memory.
var (
	sbName   = map[immStyle]string{styleHex: "SB", styleGroup: "gsb"}
	descName = map[immStyle]string{styleHex: "desc[", styleGroup: "gdesc[", styleTwos: "tmem[", styleInst: "idesc["}
)

// halfNames are the selections from a pair of halves.
var halfNames = [4]string{"", ".F32", ".H0_H0", ".H1_H1"}

// appendValue writes a register or constant with its signs: -|R1|, ~R2, !..., and .reuse.
func (i *Inst) appendValue(dst []byte, o *Operand) []byte {
	if o.Is(FlagNeg) {
		dst = append(dst, '-')
	}
	if o.Is(FlagInv) {
		dst = append(dst, '~')
	}
	if o.Is(FlagAbs) {
		dst = append(dst, '|')
	}
	switch o.Kind {
	case KindReg:
		dst = appendReg(dst, o.Reg)
	case KindUReg:
		dst = appendUReg(dst, o.Reg)
	default:
		zero := ""
		switch i.Op {
		case LDC:
			zero = "RZ"
		case LDCU:
			zero = "URZ"
		}
		dst = appendConst(dst, o, zero)
	}
	if o.Is(FlagAbs) {
		dst = append(dst, '|')
	}
	if o.Is(FlagReuse) && !(o.Kind == KindReg && o.Reg == RZ) {
		dst = append(dst, ".reuse"...)
	}
	return dst
}

// appendConst writes c[bank][offset]; zero is what a zero offset without index prints as, if not 0x0.
func appendConst(dst []byte, o *Operand, zero string) []byte {
	if o.Kind == KindCx {
		dst = append(appendUReg(append(dst, "cx["...), o.Desc), ']')
	} else {
		dst = append(appendHexU(append(dst, "c[0x"...), uint64(o.Bank)), ']')
	}
	dst = append(dst, '[')
	index := false
	if o.Reg != RZ {
		dst, index = appendReg(dst, o.Reg), true
	} else if o.UReg != URZ {
		dst, index = appendUReg(dst, o.UReg), true
	}
	if index && o.Imm != 0 {
		dst = append(dst, '+')
	}
	switch {
	case !index && o.Imm == 0 && zero != "":
		dst = append(dst, zero...)
	case !index || o.Imm != 0:
		dst = appendSigned(dst, o.Imm)
	}
	return append(dst, ']')
}

func appendImm(dst []byte, a *argDesc, o *Operand) []byte {
	switch a.style {
	case styleSigned:
		return appendSigned(dst, o.Imm)
	case styleTwos:
		return appendHexU(append(dst, "0x"...), uint64(uint32(o.Imm)))
	case styleSet:
		return appendSet(dst, uint64(o.Imm))
	}
	return appendHexU(append(dst, "0x"...), uint64(o.Imm))
}

// appendSet writes the members of a bit set, highest first: {5,3}.
func appendSet(dst []byte, v uint64) []byte {
	sep := byte('{')
	for b := 63; b >= 0; b-- {
		if v>>b&1 != 0 {
			dst = strconv.AppendUint(append(dst, sep), uint64(b), 10)
			sep = ','
		}
	}
	return append(dst, '}')
}

// appendAddr writes desc[UR][R.64+UR+off], leaving out what is zero.
func (i *Inst) appendAddr(dst []byte, o *Operand, quiet bool) []byte {
	if o.Is(FlagDesc) && i.Arch >= SM90 { // earlier listings leave the descriptor out
		dst = append(appendUReg(append(dst, "desc["...), o.Desc), ']')
	}
	dst = append(dst, '[')
	some := false
	if o.Reg != RZ || o.Shift != 0 || o.Is(FlagU32) {
		dst, some = appendReg(dst, o.Reg), true
		if o.Shift != 0 {
			dst = strconv.AppendUint(append(dst, ".X"...), 1<<o.Shift, 10)
		}
		if o.Is(FlagU32) {
			dst = append(dst, ".U32"...)
		} else if o.Is(FlagWide) && !quiet {
			dst = append(dst, ".64"...)
		}
	}
	if o.Is(FlagUBase) && !(o.UReg == URZ && (i.Op == STAS || i.Op == REDAS)) {
		if some {
			dst = append(dst, '+')
		}
		dst, some = appendUReg(dst, o.UReg), true
	}
	if !some {
		if o.Imm == 0 {
			return append(appendReg(dst, RZ), ']')
		}
		return append(appendSigned(dst, o.Imm), ']')
	}
	if o.Imm != 0 {
		dst = appendSigned(append(dst, '+'), o.Imm)
	}
	return append(dst, ']')
}

// appendFloat writes the shortest form that the usual listings use: up to 20 significant digits.
func appendFloat(dst []byte, v float64, quiet bool) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(dst, "+INF "...)
	case math.IsInf(v, -1):
		return append(dst, "-INF "...)
	case math.IsNaN(v):
		sign, kind := "+", "SNAN "
		if math.Signbit(v) {
			sign = "-"
		}
		if quiet {
			kind = "QNAN "
		}
		return append(append(dst, sign...), kind...)
	}
	if v == 0 && math.Signbit(v) {
		return append(dst, "-0.0 "...)
	}
	if math.Abs(v) >= 1e10 {
		return strconv.AppendFloat(dst, v, 'e', 20, 64)
	}
	return appendG20(dst, v)
}

// appendG20 writes v like C's %.20g: 20 significant digits without trailing zeros, exponents of at least two digits
// below 1e-4.
func appendG20(dst []byte, v float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', 20, 64)
	mant, exp := len(dst), len(dst)
	point := false
	for k := start; k < len(dst); k++ {
		switch dst[k] {
		case '.':
			point = true
		case 'e':
			mant = k
		}
	}
	if !point {
		return dst
	}
	end := mant
	for dst[end-1] == '0' {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	return append(dst[:end], dst[mant:exp]...)
}

func appendHalves(dst []byte, v uint32, style immStyle) []byte {
	one := func(h uint16) float64 {
		if style == styleBF16x2 {
			return float64(math.Float32frombits(uint32(h) << 16))
		}
		return halfFloat(h)
	}
	hi, lo := uint16(v>>16), uint16(v)
	dst = append(appendFloat(dst, one(hi), hi>>9&1 != 0), ',', ' ')
	return appendFloat(dst, one(lo), lo>>9&1 != 0)
}

// halfFloat is the value of an IEEE half.
func halfFloat(h uint16) float64 {
	m, e := float64(h&0x3ff), int(h>>10&31)
	var v float64
	switch e {
	case 0:
		v = math.Ldexp(m, -24)
	case 31:
		v = math.Inf(1)
		if m != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(m+1024, e-25)
	}
	if h>>15 != 0 {
		return -v
	}
	return v
}
