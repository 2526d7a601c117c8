package layout

import (
	"fmt"
	"math/bits"
)

// Comparison is the answer to whether two layouts are the same map.
type Comparison struct {
	Equal  bool
	SizeA  uint32
	SizeB  uint32
	Method string // how it was decided
	// First is the first index where the layouts differ; where only the sizes differ, the first index that one lacks.
	First uint32
	// A and B are the offsets at First. They are 0 where a layout lacks the index.
	A, B uint32
}

// Compare decides whether two layouts have the same size and offsets, or finds the first index where they differ.
// Shapes may differ: (4,4):(1,4) equals 16:1. The error is ErrUndecided or nil.
func Compare(a, b Layout) (Comparison, error) {
	c := Comparison{SizeA: a.Size(), SizeB: b.Size()}
	n := min(c.SizeA, c.SizeB)
	first, found, method, err := firstDifference(a, b, n)
	if err != nil {
		return c, err
	}
	c.Method = method
	switch {
	case found:
		c.First, c.A, c.B = first, a.At(first), b.At(first)
	case c.SizeA != c.SizeB:
		c.First = n
		if c.SizeA > n {
			c.A = a.At(n)
		} else {
			c.B = b.At(n)
		}
	default:
		c.Equal = true
	}
	return c, nil
}

func firstDifference(a, b Layout, n uint32) (first uint32, found bool, method string, err error) {
	ca, okA := a.columns()
	cb, okB := b.columns()
	if okA && okB {
		// Below 2^k an index is made of the lower bits alone, so the lowest differing image marks the first difference.
		for k := range min(len(ca), len(cb)) {
			if ca[k] != cb[k] {
				return 1 << k, true, "images of index bits over F2", nil
			}
		}
		return 0, false, fmt.Sprintf("all %d images of index bits over F2", bits.TrailingZeros32(n)), nil
	}
	sa, okA := a.(Strided)
	sb, okB := b.(Strided)
	if okA && okB && n == a.Size() && n == b.Size() && sa.Coalesce().String() == sb.Coalesce().String() {
		return 0, false, "both coalesce to " + sa.Coalesce().String(), nil
	}
	if n > MaxExhaustive {
		// Still useful: a difference among the first indices decides.
		for i := range uint32(MaxExhaustive) {
			if a.At(i) != b.At(i) {
				return i, true, fmt.Sprintf("checked %d indices", i+1), nil
			}
		}
		return 0, false, "", ErrUndecided
	}
	for i := range n {
		if a.At(i) != b.At(i) {
			return i, true, fmt.Sprintf("checked %d indices", i+1), nil
		}
	}
	return 0, false, fmt.Sprintf("checked all %d indices", n), nil
}

// Coalesce returns the layout with the same offsets and the fewest modes: neighbours that continue each other merge,
// modes of size 1 go.
func (s Strided) Coalesce() Strided {
	var sizes, steps []uint32
	for k, n := range s.sizes {
		if n == 1 {
			continue
		}
		if last := len(sizes) - 1; last >= 0 && uint64(sizes[last])*uint64(steps[last]) == uint64(s.steps[k]) {
			sizes[last] *= n
			continue
		}
		sizes = append(sizes, n)
		steps = append(steps, s.steps[k])
	}
	if len(sizes) == 0 {
		sizes, steps = []uint32{1}, []uint32{0}
	}
	shape, stride := Leaves(sizes...), Leaves(steps...)
	if len(sizes) == 1 {
		shape, stride = Leaf(sizes[0]), Leaf(steps[0])
	}
	return Strided{shape, stride, sizes, steps}
}
