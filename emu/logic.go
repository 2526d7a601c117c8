package emu

import (
	"math/bits"

	"shmoo/sass"
)

// logicOps are bitwise operations, shifts, permutes and bit counts.
var logicOps = withUniform(map[string]semantics{
	"LOP3":  {fold: foldLOP3, probes: probeLogic, prepare: fastLOP3},
	"PLOP3": {fold: foldPLOP3, probes: probeBits, prepare: prepareLUT},
	"SHF":   {fold: foldSHF, probes: probePermute, prepare: fastSHF},
	"BMSK":  {fold: foldBMSK},
	"SGXT":  {fold: foldSGXT},
	"BREV":  {fold: func(_ *inst, x *values) { x.d = uint64(bits.Reverse32(uint32(x.b))) }},
	"FLO":   {fold: foldFLO},
	"POPC":  {fold: func(_ *inst, x *values) { x.d = uint64(bits.OnesCount32(uint32(x.b))) }},
	"PRMT":  {fold: foldPRMT, probes: probePermute},
}, map[string]string{
	"LOP3": "ULOP3", "PLOP3": "UPLOP3", "SHF": "USHF", "BMSK": "UBMSK", "SGXT": "USGXT", "BREV": "UBREV", "FLO": "UFLO",
	"POPC": "UPOPC", "PRMT": "UPRMT",
})

// lop3 evaluates a truth table bit by bit: bit (a<<2 | b<<1 | c) of the table is the result.
func lop3(lut uint8, a, b, c uint32) uint32 {
	var d uint32
	for k := range 8 {
		if lut>>k&1 == 0 {
			continue
		}
		t := allLanes
		t &= flip(a, k&4 != 0) & flip(b, k&2 != 0) & flip(c, k&1 != 0)
		d |= t
	}
	return d
}

func flip(v uint32, keep bool) uint32 {
	if keep {
		return v
	}
	return ^v
}

// foldLOP3 also sets Pu to whether the result is not zero, joined with Pp.
func foldLOP3(o *inst, x *values) {
	x.d = uint64(lop3(uint8(o.imm), uint32(x.a), uint32(x.b), uint32(x.c)))
	nonzero := x.d != 0
	if x.compare != maybe {
		nonzero = x.compare == yes
	}
	if o.mod(sass.ModOr) != 0 { // .PAND
		x.u = nonzero && x.p
		return
	}
	x.u = nonzero || x.p
}

// prepareLUT packs the truth tables of PLOP3: that of Pu in the low byte, that of Pv above it.
func prepareLUT(_ *machine, o *inst) {
	for k, role := range []sass.Role{sass.RoleLut, sass.RoleLut2} {
		if lut := o.in.Arg(role); lut != nil {
			o.imm |= uint32(lut.Imm) & 0xff << (8 * k)
		}
	}
}

func foldPLOP3(o *inst, x *values) {
	k := ones32(x.p)<<2 | ones32(x.q)<<1 | ones32(x.r)
	x.u = o.imm>>k&1 != 0
	x.v = o.imm>>(8+k)&1 != 0
}

// foldSHF shifts the pair {C, A} by B and returns its low word, or with .HI its high word.
func foldSHF(o *inst, x *values) {
	x.d = uint64(shf(o, uint32(x.a), uint32(x.b), uint32(x.c)))
}

func shf(o *inst, a, s, c uint32) uint32 {
	t := sass.ShfType(o.mod(sass.ModShfType))
	limit := uint32(32)
	if t == sass.ShfS64 || t == sass.ShfU64 {
		limit = 64
	}
	if o.mod(sass.ModWrap) != 0 {
		s &= limit - 1
	} else {
		s = min(s, limit)
	}
	v := uint64(c)<<32 | uint64(a)
	switch {
	case o.mod(sass.ModShiftLeft) != 0:
		v <<= s
	case t == sass.ShfS64 || t == sass.ShfS32:
		v = uint64(int64(v) >> s)
	default:
		v >>= s
	}
	if o.mod(sass.ModHi) != 0 {
		return uint32(v >> 32)
	}
	return uint32(v)
}

func foldBMSK(o *inst, x *values) {
	at, n := uint32(x.a), uint32(x.b)
	if o.mod(sass.ModWrap) != 0 {
		at, n = at&31, n&31
	}
	mask := uint64(allLanes)
	if n < 32 {
		mask = 1<<n - 1
	}
	x.d = uint64(uint32(mask << min(at, 32)))
}

func foldSGXT(o *inst, x *values) {
	n := uint32(x.b)
	if o.mod(sass.ModWrap) != 0 {
		n &= 31
	}
	n = min(n, 32)
	if n == 0 {
		x.d = 0
		return
	}
	v := uint32(x.a) << (32 - n)
	if o.in.Signed() {
		v = uint32(int32(v) >> (32 - n))
	} else {
		v >>= 32 - n
	}
	x.d = uint64(v)
}

// foldFLO finds the leading one, or for a negative signed number the leading zero.
func foldFLO(o *inst, x *values) {
	v := uint32(x.b)
	if o.in.Signed() && int32(v) < 0 {
		v = ^v
	}
	x.u = v != 0
	if v == 0 {
		x.d = uint64(allLanes)
		return
	}
	x.d = uint64(bits.Len32(v) - 1)
	if o.mod(sass.ModSh) != 0 {
		x.d = 31 - x.d
	}
}

// prmtFixed are the byte selections of PRMT's fixed modes by the low two bits of B, lowest byte in the lowest nibble (PTX
// ISA, prmt).
var prmtFixed = map[sass.PrmtMode][4]uint32{
	sass.PrmtF4E:  {0x3210, 0x4321, 0x5432, 0x6543},
	sass.PrmtB4E:  {0x5670, 0x6701, 0x7012, 0x0123},
	sass.PrmtRC8:  {0x0000, 0x1111, 0x2222, 0x3333},
	sass.PrmtECL:  {0x3210, 0x3211, 0x3222, 0x3333},
	sass.PrmtECR:  {0x0000, 0x1110, 0x2210, 0x3210},
	sass.PrmtRC16: {0x1010, 0x3232, 0x1010, 0x3232},
}

func foldPRMT(o *inst, x *values) {
	sel := uint32(x.b)
	if mode := sass.PrmtMode(o.mod(sass.ModPrmt)); mode != sass.PrmtIdx {
		sel = prmtFixed[mode][sel&3]
	}
	pair := uint64(uint32(x.c))<<32 | uint64(uint32(x.a))
	var d uint32
	for k := range 4 {
		n := sel >> (4 * k)
		b := uint8(pair >> (8 * (n & 7)))
		if n&8 != 0 {
			b = uint8(int8(b) >> 7)
		}
		d |= uint32(b) << (8 * k)
	}
	x.d = uint64(d)
}
