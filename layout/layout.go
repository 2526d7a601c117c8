package layout

import (
	"strconv"
)

// Layout is a map from the indices 0..Size-1 to offsets. An index counts the coordinates of Shape with the first mode
// fastest, as CuTe's layouts do. The implementations are [Strided], [Shared], [Padded], [SharedLinear], [Bases],
// [Apply] and [After].
type Layout interface {
	// Size returns the number of indices.
	Size() uint32
	// Shape returns the coordinates an index counts.
	Shape() Tuple
	// At returns the offset of index i, which must be below Size.
	At(i uint32) uint32
	// Cosize returns a bound on the offsets: every At(i) is below it. It is exact for strided layouts.
	Cosize() uint64
	// String returns the layout in the notation it was written in.
	String() string
	// columns returns the offsets of the indices 1, 2, 4, ... and true if the map is linear over F2.
	columns() ([]uint64, bool)
}

// Apply is a layout followed by a transform of its offsets, written "transform o layout".
type Apply struct {
	Outer Transform
	Inner Layout
}

// NewApply checks that offsets stay below MaxOffset.
func NewApply(outer Transform, inner Layout) (Apply, error) {
	if n := outer.Extent(inner.Cosize()); n > MaxOffset {
		return Apply{}, errorf("%s o %s: got offsets up to %d, want below %d", unitless(outer), inner, n-1, MaxOffset)
	}
	return Apply{outer, inner}, nil
}

// Size is the inner layout's.
func (a Apply) Size() uint32 { return a.Inner.Size() }

// Shape is the inner layout's.
func (a Apply) Shape() Tuple { return a.Inner.Shape() }

// At returns the transformed offset.
func (a Apply) At(i uint32) uint32 { return a.Outer.Map(a.Inner.At(i)) }

// Cosize is the transform's extent of the inner cosize.
func (a Apply) Cosize() uint64 { return a.Outer.Extent(a.Inner.Cosize()) }

func (a Apply) String() string { return unitless(a.Outer) + " o " + a.Inner.String() }

func (a Apply) columns() ([]uint64, bool) {
	in, ok := a.Inner.columns()
	if !ok || !isLinear(a.Outer) {
		return nil, false
	}
	out := make([]uint64, len(in))
	for i, c := range in {
		out[i] = uint64(a.Outer.Map(uint32(c)))
	}
	return out, true
}

// After is a layout whose offsets are the indices of another, written "outer o inner".
type After struct{ Outer, Inner Layout }

// NewAfter checks that every offset of the inner layout is an index of the outer one.
func NewAfter(outer, inner Layout) (After, error) {
	if inner.Cosize() > uint64(outer.Size()) {
		return After{}, errorf("%s o %s: got an inner layout with offsets up to %d, want below %d, the size of the outer one",
			outer, inner, inner.Cosize()-1, outer.Size())
	}
	return After{outer, inner}, nil
}

// Size is the inner layout's.
func (a After) Size() uint32 { return a.Inner.Size() }

// Shape is the inner layout's.
func (a After) Shape() Tuple { return a.Inner.Shape() }

// At returns the outer offset of the inner offset.
func (a After) At(i uint32) uint32 { return a.Outer.At(a.Inner.At(i)) }

// Cosize is the outer layout's.
func (a After) Cosize() uint64 { return a.Outer.Cosize() }

func (a After) String() string { return a.Outer.String() + " o " + a.Inner.String() }

func (a After) columns() ([]uint64, bool) {
	in, okIn := a.Inner.columns()
	if !okIn {
		return nil, false
	}
	if _, okOut := a.Outer.columns(); !okOut {
		return nil, false
	}
	out := make([]uint64, len(in))
	for i, c := range in {
		out[i] = uint64(a.Outer.At(uint32(c)))
	}
	return out, true
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }
