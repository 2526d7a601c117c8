package emu

import (
	"math/bits"

	"shmoo/sass"
)

const (
	warpLanes = 32
	allLanes  = ^uint32(0)
)

// lanes holds one 32-bit word per lane.
type lanes = [warpLanes]uint32

// form says how an instruction reads its operands: what a minus sign and absolute value mean.
type form uint8

const (
	formInt  form = iota // minus is two's complement
	formF32              // minus and absolute value act on the sign bit 31
	formF64              // the same on bit 63
	formHalf             // minus and absolute value act on both halves
)

type operandKind uint8

const (
	fromNowhere operandKind = iota // reads 0
	fromRow                        // a register, by row
	fromFixed                      // an immediate, or a constant whose value the launch fixes
	fromUniform                    // a uniform register
	fromUnknown                    // a constant whose value is not known
	fromIndexed                    // a constant with an index register; only LDC-like instructions read it
)

// An operand is a source made ready: register numbers are rows of the warp's file, constants are looked up, and a plain
// register or constant is told apart because the hot paths take it whole.
type operand struct {
	kind  operandKind
	form  form
	plain bool // kind is fromRow without neg, abs, inv
	wide  bool // 64 bits
	neg   bool
	abs   bool
	inv   bool

	row, row2 int32  // rows of the low and high word; for fromUniform uniform register numbers
	imm       uint64 // fromFixed, with neg, abs and inv applied
	lo        *lanes // fromFixed: the low word in every lane
	why       reason // fromUnknown
}

// modify applies absolute value, minus and complement to a value.
func (o *operand) modify(v uint64) uint64 {
	switch o.form {
	case formInt:
		if o.abs && int32(v) < 0 {
			v = uint64(-uint32(v))
		}
		if o.neg {
			v = -v
		}
		if o.inv {
			v = ^v
		}
		if !o.wide {
			v = uint64(uint32(v))
		}
	case formF32:
		v = signs(v, 1<<31, o.abs, o.neg)
	case formF64:
		v = signs(v, 1<<63, o.abs, o.neg)
	case formHalf:
		v = signs(v, 0x8000_8000, o.abs, o.neg)
	}
	return v
}

func signs(v, sign uint64, abs, neg bool) uint64 {
	if abs {
		v &^= sign
	}
	if neg {
		v ^= sign
	}
	return v
}

func (o *operand) modified() bool { return o.neg || o.abs || o.inv }

// src returns the low word of an operand in every lane, and the lanes where it is known. The result may be buf.
func (w *warp) src(o *operand, buf *lanes) (*lanes, uint32) {
	if o.plain {
		return &w.rows[o.row], w.known[o.row]
	}
	return w.srcOther(o, buf)
}

func (w *warp) srcOther(o *operand, buf *lanes) (*lanes, uint32) {
	switch o.kind {
	case fromFixed:
		return o.lo, allLanes
	case fromUniform:
		v := uint32(o.modify(uint64(w.uregs[o.row])))
		for i := range buf {
			buf[i] = v
		}
		return buf, spread(w.uknown[o.row])
	case fromRow:
		from := &w.rows[o.row]
		switch {
		case o.form == formInt && o.neg:
			for i := range buf {
				buf[i] = -from[i]
			}
		case o.form == formInt && o.inv:
			for i := range buf {
				buf[i] = ^from[i]
			}
		default:
			for i := range buf {
				buf[i] = uint32(o.modify(uint64(from[i])))
			}
		}
		return buf, w.known[o.row]
	case fromUnknown, fromIndexed:
		return buf, 0
	}
	return &zeroLanes, allLanes
}

// zeroLanes is never written.
var zeroLanes lanes

// get returns an operand's value in one lane and whether it is known.
func (w *warp) get(o *operand, lane int) (uint64, bool) {
	switch o.kind {
	case fromRow:
		v := uint64(w.rows[o.row][lane])
		known := w.rowKnown(o.row)
		if o.wide {
			v |= uint64(w.rows[o.row2][lane]) << 32
			known &= w.rowKnown(o.row2)
		}
		if o.modified() {
			v = o.modify(v)
		}
		return v, known>>uint(lane)&1 != 0
	case fromFixed:
		return o.imm, true
	case fromUniform:
		return w.getUniform(o)
	case fromUnknown, fromIndexed:
		return 0, false
	}
	return 0, true
}

// getUniform returns the value of an operand of a uniform instruction.
func (w *warp) getUniform(o *operand) (uint64, bool) {
	switch o.kind {
	case fromUniform:
		v, known := uint64(w.uregs[o.row]), w.uknown[o.row]
		if o.wide {
			v |= uint64(w.uregs[o.row2]) << 32
			known = known && w.uknown[o.row2]
		}
		if o.modified() {
			v = o.modify(v)
		}
		return v, known
	case fromFixed:
		return o.imm, true
	case fromNowhere:
		return 0, true
	}
	return 0, false
}

// reasonOf returns why an operand is unknown, 0 if it is known in all lanes of the set.
func (w *warp) reasonOf(o *operand, set uint32) reason {
	switch o.kind {
	case fromRow:
		if w.known[o.row]&set != set {
			return w.why[o.row]
		}
		if o.wide && w.known[o.row2]&set != set {
			return w.why[o.row2]
		}
	case fromUniform:
		if !w.uknown[o.row] {
			return w.uwhy[o.row]
		}
		if o.wide && !w.uknown[o.row2] {
			return w.uwhy[o.row2]
		}
	case fromUnknown, fromIndexed:
		return o.why
	}
	return 0
}

func spread(b bool) uint32 {
	if b {
		return allLanes
	}
	return 0
}

func broadcast(v uint32) *lanes {
	l := new(lanes)
	for i := range l {
		l[i] = v
	}
	return l
}

// A predRef is a predicate source.
type predRef struct {
	index   uint8
	neg     bool
	uniform bool
	always  bool // true in every lane
}

func predOf(o *sass.Operand) predRef {
	if o == nil {
		return predRef{index: sass.PT, always: true}
	}
	r := predRef{index: o.Reg, neg: o.Is(sass.FlagNot), uniform: o.Kind == sass.KindUPred}
	r.always = r.index == sass.PT && !r.neg
	return r
}

// pred returns the lanes where a predicate source is true and those where it is known.
func (w *warp) pred(r predRef) (value, known uint32) {
	if r.uniform {
		value, known = spread(w.upreds[r.index]), spread(w.upknown[r.index])
	} else {
		value, known = w.preds[r.index], w.pknown[r.index]
	}
	if r.neg {
		value = ^value
	}
	return value, known
}

func (w *warp) predReason(r predRef) reason {
	if r.uniform {
		return w.upwhy[r.index]
	}
	return w.pwhy[r.index]
}

// first returns the lowest lane of a set that is not empty.
func first(set uint32) int { return bits.TrailingZeros32(set) }
