package inspect

import (
	"testing"

	"pgregory.net/rapid"
)

// warp is the thread indices that values are tried on: one warp of a block of 8 by 4 threads.
func warp() [32][3]uint32 {
	var w [32][3]uint32
	for i := range w {
		w[i] = [3]uint32{uint32(i % 8), uint32(i / 8), 5}
	}
	return w
}

// pair is a value and what it stands for in each thread of a warp.
type pair struct {
	v        value
	concrete [32]uint32
}

// leaf draws a value that code begins with: a constant, a thread index, a parameter, something loaded.
func leaf(t *rapid.T) pair {
	var p pair
	switch kind := rapid.IntRange(0, 3).Draw(t, "leaf"); kind {
	case 0:
		c := rapid.SampledFrom([]uint32{0, 1, 2, 4, 12, 16, 132, 0x1f, 0x3ff, 0xfffffff0, ^uint32(0), 1 << 24}).Draw(t, "constant")
		p.v = constant(c)
		for i := range p.concrete {
			p.concrete[i] = c
		}
	case 1:
		axis := rapid.IntRange(0, 2).Draw(t, "axis")
		p.v = threadIndex(axis)
		for i, tid := range warp() {
			p.concrete[i] = tid[axis]
		}
	case 2:
		p.v = warpValue
		c := rapid.Uint32().Draw(t, "parameter")
		for i := range p.concrete {
			p.concrete[i] = c
		}
	case 3:
		p.v = anything
		for i := range p.concrete {
			p.concrete[i] = rapid.Uint32().Draw(t, "loaded")
		}
	}
	return p
}

func zip(a, b pair, v value, f func(x, y uint32) uint32) pair {
	p := pair{v: v}
	for i := range p.concrete {
		p.concrete[i] = f(a.concrete[i], b.concrete[i])
	}
	return p
}

// tree draws an expression.
func tree(t *rapid.T, depth int) pair {
	if depth == 0 {
		return leaf(t)
	}
	a, b := tree(t, depth-1), leaf(t)
	n := rapid.IntRange(0, 33).Draw(t, "shift")
	switch rapid.IntRange(0, 9).Draw(t, "operation") {
	case 0:
		return zip(a, b, a.v.add(b.v), func(x, y uint32) uint32 { return x + y })
	case 1:
		return zip(a, b, a.v.mul(b.v), func(x, y uint32) uint32 { return x * y })
	case 2:
		return zip(a, b, a.v.shl(n), func(x, _ uint32) uint32 { return x << n })
	case 3:
		return zip(a, b, a.v.shr(n), func(x, _ uint32) uint32 { return x >> n })
	case 4:
		return zip(a, b, a.v.and(b.v), func(x, y uint32) uint32 { return x & y })
	case 5:
		return zip(a, b, bitwise(a.v, b.v), func(x, y uint32) uint32 { return x ^ y })
	case 6:
		return zip(a, b, a.v.neg(), func(x, _ uint32) uint32 { return -x })
	case 7:
		return zip(a, b, a.v.not(), func(x, _ uint32) uint32 { return ^x })
	case 8: // comes from either place, by thread
		p := pair{v: a.v.join(b.v), concrete: a.concrete}
		for i := range p.concrete {
			if rapid.Bool().Draw(t, "other") {
				p.concrete[i] = b.concrete[i]
			}
		}
		return p
	}
	return a
}

// TestValueHolds checks that what a value claims is true of every thread, for random expressions: rest is a multiple of
// its power of two, and the same in the warp if it is said to be; and that verdicts on alignment are right.
func TestValueHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := tree(t, rapid.IntRange(0, 5).Draw(t, "depth"))
		var rest [32]uint32
		for i, tid := range warp() {
			rest[i] = p.concrete[i] - p.v.fixed
			for a := range tid {
				rest[i] -= p.v.thread[a] * tid[a]
			}
			if p.v.zeros == 32 && rest[i] != 0 || p.v.zeros < 32 && rest[i]%(1<<p.v.zeros) != 0 {
				t.Fatalf("thread %v: %#x is not %+v", tid, p.concrete[i], p.v)
			}
			if p.v.uniform && rest[i] != rest[0] {
				t.Fatalf("thread %v: rest %#x, %#x in the first thread, said to be uniform: %+v", tid, rest[i], rest[0], p.v)
			}
		}
		size := uint32(1) << rapid.IntRange(1, 4).Draw(t, "size")
		offset := uint32(rapid.IntRange(-64, 64).Draw(t, "offset"))
		off := 0
		for i := range p.concrete {
			if (p.concrete[i]+offset)%size != 0 {
				off++
			}
		}
		// A stride along z does not show in a warp whose threads all have the same z.
		switch got := p.v.multipleOf(size, int64(int32(offset))); {
		case got == aligned && off > 0:
			t.Fatalf("%+v%+d is said to be a multiple of %d, %d threads are not", p.v, int32(offset), size, off)
		case got == misaligned && off == 0 && p.v.thread[2]%size == 0:
			t.Fatalf("%+v%+d is said to be no multiple of %d, all threads are", p.v, int32(offset), size)
		}
	})
}

func TestValueJoin(t *testing.T) {
	tests := []struct {
		name string
		a, b value
		want value
	}{
		{"equal", constant(5), constant(5), constant(5)},
		{"a counter of 32", constant(64), constant(96), value{fixed: 64, zeros: 5}},
		{"a strided base and its next step", threadIndex(0).scale(132), threadIndex(0).scale(132).add(constant(16)),
			value{thread: [3]uint32{132}, zeros: 4}},
		{"two strides", threadIndex(0).scale(64), threadIndex(0).scale(72), value{thread: [3]uint32{64}, zeros: 3}},
		{"a parameter", constant(0), warpValue, value{}},
	}
	for _, tt := range tests {
		if got := tt.a.join(tt.b); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
		// Joining once more takes nothing away: loops come to an end.
		if got := tt.want.join(tt.b); got.zeros != tt.want.zeros {
			t.Errorf("%s, once more: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
