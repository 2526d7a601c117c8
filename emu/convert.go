package emu

import (
	"math"
	"math/big"
	"math/bits"

	"shmoo/internal/half"
	"shmoo/sass"
)

// convertOps are conversions between integers and floats.
var convertOps = withUniform(map[string]semantics{
	"I2F":  {fold: foldI2F, prepare: prepareI2F},
	"I2FP": {fold: foldI2F, prepare: prepareI2F},
	"F2I":  {fold: foldF2I, prepare: prepareFloatSource},
	"F2F":  {fold: foldF2F, prepare: prepareFloatSource},
	"FRND": {fold: foldFRND, prepare: prepareFRND},
	"F2FP": {fold: foldF2FP, form: formF32, prepare: prepareF2FP},
	"I2I":  {exec: unsupported},
	"I2IP": {exec: unsupported},
}, map[string]string{"I2F": "UI2F", "I2FP": "UI2FP", "F2I": "UF2I"})

func dataType(o *inst, m sass.Mod, none sass.DataType) sass.DataType {
	if t := sass.DataType(o.mod(m)); t != 0 {
		return t
	}
	return none
}

// prepareI2F makes a 64-bit source wide.
func prepareI2F(m *machine, o *inst) {
	if t := sass.DataType(o.mod(sass.ModSrcType)); (t == sass.TypeU64 || t == sass.TypeS64) && !o.b.wide {
		o.b = m.operand(o.in.Arg(sass.RoleB), formInt, int(o.index), true)
	}
}

// prepareFloatSource makes the source's signs act on its own format.
func prepareFloatSource(m *machine, o *inst) {
	f, wide := formF32, false
	switch sass.DataType(o.mod(sass.ModSrcType)) {
	case sass.TypeF64:
		f, wide = formF64, true
	case sass.TypeF16:
		f = formHalf
	}
	o.b = m.operand(o.in.Arg(sass.RoleB), f, int(o.index), wide)
}

func prepareFRND(m *machine, o *inst) {
	f, wide := formF32, false
	switch sass.DataType(o.mod(sass.ModDstType)) {
	case sass.TypeF64:
		f, wide = formF64, true
	case sass.TypeF16:
		f = formHalf
	}
	o.b = m.operand(o.in.Arg(sass.RoleB), f, int(o.index), wide)
}

// integerSource reads a source of an integer type as sign and magnitude.
func integerSource(t sass.DataType, v uint64) (neg bool, mag uint64) {
	var s int64
	switch t {
	case sass.TypeU8:
		return false, uint64(uint8(v))
	case sass.TypeU16:
		return false, uint64(uint16(v))
	case sass.TypeU32:
		return false, uint64(uint32(v))
	case sass.TypeU64:
		return false, v
	case sass.TypeS8:
		s = int64(int8(v))
	case sass.TypeS16:
		s = int64(int16(v))
	case sass.TypeS32:
		s = int64(int32(v))
	default:
		s = int64(v)
	}
	if s < 0 {
		return true, -uint64(s)
	}
	return false, uint64(s)
}

// roundInteger rounds an integer to n significant bits in a rounding mode. The result is exact in a float64.
func roundInteger(neg bool, mag uint64, n int, mode sass.Round) float64 {
	if drop := bits.Len64(mag) - n; drop > 0 {
		rest := mag & (1<<drop - 1)
		mag >>= drop
		half := uint64(1) << (drop - 1)
		up := false
		switch mode {
		case sass.RoundNearest:
			up = rest > half || rest == half && mag&1 != 0
		case sass.RoundUp:
			up = rest != 0 && !neg
		case sass.RoundDown:
			up = rest != 0 && neg
		}
		if up {
			mag++
		}
		return signed(math.Ldexp(float64(mag), drop), neg)
	}
	return signed(float64(mag), neg)
}

func signed(v float64, neg bool) float64 {
	if neg {
		return -v
	}
	return v
}

func foldI2F(o *inst, x *values) {
	neg, mag := integerSource(dataType(o, sass.ModSrcType, sass.TypeU8), x.b)
	mode := sass.Round(o.mod(sass.ModRound))
	switch dataType(o, sass.ModDstType, sass.TypeF32) {
	case sass.TypeF64:
		x.d = math.Float64bits(roundInteger(neg, mag, 53, mode))
	case sass.TypeF16:
		x.d = uint64(half.To(roundInteger(neg, mag, 11, mode)))
	default:
		x.d = uint64(math.Float32bits(float32(roundInteger(neg, mag, 24, mode))))
	}
}

// floatSource reads a float of a format.
func floatSource(o *inst, v uint64) float64 {
	switch sass.DataType(o.mod(sass.ModSrcType)) {
	case sass.TypeF64:
		return math.Float64frombits(v)
	case sass.TypeF16:
		return half.From(uint16(v))
	}
	return float64(f32(flush(o, v)))
}

func roundFloat(v float64, mode sass.Round) float64 {
	switch mode {
	case sass.RoundDown:
		return math.Floor(v)
	case sass.RoundUp:
		return math.Ceil(v)
	case sass.RoundZero:
		return math.Trunc(v)
	}
	return math.RoundToEven(v)
}

// foldF2I rounds to an integer and saturates (PTX ISA, cvt: out of range values are clamped, not-a-number becomes 0 for 32 bits
// and 1<<63 for 64).
func foldF2I(o *inst, x *values) {
	v := floatSource(o, x.b)
	t := dataType(o, sass.ModDstType, sass.TypeU8)
	if v != v {
		x.d = 0
		if t == sass.TypeU64 || t == sass.TypeS64 {
			x.d = 1 << 63
		}
		return
	}
	v = roundFloat(v, sass.Round(o.mod(sass.ModRound)))
	width := map[sass.DataType]uint{sass.TypeU8: 8, sass.TypeS8: 8, sass.TypeU16: 16, sass.TypeS16: 16, sass.TypeU32: 32,
		sass.TypeS32: 32, sass.TypeU64: 64, sass.TypeS64: 64}[t]
	if t == sass.TypeU8 || t == sass.TypeU16 || t == sass.TypeU32 || t == sass.TypeU64 {
		switch {
		case v <= 0:
			x.d = 0
		case v >= math.Ldexp(1, int(width)):
			x.d = ^uint64(0) >> (64 - width)
		default:
			x.d = uint64(v)
		}
		return
	}
	limit := math.Ldexp(1, int(width-1))
	var s int64
	switch {
	case v >= limit:
		s = int64(1<<(width-1) - 1)
	case v <= -limit:
		s = -1 << (width - 1)
	default:
		s = int64(v)
	}
	x.d = uint64(s)
	if width <= 32 {
		x.d = uint64(uint32(s))
	}
}

// toFloat32 rounds to a 32-bit float in a rounding mode.
func toFloat32(v float64, mode sass.Round) float32 {
	f := float32(v)
	switch {
	case mode == sass.RoundNearest || float64(f) == v || v != v || math.IsInf(v, 0):
		return f
	case mode == sass.RoundUp && float64(f) < v:
		return math.Nextafter32(f, float32(math.Inf(1)))
	case mode == sass.RoundDown && float64(f) > v:
		return math.Nextafter32(f, float32(math.Inf(-1)))
	case mode == sass.RoundZero && math.Abs(float64(f)) > math.Abs(v):
		return math.Nextafter32(f, 0)
	}
	return f
}

func foldF2F(o *inst, x *values) {
	v := floatSource(o, x.b)
	switch dataType(o, sass.ModDstType, sass.TypeF32) {
	case sass.TypeF64:
		x.d = math.Float64bits(v)
	case sass.TypeF16:
		x.d = uint64(half.To(v))
	default:
		x.d = flush(o, uint64(math.Float32bits(toFloat32(v, sass.Round(o.mod(sass.ModRound))))))
	}
}

func foldFRND(o *inst, x *values) {
	mode := sass.Round(o.mod(sass.ModRound))
	switch sass.DataType(o.mod(sass.ModDstType)) {
	case sass.TypeF64:
		x.d = math.Float64bits(roundFloat(math.Float64frombits(x.b), mode))
	case sass.TypeF16:
		x.d = uint64(half.To(roundFloat(half.From(uint16(x.b)), mode)))
	default:
		x.d = uint64(math.Float32bits(float32(roundFloat(float64(f32(flush(o, x.b))), mode))))
	}
}

// fma64 returns a*b+c rounded in a mode; the nearest one is the machine's.
func fma64(a, b, c float64, mode sass.Round) float64 {
	d := math.FMA(a, b, c)
	if mode == sass.RoundNearest || math.IsInf(d, 0) || d != d {
		return d
	}
	exact := new(big.Float).SetPrec(2200).SetMode(big.ToNearestEven)
	exact.Mul(big.NewFloat(a), new(big.Float).SetPrec(2200).SetFloat64(b))
	exact.Add(exact, big.NewFloat(c))
	switch by := exact.Cmp(big.NewFloat(d)); {
	case by > 0 && (mode == sass.RoundUp || mode == sass.RoundZero && d < 0):
		return math.Nextafter(d, math.Inf(1))
	case by < 0 && (mode == sass.RoundDown || mode == sass.RoundZero && d > 0):
		return math.Nextafter(d, math.Inf(-1))
	}
	return d
}
