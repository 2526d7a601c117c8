package emu

import (
	"math"

	"shmoo/sass"
)

// floatOps are floating-point arithmetic. Results carry one rounding, as the hardware's do.
var floatOps = withUniform(map[string]semantics{
	"FADD":    {fold: foldFADD, form: formF32, prepare: fastFADD},
	"FMUL":    {fold: foldFMUL, form: formF32, prepare: fastFMUL},
	"FFMA":    {fold: foldFFMA, form: formF32, prepare: fastFFMA},
	"FSWZADD": {exec: unsupported},
	"FMNMX3":  {fold: foldFMNMX3, form: formF32},
	"DADD":    {fold: foldDADD, form: formF64, pairs: "ab"},
	"DMUL":    {fold: foldDMUL, form: formF64, pairs: "ab"},
	"DFMA":    {fold: foldDFMA, form: formF64, pairs: "abc"},
	"MUFU":    {fold: foldMUFU, form: formF32},
	"HADD2":   {fold: foldHADD2, form: formHalf, prepare: prepareHalf},
	"HMUL2":   {fold: foldHMUL2, form: formHalf, prepare: prepareHalf},
	"HFMA2":   {fold: foldHFMA2, form: formHalf, prepare: prepareHFMA2},
	"HMNMX2":  {fold: foldHMNMX2, form: formHalf, prepare: prepareHalf},
	"HSET2":   {fold: foldHSET2, form: formHalf, probes: probeCompare, prepare: prepareHalf},
	"HSETP2":  {fold: foldHSETP2, form: formHalf, probes: probeCompare, prepare: prepareHalf},
	"HMMA":    {exec: execTensor},
	"IMMA":    {exec: execTensor},
	"BMMA":    {exec: execTensor},
	"DMMA":    {exec: execTensor},
	"QMMA":    {exec: execTensor},
	"OMMA":    {exec: execTensor},
	"MOVM":    {exec: execTensor},
}, map[string]string{"FADD": "UFADD", "FMUL": "UFMUL", "FFMA": "UFFMA"})

// execTensor leaves the result of a tensor instruction unknown.
func execTensor(w *warp, o *inst) { w.poison(o, because(whyTensor, int(o.index))) }

// canonicalNaN is what the hardware's float arithmetic returns for every not-a-number.
const canonicalNaN = 0x7fff_ffff

// finish rounds, flushes and clamps a 32-bit result.
func finish(o *inst, f float32) uint64 {
	if f != f {
		if o.mod(sass.ModSat) != 0 {
			return 0
		}
		return canonicalNaN
	}
	if o.mod(sass.ModSat) != 0 {
		f = min(max(f, 0), 1)
	}
	return flush(o, uint64(math.Float32bits(f)))
}

func foldFADD(o *inst, x *values) {
	a, b := flush(o, x.a), flush(o, x.b)
	if mode := sass.Round(o.mod(sass.ModRound)); mode != sass.RoundNearest {
		x.d = finish(o, toFloat32(float64(f32(a))+float64(f32(b)), mode))
		return
	}
	x.d = finish(o, f32(a)+f32(b))
}

// scales are the factors of FMUL's result by its code at bits [86:84].
var scales = [8]float64{1, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2, 4, 8}

func foldFMUL(o *inst, x *values) {
	p := float64(f32(flush(o, x.a))) * float64(f32(flush(o, x.b))) * scales[o.in.Enc.Bits(84, 3)]
	x.d = finish(o, toFloat32(p, sass.Round(o.mod(sass.ModRound))))
}

func foldFFMA(o *inst, x *values) {
	a, b, c := float64(f32(flush(o, x.a))), float64(f32(flush(o, x.b))), float64(f32(flush(o, x.c)))
	x.d = finish(o, fma32(a, b, c, sass.Round(o.mod(sass.ModRound))))
}

// fma32 rounds a*b+c once. The product of two 32-bit floats is exact in a float64, but the sum may not be: rounding to odd
// keeps the second rounding right.
func fma32(a, b, c float64, mode sass.Round) float32 {
	p := a * b
	sum := p + c
	if t := sum - p; !math.IsInf(sum, 0) && sum == sum {
		lost := (p - (sum - t)) + (c - t)
		if lost != 0 && math.Float64bits(sum)&1 == 0 {
			toward := math.Inf(1)
			if lost < 0 {
				toward = math.Inf(-1)
			}
			sum = math.Nextafter(sum, toward)
		}
	}
	return toFloat32(sum, mode)
}

func foldFMNMX3(o *inst, x *values) {
	y := *x
	foldFMNMX(o, &y)
	y.a, y.b = y.d, x.c
	foldFMNMX(o, &y)
	x.d = y.d
}

func f64(v uint64) float64 { return math.Float64frombits(v) }

func foldDADD(o *inst, x *values) {
	x.d = math.Float64bits(fma64(f64(x.a), 1, f64(x.b), sass.Round(o.mod(sass.ModRound))))
}

func foldDMUL(o *inst, x *values) {
	mode := sass.Round(o.mod(sass.ModRound))
	if mode == sass.RoundNearest {
		x.d = math.Float64bits(f64(x.a) * f64(x.b))
		return
	}
	x.d = math.Float64bits(fma64(f64(x.a), f64(x.b), 0, mode))
}

func foldDFMA(o *inst, x *values) {
	x.d = math.Float64bits(fma64(f64(x.a), f64(x.b), f64(x.c), sass.Round(o.mod(sass.ModRound))))
}

// mufu are the functions of the special function unit on 32-bit floats. COS and SIN take a range-reduced argument as
// RRO.SINCOS or a multiplication by 1/(2 pi) leaves it: the operand counts turns.
var mufu = map[sass.MufuOp]func(float64) float64{
	sass.MufuCos:  func(v float64) float64 { return math.Cos(2 * math.Pi * v) },
	sass.MufuSin:  func(v float64) float64 { return math.Sin(2 * math.Pi * v) },
	sass.MufuEx2:  math.Exp2,
	sass.MufuLg2:  math.Log2,
	sass.MufuRcp:  func(v float64) float64 { return 1 / v },
	sass.MufuRsq:  func(v float64) float64 { return 1 / math.Sqrt(v) },
	sass.MufuSqrt: math.Sqrt,
	sass.MufuTanh: math.Tanh,
}

// foldMUFU flushes denormal sources and results, as the unit does. RCP64H and RSQ64H work on the high word of a 64-bit float
// and return a high word.
func foldMUFU(o *inst, x *values) {
	op := sass.MufuOp(o.mod(sass.ModMufu))
	switch op {
	case sass.MufuRcp64H:
		x.d = math.Float64bits(1/f64(x.b<<32)) >> 32
		return
	case sass.MufuRsq64H:
		x.d = math.Float64bits(1/math.Sqrt(f64(x.b<<32))) >> 32
		return
	}
	f := mufu[op]
	if f == nil {
		x.d = canonicalNaN
		return
	}
	b := x.b
	if b&0x7f80_0000 == 0 {
		b &= 0x8000_0000
	}
	v := float32(f(float64(f32(b))))
	if v != v {
		x.d = canonicalNaN
		return
	}
	d := uint64(math.Float32bits(v))
	if d&0x7f80_0000 == 0 {
		d &= 0x8000_0000
	}
	x.d = d
}
