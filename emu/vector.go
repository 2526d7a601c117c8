package emu

import (
	"math"

	"shmoo/sass"
)

// Fast paths for the operations that make up most of integer kernels: all sources known in all active lanes, whole rows at a time. Each
// falls back to the fold, which says what is right; TestFastPaths compares them.

// slow reports whether an instruction must go through its fold: a source is unknown in an active lane, or the guard is unknown.
func (w *warp) slow(known uint32) bool { return w.act&^known|w.weak != 0 }

// unknown handles an instruction whose sources are unknown in every active lane and whose fold has no probes.
func (w *warp) hopeless(o *inst, known uint32) bool {
	if known&w.act != 0 || o.probes != probeNone || o.words == 0 {
		return false
	}
	w.poison(o, w.missingReason(o, w.act))
	return true
}

// vec2 and vec3 make executors from functions on whole rows.
func vec2(f func(o *inst, d, a, b *lanes)) func(*warp, *inst) {
	return func(w *warp, o *inst) {
		a, ka := w.src(&o.a, &w.bufA)
		b, kb := w.src(&o.b, &w.bufB)
		if w.slow(ka & kb) {
			if !w.hopeless(o, ka&kb) {
				foldLanes(w, o)
			}
			return
		}
		f(o, w.out(o.dst), a, b)
		w.commit(o.dst)
	}
}

func vec3(f func(o *inst, d, a, b, c *lanes)) func(*warp, *inst) {
	return func(w *warp, o *inst) {
		a, ka := w.src(&o.a, &w.bufA)
		b, kb := w.src(&o.b, &w.bufB)
		c, kc := w.src(&o.c, &w.bufC)
		if w.slow(ka & kb & kc) {
			if !w.hopeless(o, ka&kb&kc) {
				foldLanes(w, o)
			}
			return
		}
		f(o, w.out(o.dst), a, b, c)
		w.commit(o.dst)
	}
}

// quiet reports whether an instruction has one 32-bit result and no predicate results or carry-in.
func (o *inst) quiet() bool {
	return o.words == 1 && o.pu == sinkPred && o.pv == sinkPred && o.mod(sass.ModX) == 0 && o.mod(sass.ModWide) == 0 && !o.dstU
}

func fastMOV(m *machine, o *inst) {
	if !o.quiet() {
		return
	}
	o.exec = func(w *warp, o *inst) {
		b, kb := w.src(&o.b, &w.bufB)
		if w.slow(kb) {
			if !w.hopeless(o, kb) {
				foldLanes(w, o)
			}
			return
		}
		*w.out(o.dst) = *b
		w.commit(o.dst)
	}
}

var vecIADD3 = vec3(func(_ *inst, d, a, b, c *lanes) {
	for i := range d {
		d[i] = a[i] + b[i] + c[i]
	}
})

var vecADD = vec2(func(_ *inst, d, a, b *lanes) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
})

// isZero reports whether an operand is the constant 0.
func (o *operand) isZero() bool {
	return o.kind == fromNowhere || o.kind == fromFixed && uint32(o.imm) == 0 && !o.neg
}

func fastIADD3(m *machine, o *inst) {
	if !o.quiet() {
		return
	}
	o.exec = vecIADD3
	if o.c.isZero() {
		o.exec = vecADD
	}
}

func fastIADD(m *machine, o *inst) {
	if o.quiet() && o.mod(sass.ModPacked) == 0 {
		o.exec = vecADD
	}
}

var vecMUL = vec2(func(_ *inst, d, a, b *lanes) {
	for i := range d {
		d[i] = a[i] * b[i]
	}
})

var vecIMAD = vec3(func(_ *inst, d, a, b, c *lanes) {
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
})

// fastIMAD also recognises the moves, shifts and additions that compilers make of IMAD.
func fastIMAD(m *machine, o *inst) {
	if !o.quiet() {
		return
	}
	switch {
	case o.a.isZero() || o.b.isZero():
		move := *o
		move.b = o.c
		o.b, o.a, o.c = move.b, operand{}, operand{}
		o.fold, o.probes = foldMOV, probeNone
		fastMOV(m, o)
	case o.c.isZero():
		o.exec = vecMUL
	default:
		o.exec = vecIMAD
	}
}

func fastIMADWide(m *machine, o *inst) {
	if o.words != 2 || o.dst == m.sinkRow || o.pu != sinkPred || o.mod(sass.ModX) != 0 || o.c.neg || o.c.inv || o.dstU {
		return
	}
	if o.c.kind == fromRow {
		o.exec = vecIMADWide
	} else if o.c.kind == fromFixed {
		o.exec = vecIMADWideFixed
	}
}

func vecIMADWide(w *warp, o *inst) {
	a, ka := w.src(&o.a, &w.bufA)
	b, kb := w.src(&o.b, &w.bufB)
	k := ka & kb & w.known[o.c.row] & w.known[o.c.row2]
	if w.slow(k) {
		foldLanes(w, o)
		return
	}
	lo, hi := &w.rows[o.c.row], &w.rows[o.c.row2]
	d, e := &w.rows[o.dst], &w.rows[o.dst+1]
	if o.in.Signed() {
		for set := w.act; set != 0; set &= set - 1 {
			i := first(set) & (warpLanes - 1)
			v := int64(int32(a[i]))*int64(int32(b[i])) + int64(uint64(hi[i])<<32|uint64(lo[i]))
			d[i], e[i] = uint32(v), uint32(v>>32)
		}
	} else {
		for set := w.act; set != 0; set &= set - 1 {
			i := first(set) & (warpLanes - 1)
			v := uint64(a[i])*uint64(b[i]) + (uint64(hi[i])<<32 | uint64(lo[i]))
			d[i], e[i] = uint32(v), uint32(v>>32)
		}
	}
	w.known[o.dst] |= w.act
	w.known[o.dst+1] |= w.act
}

func vecIMADWideFixed(w *warp, o *inst) {
	a, ka := w.src(&o.a, &w.bufA)
	b, kb := w.src(&o.b, &w.bufB)
	if w.slow(ka & kb) {
		foldLanes(w, o)
		return
	}
	d, e := &w.rows[o.dst], &w.rows[o.dst+1]
	signed := o.in.Signed()
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		v := uint64(a[i]) * uint64(b[i])
		if signed {
			v = uint64(int64(int32(a[i])) * int64(int32(b[i])))
		}
		v += o.c.imm
		d[i], e[i] = uint32(v), uint32(v>>32)
	}
	w.known[o.dst] |= w.act
	w.known[o.dst+1] |= w.act
}

func fastLEA(m *machine, o *inst) {
	o.imm = shiftOf(o)
	if !o.quiet() || o.mod(sass.ModHi) != 0 || o.a.modified() || o.b.modified() {
		return
	}
	o.exec = vec2(func(o *inst, d, a, b *lanes) {
		s := o.imm & 31
		for i := range d {
			d[i] = a[i]<<s + b[i]
		}
	})
}

// shiftOf returns the shift amount of LEA.
func shiftOf(o *inst) uint32 {
	if s := o.in.Arg(sass.RoleShift); s != nil {
		return uint32(s.Imm) & 31
	}
	return 0
}

// lop3Fast are the truth tables that compilers use most, by table.
var lop3Fast = map[uint8]func(o *inst, d, a, b, c *lanes){
	0xc0: func(_ *inst, d, a, b, _ *lanes) {
		for i := range d {
			d[i] = a[i] & b[i]
		}
	},
	0xfc: func(_ *inst, d, a, b, _ *lanes) {
		for i := range d {
			d[i] = a[i] | b[i]
		}
	},
	0x3c: func(_ *inst, d, a, b, _ *lanes) {
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
	},
	0x96: func(_ *inst, d, a, b, c *lanes) {
		for i := range d {
			d[i] = a[i] ^ b[i] ^ c[i]
		}
	},
	0xf8: func(_ *inst, d, a, b, c *lanes) {
		for i := range d {
			d[i] = a[i] | b[i]&c[i]
		}
	},
	0x78: func(_ *inst, d, a, b, c *lanes) {
		for i := range d {
			d[i] = a[i] ^ b[i]&c[i]
		}
	},
	0xe2: func(_ *inst, d, a, b, c *lanes) {
		for i := range d {
			d[i] = a[i]&b[i] | c[i]&^b[i]
		}
	},
}

func fastLOP3(m *machine, o *inst) {
	if lut := o.in.Arg(sass.RoleLut); lut != nil {
		o.imm = uint32(lut.Imm) & 0xff
	}
	if !o.quiet() {
		return
	}
	if f := lop3Fast[uint8(o.imm)]; f != nil {
		o.exec = vec3(f)
		return
	}
	o.exec = vec3(func(o *inst, d, a, b, c *lanes) {
		lut := uint8(o.imm)
		for i := range d {
			d[i] = lop3(lut, a[i], b[i], c[i])
		}
	})
}

func fastSHF(m *machine, o *inst) {
	if !o.quiet() {
		return
	}
	s := uint32(o.b.imm)
	narrow := o.b.kind == fromFixed && s < 32
	switch {
	case narrow && o.mod(sass.ModShiftLeft) != 0 && o.mod(sass.ModHi) == 0:
		o.exec = vec2(func(o *inst, d, a, _ *lanes) {
			s := uint32(o.b.imm) & 31
			for i := range d {
				d[i] = a[i] << s
			}
		})
	case narrow && o.mod(sass.ModShiftLeft) == 0 && o.mod(sass.ModHi) != 0:
		t := sass.ShfType(o.mod(sass.ModShfType))
		arithmetic := t == sass.ShfS32 || t == sass.ShfS64
		o.exec = vec3(func(o *inst, d, _, _, c *lanes) {
			s := uint32(o.b.imm) & 31
			if arithmetic {
				for i := range d {
					d[i] = uint32(int32(c[i]) >> s)
				}
				return
			}
			for i := range d {
				d[i] = c[i] >> s
			}
		})
	default:
		o.exec = vec3(func(o *inst, d, a, b, c *lanes) {
			for i := range d {
				d[i] = shf(o, a[i], b[i], c[i])
			}
		})
	}
}

// fastISETP compares whole rows and joins the lane masks.
func fastISETP(m *machine, o *inst) {
	if o.mod(sass.ModWide) != 0 || o.mod(sass.ModEx) != 0 {
		return
	}
	o.exec = vecISETP
}

func vecISETP(w *warp, o *inst) {
	a, ka := w.src(&o.a, &w.bufA)
	b, kb := w.src(&o.b, &w.bufB)
	p, kp := w.pred(o.pp)
	if w.slow(ka & kb & kp) {
		foldLanes(w, o)
		return
	}
	var set uint32
	c := o.in.Cmp()
	var flip uint32
	switch c { // GE, GT and NE are the complements of LT, LE and EQ
	case sass.CmpGE, sass.CmpGT, sass.CmpNE:
		flip = allLanes
	}
	switch signed := o.in.Signed(); {
	case c == sass.CmpF:
	case c == sass.CmpT:
		set = allLanes
	case c == sass.CmpEQ || c == sass.CmpNE:
		for i := range a {
			set |= bit(a[i] == b[i]) << uint(i)
		}
	case (c == sass.CmpLT || c == sass.CmpGE) && signed:
		for i := range a {
			set |= bit(int32(a[i]) < int32(b[i])) << uint(i)
		}
	case c == sass.CmpLT || c == sass.CmpGE:
		for i := range a {
			set |= bit(a[i] < b[i]) << uint(i)
		}
	case signed:
		for i := range a {
			set |= bit(int32(a[i]) <= int32(b[i])) << uint(i)
		}
	default:
		for i := range a {
			set |= bit(a[i] <= b[i]) << uint(i)
		}
	}
	set ^= flip
	not := ^set
	switch o.in.Bool() {
	case sass.BoolOr:
		set, not = set|p, not|p
	case sass.BoolXor:
		set, not = set^p, not^p
	default:
		set, not = set&p, not&p
	}
	w.setPred(o.pu, set)
	w.setPred(o.pv, not)
}

// bit is 1 for true; the compiler makes it a flag move.
func bit(b bool) uint32 {
	var v uint32
	if b {
		v = 1
	}
	return v
}

// setPred writes a predicate that is known in all active lanes.
func (w *warp) setPred(p uint8, value uint32) {
	if p == sinkPred {
		return
	}
	w.preds[p] = w.preds[p]&^w.act | value&w.act
	w.pknown[p] |= w.act
}

func fastSEL(m *machine, o *inst) {
	if !o.quiet() {
		return
	}
	o.exec = func(w *warp, o *inst) {
		a, ka := w.src(&o.a, &w.bufA)
		b, kb := w.src(&o.b, &w.bufB)
		p, kp := w.pred(o.pp)
		if w.slow(ka & kb & kp) {
			foldLanes(w, o)
			return
		}
		d := w.out(o.dst)
		for i := range d {
			mask := -(p >> uint(i) & 1)
			d[i] = a[i]&mask | b[i]&^mask
		}
		w.commit(o.dst)
	}
}

// plainFloat reports whether a float instruction rounds to nearest and neither flushes nor clamps. Flushing is left to the fold
// only where a lane is denormal, so the fast path checks for it.
func plainFloat(o *inst) bool {
	return o.quiet() && o.mod(sass.ModRound) == 0 && o.mod(sass.ModSat) == 0 && o.mod(sass.ModFtz) == 0
}

func fastFADD(m *machine, o *inst) {
	o.exec = hopelessOr(o.exec)
	if plainFloat(o) {
		o.exec = vec2(func(_ *inst, d, a, b *lanes) {
			for i := range d {
				d[i] = canonical(math.Float32frombits(a[i]) + math.Float32frombits(b[i]))
			}
		})
	}
}

func fastFMUL(m *machine, o *inst) {
	o.exec = hopelessOr(o.exec)
	if plainFloat(o) && scales[o.in.Enc.Bits(84, 3)] == 1 {
		o.exec = vec2(func(_ *inst, d, a, b *lanes) {
			for i := range d {
				d[i] = canonical(math.Float32frombits(a[i]) * math.Float32frombits(b[i]))
			}
		})
	}
}

func fastFFMA(m *machine, o *inst) {
	o.exec = hopelessOr(o.exec)
	if plainFloat(o) {
		o.exec = vec3(func(_ *inst, d, a, b, c *lanes) {
			for i := range d {
				d[i] = canonical(fma32(float64(math.Float32frombits(a[i])), float64(math.Float32frombits(b[i])),
					float64(math.Float32frombits(c[i])), sass.RoundNearest))
			}
		})
	}
}

func canonical(f float32) uint32 {
	if f != f {
		return canonicalNaN
	}
	return math.Float32bits(f)
}

// hopelessOr runs an executor unless every source is unknown in every lane: then the result is too.
func hopelessOr(exec func(*warp, *inst)) func(*warp, *inst) {
	return func(w *warp, o *inst) {
		_, ka := w.src(&o.a, &w.bufA)
		_, kb := w.src(&o.b, &w.bufB)
		_, kc := w.src(&o.c, &w.bufC)
		if w.hopeless(o, ka&kb&kc) {
			return
		}
		exec(w, o)
	}
}
