package layout

import (
	"math/bits"
	"strings"
)

// Tuple is a nested tuple of integers: a number, or a parenthesised list of tuples. The zero value is the number 0.
type Tuple struct {
	leaf uint32
	sub  []Tuple
}

// Leaf makes a number.
func Leaf(n uint32) Tuple { return Tuple{leaf: n} }

// List makes a parenthesised list, which must not be empty: List() is the number 0.
func List(members ...Tuple) Tuple { return Tuple{sub: members} }

// Leaves makes the flat list of the given numbers.
func Leaves(n ...uint32) Tuple {
	t := Tuple{}
	for _, v := range n {
		t.sub = append(t.sub, Leaf(v))
	}
	return t
}

// Modes returns the members of a list, or the number itself as the only mode.
func (t Tuple) Modes() []Tuple {
	if t.sub == nil {
		return []Tuple{t}
	}
	return t.sub
}

// Flat returns all numbers in order.
func (t Tuple) Flat() []uint32 { return t.appendFlat(nil) }

func (t Tuple) appendFlat(to []uint32) []uint32 {
	if t.sub == nil {
		return append(to, t.leaf)
	}
	for _, s := range t.sub {
		to = s.appendFlat(to)
	}
	return to
}

// congruent reports whether both tuples nest alike.
func (t Tuple) congruent(u Tuple) bool {
	if (t.sub == nil) != (u.sub == nil) || len(t.sub) != len(u.sub) {
		return false
	}
	for i := range t.sub {
		if !t.sub[i].congruent(u.sub[i]) {
			return false
		}
	}
	return true
}

// refill returns a tuple nested like t with the numbers of flat, and the rest of flat.
func (t Tuple) refill(flat []uint32) (Tuple, []uint32) {
	if t.sub == nil {
		return Leaf(flat[0]), flat[1:]
	}
	out := Tuple{sub: make([]Tuple, len(t.sub))}
	for i, s := range t.sub {
		out.sub[i], flat = s.refill(flat)
	}
	return out, flat
}

// product returns the product of all numbers, or MaxOffset where it is that or more.
func (t Tuple) product() uint64 {
	p := uint64(1)
	for _, n := range t.Flat() {
		if p *= uint64(n); p >= MaxOffset {
			return MaxOffset
		}
	}
	return p
}

// Coordinate returns the coordinate that index i counts in shape t, nested alike.
func (t Tuple) Coordinate(i uint32) Tuple {
	flat := t.Flat()
	for k, n := range flat {
		if k == len(flat)-1 {
			flat[k] = i
			break
		}
		flat[k], i = i%n, i/n
	}
	c, _ := t.refill(flat)
	return c
}

func (t Tuple) String() string {
	if t.sub == nil {
		return itoa(uint64(t.leaf))
	}
	parts := make([]string, len(t.sub))
	for i, s := range t.sub {
		parts[i] = s.String()
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// Strided is CuTe's shape:stride. The offset of a coordinate is the sum of coordinate times stride.
type Strided struct {
	shape, stride Tuple
	sizes, steps  []uint32 // flat
}

// NewStrided checks shape and stride: nested alike, sizes at least 1, size and offsets below MaxOffset.
func NewStrided(shape, stride Tuple) (Strided, error) {
	if !shape.congruent(stride) {
		return Strided{}, errorf("%s:%s: got a stride that nests unlike the shape", shape, stride)
	}
	s := Strided{shape, stride, shape.Flat(), stride.Flat()}
	last := uint64(0)
	for i, n := range s.sizes {
		if n == 0 {
			return Strided{}, errorf("%s:%s: got a mode of size 0, want at least 1", shape, stride)
		}
		last += uint64(n-1) * uint64(s.steps[i])
		if last >= MaxOffset {
			return Strided{}, errorf("%s:%s: got offset %d, want below %d", shape, stride, last, MaxOffset)
		}
	}
	if shape.product() >= MaxOffset {
		return Strided{}, errorf("%s:%s: got a size of %d or more", shape, stride, MaxOffset)
	}
	return s, nil
}

// Compact makes the layout of the shape whose offsets equal its indices: first mode fastest, no gaps.
func Compact(shape Tuple) (Strided, error) {
	if shape.product() >= MaxOffset {
		return Strided{}, errorf("%s: got a size of %d or more", shape, MaxOffset)
	}
	flat := shape.Flat()
	step := uint32(1)
	for i, n := range flat {
		flat[i], step = step, step*n
	}
	stride, _ := shape.refill(flat)
	return NewStrided(shape, stride)
}

// Size returns the product of the shape.
func (s Strided) Size() uint32 { return uint32(s.shape.product()) }

// Shape returns the shape.
func (s Strided) Shape() Tuple { return s.shape }

// Stride returns the strides, nested like the shape.
func (s Strided) Stride() Tuple { return s.stride }

// At returns the offset of index i.
func (s Strided) At(i uint32) uint32 {
	var out uint32
	for k, n := range s.sizes {
		if n == 1 {
			continue
		}
		out += i % n * s.steps[k]
		i /= n
	}
	return out
}

// Cosize returns one more than the largest offset.
func (s Strided) Cosize() uint64 {
	last := uint64(0)
	for k, n := range s.sizes {
		last += uint64(n-1) * uint64(s.steps[k])
	}
	return last + 1
}

func (s Strided) String() string { return s.shape.String() + ":" + s.stride.String() }

// columns: sums of strides are XORs exactly if no two of the summands that index bits contribute share a bit.
func (s Strided) columns() ([]uint64, bool) {
	var out []uint64
	seen := uint64(0)
	for k, n := range s.sizes {
		if !isPow2(n) {
			return nil, false
		}
		for j := range bits.TrailingZeros32(n) {
			c := uint64(s.steps[k]) << j
			if c&seen != 0 {
				return nil, false
			}
			seen |= c
			out = append(out, c)
		}
	}
	return out, true
}
