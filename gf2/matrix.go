package gf2

import (
	"fmt"
	"math/bits"
	"strings"
)

// MaxBits is the largest number of input or output bits of a matrix.
const MaxBits = 64

// Matrix is a linear map from vectors of Cols bits to vectors of Rows bits. The zero value maps the empty vector to the
// empty vector. A Matrix is immutable: methods return new ones.
type Matrix struct {
	rows []uint64
	cols int
}

// SizeError reports that a vector, row or operand does not have the width that the operation wants.
type SizeError struct {
	What      string // the operand at fault, such as "row 3"
	Got, Want int    // bits
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("gf2: %s: got %d bits, want at most %d", e.What, e.Got, e.Want)
}

// FromRows makes the matrix with the given number of input bits whose output bit i is the parity of rows[i] & x.
// It fails if a row has a bit at or above cols, or if there are more than MaxBits rows or columns.
func FromRows(cols int, rows ...uint64) (Matrix, error) {
	if cols < 0 || cols > MaxBits {
		return Matrix{}, &SizeError{"columns", cols, MaxBits}
	}
	if len(rows) > MaxBits {
		return Matrix{}, &SizeError{"rows", len(rows), MaxBits}
	}
	for i, r := range rows {
		if n := bits.Len64(r); n > cols {
			return Matrix{}, &SizeError{fmt.Sprintf("row %d", i), n, cols}
		}
	}
	return Matrix{append([]uint64(nil), rows...), cols}, nil
}

// FromColumns makes the matrix with the given number of output bits that sends input bit i to columns[i]: the columns
// are the images of the unit vectors ("bases" in the speech of linear layouts).
func FromColumns(rows int, columns ...uint64) (Matrix, error) {
	t, err := FromRows(rows, columns...)
	if err != nil {
		return Matrix{}, err
	}
	return t.Transpose(), nil
}

// Identity returns the identity on n bits; n outside 0..MaxBits is taken to the nearest end.
func Identity(n int) Matrix {
	n = min(max(n, 0), MaxBits)
	m := Matrix{make([]uint64, n), n}
	for i := range m.rows {
		m.rows[i] = 1 << i
	}
	return m
}

// Rows returns the number of output bits.
func (m Matrix) Rows() int { return len(m.rows) }

// Cols returns the number of input bits.
func (m Matrix) Cols() int { return m.cols }

// Row returns the mask of input bits whose parity is output bit i, or 0 where there is no such output bit.
func (m Matrix) Row(i int) uint64 {
	if i < 0 || i >= len(m.rows) {
		return 0
	}
	return m.rows[i]
}

// Columns returns the images of the unit vectors, a new slice.
func (m Matrix) Columns() []uint64 { return m.Transpose().rows }

// Apply returns the image of x. Bits of x at or above Cols are ignored.
func (m Matrix) Apply(x uint64) uint64 {
	var y uint64
	for i, r := range m.rows {
		y |= uint64(bits.OnesCount64(r&x)&1) << i
	}
	return y
}

// Transpose returns the transposed matrix.
func (m Matrix) Transpose() Matrix {
	t := Matrix{make([]uint64, m.cols), len(m.rows)}
	for i, r := range m.rows {
		for ; r != 0; r &= r - 1 {
			t.rows[bits.TrailingZeros64(r)] |= 1 << i
		}
	}
	return t
}

// Compose returns the map x -> m(n(x)). It fails unless n has as many output bits as m has input bits.
func (m Matrix) Compose(n Matrix) (Matrix, error) {
	if m.cols != len(n.rows) {
		return Matrix{}, &SizeError{"inner map of a composition", len(n.rows), m.cols}
	}
	p := Matrix{make([]uint64, len(m.rows)), n.cols}
	for i, r := range m.rows {
		for ; r != 0; r &= r - 1 {
			p.rows[i] ^= n.rows[bits.TrailingZeros64(r)]
		}
	}
	return p, nil
}

// Equal reports whether the two maps have the same widths and the same values.
func (m Matrix) Equal(n Matrix) bool {
	if m.cols != n.cols || len(m.rows) != len(n.rows) {
		return false
	}
	for i, r := range m.rows {
		if r != n.rows[i] {
			return false
		}
	}
	return true
}

// Rank returns the dimension of the image.
func (m Matrix) Rank() int { return Span(m.rows...).Dim() }

// Image returns the space of all outputs.
func (m Matrix) Image() Space { return Span(m.Columns()...) }

// Kernel returns the space of the inputs that map to zero.
func (m Matrix) Kernel() Space {
	_, kernel := eliminate(m.pairs())
	return Span(kernel...)
}

// A pair is a vector with what it is the image of.
type pair struct{ image, input uint64 }

// pairs returns the columns with their inputs.
func (m Matrix) pairs() []pair {
	var ps []pair
	for i, c := range m.Columns() {
		ps = append(ps, pair{c, 1 << i})
	}
	return ps
}

// eliminate reduces images by those before them, carrying along which inputs each combination is made of. It returns the pairs that
// remain, their images independent, and the inputs whose images reduced to zero.
func eliminate(ps []pair) (done []pair, kernel []uint64) {
	for _, p := range ps {
		p = p.reduce(done)
		if p.image == 0 {
			kernel = append(kernel, p.input)
			continue
		}
		done = append(done, p)
	}
	return done, kernel
}

func (p pair) reduce(done []pair) pair {
	for _, d := range done {
		if p.image&lead(d.image) != 0 {
			p.image ^= d.image
			p.input ^= d.input
		}
	}
	return p
}

// Solve returns one x with m(x) = y, and whether there is one. All others differ from it by vectors of Kernel.
func (m Matrix) Solve(y uint64) (x uint64, ok bool) {
	if bits.Len64(y) > len(m.rows) {
		return 0, false
	}
	done, _ := eliminate(m.pairs())
	left := pair{image: y}.reduce(done)
	return left.input, left.image == 0
}

// Inverse returns the inverse map, and whether there is one: the matrix is square and of full rank.
func (m Matrix) Inverse() (Matrix, bool) {
	n := len(m.rows)
	if n != m.cols {
		return Matrix{}, false
	}
	left := append([]uint64(nil), m.rows...)
	right := Identity(n).rows
	for c := range n {
		p := c
		for p < n && left[p]>>c&1 == 0 {
			p++
		}
		if p == n {
			return Matrix{}, false
		}
		left[c], left[p] = left[p], left[c]
		right[c], right[p] = right[p], right[c]
		for r := range n {
			if r != c && left[r]>>c&1 == 1 {
				left[r] ^= left[c]
				right[r] ^= right[c]
			}
		}
	}
	return Matrix{right, n}, true
}

// String draws the matrix, output bit 0 first, input bit 0 leftmost, one row a line.
func (m Matrix) String() string {
	var b strings.Builder
	for i, r := range m.rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for c := range m.cols {
			b.WriteByte('0' + byte(r>>c&1))
		}
	}
	return b.String()
}

// lead returns the highest bit of v alone: the pivot of an echelon row.
func lead(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	return 1 << (bits.Len64(v) - 1)
}
