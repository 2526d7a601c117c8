package gf2

import (
	"errors"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// drawMatrix draws a matrix of up to 8 by 8, small enough to enumerate every vector.
func drawMatrix(t *rapid.T, rows, cols int, label string) Matrix {
	r := make([]uint64, rows)
	for i := range r {
		r[i] = rapid.Uint64Range(0, 1<<cols-1).Draw(t, label)
	}
	m, err := FromRows(cols, r...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawSpace(t *rapid.T, n int, label string) Space {
	return Span(rapid.SliceOfN(rapid.Uint64Range(0, 1<<n-1), 0, n).Draw(t, label)...)
}

// members lists the space by brute force from its generators' definition: all XORs of subsets of the basis.
func members(s Space) map[uint64]bool {
	set := map[uint64]bool{0: true}
	for _, b := range s.Basis() {
		for v := range set {
			set[v^b] = true
		}
		for v := range set {
			set[v^b] = true
		}
	}
	return set
}

func TestMatrixAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(0, 8).Draw(t, "rows"), rapid.IntRange(0, 8).Draw(t, "cols")
		m := drawMatrix(t, rows, cols, "m")
		image, kernel := map[uint64]bool{}, map[uint64]bool{}
		columns := m.Columns()
		for x := range uint64(1) << cols {
			y := m.Apply(x)
			var sum uint64
			for i, c := range columns {
				if x>>i&1 == 1 {
					sum ^= c
				}
			}
			if sum != y {
				t.Fatalf("m(%b) = %b by rows, %b by columns", x, y, sum)
			}
			image[y] = true
			if y == 0 {
				kernel[x] = true
			}
		}
		if len(image) != 1<<m.Rank() || len(kernel) != 1<<m.Kernel().Dim() {
			t.Fatalf("rank %d, kernel dimension %d; image has %d vectors, kernel %d",
				m.Rank(), m.Kernel().Dim(), len(image), len(kernel))
		}
		for y := range uint64(1) << rows {
			if m.Image().Contains(y) != image[y] {
				t.Fatalf("image contains %b: got %v", y, !image[y])
			}
			x, ok := m.Solve(y)
			if ok != image[y] || ok && m.Apply(x) != y {
				t.Fatalf("solve %b: got %b, %v", y, x, ok)
			}
		}
		for x := range kernel {
			if !m.Kernel().Contains(x) {
				t.Fatalf("kernel lacks %b", x)
			}
		}
		if !m.Transpose().Transpose().Equal(m) || m.Transpose().Rank() != m.Rank() {
			t.Fatal("transpose")
		}
	})
}

func TestInverseAndComposition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "n")
		a, b := drawMatrix(t, n, n, "a"), drawMatrix(t, n, n, "b")
		ab, err := a.Compose(b)
		if err != nil {
			t.Fatal(err)
		}
		for x := range uint64(1) << n {
			if ab.Apply(x) != a.Apply(b.Apply(x)) {
				t.Fatalf("composition at %b", x)
			}
		}
		inv, ok := a.Inverse()
		if ok != (a.Rank() == n) {
			t.Fatalf("inverse: got %v, rank %d of %d", ok, a.Rank(), n)
		}
		if ok {
			if id, err := inv.Compose(a); err != nil || !id.Equal(Identity(n)) {
				t.Fatalf("inverse of\n%v\ngives\n%v", a, id)
			}
		}
	})
}

func TestSpacesAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 7
		a, b := drawSpace(t, n, "a"), drawSpace(t, n, "b")
		inA, inB := members(a), members(b)
		both, ann := a.Intersect(b), a.Annihilator(n)
		for v := range uint64(1) << n {
			if a.Contains(v) != inA[v] || both.Contains(v) != (inA[v] && inB[v]) {
				t.Fatalf("membership of %b", v)
			}
			zero := true
			for m := range inA {
				zero = zero && bits.OnesCount64(m&v)&1 == 0
			}
			if ann.Contains(v) != zero {
				t.Fatalf("annihilator contains %b: got %v", v, !zero)
			}
		}
		if a.Sum(b).Dim() != a.Dim()+b.Dim()-both.Dim() {
			t.Fatal("dimension formula")
		}
		c := a.Complement(n)
		if c.Dim() != n-a.Dim() || a.Intersect(c).Dim() != 0 || a.Sum(c).Dim() != n {
			t.Fatalf("complement of %v is %v", a.Basis(), c.Basis())
		}
		if !a.Sum(b).Equal(b.Sum(a)) || !both.Equal(b.Intersect(a)) {
			t.Fatal("sum and intersection do not commute")
		}
		count := 0
		a.Each(func(v uint64) bool { count++; delete(inA, v); return true })
		if count != 1<<a.Dim() || len(inA) != 0 {
			t.Fatalf("each: %d calls, %d vectors missed", count, len(inA))
		}
		for v := range uint64(1) << n {
			if r := a.Reduce(v); r > v || !a.Contains(r^v) || a.Reduce(r) != r {
				t.Fatalf("reduce %b: got %b", v, r)
			}
		}
	})
}

func TestWidthsAreChecked(t *testing.T) {
	var size *SizeError
	if _, err := FromRows(3, 0b1000); !errors.As(err, &size) || size.Got != 4 || size.Want != 3 {
		t.Errorf("row too wide: got %v", err)
	}
	if _, err := FromRows(65); !errors.As(err, &size) {
		t.Errorf("65 columns: got %v", err)
	}
	if _, err := FromColumns(2, 1, 4); !errors.As(err, &size) {
		t.Errorf("column too tall: got %v", err)
	}
	if _, err := Identity(3).Compose(Identity(4)); !errors.As(err, &size) {
		t.Errorf("composition of unequal widths: got %v", err)
	}
	if _, ok := Identity(3).Solve(8); ok {
		t.Error("solve of a vector wider than the output succeeded")
	}
	if full, ok := Identity(64).Inverse(); !ok || !full.Equal(Identity(64)) || Identity(64).Rank() != 64 {
		t.Error("64 bits")
	}
}

// TestSwizzleRank is the package comment's example: the swizzle spreads bits 7..9 over eight banks' worth of bits,
// the identity leaves them in one.
func TestSwizzleRank(t *testing.T) {
	for _, test := range []struct {
		name string
		add  bool
		rank int
	}{{"identity", false, 0}, {"swizzle", true, 3}} {
		rows := make([]uint64, 5)
		for i := range rows {
			rows[i] = 1 << (i + 2)
			if test.add && i >= 2 {
				rows[i] |= 1 << (i + 5)
			}
		}
		bank, err := FromRows(10, rows...)
		if err != nil {
			t.Fatal(err)
		}
		var images []uint64
		for _, v := range Span(1<<7, 1<<8, 1<<9).Basis() {
			images = append(images, bank.Apply(v))
		}
		if got := Span(images...).Dim(); got != test.rank {
			t.Errorf("%s: rank %d, want %d", test.name, got, test.rank)
		}
	}
}

func BenchmarkRank10(b *testing.B) {
	m, err := FromRows(10, 0x3ff, 0x155, 0x2aa, 0x0f0, 0x111, 0x3c3, 0x001, 0x200, 0x180, 0x042)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if m.Rank() == 0 {
			b.Fatal("rank 0")
		}
	}
}
