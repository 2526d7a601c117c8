package layout

import (
	"fmt"
	"math/bits"
	"slices"

	"shmoo/gf2"
)

// MaxExhaustive bounds the indices that are looked at one by one, and eight times it the offsets.
const MaxExhaustive = 1 << 22

// Proof is the answer to a question about a layout, with how it was found.
type Proof struct {
	Holds  bool
	Method string    // such as "rank 12 of 12 over F2" or "checked all 4096 indices"
	Pair   [2]uint32 // where Holds is false: two indices with one offset
}

// Injective decides whether no two indices share an offset. The error is ErrUndecided or nil.
func Injective(l Layout) (Proof, error) {
	if columns, ok := l.columns(); ok {
		return injectiveByRank(columns), nil
	}
	if s, ok := l.(Strided); ok && nested(s) {
		return Proof{Holds: true, Method: "each stride passes the reach of the smaller ones"}, nil
	}
	if a, ok := l.(Apply); ok && oneToOne(a.Outer) {
		p, err := Injective(a.Inner)
		if err == nil && p.Holds {
			p.Method += "; " + unitless(a.Outer) + " is one-to-one"
		}
		return p, err
	}
	return injectiveByCheck(l)
}

// Bijective decides whether the offsets are 0..Size-1, each once. The error is ErrUndecided or nil. A layout that is
// one-to-one with a gap has Holds false and an empty Pair.
func Bijective(l Layout) (Proof, error) {
	p, err := Injective(l)
	if err != nil || !p.Holds {
		return p, err
	}
	last, how, err := highest(l)
	if err != nil {
		return Proof{}, err
	}
	p.Holds = last == l.Size()-1
	p.Method += "; " + how
	return p, nil
}

func injectiveByRank(columns []uint64) Proof {
	m, err := gf2.FromColumns(gf2.MaxBits, columns...)
	if err != nil { // more than 64 index bits: sizes stay below 2^31
		return Proof{Method: err.Error()}
	}
	p := Proof{Method: fmt.Sprintf("rank %d of %d over F2", m.Rank(), len(columns))}
	kernel := m.Kernel().Basis()
	if len(kernel) == 0 {
		p.Holds = true
		return p
	}
	p.Pair[1] = uint32(slices.Min(kernel))
	return p
}

// nested reports whether, by rising stride, each stride exceeds the largest sum of the smaller ones: then offsets are
// numbers in a mixed radix and differ.
func nested(s Strided) bool {
	modes := make([][2]uint64, 0, len(s.sizes))
	for k, n := range s.sizes {
		if n > 1 {
			modes = append(modes, [2]uint64{uint64(s.steps[k]), uint64(n)})
		}
	}
	slices.SortFunc(modes, func(a, b [2]uint64) int {
		if a[0] < b[0] {
			return -1
		}
		return 1
	})
	reach := uint64(0)
	for _, m := range modes {
		if m[0] <= reach {
			return false
		}
		reach += (m[1] - 1) * m[0]
	}
	return true
}

// oneToOne reports whether a transform is known to be one-to-one on all offsets: a pad is because it is strictly
// rising.
func oneToOne(t Transform) bool {
	switch t := t.(type) {
	case Identity, Pad, Swizzle, AbsoluteSwizzle, Linear, Shift, Recast:
		return true
	case OnElements:
		return oneToOne(t.Of)
	case Chain:
		for _, f := range t {
			if !oneToOne(f) {
				return false
			}
		}
		return true
	}
	return false
}

func injectiveByCheck(l Layout) (Proof, error) {
	if l.Size() > MaxExhaustive || l.Cosize() > 8*MaxExhaustive {
		return Proof{}, ErrUndecided
	}
	seen := make([]uint64, (l.Cosize()+63)/64)
	for i := range l.Size() {
		a := l.At(i)
		if seen[a/64]>>(a%64)&1 == 0 {
			seen[a/64] |= 1 << (a % 64)
			continue
		}
		p := Proof{Method: fmt.Sprintf("checked %d indices", i+1), Pair: [2]uint32{0, i}}
		for l.At(p.Pair[0]) != a {
			p.Pair[0]++
		}
		return p, nil
	}
	return Proof{Holds: true, Method: fmt.Sprintf("checked all %d indices", l.Size())}, nil
}

// highest returns the largest offset.
func highest(l Layout) (uint32, string, error) {
	if s, ok := l.(Strided); ok {
		return uint32(s.Cosize() - 1), "largest offset from the strides", nil
	}
	if columns, ok := l.columns(); ok {
		// The largest member of a span takes every echelon vector whose leading bit is still free.
		top := uint64(0)
		for _, b := range gf2.Span(columns...).Basis() {
			if top>>(bits.Len64(b)-1)&1 == 0 {
				top ^= b
			}
		}
		return uint32(top), "largest offset from the image", nil
	}
	if l.Size() > MaxExhaustive {
		return 0, "", ErrUndecided
	}
	top := uint32(0)
	for i := range l.Size() {
		top = max(top, l.At(i))
	}
	return top, "largest offset by looking at all", nil
}
