package emu

import (
	"math"

	"shmoo/internal/half"
	"shmoo/sass"
)

// Half-precision operands name which halves of a register they read.
const (
	bothHalves = iota
	wholeF32
	lowTwice
	highTwice
)

// Where the encoding of half-precision instructions has what the decoder keeps for the text: selections of operands and formats.
const (
	halfSelA     = 74 // two bits each
	halfSelAt32  = 60 // of the operand whose register is at [39:32]
	halfSelAt64  = 81 // of the operand whose register is at [71:64]
	halfToF32    = 78
	halfBF16     = 85
	halfMinBF16  = 85
	halfSetOnes  = 71 // HSET2.BF: 1.0 instead of a mask
	halfSetAll   = 71 // HSETP2.H_AND: both halves in one predicate
	halfRelu     = 79
	halfSetKind  = 64 // HSET2, HSETP2: 2 for bfloat16
	halfJoin     = 69 // HSET2, HSETP2: how the outcome is joined with Pp
	packKindLow  = 76 // F2FP: 1 for bfloat16
	packKindHigh = 87 // F2FP: set for 8-bit formats
	packRelu     = 75
)

func (o *inst) bits(at, n uint) uint8 { return uint8(o.in.Enc.Bits(at, n)) }

// prepareHalf reads the selections. The form of the encoding says which of B and C has its register at [39:32].
func prepareHalf(m *machine, o *inst) {
	const formBits, swapped = 9, 0b10001100 // forms 2, 3 and 7 keep B at [71:64]
	o.sel[0] = o.bits(halfSelA, 2)
	atB, atC := uint(halfSelAt32), uint(halfSelAt64)
	if o.in.Arg(sass.RoleC) != nil && swapped>>o.bits(formBits, 3)&1 != 0 {
		atB, atC = atC, atB
	}
	o.sel[1], o.sel[2] = o.bits(atB, 2), o.bits(atC, 2)
	for k, src := range []*operand{&o.a, &o.b, &o.c} {
		role := []sass.Role{sass.RoleA, sass.RoleB, sass.RoleC}[k]
		arg := o.in.Arg(role)
		switch {
		case arg == nil:
		case arg.Kind == sass.KindF16x2 || arg.Kind == sass.KindImm:
			o.sel[k] = bothHalves
		case o.sel[k] == wholeF32:
			*src = m.operand(arg, formF32, int(o.index), false)
		}
	}
}

// bfloat reports whether an arithmetic instruction works on bfloat16.
func (o *inst) bfloat() bool { return o.bits(halfBF16, 1) != 0 }

// halves returns the two numbers that an operand selects.
func halves(v uint64, sel uint8, bfloat bool) (lo, hi float64) {
	read := half.From
	if bfloat {
		read = fromBFloat
	}
	switch sel {
	case wholeF32:
		f := float64(f32(v))
		return f, f
	case lowTwice:
		f := read(uint16(v))
		return f, f
	case highTwice:
		f := read(uint16(v >> 16))
		return f, f
	}
	return read(uint16(v)), read(uint16(v >> 16))
}

func fromBFloat(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

// toBFloat rounds to the nearest bfloat16, ties to even.
func toBFloat(v float64) uint16 {
	b := math.Float32bits(float32(v))
	if v != v {
		return 0x7fff
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// smallestHalf is the smallest normal number of the 16-bit format.
const smallestHalf = 1.0 / (1 << 14)

// packed rounds a result and packs it: two halves, or with .F32 the low one as a 32-bit float.
func packed(o *inst, lo, hi float64) uint64 {
	if o.bits(halfToF32, 1) != 0 && !o.bfloat() {
		return finish(o, float32(lo))
	}
	return uint64(packedHalf(o, lo)) | uint64(packedHalf(o, hi))<<16
}

func packedHalf(o *inst, v float64) uint16 {
	if o.mod(sass.ModSat) != 0 {
		v = math.Min(math.Max(v, 0), 1)
	}
	if o.in.Op == sass.HFMA2 && o.bits(halfRelu, 1) != 0 {
		v = math.Max(v, 0)
	}
	if o.mod(sass.ModFtz) != 0 && math.Abs(v) < smallestHalf {
		v = math.Copysign(0, v)
	}
	if o.bfloat() {
		return toBFloat(v)
	}
	return half.To(v)
}

func foldHADD2(o *inst, x *values) {
	a0, a1 := halves(x.a, o.sel[0], o.bfloat())
	b0, b1 := halves(x.b, o.sel[1], o.bfloat())
	x.d = packed(o, a0+b0, a1+b1)
}

func foldHMUL2(o *inst, x *values) {
	a0, a1 := halves(x.a, o.sel[0], o.bfloat())
	b0, b1 := halves(x.b, o.sel[1], o.bfloat())
	x.d = packed(o, a0*b0, a1*b1)
}

func prepareHFMA2(m *machine, o *inst) {
	prepareHalf(m, o)
	fastConstant(o)
}

func foldHFMA2(o *inst, x *values) {
	a0, a1 := halves(x.a, o.sel[0], o.bfloat())
	b0, b1 := halves(x.b, o.sel[1], o.bfloat())
	c0, c1 := halves(x.c, o.sel[2], o.bfloat())
	x.d = packed(o, math.FMA(a0, b0, c0), math.FMA(a1, b1, c1))
}

func foldHMNMX2(o *inst, x *values) {
	bfloat := o.bits(halfMinBF16, 1) != 0
	a0, a1 := halves(x.a, bothHalves, bfloat)
	b0, b1 := halves(x.b, o.sel[1], bfloat)
	choose := func(a, b float64) float64 {
		switch {
		case a != a:
			return b
		case b != b:
			return a
		case x.p:
			return math.Min(a, b)
		}
		return math.Max(a, b)
	}
	write := half.To
	if bfloat {
		write = toBFloat
	}
	x.d = uint64(write(choose(a0, b0))) | uint64(write(choose(a1, b1)))<<16
}

// halfOutcomes compares both halves.
func halfOutcomes(o *inst, x *values) (lo, hi bool) {
	if x.compare != maybe {
		return x.compare == yes, x.compare == yes
	}
	bfloat := o.bits(halfSetKind, 2) == 2
	a0, a1 := halves(x.a, o.sel[0], bfloat)
	b0, b1 := halves(x.b, o.sel[1], bfloat)
	return floatOutcome(o.in.FCmp(), a0, b0), floatOutcome(o.in.FCmp(), a1, b1)
}

func foldHSETP2(o *inst, x *values) {
	lo, hi := halfOutcomes(o, x)
	if o.bits(halfSetAll, 1) != 0 {
		lo = lo && hi
		hi = !lo
	}
	join := sass.Bool(o.bits(halfJoin, 2))
	x.u, x.v = joinBool(join, lo, x.p), joinBool(join, hi, x.p)
}

func foldHSET2(o *inst, x *values) {
	lo, hi := halfOutcomes(o, x)
	join := sass.Bool(o.bits(halfJoin, 2))
	yes := uint64(0xffff)
	if o.bits(halfSetOnes, 1) != 0 {
		const oneF16, oneBF16 = 0x3c00, 0x3f80
		if yes = oneF16; o.bits(halfSetKind, 2) == 2 {
			yes = oneBF16
		}
	}
	x.d = 0
	if joinBool(join, lo, x.p) {
		x.d = yes
	}
	if joinBool(join, hi, x.p) {
		x.d |= yes << 16
	}
}

// prepareF2FP models the packing of two 32-bit floats; conversions to and from 8-bit formats are not modelled.
func prepareF2FP(_ *machine, o *inst) {
	if o.in.Arg(sass.RoleA) == nil || o.bits(packKindHigh, 1) != 0 {
		o.exec = unsupported
	}
}

// foldF2FP packs A into the high half and B into the low one.
func foldF2FP(o *inst, x *values) {
	write := half.To
	if o.bits(packKindLow, 1) != 0 {
		write = toBFloat
	}
	a, b := float64(f32(x.a)), float64(f32(x.b))
	if o.bits(packRelu, 1) != 0 {
		a, b = math.Max(a, 0), math.Max(b, 0)
	}
	x.d = uint64(write(a))<<16 | uint64(write(b))
}
