package layout

import (
	"fmt"
	"math/bits"
)

// Swizzle is CuTe's Swizzle<B,M,S>: the B bits that start at M+S (at M where S is negative) are XORed onto the B bits
// that start at M (at M-S where S is negative). It is its own inverse. The unit, bytes or elements, is the user's.
//
// Source of the definition: CUTLASS, include/cute/swizzle.hpp.
type Swizzle struct{ B, M, S int }

// NewSwizzle checks the parameters: all fields lie within 31 bits and source and target do not overlap (|S| >= B, which
// is what makes the map one-to-one and CuTe requires too).
func NewSwizzle(b, m, s int) (Swizzle, error) {
	if b < 0 || m < 0 || b > 31 || m > 31 || s > 31 || s < -31 || m+max(s, -s)+b > 31 {
		return Swizzle{}, errorf("Swizzle<%d,%d,%d>: got bits outside 0..30", b, m, s)
	}
	if max(s, -s) < b {
		return Swizzle{}, errorf("Swizzle<%d,%d,%d>: got |S| = %d, want at least B = %d: source and target bits overlap",
			b, m, s, max(s, -s), b)
	}
	return Swizzle{b, m, s}, nil
}

// Source returns the mask of the bits that are read.
func (s Swizzle) Source() uint32 { return (1<<s.B - 1) << (s.M + max(0, s.S)) }

// Target returns the mask of the bits that are changed.
func (s Swizzle) Target() uint32 { return (1<<s.B - 1) << (s.M - min(0, s.S)) }

// Map returns addr with the source bits XORed onto the target bits.
func (s Swizzle) Map(addr uint32) uint32 {
	y := addr & s.Source()
	if s.S >= 0 {
		return addr ^ y>>s.S
	}
	return addr ^ y<<-s.S
}

// Extent rounds n up to the block of bytes that the target bits permute; without source bits below n nothing moves.
func (s Swizzle) Extent(n uint64) uint64 {
	if s.B == 0 || n <= uint64(lowBit(s.Source())) {
		return n
	}
	block := uint64(s.Target()) + uint64(lowBit(s.Target()))
	return (n + block - 1) / block * block
}

// Granule returns 2^M.
func (s Swizzle) Granule() uint32 {
	if s.B == 0 {
		return maxGranule
	}
	return 1 << s.M
}

// Cost is a shift and a LOP3 (mask and XOR in one).
func (s Swizzle) Cost() Cost {
	if s.B == 0 {
		return Cost{}
	}
	return Cost{2, 2}
}

// Recast returns the same map of memory stated on elements of another size, in bytes, and whether that is exact: both
// sizes are powers of two and the swizzle does not split the new elements. GMMA's Swizzle<3,4,3> on bytes is
// Swizzle<3,3,3> on 2-byte elements.
func (s Swizzle) Recast(from, to uint32) (Swizzle, bool) {
	if !isPow2(from) || !isPow2(to) {
		return Swizzle{}, false
	}
	r, err := NewSwizzle(s.B, s.M+bits.TrailingZeros32(from)-bits.TrailingZeros32(to), s.S)
	return r, err == nil
}

func (s Swizzle) String() string { return fmt.Sprintf("Swizzle<%d,%d,%d>", s.B, s.M, s.S) }

// AbsoluteSwizzle is a swizzle written with the absolute position of its lowest source bit, the convention of
// cuda-oxide's Swizzle<B,M,S>: source bits From..From+B-1, target bits M..M+B-1. It prints as Swizzle<B,M,@From>.
type AbsoluteSwizzle struct{ B, M, From int }

// NewAbsoluteSwizzle checks the parameters as NewSwizzle does.
func NewAbsoluteSwizzle(b, m, from int) (AbsoluteSwizzle, error) {
	s := AbsoluteSwizzle{b, m, from}
	if from < 0 || from > 31 || m > 31 || m < 0 {
		return s, errorf("Swizzle<%d,%d,@%d>: got bits outside 0..30", b, m, from)
	}
	c := s.CuTe()
	_, err := NewSwizzle(c.B, c.M, c.S)
	return s, err
}

// CuTe returns the same swizzle in CuTe's parameters.
func (s AbsoluteSwizzle) CuTe() Swizzle { return Swizzle{s.B, min(s.M, s.From), s.From - s.M} }

// Map returns addr with the source bits XORed onto the target bits.
func (s AbsoluteSwizzle) Map(addr uint32) uint32 { return s.CuTe().Map(addr) }

// Extent is that of the CuTe form.
func (s AbsoluteSwizzle) Extent(n uint64) uint64 { return s.CuTe().Extent(n) }

// Granule is that of the CuTe form.
func (s AbsoluteSwizzle) Granule() uint32 { return s.CuTe().Granule() }

// Cost is that of the CuTe form.
func (s AbsoluteSwizzle) Cost() Cost { return s.CuTe().Cost() }

func (s AbsoluteSwizzle) String() string { return fmt.Sprintf("Swizzle<%d,%d,@%d>", s.B, s.M, s.From) }
