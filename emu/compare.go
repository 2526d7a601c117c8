package emu

import (
	"math"

	"shmoo/sass"
)

// compareOps are comparisons and selections.
var compareOps = withUniform(map[string]semantics{
	"ISETP": {fold: foldISETP, probes: probeCompare, prepare: fastISETP},
	"SEL":   {fold: foldSEL, probes: probeSelect, prepare: fastSEL},
	"FSEL":  {fold: foldSEL, probes: probeSelect, form: formF32, prepare: fastSEL},
	"FSETP": {fold: foldFSETP, probes: probeCompare, form: formF32},
	"FSET":  {fold: foldFSET, probes: probeCompare, form: formF32},
	"DSETP": {fold: foldDSETP, probes: probeCompare, form: formF64, pairs: "ab"},
	"FCHK":  {fold: foldFCHK, form: formF32},
	"FMNMX": {fold: foldFMNMX, form: formF32},
}, map[string]string{"ISETP": "UISETP", "SEL": "USEL", "FSETP": "UFSETP", "FSEL": "UFSEL"})

// compared joins the outcome of a comparison with Pp for Pu and Pv.
func (x *values) compared(o *inst, outcome bool) {
	if x.compare != maybe {
		outcome = x.compare == yes
	}
	x.u, x.v = joinBool(o.in.Bool(), outcome, x.p), joinBool(o.in.Bool(), !outcome, x.p)
}

func joinBool(op sass.Bool, a, b bool) bool {
	switch op {
	case sass.BoolOr:
		return a || b
	case sass.BoolXor:
		return a != b
	}
	return a && b
}

// ordered evaluates a comparison code on an order: -1 less, 0 equal, 1 greater.
func ordered(c sass.Cmp, order int) bool {
	switch c {
	case sass.CmpLT:
		return order < 0
	case sass.CmpEQ:
		return order == 0
	case sass.CmpLE:
		return order <= 0
	case sass.CmpGT:
		return order > 0
	case sass.CmpNE:
		return order != 0
	case sass.CmpGE:
		return order >= 0
	}
	return c == sass.CmpT
}

func order[T int32 | uint32 | int64 | uint64 | float32 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// integerOrder compares the operands as the instruction's type says.
func integerOrder(o *inst, a, b uint64) int {
	switch wide, signed := o.mod(sass.ModWide) != 0, o.in.Signed(); {
	case wide && signed:
		return order(int64(a), int64(b))
	case wide:
		return order(a, b)
	case signed:
		return order(int32(a), int32(b))
	}
	return order(uint32(a), uint32(b))
}

// foldISETP compares integers. With .EX the operands are high words, and Pr holds what the same comparison of the low words gave.
func foldISETP(o *inst, x *values) {
	c, by := o.in.Cmp(), integerOrder(o, x.a, x.b)
	outcome := ordered(c, by)
	if o.mod(sass.ModEx) != 0 {
		switch c {
		case sass.CmpEQ:
			outcome = by == 0 && x.r
		case sass.CmpNE:
			outcome = by != 0 || x.r
		case sass.CmpLT, sass.CmpLE:
			outcome = by < 0 || by == 0 && x.r
		case sass.CmpGT, sass.CmpGE:
			outcome = by > 0 || by == 0 && x.r
		}
	}
	x.compared(o, outcome)
}

func foldSEL(_ *inst, x *values) { x.d = pick(x.p, x.a, x.b) }

// floatOutcome evaluates a float comparison code.
func floatOutcome(c sass.FCmp, a, b float64) bool {
	nan := a != a || b != b
	switch {
	case c == sass.FCmpNUM:
		return !nan
	case c == sass.FCmpNAN:
		return nan
	case c == sass.FCmpT:
		return true
	case nan:
		return c > sass.FCmpNAN
	}
	return ordered(sass.Cmp(c&7), order(a, b))
}

// flush replaces a denormal by zero where the instruction says so.
func flush(o *inst, v uint64) uint64 {
	if o.mod(sass.ModFtz) != 0 && v&0x7f80_0000 == 0 {
		return v & 0x8000_0000
	}
	return v
}

func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }

func foldFSETP(o *inst, x *values) {
	x.compared(o, floatOutcome(o.in.FCmp(), float64(f32(flush(o, x.a))), float64(f32(flush(o, x.b)))))
}

func foldFSET(o *inst, x *values) {
	foldFSETP(o, x)
	x.d = 0
	if x.u {
		x.d = uint64(math.Float32bits(1))
	}
}

func foldDSETP(o *inst, x *values) {
	x.compared(o, floatOutcome(o.in.FCmp(), math.Float64frombits(x.a), math.Float64frombits(x.b)))
}

func foldFMNMX(o *inst, x *values) {
	a, b := f32(flush(o, x.a)), f32(flush(o, x.b))
	switch {
	case a != a && b != b:
		x.d = 0x7fff_ffff
	case a != a:
		x.d = flush(o, x.b)
	case b != b:
		x.d = flush(o, x.a)
	case a == b: // zeros of both signs: the minimum is the negative one
		negative := x.a>>31&1 != 0
		x.d = pick(negative == x.p, flush(o, x.a), flush(o, x.b))
	default:
		x.d = pick(a < b == x.p, flush(o, x.a), flush(o, x.b))
	}
}

// foldFCHK tells whether the fast division of A by B could be inaccurate, so that code takes its slow path: zero, infinite and
// not-a-number operands, and exponents near the ends. The compiler's fast path is exact where this is false.
func foldFCHK(_ *inst, x *values) {
	ea, eb := int(x.a>>23&0xff), int(x.b>>23&0xff)
	x.u = eb == 0 || eb == 0xff || ea == 0xff || eb >= 253 || ea != 0 && (ea-eb >= 126 || ea-eb <= -125 || ea <= 24) ||
		ea == 0 && x.a&0x7f_ffff != 0
}
