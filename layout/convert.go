package layout

import (
	"math/bits"
	"slices"

	"shmoo/gf2"
)

// ToStrided returns the layout as CuTe shape:stride with the same top-level modes, each split as far as needed, and
// whether there is one. It proves the result equal before returning it; it looks at no more than MaxExhaustive indices.
func ToStrided(l Layout) (Strided, bool) {
	if s, ok := l.(Strided); ok {
		return s, true
	}
	if l.At(0) != 0 {
		return Strided{}, false
	}
	modes := l.Shape().Modes()
	shape, stride := Tuple{sub: []Tuple{}}, Tuple{sub: []Tuple{}}
	step := uint32(1)
	for _, m := range modes {
		n := uint32(m.product())
		sizes, steps, ok := factor(func(i uint32) uint32 { return l.At(i * step) }, n)
		if !ok {
			return Strided{}, false
		}
		step *= n
		if len(sizes) == 1 {
			shape.sub = append(shape.sub, Leaf(sizes[0]))
			stride.sub = append(stride.sub, Leaf(steps[0]))
			continue
		}
		shape.sub = append(shape.sub, Leaves(sizes...))
		stride.sub = append(stride.sub, Leaves(steps...))
	}
	if len(modes) == 1 {
		shape, stride = shape.sub[0], stride.sub[0]
	}
	s, err := NewStrided(shape, stride)
	if err != nil {
		return Strided{}, false
	}
	c, err := Compare(l, s)
	return s, err == nil && c.Equal
}

// factor splits a one-dimensional map with f(0) = 0 into modes, first mode fastest, or reports that it has none.
func factor(f func(uint32) uint32, n uint32) (sizes, steps []uint32, ok bool) {
	if n == 1 {
		return []uint32{1}, []uint32{0}, true
	}
	for pos := uint32(1); pos < n; {
		step, left := f(pos), n/pos
		run := uint32(2)
		for run < left && run < MaxExhaustive && uint64(f(pos*run)) == uint64(run)*uint64(step) {
			run++
		}
		for left%run != 0 {
			run--
		}
		if run < 2 {
			return nil, nil, false
		}
		sizes, steps = append(sizes, run), append(steps, step)
		pos *= run
	}
	return sizes, steps, true
}

// ToSwizzled returns the layout as a swizzle after a strided layout, with the fewest swizzled bits, and whether there
// is one. Only layouts linear over F2 are tried.
func ToSwizzled(l Layout) (Apply, bool) {
	if _, ok := l.columns(); !ok {
		return Apply{}, false
	}
	width := bits.Len64(l.Cosize() - 1)
	for b := 1; b <= width/2; b++ {
		for m := 0; m+2*b <= width; m++ {
			for s := b; m+s+b <= width; s++ {
				for _, dir := range []int{s, -s} {
					sw := Swizzle{b, m, dir}
					// A swizzle is its own inverse: undone, a strided layout must remain.
					undone := Apply{sw, l}
					inner, ok := ToStrided(undone)
					if !ok {
						continue
					}
					if c, err := Compare(l, Apply{sw, inner}); err == nil && c.Equal {
						return Apply{sw, inner}, true
					}
				}
			}
		}
	}
	return Apply{}, false
}

// ToShared returns the layout as Triton's swizzled shared encoding of a two-dimensional tensor, and whether there is
// one.
func ToShared(l Layout) (Shared, bool) {
	sizes, ok := flatSizes(l, 2)
	if !ok {
		return Shared{}, false
	}
	if _, ok := l.columns(); !ok {
		return Shared{}, false
	}
	for _, order := range [][]int{{1, 0}, {0, 1}} {
		fast, slow := sizes[order[0]], sizes[order[1]]
		for maxPhase := uint32(1); maxPhase <= slow; maxPhase *= 2 {
			for perPhase := uint32(1); perPhase <= slow; perPhase *= 2 {
				for vec := uint32(1); vec <= fast; vec *= 2 {
					s, err := NewShared(vec, perPhase, maxPhase, order, sizes)
					if err != nil {
						return Shared{}, false
					}
					if c, err := Compare(l, s); err == nil && c.Equal {
						return s, true
					}
					if maxPhase == 1 { // vec and perPhase mean nothing
						break
					}
				}
				if maxPhase == 1 {
					break
				}
			}
		}
	}
	return Shared{}, false
}

// ToSharedLinear returns a one-to-one linear layout as Triton's shared linear encoding, and whether it is one.
func ToSharedLinear(l Layout) (SharedLinear, bool) {
	sizes, ok := flatSizes(l, 0)
	if !ok {
		return SharedLinear{}, false
	}
	columns, ok := l.columns()
	if !ok {
		return SharedLinear{}, false
	}
	m, err := gf2.FromColumns(len(columns), columns...)
	if err != nil {
		return SharedLinear{}, false
	}
	inv, ok := m.Inverse()
	if !ok {
		return SharedLinear{}, false
	}
	var bases [][]uint32
	for _, c := range inv.Columns() {
		coordinate := Leaves(sizes...).Coordinate(uint32(c)).Flat()
		bases = append(bases, coordinate)
	}
	s, err := NewSharedLinear(bases, 0)
	if err != nil || !slices.Equal(s.forward.sizes, sizes) {
		return SharedLinear{}, false
	}
	return s, true
}

// ToPadded returns the layout as Triton's padded shared encoding with one pad, and whether there is one: row-major with
// a constant gap after every row.
func ToPadded(l Layout) (Padded, bool) {
	sizes, ok := flatSizes(l, 2)
	if !ok || sizes[0] == 1 || sizes[1] == 1 {
		return Padded{}, false
	}
	for _, order := range [][]int{{1, 0}, {0, 1}} {
		fast := sizes[order[0]]
		pitch := l.At(1)
		if order[0] == 0 {
			pitch = l.At(sizes[0])
		}
		if pitch <= fast {
			continue
		}
		p, err := NewPadded(Pad{{pitch - fast, fast}}, order, sizes)
		if err != nil {
			continue
		}
		if c, err := Compare(l, p); err == nil && c.Equal {
			return p, true
		}
	}
	return Padded{}, false
}

// flatSizes returns the sizes of the top-level modes if they are powers of two and, where rank is not 0, that many.
func flatSizes(l Layout, rank int) ([]uint32, bool) {
	modes := l.Shape().Modes()
	if len(modes) > maxRank || rank != 0 && len(modes) != rank {
		return nil, false
	}
	sizes := make([]uint32, len(modes))
	for i, m := range modes {
		sizes[i] = uint32(m.product())
		if !isPow2(sizes[i]) {
			return nil, false
		}
	}
	return sizes, true
}

// Compose returns the layout that takes an index through inner and then through outer, as shape:stride where that is
// exact, else as the pair. It fails if an offset of inner is no index of outer.
func Compose(outer, inner Layout) (Layout, error) {
	pair, err := NewAfter(outer, inner)
	if err != nil {
		return nil, err
	}
	if s, ok := ToStrided(pair); ok {
		return s, nil
	}
	return pair, nil
}
