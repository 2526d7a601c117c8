// Package half converts IEEE 754 binary16 numbers.
//
//	half.From(half.To(1.5)) // 1.5
//
// Limits: NaNs lose their payload.
package half

import (
	"math"
	"math/bits"
)

// From widens a number.
func From(h uint16) float64 {
	sign, exp, frac := h>>15, int(h>>10&0x1f), uint64(h&0x3ff)
	var v float64
	switch exp {
	case 0:
		v = math.Ldexp(float64(frac), -24)
	case 0x1f:
		v = math.Inf(1)
		if frac != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(float64(frac|0x400), exp-25)
	}
	if sign != 0 {
		v = -v
	}
	return v
}

// To rounds to the nearest number, ties to even. Numbers too large become infinite.
func To(v float64) uint16 {
	sign := uint16(math.Float64bits(v) >> 63 << 15)
	v = math.Abs(v)
	switch {
	case v != v:
		return 0x7fff
	case v >= 65520:
		return sign | 0x7c00
	case v < math.Ldexp(1, -25):
		return sign
	}
	_, exp := math.Frexp(v)
	exp = max(exp-1, -14)
	n := uint64(math.RoundToEven(math.Ldexp(v, 10-exp))) // units of the last place: up to 2048
	if n < 1<<10 {
		return sign | uint16(n)
	}
	shift := bits.Len64(n) - 11
	return sign | uint16(exp+15+shift)<<10 + uint16(n>>shift&0x3ff)
}
