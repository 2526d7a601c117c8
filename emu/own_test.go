package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"shmoo/internal/half"
)

// targets are the generations that testdata/kernels.cu is compiled for.
var targets = []int{75, 80, 86, 90, 120}

func words(n int, f func(i int) uint32) []byte {
	b := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(b[4*i:], f(i))
	}
	return b
}

func word(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

// random fills a buffer with n words of a fixed pseudo-random sequence.
func random(n int, seed uint32) []byte {
	x := lcg(seed)
	return words(n, func(int) uint32 { return mix(x.next()) })
}

func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// ownCase is a kernel of testdata/kernels.cu: its launch, and what it must leave in its last buffer.
type ownCase struct {
	kernel string
	since  int // first generation that has it
	launch func() (l Launch, got []byte, want func(i int) uint32)
}

func line(grid, block int, args ...Arg) Launch {
	l := Launch{Grid: [3]int{grid, 1, 1}, Block: [3]int{block, 1, 1}, Args: args}
	for b := range grid {
		l.Blocks = append(l.Blocks, b)
	}
	return l
}

var ownCases = []ownCase{
	{kernel: "hash", launch: func() (Launch, []byte, func(int) uint32) {
		out := make([]byte, 4*256)
		return line(2, 128, Buffer(out), Int32(25)), out, func(i int) uint32 {
			x := uint32(i)
			for k := range uint32(25) {
				x = mix(x+k)*1664525 + 1013904223
			}
			return x
		}
	}},
	{kernel: "scan", launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(512, 1), make([]byte, 4*512)
		return line(2, 256, Buffer(in), Buffer(out)), out, func(i int) uint32 {
			var block, warp uint32
			for k := i &^ 255; k <= i; k++ {
				block += word(in, k)
			}
			for k := i &^ 31; k <= i; k++ {
				warp += word(in, k)
			}
			return block*31 + warp
		}
	}},
	{kernel: "bitonic", launch: func() (Launch, []byte, func(int) uint32) {
		data := random(512, 7)
		sorted := make([]uint32, 512)
		for i := range sorted {
			sorted[i] = word(data, i)
		}
		slices.Sort(sorted)
		return line(1, 256, Buffer(data)), data, func(i int) uint32 { return sorted[i] }
	}},
	{kernel: "warpwide", launch: warpwideCase},
	{kernel: "histogram", launch: func() (Launch, []byte, func(int) uint32) {
		const n = 3000
		in, out := random(n, 3), make([]byte, 4*72)
		var bins [64]uint32
		for i := range n {
			bins[word(in, i)&63] += word(in, i) >> 28
		}
		return line(1, 96, Buffer(in), Buffer(out), Int32(n)), out, func(i int) uint32 {
			if i < 64 {
				return bins[i]
			}
			var x uint32
			for k := i - 64; k < 64; k += 8 {
				x ^= bins[k]
			}
			return x
		}
	}},
	{kernel: "transpose", launch: func() (Launch, []byte, func(int) uint32) {
		const w, h = 64, 96
		in, out := random(w*h, 5), make([]byte, 4*w*h)
		l := Launch{Grid: [3]int{w / 32, h / 32, 1}, Block: [3]int{32, 8, 1}, Blocks: []int{0, 1, 2, 3, 4, 5},
			Args: []Arg{Buffer(in), Buffer(out), Int32(w), Int32(h)}}
		return l, out, func(i int) uint32 { return word(in, i%h*w+i/h) }
	}},
	{kernel: "matmul", launch: func() (Launch, []byte, func(int) uint32) {
		const n = 48
		a, b, c := random(n*n, 11), random(n*n, 12), make([]byte, 4*n*n)
		l := Launch{Grid: [3]int{3, 3, 1}, Block: [3]int{16, 16, 1}, Args: []Arg{Buffer(a), Buffer(b), Buffer(c), Int32(n)}}
		for i := range 9 {
			l.Blocks = append(l.Blocks, i)
		}
		return l, c, func(i int) uint32 {
			var sum uint32
			for k := range n {
				sum += word(a, i/n*n+k) * word(b, k*n+i%n)
			}
			return sum
		}
	}},
	{kernel: "control", launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(256, 21), make([]byte, 4*256)
		return line(2, 128, Buffer(in), Buffer(out)), out, func(i int) uint32 { return controlWant(word(in, i)) }
	}},
	{kernel: "divisions", launch: divisionsCase},
	{kernel: "bits", launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(256, 31), make([]byte, 4*256)
		return line(2, 128, Buffer(in), Buffer(out)), out, func(i int) uint32 {
			return bitsWant(word(in, i), word(in, i^1), word(in, i^2))
		}
	}},
	{kernel: "blocks3d", launch: func() (Launch, []byte, func(int) uint32) {
		out := make([]byte, 4*12*60)
		l := Launch{Grid: [3]int{2, 3, 2}, Block: [3]int{5, 4, 3}, Args: []Arg{Buffer(out)}}
		for b := range 12 {
			l.Blocks = append(l.Blocks, b)
		}
		return l, out, func(i int) uint32 {
			t, b := uint32(i%60), uint32(i/60)
			return t%5 | t/5%4<<4 | t/20<<8 | b%2<<12 | b/2%3<<16 | b/6<<20
		}
	}},
	{kernel: "dynamicshared", launch: func() (Launch, []byte, func(int) uint32) {
		const n = 100
		in, out := random(n, 41), make([]byte, 4*(n/4))
		l := line(1, 104, Buffer(in), Buffer(out), Int32(n))
		l.DynamicShared = 6 * n
		return l, out, func(i int) uint32 {
			dyn := func(k int) uint32 { return word(in, k) * 3 }
			half := func(k int) uint32 { return word(in, k) & 0xffff }
			c := uint32(int32(int8(half(i/2) >> (8 * (i & 1)))))
			return dyn(4*i) ^ dyn(4*i+1)*3 ^ dyn(4*i+2)*5 ^ (dyn(4*i+3)*7 + half(2*i) - half(2*i+1)*9 + c)
		}
	}},
	{kernel: "localarray", launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(64, 51), make([]byte, 4*64)
		return line(2, 32, Buffer(in), Buffer(out)), out, func(i int) uint32 {
			var a [16]uint32
			x := word(in, i)
			for k := range a {
				a[k] = x * uint32(k+1)
			}
			for k := range uint32(40) {
				x = mix(x)
				a[x&15] += a[x>>28] ^ k
			}
			var r uint32
			for _, v := range a {
				r = r*31 + v
			}
			return r
		}
	}},
	{kernel: "floats", launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(256, 61), make([]byte, 4*256)
		return line(2, 128, Buffer(in), Buffer(out)), out, func(i int) uint32 { return floatsWant(word(in, i)) }
	}},
	{kernel: "halves", launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(256, 65), make([]byte, 4*256)
		return line(2, 128, Buffer(in), Buffer(out)), out, func(i int) uint32 { return halvesWant(word(in, i), word(in, i^1)) }
	}},
	{kernel: "tables", launch: func() (Launch, []byte, func(int) uint32) {
		out := make([]byte, 4*64)
		return line(1, 64, Buffer(out)), out, func(t int) uint32 {
			const table = "31415926535897932384626433832795"
			scale := [8]uint32{2, 3, 5, 7, 11, 13, 17, 19}
			at := func(i int) uint32 { return uint32(table[i&31] - '0') }
			return (at(t)*32 + uint32(t)) * 7 * scale[at(3*t)&7]
		}
	}},
	{kernel: "unsure", launch: unsureCase},
	{kernel: "unsure2", launch: unsure2Case},
	{kernel: "locks", launch: func() (Launch, []byte, func(int) uint32) {
		out := make([]byte, 4)
		return line(1, 64, Buffer(out)), out, func(int) uint32 {
			var n uint32
			for range 64 {
				n = n*3 + 1
			}
			return n
		}
	}},
	{kernel: "asynccopy", since: 80, launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(512, 71), make([]byte, 4*128)
		return line(1, 128, Buffer(in), Buffer(out)), out, func(t int) uint32 {
			i := t * 5 & 127
			return word(in, 4*i) + word(in, 4*i+3)*3 + word(in, 2*i)*5 // the second word of each pair is filled with zero
		}
	}},
	{kernel: "reduxes", since: 80, launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(64, 81), make([]byte, 4*64)
		return line(2, 32, Buffer(in), Buffer(out)), out, func(i int) uint32 {
			var sum, least, and, or, xor uint32 = 0, math.MaxUint32, math.MaxUint32, 0, 0
			most := int32(math.MinInt32)
			for k := i &^ 31; k < i&^31+32; k++ {
				v := word(in, k)
				sum, least, most, and, or, xor = sum+v, min(least, v), max(most, int32(v)), and&v, or|v, xor^v
			}
			r := sum*31 + least + uint32(most)
			return r*31 + (and ^ or*3 ^ xor*5)
		}
	}},
	{kernel: "matrices", launch: func() (Launch, []byte, func(int) uint32) {
		in, out := random(128, 91), make([]byte, 4*32)
		return line(1, 32, Buffer(in), Buffer(out)), out, func(t int) uint32 {
			plain := func(m int) uint32 { return word(in, 32*m+t) }
			trans := func(m int) uint32 {
				at := func(row int) uint32 { return word(in, 32*m+4*row+t/4/2) >> (16 * (t / 4 & 1)) & 0xffff }
				return at(2*(t%4)) | at(2*(t%4)+1)<<16
			}
			return plain(0) + plain(1)*3 + plain(2)*5 + plain(3)*7 + trans(0)*11 + trans(1)*13
		}
	}},
}

func warpwideCase() (Launch, []byte, func(int) uint32) {
	in, out := random(128, 2), make([]byte, 4*128)
	return line(2, 64, Buffer(in), Buffer(out)), out, func(i int) uint32 {
		t, base := uint32(i%64), i&^31
		lane := i & 31
		v := func(l int) uint32 { return word(in, base+l) }
		x := v(lane)
		var ballot, matched, sum uint32
		anyBig, allBig, allSame := false, true, true
		for l := range 32 {
			ballot |= v(l) & 1 << l
			anyBig = anyBig || v(l) > 4000000000
			allBig = allBig && v(l) > 4096
			matched |= bit(v(l)&3 == x&3) << l
			allSame = allSame && v(l)>>31 == x>>31
			sum += v(l)
		}
		r := ballot
		r = r*31 + bit(anyBig) + 2*bit(allBig)
		r = r*31 + matched
		r = r*31 + -bit(allSame) + bit(allSame)
		r = r*31 + v(int(t*7&31))
		r = r*31 + v(lane&^7|int(t+3)&7)
		r = r*31 + v(lane^5)
		down, up := lane+3, lane-2
		if down&^15 != lane&^15 {
			down = lane
		}
		if up&^3 != lane&^3 {
			up = lane
		}
		r = r*31 + v(down)
		r = r*31 + v(up)
		r = r*31 + sum
		var count, or, and uint32 = 0, 0, 1
		for k := i &^ 63; k < i&^63+64; k++ {
			count += bit(word(in, k)&2 != 0)
			or |= bit(word(in, k) == 77)
			and &= bit(word(in, k) != 78)
		}
		return r*31 + count + or + and
	}
}

func controlWant(v uint32) uint32 {
	called := func(x, y uint32) uint32 { return mix(x) ^ y*2654435761 }
	var r, n uint32
	switch v % 11 {
	case 0:
		r = v + 1
	case 1:
		r = v * 3
	case 2:
		r = v ^ 0x5555
	case 3:
		r = v >> 3
	case 4:
		r = called(v, 4)
	case 5:
		r = ^v
	case 6:
		r = v * v
	case 7:
		r = called(v, v)
	case 8:
		r = v - 12345
	case 9:
		r = v | 0xff00
	default:
		r = bits.Reverse32(v)
	}
	for v != 1 && n < 200 {
		if v&1 != 0 {
			v = 3*v + 1
		} else {
			v >>= 1
		}
		n++
		if v&0xfff == 0x123 {
			r += called(n, v)
			continue
		}
		if n > 150 && v&7 == 5 {
			break
		}
	}
	return r*7 + n
}

// divisionsCase holds edge and random operands; quotients by zero are left out, PTX does not define them.
func divisionsCase() (Launch, []byte, func(int) uint32) {
	edges := []uint64{1, 2, 3, 7, 10, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(1)}
	const n = 512
	a, b, out := make([]byte, 8*n), make([]byte, 8*n), make([]byte, 64*n)
	x := lcg(99)
	wide := func() uint64 { return uint64(mix(x.next()))<<32 | uint64(mix(x.next())) }
	for i := range n {
		p, q := wide(), wide()>>(x.next()>>26)
		if i < len(edges)*len(edges) {
			p, q = edges[i/len(edges)], edges[i%len(edges)]
		}
		if uint32(q) == 0 {
			q++
		}
		if int32(q) == -1 && int32(p) == math.MinInt32 || int64(q) == -1 && int64(p) == math.MinInt64 {
			p++ // overflow
		}
		binary.LittleEndian.PutUint64(a[8*i:], p)
		binary.LittleEndian.PutUint64(b[8*i:], q)
	}
	return line(4, 128, Buffer(a), Buffer(b), Buffer(out)), out, func(k int) uint32 {
		i := k / 16
		p, q := binary.LittleEndian.Uint64(a[8*i:]), binary.LittleEndian.Uint64(b[8*i:])
		r := [8]uint64{
			p / q, p % q, uint64(int64(p) / int64(q)), uint64(int64(p) % int64(q)), uint64(uint32(p) / uint32(q)),
			uint64(uint32(p) % uint32(q)), uint64(int64(int32(p) / int32(q))), uint64(int64(int32(p) % int32(q))),
		}[k/2%8]
		return uint32(r >> (32 * (k & 1)))
	}
}

func bitsWant(a, b, c uint32) uint32 {
	var r uint32
	add := func(v uint32) { r = r*31 + v }
	ffs := uint32(0)
	if c != 0 {
		ffs = uint32(bits.TrailingZeros32(c)) + 1
	}
	add(uint32(bits.OnesCount32(a)) + uint32(bits.LeadingZeros32(b))<<8 + ffs<<16)
	add(bits.Reverse32(a))
	pair := uint64(b)<<32 | uint64(a)
	var perm uint32
	for k := range 4 {
		s := c >> (4 * k)
		v := uint8(pair >> (8 * (s & 7)))
		perm |= uint32(v) << (8 * k) // __byte_perm ignores the sign bit of a selector
	}
	add(perm)
	add(uint32(pair<<(c&31)>>32) + uint32(pair>>(c&31))*3)
	add(uint32(pair<<min(c&63, 32)>>32) + uint32(pair>>min(c&63, 32))*3)
	dot := func(signed bool) uint32 {
		sum := c
		for k := 0; k < 32; k += 8 {
			if signed {
				sum += uint32(int32(int8(a>>k)) * int32(int8(b>>k)))
			} else {
				sum += uint32(uint8(a>>k)) * uint32(uint8(b>>k))
			}
		}
		return sum
	}
	add(dot(true) + dot(false)*3)
	pos, n := b&31, c&31
	field := uint32(0)
	if n > 0 {
		field = a >> pos & (1<<n - 1)
	}
	add(field)
	signedField := uint32(0)
	if n > 0 {
		top := min(pos+n-1, 31)
		signedField = field
		if a>>top&1 != 0 {
			signedField |= ^uint32(0) << (top - pos + 1)
		}
	}
	add(signedField)
	pos, n = c&31, a&31
	mask := uint32(1<<n-1) << pos
	add(b&^mask | a<<pos&mask)
	add(uint32(min(int32(a), int32(b))) + max(a, c)*5 + abs32(b))
	hi := uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32)
	uhi, _ := bits.Mul32(b, c)
	add(hi + uhi*3)
	sad := abs64(int64(int32(a))-int64(int32(b))) + c
	usad := abs64(int64(a)-int64(b)) + c
	add(sad + a<<(b&31) + uint32(int32(c)>>(a&31)) + usad)
	q := uint64(a)<<32 | uint64(b)
	q = q*6364136223846793005 + uint64(c)
	q = q>>(c&63) ^ q<<(a&63) ^ uint64(int64(q)>>(b&63))
	if int64(q) > int64(a)*int64(int32(b)) {
		q += 17
	} else {
		q += -q
	}
	q -= uint64(a) * uint64(b)
	add(uint32(q) + uint32(q>>32)*3)
	return r
}

func abs64(v int64) uint32 {
	if v < 0 {
		v = -v
	}
	return uint32(v)
}

func floatsWant(v uint32) uint32 {
	f, g, d := float32(v&0xffff), float32(int32(v)), float64(v)
	var n uint32
	for f > 1.5 && n < 64 {
		f = float32(float64(f)*0.5 - 0.25)
		n++
		if f < 0 {
			f = -f
		}
	}
	g = float32(float64(g)*0.25 + float64(f))
	if g != g || g > 1e8 {
		n += 100
	}
	d = float64(math.FMA(d, d, 0.5))
	n = n*31 + uint32(f) + uint32(int32(g))
	n = n*31 + uint32(math.Mod(d, 1000)) + uint32(uint64(d))
	third := float32(v) / 3
	whole := uint32(math.MaxUint32)
	if third < math.MaxUint32 {
		whole = uint32(third)
	}
	return n*31 + math.Float32bits(float32(math.Sqrt(float64(f*f)))) + whole
}

func unsureCase() (Launch, []byte, func(int) uint32) {
	const n = 256
	in, out := random(n, 77), make([]byte, 4*10*n)
	var o [10 * n]uint32
	var s, r, members, count [n]uint32
	var a [n][4]uint32
	for t := range uint32(n) {
		v := word(in, int(t))
		s[t], a[t] = t*3, [4]uint32{t, t + 1, t + 2, t + 3}
		r[t] = t*5 + 1
		if v&1 != 0 {
			s[t] = 7
			o[2048+t] = 1
		} else {
			o[2304+t] = 2
		}
		if v&2 != 0 {
			for k := t &^ 31; k < t&^31+32; k++ {
				members[t] += word(in, int(k)) >> 1 & 1
			}
			s[t] = t * 3
		}
		for i := range v >> 4 & 3 {
			count[t] += i + t
			s[t] ^= count[t]
		}
		if v&8 != 0 {
			for i := range v >> 8 & 3 {
				a[t][(i+t)&3] = r[t] + i
				if v>>i&0x8000 != 0 {
					break
				}
			}
			r[t] += 9
		}
		if t < 128 && v&0x1000 != 0 {
			s[t] = 1
			o[1024+t] = 5
		}
	}
	for t := range n {
		o[t], o[n+t] = r[t], s[t]
		o[2*n+t] = a[t][t&3]*31 + a[t][(t+1)&3]
		o[3*n+t] = s[t*5&255] + r[t^3] + members[t^1]
		o[5*n+t], o[6*n+t], o[7*n+t] = count[t], members[t], uint32(t)
		if t&1 != 0 {
			o[7*n+t] = s[t]
		}
	}
	return line(1, n, Buffer(in), Buffer(out)), out, func(i int) uint32 { return o[i] }
}

func unsure2Case() (Launch, []byte, func(int) uint32) {
	const n = 128
	in, out := random(n, 78), make([]byte, 4*13*n)
	called := func(x, y uint32) uint32 { return mix(x) ^ y*2654435761 }
	var o [13][n]uint32
	for t := range uint32(n) {
		v, c := word(in, int(t)), uint32(0)
		for k := t &^ 31; k < t&^31+32; k++ {
			c += bit(word(in, int(k))&2 == v&2)
		}
		o[3][t], o[4][t], o[6][t], o[7][t], o[8][t], o[9][t] = t, c, t, t, t, t
		if v&1 != 0 {
			o[0][t], o[3][t] = called(t, 1), 7
		}
		if v&2 != 0 {
			o[1][t] = called(t, c)
		}
		for i := range v >> 2 & 7 {
			if i == 5 {
				o[5][t] = 1
			}
			o[6][t] = called(o[6][t], 0)
		}
		if v&32 != 0 {
			o[7][t] = 9
		}
		if v&64 != 0 {
			o[8][t], o[9][t] = 99, t+1
		}
		if v&128 == 0 {
			o[11][t], o[12][t] = 1, 5
		}
	}
	return line(1, n, Buffer(in), Buffer(out)), out, func(i int) uint32 { return o[i/n][i%n] }
}

func halvesWant(x, y uint32) uint32 {
	x, y = x&0xbfffbfff, y&0xbfffbfff
	a := [2]float64{half.From(uint16(x)), half.From(uint16(x >> 16))}
	b := [2]float64{half.From(uint16(y)), half.From(uint16(y >> 16))}
	pair := func(f func(k int) float64) uint32 { return uint32(half.To(f(0))) | uint32(half.To(f(1)))<<16 }
	r := pair(func(k int) float64 { return a[k] + b[k] })
	add := func(v uint32) { r = r*31 + v }
	add(pair(func(k int) float64 { return a[k] * b[k] }))
	add(pair(func(k int) float64 { return math.FMA(a[k], b[k], a[k]) }))
	add(pair(func(k int) float64 { return a[1] - b[k] }))
	add(pair(func(k int) float64 { return math.FMA(a[0], b[k], -b[k]) }))
	n := uint32(3) + 7
	if a[0] > b[1] {
		n += 2
	}
	if a[0] <= b[0] && a[1] <= b[1] {
		n += 11
	}
	add(n)
	add(pair(func(k int) float64 { return float64(bit(a[k] > b[k])) }))
	add(math.Float32bits(float32(a[0])*3) + math.Float32bits(float32(b[1])))
	scaled := [2]float64{float64(float32(int32(x)) * 1e-6), float64(float32(y) * 1e-5)}
	add(pair(func(k int) float64 { return scaled[k] }))
	if a[0] < 0.5 {
		r ^= 0x1234
	}
	return r
}

// TestOwnKernels runs the kernels of testdata/kernels.cu for every target and compares all of their output with what Go computes.
func TestOwnKernels(t *testing.T) {
	for _, target := range targets {
		img := readCubin(t, fmt.Sprintf("testdata/kernels.sm_%d.cubin.gz", target))
		for _, c := range ownCases {
			if target < c.since {
				continue
			}
			t.Run(fmt.Sprintf("sm_%d/%s", target, c.kernel), func(t *testing.T) {
				launch, got, want := c.launch()
				limits := Limits{Steps: 2_000_000}
				result, err := Run(context.Background(), programOf(t, img, c.kernel), launch, Options{Limits: limits}, nil)
				if err != nil {
					t.Fatal(err)
				}
				bad := 0
				for i := range len(got) / 4 {
					if g, w := word(got, i), want(i); g != w {
						if bad++; bad <= 3 {
							t.Errorf("word %d is 0x%x, want 0x%x", i, g, w)
						}
					}
				}
				if bad > 3 {
					t.Errorf("and %d more of %d", bad-3, len(got)/4)
				}
				if len(result.Unsupported) > 0 {
					t.Errorf("without semantics: %v", result.Unsupported)
				}
				if result.Exact() != 1 {
					t.Errorf("accesses are not all exact: %+v", result.Sites)
				}
				for i, n := range result.UnknownBytes {
					if n > 0 {
						t.Errorf("argument %d: %d bytes are unknown", i, n)
					}
				}
			})
		}
	}
}
