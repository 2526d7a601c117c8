package layout

import (
	"math/bits"
	"strings"
)

// MaxOffset bounds sizes and offsets: all are below it.
const MaxOffset = 1 << 31

// Transform is a map from byte offsets within an array to byte offsets within its changed form. The implementations
// are [Identity], [Pad], [Swizzle], [AbsoluteSwizzle], [Linear], [OnElements], [Shift] and [Chain].
type Transform interface {
	// Map returns where the byte at offset addr goes.
	Map(addr uint32) uint32
	// Extent returns how many bytes hold the image of the first n: no Map(a) with a < n reaches it.
	Extent(n uint64) uint64
	// Granule returns the largest power of two G such that every aligned G bytes stay aligned, together and in order:
	// accesses of up to G bytes remain single accesses.
	Granule() uint32
	// Cost returns the index arithmetic added to an access.
	Cost() Cost
	// String returns the transform in the package's notation.
	String() string
}

// Cost counts integer instructions per access, for the machine code a compiler is expected to make (shift, LOP3, IMAD;
// assumed, not measured).
type Cost struct {
	// Folded applies where the address is formed from row and column with constant pitch: a pad changes the constant
	// only.
	Folded int
	// Flat applies where only the flat offset is known and the map must be computed from it.
	Flat int
}

func (c Cost) plus(d Cost) Cost { return Cost{c.Folded + d.Folded, c.Flat + d.Flat} }

// maxGranule stands for "any": no shared access is as wide.
const maxGranule = 1 << 30

// Identity changes nothing.
type Identity struct{}

// Map returns addr.
func (Identity) Map(addr uint32) uint32 { return addr }

// Extent returns n.
func (Identity) Extent(n uint64) uint64 { return n }

// Granule returns a size above every access width.
func (Identity) Granule() uint32 { return maxGranule }

// Cost is zero.
func (Identity) Cost() Cost { return Cost{} }

func (Identity) String() string { return "id" }

// Shift adds a constant number of bytes.
type Shift uint32

// Map returns addr plus the constant.
func (s Shift) Map(addr uint32) uint32 { return addr + uint32(s) }

// Extent returns n plus the constant.
func (s Shift) Extent(n uint64) uint64 { return n + uint64(s) }

// Granule returns the largest power of two that divides the constant.
func (s Shift) Granule() uint32 { return lowBit(uint32(s)) }

// Cost is zero: a constant folds into the address field of the instruction.
func (Shift) Cost() Cost { return Cost{} }

func (s Shift) String() string { return itoa(uint64(s)) }

// Chain applies its members from the last to the first, as it is written: f o g.
type Chain []Transform

// Map applies all members.
func (c Chain) Map(addr uint32) uint32 {
	for i := len(c) - 1; i >= 0; i-- {
		addr = c[i].Map(addr)
	}
	return addr
}

// Extent composes the members' extents.
func (c Chain) Extent(n uint64) uint64 {
	for i := len(c) - 1; i >= 0; i-- {
		n = c[i].Extent(n)
	}
	return n
}

// Granule returns the smallest of the members'.
func (c Chain) Granule() uint32 {
	g := uint32(maxGranule)
	for _, t := range c {
		g = min(g, t.Granule())
	}
	return g
}

// Cost adds the members' costs.
func (c Chain) Cost() Cost {
	var sum Cost
	for _, t := range c {
		sum = sum.plus(t.Cost())
	}
	return sum
}

func (c Chain) String() string { return c.text(Transform.String) }

func (c Chain) text(of func(Transform) string) string {
	if len(c) == 0 {
		return Identity{}.String()
	}
	parts := make([]string, len(c))
	for i, t := range c {
		parts[i] = of(t)
	}
	return strings.Join(parts, " o ")
}

// OnElements applies a transform to the numbers of elements of Size bytes; bytes inside an element stay together.
type OnElements struct {
	Size uint32 // bytes, at least 1
	Of   Transform
}

// Map moves the element that addr lies in.
func (e OnElements) Map(addr uint32) uint32 { return e.Of.Map(addr/e.Size)*e.Size + addr%e.Size }

// Extent rounds n up to whole elements.
func (e OnElements) Extent(n uint64) uint64 {
	size := uint64(e.Size)
	return e.Of.Extent((n+size-1)/size) * size
}

// Granule scales the inner granule; an element size that is no power of two keeps only its even part together.
func (e OnElements) Granule() uint32 {
	if !isPow2(e.Size) {
		return lowBit(e.Size)
	}
	return min(uint64ToGranule(uint64(e.Of.Granule())*uint64(e.Size)), maxGranule)
}

// Cost returns the inner cost: the compiler folds the scaling by a power of two into shift counts and masks.
func (e OnElements) Cost() Cost { return e.Of.Cost() }

func (e OnElements) String() string {
	return unitless(e.Of) + " on " + itoa(uint64(e.Size)) + "-byte elements"
}

// Bytes returns the equal transform stated on bytes, and whether there is one in the same family: pads always have one,
// swizzles and linear maps where the element size is a power of two.
func (e OnElements) Bytes() (Transform, bool) {
	switch t := e.Of.(type) {
	case Identity:
		return t, true
	case Pad:
		steps := make(Pad, len(t))
		for i, s := range t {
			steps[i] = PadStep{s.Add * e.Size, s.Per * e.Size}
		}
		return steps, true
	case Swizzle:
		s, ok := t.Recast(e.Size, 1)
		return s, ok
	case AbsoluteSwizzle:
		s, ok := t.CuTe().Recast(e.Size, 1)
		return s, ok
	case Linear:
		if !isPow2(e.Size) {
			return nil, false
		}
		k := bits.TrailingZeros32(e.Size)
		var images []uint32
		for i := range k {
			images = append(images, 1<<i)
		}
		for _, v := range t.images {
			images = append(images, v<<k)
		}
		l, err := NewLinear(images...)
		return l, err == nil
	}
	return nil, false
}

func isPow2(n uint32) bool { return n != 0 && n&(n-1) == 0 }
func lowBit(n uint32) uint32 {
	if n == 0 {
		return maxGranule
	}
	return min(n&-n, maxGranule)
}

func uint64ToGranule(n uint64) uint32 { return uint32(min(n, maxGranule)) }
