package inspect

import "math/bits"

// value is what is known of a 32-bit register in every thread of a block:
//
//	fixed + thread[0]*threadIdx.x + thread[1]*threadIdx.y + thread[2]*threadIdx.z + rest
//
// modulo 2^32, where rest is not known but is a multiple of 2^zeros. All 32 zeros mean that there is no rest. Sums,
// products with constants, shifts and masks of low bits keep that form; it is all that addresses of arrays need.
type value struct {
	fixed   uint32
	thread  [3]uint32
	zeros   uint8 // 0 to 32
	uniform bool  // rest is the same in all threads of a warp
}

// anything is a value of which nothing is known.
var anything = value{}

// warpValue is an unknown value that is the same in all threads of a warp: a parameter, a block index.
var warpValue = value{uniform: true}

func constant(v uint32) value { return value{fixed: v, zeros: 32, uniform: true} }

// threadIndex is threadIdx.x, .y or .z for axis 0, 1 or 2.
func threadIndex(axis int) value {
	v := constant(0)
	v.thread[axis] = 1
	return v
}

func (v value) isConstant() bool { return v.zeros == 32 && v.thread == [3]uint32{} }

// inWarp tells whether v is the same in all threads of a warp.
func (v value) inWarp() bool { return v.uniform && v.thread == [3]uint32{} }

// trailing returns how many low bits of v are known to be zero in all threads.
func (v value) trailing() int {
	n := min(int(v.zeros), bits.TrailingZeros32(v.fixed))
	for _, t := range v.thread {
		n = min(n, bits.TrailingZeros32(t))
	}
	return n
}

// multiple is an unknown multiple of 2^zeros.
func multiple(zeros int, uniform bool) value {
	if zeros >= 32 {
		return constant(0)
	}
	return value{zeros: uint8(max(zeros, 0)), uniform: uniform}
}

func (v value) add(o value) value {
	v.fixed += o.fixed
	for i := range v.thread {
		v.thread[i] += o.thread[i]
	}
	v.zeros = min(v.zeros, o.zeros)
	v.uniform = v.uniform && o.uniform
	return v
}

func (v value) scale(k uint32) value {
	v.fixed *= k
	for i := range v.thread {
		v.thread[i] *= k
	}
	v.zeros = uint8(min(32, int(v.zeros)+bits.TrailingZeros32(k)))
	v.uniform = v.uniform || v.zeros == 32
	return v
}

func (v value) neg() value { return v.scale(^uint32(0)) }

func (v value) not() value { return v.neg().add(constant(^uint32(0))) }

func (v value) mul(o value) value {
	switch {
	case v.isConstant():
		return o.scale(v.fixed)
	case o.isConstant():
		return v.scale(o.fixed)
	}
	return multiple(v.trailing()+o.trailing(), v.inWarp() && o.inWarp())
}

func (v value) shl(n int) value {
	if n >= 32 {
		return constant(0)
	}
	return v.scale(1 << n)
}

func (v value) shr(n int) value {
	if v.isConstant() {
		return constant(v.fixed >> min(n, 32))
	}
	return multiple(v.trailing()-n, v.inWarp())
}

// and masks v with another value.
func (v value) and(o value) value {
	if v.isConstant() {
		v, o = o, v
	}
	if !o.isConstant() {
		return multiple(max(v.trailing(), o.trailing()), v.inWarp() && o.inWarp())
	}
	mask := o.fixed
	switch {
	case v.isConstant():
		return constant(v.fixed & mask)
	case mask&(mask+1) == 0: // the low n bits: v less some multiple of 2^n
		v.zeros = min(v.zeros, uint8(bits.OnesCount32(mask)))
		v.uniform = v.inWarp()
		return v
	case ^mask&(^mask+1) == 0 && v.trailing() >= bits.TrailingZeros32(mask): // clears bits that are zero
		return v
	}
	return multiple(max(bits.TrailingZeros32(mask), v.trailing()), v.inWarp())
}

// bitwise is any function of bits under which all zeros give zero.
func bitwise(vs ...value) value {
	n, uniform := 32, true
	for _, v := range vs {
		n = min(n, v.trailing())
		uniform = uniform && v.inWarp()
	}
	return multiple(n, uniform)
}

// join is what holds of a register that comes from two places.
func (v value) join(o value) value {
	n := min(int(v.zeros), int(o.zeros), bits.TrailingZeros32(v.fixed-o.fixed))
	for i := range v.thread {
		n = min(n, bits.TrailingZeros32(v.thread[i]-o.thread[i]))
	}
	// v plus some multiple of 2^n. Which of the two places it comes from may differ between threads, so unless nothing is
	// left open it is not uniform, even if it is so in both.
	v.zeros, v.uniform = uint8(n), n == 32
	return v
}

// alignment is what is known of whether an address is a multiple of a power of two.
type alignment uint8

const (
	alignUnknown alignment = iota
	aligned                // in all threads
	misaligned             // in some thread of every warp that has neighbours along the axis
)

// multipleOf tells whether v plus an offset is a multiple of size, a power of two.
func (v value) multipleOf(size uint32, offset int64) alignment {
	known := int(v.zeros) >= bits.TrailingZeros32(size)
	if !known && !v.uniform {
		return alignUnknown
	}
	for _, t := range v.thread {
		if t%size != 0 {
			return misaligned // neighbours differ by t, so one of the two is off, whatever the rest
		}
	}
	switch {
	case !known:
		return alignUnknown
	case (v.fixed+uint32(offset))%size != 0:
		return misaligned
	}
	return aligned
}
