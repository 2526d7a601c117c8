package gf2

import "math/bits"

// Space is a linear subspace of the 64-bit vectors. The zero value is the space {0}. A Space is immutable.
type Space struct {
	// basis is reduced echelon: highest bits strictly falling, and no vector has another's highest bit.
	basis []uint64
}

// Span returns the smallest space that contains the given vectors.
func Span(vectors ...uint64) Space {
	var s Space
	for _, v := range vectors {
		s = s.with(v)
	}
	return s
}

// with returns the span of s and v. It copies the basis only when the space grows.
func (s Space) with(v uint64) Space {
	v = s.Reduce(v)
	if v == 0 {
		return s
	}
	p := lead(v)
	basis := make([]uint64, 0, len(s.basis)+1)
	placed := false
	for _, b := range s.basis {
		if b < v && !placed {
			basis = append(basis, v)
			placed = true
		}
		if b&p != 0 {
			b ^= v
		}
		basis = append(basis, b)
	}
	if !placed {
		basis = append(basis, v)
	}
	return Space{basis}
}

// Dim returns the dimension: the space has 2^Dim vectors.
func (s Space) Dim() int { return len(s.basis) }

// Basis returns the reduced echelon basis, largest vector first, a new slice. Equal spaces have equal bases.
func (s Space) Basis() []uint64 { return append([]uint64(nil), s.basis...) }

// Reduce returns the smallest vector that differs from v by a member of the space: a canonical name for v's coset.
func (s Space) Reduce(v uint64) uint64 {
	for _, b := range s.basis {
		if v&lead(b) != 0 {
			v ^= b
		}
	}
	return v
}

// Contains reports whether v lies in the space.
func (s Space) Contains(v uint64) bool { return s.Reduce(v) == 0 }

// Equal reports whether the two spaces have the same vectors.
func (s Space) Equal(t Space) bool {
	if len(s.basis) != len(t.basis) {
		return false
	}
	for i, b := range s.basis {
		if b != t.basis[i] {
			return false
		}
	}
	return true
}

// Sum returns the span of both spaces together.
func (s Space) Sum(t Space) Space {
	for _, b := range t.basis {
		s = s.with(b)
	}
	return s
}

// Intersect returns the vectors common to both spaces.
func (s Space) Intersect(t Space) Space {
	// A common vector is a combination of s's basis that reduces to zero modulo t: the kernel of that reduction.
	var ps []pair
	for _, b := range s.basis {
		ps = append(ps, pair{t.Reduce(b), b})
	}
	_, common := eliminate(ps)
	return Span(common...)
}

// Complement returns a space that meets s only in zero and together with it spans all vectors of n bits. There are
// many; this one is spanned by unit vectors. Vectors of s above n bits are outside the question and ignored.
func (s Space) Complement(n int) Space {
	var pivots uint64
	for _, b := range s.basis {
		pivots |= lead(b)
	}
	var c Space
	for i := min(n, MaxBits) - 1; i >= 0; i-- {
		if pivots>>i&1 == 0 {
			c.basis = append(c.basis, 1<<i)
		}
	}
	return c
}

// Annihilator returns the vectors a of n bits with parity(a & v) = 0 for every v of s: the linear forms that vanish
// on s. Its dimension is n - Dim where s lies within n bits.
func (s Space) Annihilator(n int) Space {
	n = min(max(n, 0), MaxBits)
	mask := ^uint64(0)
	if n < MaxBits {
		mask = 1<<n - 1
	}
	m := Matrix{make([]uint64, len(s.basis)), n}
	for i, b := range s.basis {
		m.rows[i] = b & mask
	}
	return m.Kernel()
}

// Each calls f for every vector of the space, zero first, and stops early if f returns false. The order walks a Gray
// code, so consecutive vectors differ by one basis vector. It is meant for small dimensions: there are 2^Dim calls.
func (s Space) Each(f func(v uint64) bool) {
	v := uint64(0)
	for i := uint64(0); ; {
		if !f(v) {
			return
		}
		i++
		k := bits.TrailingZeros64(i)
		if k >= len(s.basis) {
			return
		}
		v ^= s.basis[k]
	}
}
