package sketch

import (
	"math/bits"

	"shmoo/smem"
)

type laneMask = smem.Mask

const allLanes = ^laneMask(0)

// A vec is a value in every lane of a warp. Where uni is set, v[0] stands for all lanes that matter and the rest is
// stale. Lanes in unk have no known value, for the reason why.
type vec struct {
	v   []int64
	uni bool
	unk laneMask
	why string
}

func (a *vec) set(x int64) {
	a.v[0], a.uni, a.unk = x, true, 0
}

func (a *vec) setUnknown(why string) {
	a.v[0], a.uni, a.unk, a.why = 0, true, allLanes, why
}

// spread fills all lanes of a uniform value.
func (a *vec) spread() {
	if a.uni {
		x := a.v[0]
		for i := range a.v {
			a.v[i] = x
		}
	}
}

func (a *vec) at(lane int) int64 {
	if a.uni {
		return a.v[0]
	}
	return a.v[lane]
}

// blame takes over the unknown lanes of the operands.
func (a *vec) blame(x, y *vec) {
	a.unk = x.unk | y.unk
	if x.unk != 0 {
		a.why = x.why
	} else if y.unk != 0 {
		a.why = y.why
	}
}

// split sorts the lanes of mask by the truth of a: true, false, unknown.
func (a *vec) split(mask laneMask) (yes, no, unknown laneMask) {
	unknown = a.unk & mask
	mask &^= unknown
	if a.uni {
		if a.v[0] != 0 {
			return mask, 0, unknown
		}
		return 0, mask, unknown
	}
	for m := uint64(mask); m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if a.v[lane] != 0 {
			yes |= 1 << lane
		}
	}
	return yes, mask &^ yes, unknown
}

// copyFrom makes a equal to b in all lanes.
func (a *vec) copyFrom(b *vec) {
	a.uni, a.unk, a.why = b.uni, b.unk, b.why
	if b.uni {
		a.v[0] = b.v[0]
		return
	}
	copy(a.v, b.v)
}

// merge takes the lanes of mask from b.
func (a *vec) merge(b *vec, mask laneMask) {
	if a.uni && b.uni && a.v[0] == b.v[0] && a.unk == b.unk {
		return
	}
	a.spread()
	a.uni = false
	if b.uni {
		x := b.v[0]
		for m := uint64(mask); m != 0; m &= m - 1 {
			if lane := bits.TrailingZeros64(m); lane < len(a.v) {
				a.v[lane] = x
			}
		}
	} else {
		for m := uint64(mask); m != 0; m &= m - 1 {
			if lane := bits.TrailingZeros64(m); lane < len(a.v) {
				a.v[lane] = b.v[lane]
			}
		}
	}
	if b.unk&mask != 0 {
		a.why = b.why
	}
	a.unk = a.unk&^mask | b.unk&mask
}

// opcode is a binary integer operator.
type opcode uint8

const (
	opAdd opcode = iota
	opSub
	opMul
	opDiv
	opRem
	opAnd
	opOr
	opXor
	opShl
	opShr
	opEq
	opNe
	opLt
	opLe
	opMin
	opMax
)

// opcodes maps operators; > and >= are < and <= with the operands exchanged.
var opcodes = map[string]opcode{
	"+": opAdd, "-": opSub, "*": opMul, "/": opDiv, "%": opRem, "&": opAnd, "|": opOr, "^": opXor, "<<": opShl,
	">>": opShr, "==": opEq, "!=": opNe, "<": opLt, "<=": opLe,
}

// one applies an operator to one lane. t is the type of the operands (of the left one for shifts).
func (op opcode) one(t *ctype, x, y int64) int64 {
	var r int64
	switch op {
	case opAdd:
		r = x + y
	case opSub:
		r = x - y
	case opMul:
		r = x * y
	case opDiv:
		r = divide(t, x, y)
	case opRem:
		r = remainder(t, x, y)
	case opAnd:
		r = x & y
	case opOr:
		r = x | y
	case opXor:
		r = x ^ y
	case opShl:
		r = x << shiftCount(t, y)
	case opShr:
		r = shiftRight(t, x, y)
	case opEq:
		return truth(x == y)
	case opNe:
		return truth(x != y)
	case opLt:
		return truth(less(t, x, y))
	case opLe:
		return truth(!less(t, y, x))
	case opMin:
		if less(t, y, x) {
			return y
		}
		return x
	case opMax:
		if less(t, x, y) {
			return y
		}
		return x
	}
	return t.wrap(r)
}

// all applies an operator to all lanes. The common operators have loops of their own.
func (op opcode) all(t *ctype, out, x, y []int64) {
	x, y = x[:len(out)], y[:len(out)]
	switch op {
	case opAdd:
		for i := range out {
			out[i] = x[i] + y[i]
		}
	case opSub:
		for i := range out {
			out[i] = x[i] - y[i]
		}
	case opMul:
		for i := range out {
			out[i] = x[i] * y[i]
		}
	case opAnd:
		for i := range out {
			out[i] = x[i] & y[i]
		}
	case opOr:
		for i := range out {
			out[i] = x[i] | y[i]
		}
	case opXor:
		for i := range out {
			out[i] = x[i] ^ y[i]
		}
	default:
		for i := range out {
			out[i] = op.one(t, x[i], y[i])
		}
		return
	}
	wrapAll(t, out)
}

// right applies an operator whose right operand is the same in all lanes. Indices are mostly of this kind, such as
// row * pitch + k, so the usual operators and types have loops of their own.
func (op opcode) right(t *ctype, out, x []int64, y int64) {
	x = x[:len(out)]
	switch {
	case op == opAdd && t == typeInt:
		for i := range out {
			out[i] = int64(int32(x[i] + y))
		}
	case op == opAdd && t == typeUint:
		for i := range out {
			out[i] = int64(uint32(x[i] + y))
		}
	case op == opMul && t == typeInt:
		for i := range out {
			out[i] = int64(int32(x[i] * y))
		}
	case op == opMul && t == typeUint:
		for i := range out {
			out[i] = int64(uint32(x[i] * y))
		}
	case (op == opAdd || op == opMul) && t.size == 8 && t.kind != kindBool:
		if op == opMul {
			for i := range out {
				out[i] = x[i] * y
			}
			return
		}
		for i := range out {
			out[i] = x[i] + y
		}
	case op == opLt && !t.wideUnsigned():
		for i := range out {
			out[i] = truth(x[i] < y)
		}
	default:
		for i := range out {
			out[i] = op.one(t, x[i], y)
		}
	}
}

// commutes reports whether the operands of an operator may change places.
func (op opcode) commutes() bool {
	return op == opAdd || op == opMul || op == opAnd || op == opOr || op == opXor || op == opEq || op == opNe
}

// wrapAll brings every lane into the range of t.
func wrapAll(t *ctype, v []int64) {
	switch {
	case t.kind != kindBool && t.size >= 8:
	case t.kind == kindInt && t.size == 4 && t.signed:
		for i, x := range v {
			v[i] = int64(int32(x))
		}
	case t.kind == kindInt && t.size == 4:
		for i, x := range v {
			v[i] = int64(uint32(x))
		}
	default:
		for i, x := range v {
			v[i] = t.wrap(x)
		}
	}
}
