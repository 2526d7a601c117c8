package layout

import (
	"fmt"
	"math/bits"
	"strings"

	"shmoo/gf2"
)

// Linear is a one-to-one linear map over F2 of the lowest address bits; higher bits stay as they are. The zero value
// is the identity.
type Linear struct{ images []uint32 }

// NewLinear makes the map that sends address bit i to images[i]. It fails unless the map is one-to-one on the low
// len(images) bits, of which there are at most 31.
func NewLinear(images ...uint32) (Linear, error) {
	n := len(images)
	if n > 31 {
		return Linear{}, errorf("linear: got %d bits, want at most 31", n)
	}
	columns := make([]uint64, n)
	for i, v := range images {
		columns[i] = uint64(v)
	}
	m, err := gf2.FromColumns(n, columns...)
	if err != nil {
		return Linear{}, errorf("linear: got an image beyond the %d bits of the map: %v", n, err)
	}
	if r := m.Rank(); r != n {
		return Linear{}, errorf("linear: got rank %d, want %d: the map is not one-to-one", r, n)
	}
	return Linear{append([]uint32(nil), images...)}, nil
}

// Images returns the images of the low address bits, a new slice.
func (l Linear) Images() []uint32 { return append([]uint32(nil), l.images...) }

// Map returns the XOR of the images of addr's set bits.
func (l Linear) Map(addr uint32) uint32 {
	low := addr & (1<<len(l.images) - 1)
	out := addr ^ low
	for ; low != 0; low &= low - 1 {
		out ^= l.images[bits.TrailingZeros32(low)]
	}
	return out
}

// Extent rounds n up to the block of bytes that the changed target bits permute; below the lowest source bit nothing
// moves.
func (l Linear) Extent(n uint64) uint64 {
	changed, first := uint32(0), len(l.images)
	for i, v := range l.images {
		if v != 1<<i {
			changed |= v ^ 1<<i
			first = min(first, i)
		}
	}
	if n <= 1<<first {
		return n
	}
	block := uint64(1) << bits.Len32(changed)
	return (n + block - 1) / block * block
}

// Granule counts the low bits that stay and that nothing is added to.
func (l Linear) Granule() uint32 {
	g := len(l.images)
	identity := true
	for i, v := range l.images {
		if v == 1<<i {
			continue
		}
		identity = false
		g = min(g, i, bits.TrailingZeros32(v&^(1<<i)))
		if v>>i&1 == 0 {
			g = min(g, bits.TrailingZeros32(v))
		}
	}
	if identity {
		return maxGranule
	}
	return 1 << g
}

// Cost is a shift and a LOP3 for each distance between a source and a target bit, and a LOP3 more if some bit does
// not stay in its own place.
func (l Linear) Cost() Cost {
	var distances uint64 // bit 32+d: some source bit i feeds target bit i+d
	cleared := 0
	for i, v := range l.images {
		if v>>i&1 == 0 {
			cleared = 1
		}
		for v &^= 1 << i; v != 0; v &= v - 1 {
			distances |= 1 << (32 + bits.TrailingZeros32(v) - i)
		}
	}
	n := 2*bits.OnesCount64(distances) + cleared
	return Cost{n, n}
}

func (l Linear) String() string {
	parts := make([]string, len(l.images))
	for i, v := range l.images {
		parts[i] = fmt.Sprintf("%#x", v)
	}
	return "linear(" + strings.Join(parts, ", ") + ")"
}

// AsLinear returns the transform as a linear map of the low n bits, and whether it is one.
func AsLinear(t Transform, n int) (Linear, bool) {
	if n > 31 || !isLinear(t) {
		return Linear{}, false
	}
	images := make([]uint32, n)
	for i := range images {
		images[i] = t.Map(1 << i)
	}
	l, err := NewLinear(images...)
	return l, err == nil
}

// isLinear reports whether the transform is linear over F2 on all offsets.
func isLinear(t Transform) bool {
	switch t := t.(type) {
	case Identity, Swizzle, AbsoluteSwizzle, Linear:
		return true
	case Pad:
		return t.Granule() == maxGranule // no step adds anything
	case Shift:
		return t == 0
	case OnElements:
		return isPow2(t.Size) && isLinear(t.Of)
	case Recast:
		return isPow2(uint32(t))
	case Chain:
		for _, f := range t {
			if !isLinear(f) {
				return false
			}
		}
		return true
	}
	return false
}
