package emu

import (
	"math"
	"math/rand/v2"
	"testing"

	"shmoo/internal/half"
)

// TestHalfRoundTrip checks that every 16-bit float survives widening and rounding.
func TestHalfRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		v := half.From(uint16(h))
		if v != v {
			continue
		}
		if got := half.To(v); got != uint16(h) {
			t.Fatalf("0x%04x is %v and comes back as 0x%04x", h, v, got)
		}
		if b := fromBFloat(uint16(h)); b == b && toBFloat(b) != uint16(h) {
			t.Fatalf("bfloat 0x%04x is %v and comes back as 0x%04x", h, b, toBFloat(b))
		}
	}
}

// TestHalfNearest checks that rounding finds the nearest 16-bit float, and of two the even one.
func TestHalfNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		v := math.Ldexp(r.Float64(), r.IntN(45)-29)
		if r.IntN(4) == 0 { // halfway cases
			v = (half.From(uint16(r.IntN(0x7bff))) + half.From(uint16(r.IntN(0x7bff)))) / 2
		}
		if v >= 65504 {
			continue
		}
		h := half.To(v)
		err := math.Abs(half.From(h) - v)
		for _, near := range []uint16{h - 1, h + 1} {
			if h == 0 && near > h+1 {
				continue
			}
			switch other := math.Abs(half.From(near) - v); {
			case other < err:
				t.Fatalf("%v becomes 0x%04x, 0x%04x is nearer", v, h, near)
			case other == err && h&1 != 0:
				t.Fatalf("%v becomes 0x%04x, but 0x%04x is even and as near", v, h, near)
			}
		}
	}
}
