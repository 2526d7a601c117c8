package fix

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"shmoo/layout"
)

// onElements returns the candidate's transform stated on elements of the array, and whether that is exact.
func (r *Result) onElements(c *Candidate) (layout.OnElements, bool) {
	elem := uint32(max(0, r.Problem.Array.ElemBytes))
	t, ok := scaled(c.Transform, elem)
	return layout.OnElements{Size: elem, Of: t}, ok
}

// scaled states a transform of bytes on elements of the given size, and reports whether that is exact.
func scaled(t layout.Transform, elem uint32) (layout.Transform, bool) {
	if elem == 0 {
		return nil, false
	}
	switch t := t.(type) {
	case layout.Identity:
		return t, true
	case layout.Pad:
		out := make(layout.Pad, len(t))
		for i, s := range t {
			if s.Add%elem != 0 || s.Per%elem != 0 {
				return nil, false
			}
			out[i] = layout.PadStep{Add: s.Add / elem, Per: s.Per / elem}
		}
		return out, true
	case layout.Swizzle:
		s, ok := t.Recast(1, elem)
		return s, ok
	case layout.Linear:
		if t.Granule() < elem || elem&(elem-1) != 0 {
			return nil, false
		}
		k := bits.TrailingZeros32(elem)
		var images []uint32
		for _, v := range t.Images()[min(k, len(t.Images())):] {
			images = append(images, v>>k)
		}
		l, err := layout.NewLinear(images...)
		return l, err == nil
	}
	return nil, false
}

// expression writes a transform of the variable v as an expression that C and Python read alike; div is their integer
// division.
func expression(t layout.Transform, v, div string) string {
	switch t := t.(type) {
	case layout.Pad:
		terms := []string{v}
		for _, s := range t {
			if s.Add != 0 {
				terms = append(terms, fmt.Sprintf("%s %s %d * %d", v, div, s.Per, s.Add))
			}
		}
		return strings.Join(terms, " + ")
	case layout.Swizzle:
		if t.S >= 0 {
			return fmt.Sprintf("%s ^ (%s >> %d & %d)", v, v, t.S, t.Target())
		}
		return fmt.Sprintf("%s ^ (%s << %d & %d)", v, v, -t.S, t.Target())
	case layout.Linear:
		return linearExpression(t, v)
	}
	return v
}

// linearExpression collects the matrix by diagonals: each is one shift and one mask.
func linearExpression(t layout.Linear, v string) string {
	targets := map[int]uint32{} // source bit minus target bit -> target bits
	cleared := uint32(0)
	for i, image := range t.Images() {
		if image>>i&1 == 0 {
			cleared |= 1 << i
		}
		for m := image &^ (1 << i); m != 0; m &= m - 1 {
			b := bits.TrailingZeros32(m)
			targets[i-b] |= 1 << b
		}
	}
	out := v
	if cleared != 0 {
		out = fmt.Sprintf("(%s & ~%d)", v, cleared)
	}
	var distances []int
	for d := range targets {
		distances = append(distances, d)
	}
	slices.Sort(distances)
	for _, d := range distances {
		if d > 0 {
			out += fmt.Sprintf(" ^ (%s >> %d & %d)", v, d, targets[d])
		} else {
			out += fmt.Sprintf(" ^ (%s << %d & %d)", v, -d, targets[d])
		}
	}
	return out
}
