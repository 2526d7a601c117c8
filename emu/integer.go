package emu

import (
	"math/bits"

	"shmoo/sass"
)

// integerOps are additions, multiplications, minima and their uniform versions.
var integerOps = withUniform(map[string]semantics{
	"IADD3":     {fold: foldIADD3, prepare: fastIADD3},
	"IADD":      {fold: foldIADD, prepare: fastIADD},
	"VIADD":     {fold: foldVIADD, prepare: fastIADD},
	"VIADDMNMX": {fold: foldVIADDMNMX},
	"IMAD":      {fold: foldIMAD, probes: probeBits, prepare: fastIMAD},
	"IMAD.WIDE": {fold: foldIMADWide, probes: probeBits, pairs: "c", prepare: fastIMADWide},
	"IMAD.HI":   {fold: foldIMADHi, pairs: "c"},
	"LEA":       {fold: foldLEA, prepare: fastLEA},
	"IABS":      {fold: func(_ *inst, x *values) { x.d = uint64(abs32(uint32(x.b))) }},
	"IMNMX":     {fold: foldIMNMX},
	"VIMNMX":    {fold: foldVIMNMX},
	"IDP":       {fold: foldIDP},
	"VABSDIFF":  {fold: foldVABSDIFF},
	"VABSDIFF4": {fold: foldVABSDIFF4},
	"UCLEA":     {fold: foldUCLEA, uniform: true, prepare: prepareShift},
}, map[string]string{
	"IADD3": "UIADD3", "IMAD": "UIMAD", "IMAD.WIDE": "UIMAD.WIDE", "IMAD.HI": "UIMAD.HI", "LEA": "ULEA", "VIMNMX": "UVIMNMX", "IMNMX": "UIMNMX",
})

// withUniform adds rows for uniform operations that mean the same as a lane-wise one.
func withUniform(rows map[string]semantics, names map[string]string) map[string]semantics {
	for lane, uniform := range names {
		s := rows[lane]
		s.uniform = true
		rows[uniform] = s
	}
	return rows
}

// term is a summand of an addition with carry: minus x is ^x + 1, so that minus zero carries.
func term(o *operand, v uint64) (sum, carry uint64) {
	if o.neg {
		return uint64(uint32(v) - 1), 1
	}
	return uint64(uint32(v)), 0
}

func foldIADD3(o *inst, x *values) {
	if o.mod(sass.ModWide) != 0 {
		x.d = x.a + x.b + x.c
		return
	}
	a, n := term(&o.a, x.a)
	b, m := term(&o.b, x.b)
	c, k := term(&o.c, x.c)
	sum := a + b + c + n + m + k
	if o.mod(sass.ModX) != 0 {
		sum += uint64(ones32(x.p)) + uint64(ones32(x.q))
	}
	x.d, x.u, x.v = uint64(uint32(sum)), sum>>32 >= 1, sum>>32 >= 2
}

func foldIADD(o *inst, x *values) {
	var in uint64
	if o.mod(sass.ModX) != 0 && x.p {
		in = 1
	}
	if o.mod(sass.ModWide) == 0 {
		a, n := term(&o.a, x.a)
		b, m := term(&o.b, x.b)
		sum := a + b + n + m + in
		x.d, x.u = uint64(uint32(sum)), sum>>32 != 0
		return
	}
	a, b := x.a, x.b
	if o.a.neg {
		a, in = a-1, in+1
	}
	if o.b.neg {
		b, in = b-1, in+1
	}
	sum, carry := bits.Add64(a, b, min(in, 1))
	if in > 1 {
		var more uint64
		sum, more = bits.Add64(sum, in-1, 0)
		carry += more
	}
	x.d, x.u = sum, carry != 0
}

func foldVIADD(o *inst, x *values) {
	switch o.mod(sass.ModPacked) {
	case 0:
		x.d = uint64(uint32(x.a) + uint32(x.b))
	case 1:
		x.d = packed16(x.a, x.b, func(a, b uint16) uint16 { return a + b })
	default:
		x.d = packed8(x.a, x.b, func(a, b uint8) uint8 { return a + b })
	}
}

func packed16(a, b uint64, f func(a, b uint16) uint16) uint64 {
	return uint64(f(uint16(a), uint16(b))) | uint64(f(uint16(a>>16), uint16(b>>16)))<<16
}

func packed8(a, b uint64, f func(a, b uint8) uint8) uint64 {
	var d uint64
	for s := 0; s < 32; s += 8 {
		d |= uint64(f(uint8(a>>s), uint8(b>>s))) << s
	}
	return d
}

func foldIMAD(o *inst, x *values) {
	p := uint64(uint32(x.a) * uint32(x.b))
	c, n := term(&o.c, x.c)
	sum := p + c + n
	if o.mod(sass.ModX) != 0 && x.p {
		sum++
	}
	x.d, x.u = uint64(uint32(sum)), sum>>32 != 0
}

// product returns the 64-bit product of 32-bit factors.
func product(o *inst, x *values) uint64 {
	if o.in.Signed() {
		return uint64(int64(int32(x.a)) * int64(int32(x.b)))
	}
	return uint64(uint32(x.a)) * uint64(uint32(x.b))
}

func wideSum(o *inst, x *values) (sum uint64, carry bool) {
	c, in := x.c, uint64(0)
	if o.c.neg {
		c, in = c-1, 1
	}
	if o.mod(sass.ModX) != 0 && x.p {
		in++
	}
	sum, out := bits.Add64(product(o, x), c, min(in, 1))
	if in > 1 {
		var more uint64
		sum, more = bits.Add64(sum, in-1, 0)
		out += more
	}
	return sum, out != 0
}

func foldIMADWide(o *inst, x *values) { x.d, x.u = wideSum(o, x) }

func foldIMADHi(o *inst, x *values) {
	sum, carry := wideSum(o, x)
	x.d, x.u = sum>>32, carry
}

// foldLEA adds a shifted register: (A << s) + B, or with .HI the high word of {C, A} << s. Minus and complement act on the
// shifted value.
func foldLEA(o *inst, x *values) {
	a := uint32(x.a)
	switch {
	case o.a.neg:
		a = -a
	case o.a.inv:
		a = ^a
	}
	var v uint32
	if o.mod(sass.ModHi) != 0 {
		hi := uint32(x.c)
		if o.mod(sass.ModSx32) != 0 {
			hi = uint32(int32(a) >> 31)
		}
		v = uint32((uint64(hi)<<32 | uint64(a)) << o.imm >> 32)
	} else {
		v = a << o.imm
	}
	var in uint64
	switch {
	case o.a.neg:
		v, in = ^v, 1
	case o.a.inv:
		v = ^v
	}
	b, n := term(&o.b, x.b)
	sum := uint64(v) + in + b + n
	if o.mod(sass.ModX) != 0 && x.p {
		sum++
	}
	x.d, x.u = uint64(uint32(sum)), sum>>32 != 0
}

// foldUCLEA computes the address of a block's shared memory in its cluster: a shifted rank plus an offset.
func foldUCLEA(o *inst, x *values) { x.d = uint64(uint32(x.a)<<o.imm + uint32(x.b)) }

func prepareShift(_ *machine, o *inst) { o.imm = shiftOf(o) }

func abs32(v uint32) uint32 {
	if int32(v) < 0 {
		return -v
	}
	return v
}

// foldIMNMX takes the minimum where Pp holds, else the maximum.
func foldIMNMX(o *inst, x *values) {
	var less bool
	switch {
	case o.mod(sass.ModWide) != 0 && o.in.Signed():
		less = int64(x.a) < int64(x.b)
	case o.mod(sass.ModWide) != 0:
		less = x.a < x.b
	case o.in.Signed():
		less = int32(x.a) < int32(x.b)
	default:
		less = uint32(x.a) < uint32(x.b)
	}
	x.d = pick(less == x.p, x.a, x.b)
	x.u = less == x.p
	x.v = !x.u
}

// Kinds of packed minima, as VIMNMX encodes them.
const (
	packU32 = iota
	packS32
	packU16x2
	packS16x2
	packU8x4
	packS8x4
)

// minmax takes minima or maxima of packed integers.
func minmax(kind uint8, least bool, a, b uint64) uint64 {
	switch kind {
	case packU32:
		return pick(uint32(a) < uint32(b) == least, a, b)
	case packS32:
		return pick(int32(a) < int32(b) == least, a, b)
	case packU16x2:
		return packed16(a, b, func(a, b uint16) uint16 { return uint16(pick(a < b == least, uint64(a), uint64(b))) })
	case packS16x2:
		return packed16(a, b, func(a, b uint16) uint16 { return uint16(pick(int16(a) < int16(b) == least, uint64(a), uint64(b))) })
	case packU8x4:
		return packed8(a, b, func(a, b uint8) uint8 { return uint8(pick(a < b == least, uint64(a), uint64(b))) })
	}
	return packed8(a, b, func(a, b uint8) uint8 { return uint8(pick(int8(a) < int8(b) == least, uint64(a), uint64(b))) })
}

func relu(o *inst, v uint64) uint64 {
	if o.mod(sass.ModRelu) == 0 {
		return v
	}
	switch kind := o.mod(sass.ModPacked); kind {
	case packS16x2, packS8x4, packS32:
		return minmax(kind, false, v, 0)
	}
	return v
}

func foldVIMNMX(o *inst, x *values) {
	x.d = relu(o, minmax(o.mod(sass.ModPacked), x.p, uint64(uint32(x.a)), uint64(uint32(x.b))))
	x.u = uint32(x.d) == uint32(x.a)
	x.v = !x.u
}

func foldVIADDMNMX(o *inst, x *values) {
	kind := o.mod(sass.ModPacked)
	var sum uint64
	if kind == packU16x2 || kind == packS16x2 {
		sum = packed16(x.a, x.b, func(a, b uint16) uint16 { return a + b })
	} else {
		sum = uint64(uint32(x.a) + uint32(x.b))
	}
	x.d = relu(o, minmax(kind, x.p, sum, uint64(uint32(x.c))))
}

// foldIDP is a dot product: of four bytes, or of two 16-bit numbers and two bytes, plus C. Mode bits: 0 A signed, 1 B signed,
// 2 two-way, 3 high bytes of B.
func foldIDP(o *inst, x *values) {
	mode := o.mod(sass.ModMode)
	part := func(v uint64, width, n int, signed bool) int64 {
		u := uint32(v) >> (width * n) & (1<<width - 1)
		if signed {
			return int64(int32(u<<(32-width)) >> (32 - width))
		}
		return int64(u)
	}
	signedA, signedB := mode&1 != 0, mode&2 != 0
	sum := int64(0)
	if mode&4 == 0 {
		for n := range 4 {
			sum += part(x.a, 8, n, signedA) * part(x.b, 8, n, signedB)
		}
	} else {
		from := 0
		if mode&8 != 0 {
			from = 2
		}
		for n := range 2 {
			sum += part(x.a, 16, n, signedA) * part(x.b, 8, n+from, signedB)
		}
	}
	x.d = uint64(uint32(sum) + uint32(x.c))
}

func foldVABSDIFF(o *inst, x *values) {
	a, b := uint32(x.a), uint32(x.b)
	less := a < b
	if o.in.Signed() {
		less = int32(a) < int32(b)
	}
	d := a - b
	if less {
		d = b - a
	}
	x.d = uint64(d + uint32(x.c))
}

func foldVABSDIFF4(o *inst, x *values) {
	sum := uint32(x.c)
	for s := 0; s < 32; s += 8 {
		a, b := int32(uint8(x.a>>s)), int32(uint8(x.b>>s))
		if o.in.Signed() {
			a, b = int32(int8(a)), int32(int8(b))
		}
		sum += abs32(uint32(a - b))
	}
	x.d = uint64(sum)
}
