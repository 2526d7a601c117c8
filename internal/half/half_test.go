package half_test

import (
	"math"
	"testing"

	"shmoo/internal/half"
)

// TestHalf checks every finite half against the widening by definition, and the ties between them.
func TestHalf(t *testing.T) {
	widen := func(h int) float64 {
		exp, frac := h>>10, float64(h&0x3ff)/1024
		if exp == 0 {
			return math.Ldexp(frac, -14)
		}
		return math.Ldexp(1+frac, exp-15)
	}
	for h := range 0x7c00 {
		v := widen(h)
		if got := half.To(v); int(got) != h {
			t.Fatalf("To(%v) = %#x, want %#x", v, got, h)
		}
		if h == 0x7bff {
			break
		}
		if got := half.From(uint16(h)); got != v {
			t.Fatalf("From(%#x) = %v, want %v", h, got, v)
		}
		even := h + h&1
		if got := half.To((v + widen(h+1)) / 2); int(got) != even {
			t.Fatalf("half way above %#x: %#x, want the even %#x", h, got, even)
		}
	}
	for v, want := range map[float64]uint16{1e9: 0x7c00, 65519: 0x7bff, 65520: 0x7c00, -2: 0xc000, 1e-9: 0} {
		if got := half.To(v); got != want {
			t.Errorf("To(%v) = %#x, want %#x", v, got, want)
		}
	}
}
