package layout

import (
	"fmt"
	"math/bits"
	"strings"

	"shmoo/gf2"
)

// dims is the shape of a Triton tensor: power-of-two sizes, and the order of dimensions from fastest to slowest.
type dims struct {
	sizes []uint32
	order []int
}

func newDims(what string, sizes []uint32, order []int) (dims, error) {
	if len(sizes) == 0 || len(order) != len(sizes) {
		return dims{}, errorf("%s: got %d sizes and an order of %d, want the same number, at least 1", what, len(sizes), len(order))
	}
	seen := make([]bool, len(order))
	for _, d := range order {
		if d < 0 || d >= len(order) || seen[d] {
			return dims{}, errorf("%s: got order %s, want a permutation of 0..%d", what, list(order), len(order)-1)
		}
		seen[d] = true
	}
	for _, n := range sizes {
		if !isPow2(n) {
			return dims{}, errorf("%s: got size %d, want a power of two", what, n)
		}
	}
	if Leaves(sizes...).product() >= MaxOffset {
		return dims{}, errorf("%s: got a size of %d or more", what, MaxOffset)
	}
	return dims{sizes, order}, nil
}

// Size returns the number of elements.
func (d dims) Size() uint32 { return uint32(Leaves(d.sizes...).product()) }

// Shape returns the sizes, dimension 0 first.
func (d dims) Shape() Tuple { return Leaves(d.sizes...) }

// coordinates splits an index, dimension 0 fastest.
func (d dims) coordinates(i uint32) (c [8]uint32) {
	for k, n := range d.sizes {
		c[k], i = i%n, i/n
	}
	return c
}

// rowMajor returns the offset of the coordinate in the stated order without gaps.
func (d dims) rowMajor(c [8]uint32) uint32 {
	var out uint32
	step := uint32(1)
	for _, k := range d.order {
		out += c[k] * step
		step *= d.sizes[k]
	}
	return out
}

// maxRank bounds the rank of Triton tensors.
const maxRank = 8

// Shared is Triton's swizzled shared encoding on a tensor: elements go in rows of the fastest dimension; in row r the
// groups of Vec elements are XORed with (r / PerPhase) mod MaxPhase, kept inside the row. Offsets count elements.
//
// Source of the definition: Triton, TritonGPUAttrDefs.td and LinearLayoutConversions.cpp.
type Shared struct {
	Vec, PerPhase, MaxPhase uint32
	dims
}

// NewShared checks the parameters: powers of two, and an order that is a permutation of the dimensions.
func NewShared(vec, perPhase, maxPhase uint32, order []int, sizes []uint32) (Shared, error) {
	for _, p := range []struct {
		name string
		n    uint32
	}{{"vec", vec}, {"perPhase", perPhase}, {"maxPhase", maxPhase}} {
		if !isPow2(p.n) || p.n >= MaxOffset {
			return Shared{}, errorf("swizzled_shared: got %s = %d, want a power of two", p.name, p.n)
		}
	}
	d, err := newDims("swizzled_shared", sizes, order)
	if err != nil {
		return Shared{}, err
	}
	if len(sizes) > maxRank {
		return Shared{}, errorf("swizzled_shared: got rank %d, want at most %d", len(sizes), maxRank)
	}
	if len(sizes) == 1 && maxPhase != 1 {
		return Shared{}, errorf("swizzled_shared: got maxPhase = %d on one dimension, want 1", maxPhase)
	}
	return Shared{vec, perPhase, maxPhase, d}, nil
}

// At returns the offset of index i.
func (s Shared) At(i uint32) uint32 {
	c := s.coordinates(i)
	if s.MaxPhase > 1 {
		fast, row := s.order[0], s.order[1]
		phase := c[row] / s.PerPhase % s.MaxPhase
		c[fast] ^= uint32(uint64(s.Vec) * uint64(phase) % uint64(s.sizes[fast]))
	}
	return s.rowMajor(c)
}

// Cosize equals Size: the encoding leaves no gaps.
func (s Shared) Cosize() uint64 { return uint64(s.Size()) }

func (s Shared) String() string {
	return fmt.Sprintf("#ttg.swizzled_shared<{vec = %d, perPhase = %d, maxPhase = %d, order = %s}> on %s",
		s.Vec, s.PerPhase, s.MaxPhase, list(s.order), times(s.sizes))
}

func (s Shared) columns() ([]uint64, bool) { return unitImages(s), true }

// Padded is Triton's padded shared encoding: row-major in the stated order, with pads counted in elements.
type Padded struct {
	Pad Pad
	dims
}

// NewPadded checks the parameters.
func NewPadded(pad Pad, order []int, sizes []uint32) (Padded, error) {
	d, err := newDims("padded_shared", sizes, order)
	if err != nil {
		return Padded{}, err
	}
	if len(sizes) > maxRank {
		return Padded{}, errorf("padded_shared: got rank %d, want at most %d", len(sizes), maxRank)
	}
	if n := pad.Extent(uint64(d.Size())); n > MaxOffset {
		return Padded{}, errorf("padded_shared: got offsets up to %d, want below %d", n-1, MaxOffset)
	}
	return Padded{pad, d}, nil
}

// At returns the offset of index i.
func (p Padded) At(i uint32) uint32 { return p.Pad.Map(p.rowMajor(p.coordinates(i))) }

// Cosize is the pad's extent.
func (p Padded) Cosize() uint64 { return p.Pad.Extent(uint64(p.Size())) }

func (p Padded) String() string {
	steps := make([]string, len(p.Pad))
	for i, s := range p.Pad {
		steps[i] = fmt.Sprintf("%d:+%d", s.Per, s.Add)
	}
	return fmt.Sprintf("#ttg.padded_shared<[%s] {order = %s, shape = %s}>", strings.Join(steps, ", "), list(p.order), list(p.sizes))
}

func (p Padded) columns() ([]uint64, bool) {
	if p.Pad.Granule() != maxGranule {
		return nil, false
	}
	return unitImages(p), true
}

// Input is one named input of a linear layout with the coordinates its bits map to.
type Input struct {
	Name  string
	Bases [][]uint32 // per bit, one number per dimension
}

// Bases is a Triton linear layout of named inputs (register, lane, warp) to tensor coordinates. As a Layout its index
// counts the inputs, first one fastest; its offset is the index of the coordinate, dimension 0 fastest, so a shared
// layout can be composed after it: shared o linear.
type Bases struct {
	Inputs []Input
	sizes  []uint32
	images []uint64 // per index bit
}

// NewBases checks that all bases have the same rank. Sizes of dimensions are the smallest powers of two that hold them.
func NewBases(inputs []Input) (Bases, error) {
	b := Bases{Inputs: inputs}
	n := 0
	for _, in := range inputs {
		n += len(in.Bases)
		for _, v := range in.Bases {
			if b.sizes == nil {
				b.sizes = make([]uint32, len(v))
			}
			if len(v) == 0 || len(v) != len(b.sizes) || len(v) > maxRank {
				return Bases{}, errorf("linear: %s: got a basis of %d numbers, want %d", in.Name, len(v), max(1, min(len(b.sizes), maxRank)))
			}
			for d, x := range v {
				b.sizes[d] = max(b.sizes[d], 1<<bits.Len32(x&(MaxOffset/2-1)))
				if x >= MaxOffset/2 {
					return Bases{}, errorf("linear: %s: got %d, want less than %d", in.Name, x, MaxOffset/2)
				}
			}
		}
	}
	if n == 0 || n > 30 {
		return Bases{}, errorf("linear: got %d bases, want 1 to 30", n)
	}
	for d := range b.sizes {
		b.sizes[d] = max(b.sizes[d], 1)
	}
	if Leaves(b.sizes...).product() >= MaxOffset {
		return Bases{}, errorf("linear: got a tensor of %d elements or more", MaxOffset)
	}
	for _, in := range inputs {
		for _, v := range in.Bases {
			b.images = append(b.images, indexOf(v, b.sizes))
		}
	}
	return b, nil
}

// indexOf counts a coordinate, dimension 0 fastest.
func indexOf(c, sizes []uint32) uint64 {
	var out, step uint64 = 0, 1
	for d, x := range c {
		out += uint64(x) * step
		step *= uint64(sizes[d])
	}
	return out
}

// Size returns two to the number of bases.
func (b Bases) Size() uint32 { return 1 << len(b.images) }

// Shape has one mode for each input.
func (b Bases) Shape() Tuple {
	sizes := make([]uint32, len(b.Inputs))
	for i, in := range b.Inputs {
		sizes[i] = 1 << len(in.Bases)
	}
	return Leaves(sizes...)
}

// At returns the index of the coordinate that input i maps to.
func (b Bases) At(i uint32) uint32 {
	var out uint64
	for ; i != 0; i &= i - 1 {
		out ^= b.images[bits.TrailingZeros32(i)]
	}
	return uint32(out)
}

// Cosize returns the number of elements of the tensor.
func (b Bases) Cosize() uint64 { return Leaves(b.sizes...).product() }

func (b Bases) String() string {
	return "#ttg.linear<{" + inputsText(b.Inputs) + "}>"
}

func (b Bases) columns() ([]uint64, bool) { return b.images, true }

// SharedLinear is Triton's shared linear encoding: bases of offset bits, inverted, so that an index (a coordinate,
// dimension 0 fastest) gives an element offset.
type SharedLinear struct {
	Offset    [][]uint32
	Alignment uint32 // bytes; 0 where not stated
	forward   Bases
	images    []uint64 // offsets of index bits
}

// NewSharedLinear fails unless the bases are one-to-one onto the tensor.
func NewSharedLinear(offset [][]uint32, alignment uint32) (SharedLinear, error) {
	f, err := NewBases([]Input{{"offset", offset}})
	if err != nil {
		return SharedLinear{}, err
	}
	n := bits.TrailingZeros64(f.Cosize())
	if n != len(f.images) {
		return SharedLinear{}, errorf("shared_linear: got %d offset bits for a tensor of %d bits (%s), want the same number",
			len(f.images), n, times(f.sizes))
	}
	m, err := gf2.FromColumns(n, f.images...)
	if err != nil {
		return SharedLinear{}, errorf("shared_linear: %v", err)
	}
	inv, ok := m.Inverse()
	if !ok {
		return SharedLinear{}, errorf("shared_linear: got bases of rank %d, want %d: offsets and coordinates are not one-to-one", m.Rank(), n)
	}
	return SharedLinear{offset, alignment, f, inv.Columns()}, nil
}

// Size returns the number of elements.
func (s SharedLinear) Size() uint32 { return s.forward.Size() }

// Shape returns the sizes of the tensor.
func (s SharedLinear) Shape() Tuple { return Leaves(s.forward.sizes...) }

// At returns the offset of the coordinate with index i.
func (s SharedLinear) At(i uint32) uint32 {
	var out uint64
	for ; i != 0; i &= i - 1 {
		out ^= s.images[bits.TrailingZeros32(i)]
	}
	return uint32(out)
}

// Cosize equals Size.
func (s SharedLinear) Cosize() uint64 { return uint64(s.Size()) }

func (s SharedLinear) String() string {
	out := "#ttg.shared_linear<{" + inputsText([]Input{{"offset", s.Offset}, {"block", nil}}) + "}"
	if s.Alignment != 0 {
		out += fmt.Sprintf(", alignment = %d", s.Alignment)
	}
	return out + ">"
}

func (s SharedLinear) columns() ([]uint64, bool) { return s.images, true }

// unitImages returns the images of the index bits of a layout known to be linear.
func unitImages(l Layout) []uint64 {
	out := make([]uint64, bits.TrailingZeros32(l.Size()))
	for i := range out {
		out[i] = uint64(l.At(1 << i))
	}
	return out
}

func inputsText(inputs []Input) string {
	parts := make([]string, len(inputs))
	for i, in := range inputs {
		bases := make([]string, len(in.Bases))
		for j, b := range in.Bases {
			bases[j] = list(b)
		}
		parts[i] = in.Name + " = [" + strings.Join(bases, ", ") + "]"
	}
	return strings.Join(parts, ", ")
}

func list[T int | uint32](n []T) string {
	parts := make([]string, len(n))
	for i, v := range n {
		parts[i] = itoa(uint64(v))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func times(n []uint32) string {
	parts := make([]string, len(n))
	for i, v := range n {
		parts[i] = itoa(uint64(v))
	}
	return strings.Join(parts, "x")
}
