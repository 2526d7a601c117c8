package fix

import (
	"context"
	"fmt"

	"shmoo/layout"
)

// LayoutError reports a layout that an array cannot have: not one-to-one, of another size, or one that tears accesses
// apart.
type LayoutError struct {
	Layout string
	Msg    string
}

func (e *LayoutError) Error() string { return fmt.Sprintf("fix: layout %s: %s", e.Layout, e.Msg) }

// Evaluate counts what a given layout does to the requests of a problem. It returns a *LayoutError for one the array
// cannot have.
func Evaluate(ctx context.Context, p *Problem, t layout.Transform) (Candidate, error) {
	if err := p.check(); err != nil {
		return Candidate{}, err
	}
	s := newSearcher(ctx, p, Options{})
	if g := t.Granule(); g < s.granule {
		return Candidate{}, &LayoutError{t.String(), fmt.Sprintf("got %d bytes kept in one piece, want %d, the widest access", g, s.granule)}
	}
	bytes := s.extent(t)
	if bytes > uint64(s.limit) {
		return Candidate{}, &LayoutError{t.String(), fmt.Sprintf("got %d bytes, want at most %d", bytes, s.limit)}
	}
	seen := make([]bool, bytes)
	for a := range uint32(p.Array.Size) {
		y := t.Map(a)
		if uint64(y) >= bytes {
			return Candidate{}, &LayoutError{t.String(), fmt.Sprintf("byte %d goes to %d, beyond the %d bytes it needs", a, y, bytes)}
		}
		if seen[y] {
			return Candidate{}, &LayoutError{t.String(), fmt.Sprintf("got byte %d twice, want a one-to-one map: the second time from byte %d", y, a)}
		}
		seen[y] = true
	}
	c := Candidate{Family: Given, Transform: t, Bytes: int(bytes), Instructions: s.instructions(t), Blocks: s.blocks(int(bytes))}
	c.Sites = make([]int64, len(p.Sites))
	cl, err := s.merged()
	if err != nil {
		return Candidate{}, err
	}
	for i := range cl {
		n, err := s.cost(t, &cl[i].Request)
		if err != nil {
			return Candidate{}, err
		}
		c.Wavefronts += n * cl[i].total
		for _, sh := range cl[i].shares {
			c.Sites[sh.site] += n * sh.count
		}
	}
	return c, nil
}

// Given is the family of a layout that the user named.
const Given Family = "given"

// FromLayout returns a layout of the array's coordinates as a transform of its bytes. The layout's modes are the
// array's dimensions in the order of the declaration, or it has one mode that counts all elements; its offsets count
// elements. It returns a *LayoutError where sizes differ or two elements would share a place.
func FromLayout(p *Problem, l layout.Layout) (layout.Transform, error) {
	a := &p.Array
	fail := func(format string, args ...any) (layout.Transform, error) {
		return nil, &LayoutError{l.String(), fmt.Sprintf(format, args...)}
	}
	if a.ElemBytes <= 0 || a.Size%a.ElemBytes != 0 {
		return fail("array %s: got %d bytes in elements of %d", a.Name, a.Size, a.ElemBytes)
	}
	count := a.Size / a.ElemBytes
	if int64(l.Size()) != int64(count) {
		return fail("got %d indices, want %d, the elements of %s", l.Size(), count, a.Name)
	}
	dims := []int{count}
	if modes := l.Shape().Modes(); len(modes) > 1 {
		dims = a.Dims
		if len(modes) != len(dims) {
			return fail("got %d modes, want %d, the dimensions of %s", len(modes), len(dims), a.Name)
		}
		for i, m := range modes {
			n := 1
			for _, v := range m.Flat() {
				n *= int(v)
			}
			if n != dims[i] {
				return fail("got %d in mode %d, want %d, the dimension of %s", n, i, dims[i], a.Name)
			}
		}
	}
	switch proof, err := layout.Injective(l); {
	case err != nil:
		return fail("%v", err)
	case !proof.Holds:
		return fail("got indices %d and %d at one offset, want a one-to-one map", proof.Pair[0], proof.Pair[1])
	}
	r := &relaid{layout: l, elem: uint32(a.ElemBytes), to: make([]uint32, count)}
	for i := range r.to {
		// Row-major number -> coordinate -> index that counts the first dimension fastest.
		index, rest, step := 0, i, count
		for k := len(dims) - 1; k >= 0; k-- {
			step /= dims[k]
			index += rest % dims[k] * step
			rest /= dims[k]
		}
		r.to[i] = l.At(uint32(index))
		r.end = max(r.end, r.to[i]+1)
	}
	r.granule = r.wholeBytes()
	return r, nil
}

// relaid is a layout of an array's elements as a transform of its bytes.
type relaid struct {
	layout  layout.Layout
	elem    uint32
	to      []uint32 // element in row-major order -> element
	end     uint32
	granule uint32
}

// wholeBytes returns the largest power of two that stays in one piece and aligned, up to the widest access.
func (r *relaid) wholeBytes() uint32 {
	best := r.elem & -r.elem
	for n := uint32(2); n*r.elem <= 16 && r.elem&(r.elem-1) == 0; n *= 2 {
		for i, v := range r.to {
			if i%int(n) == 0 && v%n != 0 || i%int(n) != 0 && v != r.to[i-1]+1 {
				return best
			}
		}
		best = n * r.elem
	}
	return best
}

// Map moves the element that addr lies in; bytes beyond the array have no place and stay.
func (r *relaid) Map(addr uint32) uint32 {
	if i := addr / r.elem; int(i) < len(r.to) {
		return r.to[i]*r.elem + addr%r.elem
	}
	return addr
}

// Extent returns the bytes of the whole array: the layout is not defined on a part of it.
func (r *relaid) Extent(uint64) uint64 { return uint64(r.end) * uint64(r.elem) }

// Granule is found by looking at all elements.
func (r *relaid) Granule() uint32 { return r.granule }

// Cost is that of the transform the layout begins with; strides themselves cost nothing.
func (r *relaid) Cost() layout.Cost {
	if a, ok := r.layout.(layout.Apply); ok {
		return a.Outer.Cost()
	}
	return layout.Cost{}
}

func (r *relaid) String() string { return r.layout.String() }
