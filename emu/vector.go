package emu

import (
	"math"

	"shmoo/sass"
)

// Fast paths for the operations that make up most of integer kernels: all sources known in all active lanes, whole rows at a time. Each
// falls back to the fold, which says what is right; TestFastPaths compares them.

// slow reports whether an instruction must go through its fold: the guard is unknown, or a source is unknown in an active lane and
// the result may be known all the same.
func (w *warp) slow(o *inst, known uint32) bool {
	return w.weak != 0 || w.act&^known != 0 && o.probes != probeNone
}

// settle finishes what out began: the result is known in the given ones of the active lanes.
func (w *warp) settle(o *inst, known uint32, why reason) {
	row := o.dst
	if len(w.guardeds) > 0 {
		w.dropRow(row)
	}
	if w.act == allLanes {
		w.known[row] = known
	} else {
		to := &w.rows[row]
		for set := w.act; set != 0; set &= set - 1 {
			i := first(set) & (warpLanes - 1)
			to[i] = w.bufD[i]
		}
		w.known[row] = w.known[row]&^w.act | known&w.act
	}
	if why != 0 {
		w.why[row] = why
	}
}

// vec2 and vec3 make executors from functions on whole rows.
func vec2(f func(o *inst, d, a, b *lanes)) func(*warp, *inst) {
	return func(w *warp, o *inst) {
		a, ka := w.src(&o.a, &w.bufA)
		b, kb := w.src(&o.b, &w.bufB)
		k := ka & kb
		switch {
		case w.slow(o, k):
			foldLanes(w, o)
		case k&w.act == 0:
			w.poisonRows(o, w.missingReason(o, w.act))
		default:
			why := w.lostReason(o, k)
			f(o, w.out(o.dst), a, b)
			w.settle(o, k, why)
		}
	}
}

func vec3(f func(o *inst, d, a, b, c *lanes)) func(*warp, *inst) {
	return func(w *warp, o *inst) {
		a, ka := w.src(&o.a, &w.bufA)
		b, kb := w.src(&o.b, &w.bufB)
		c, kc := w.src(&o.c, &w.bufC)
		k := ka & kb & kc
		switch {
		case w.slow(o, k):
			foldLanes(w, o)
		case k&w.act == 0:
			w.poisonRows(o, w.missingReason(o, w.act))
		default:
			why := w.lostReason(o, k)
			f(o, w.out(o.dst), a, b, c)
			w.settle(o, k, why)
		}
	}
}

// lostReason returns why sources are unknown in an active lane, 0 where they are not. It must be asked for before the result, which may
// overwrite a source, is written.
func (w *warp) lostReason(o *inst, known uint32) reason {
	if w.act&^known == 0 {
		return 0
	}
	return w.missingReason(o, w.act)
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
		if w.weak != 0 {
			foldLanes(w, o)
			return
		}
		why := w.lostReason(o, kb)
		*w.out(o.dst) = *b
		w.settle(o, kb, why)
	}
}

// fastConstant folds an instruction whose sources are all constants once, when it is made ready: compilers write constants with HFMA2.
func fastConstant(o *inst) {
	if o.fold == nil || !o.quiet() {
		return
	}
	var x values
	for _, s := range []struct {
		from *operand
		to   *uint64
	}{{&o.a, &x.a}, {&o.b, &x.b}, {&o.c, &x.c}} {
		switch s.from.kind {
		case fromFixed:
			*s.to = s.from.imm
		case fromNowhere:
		default:
			return
		}
	}
	o.fold(o, &x)
	result := broadcast(uint32(x.d))
	o.exec = func(w *warp, o *inst) {
		if w.weak != 0 {
			foldLanes(w, o)
			return
		}
		*w.out(o.dst) = *result
		w.settle(o, allLanes, 0)
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
	if w.weak != 0 || w.act&^k != 0 {
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
	w.finishPair(o.dst)
}

// finishPair marks a pair of rows known in the active lanes.
func (w *warp) finishPair(row int32) {
	for k := range int32(2) {
		if len(w.guardeds) > 0 {
			w.dropRow(row + k)
		}
		w.known[row+k] |= w.act
	}
}

func vecIMADWideFixed(w *warp, o *inst) {
	a, ka := w.src(&o.a, &w.bufA)
	b, kb := w.src(&o.b, &w.bufB)
	if w.weak != 0 || w.act&^(ka&kb) != 0 {
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
	w.finishPair(o.dst)
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

// reedMuller turns a truth table into masks of the terms 1, c, b, bc, a, ac, ab, abc, whose exclusive or is the function.
func reedMuller(lut uint8) (terms [8]uint32) {
	for _, step := range []uint{1, 2, 4} { // Moebius transform: each input bit in turn
		for k := range uint(8) {
			if k&step != 0 {
				lut ^= lut >> (k - step) & 1 << k
			}
		}
	}
	for k := range terms {
		terms[k] = -(uint32(lut) >> k & 1)
	}
	return terms
}

func evalTerms(t *[8]uint32, d, a, b, c *lanes) {
	for i := range d {
		x, y, z := a[i], b[i], c[i]
		yz := y & z
		d[i] = t[0] ^ t[1]&z ^ t[2]&y ^ t[3]&yz ^ x&(t[4]^t[5]&z^t[6]&y^t[7]&yz)
	}
}

func fastLOP3(m *machine, o *inst) {
	if lut := o.in.Arg(sass.RoleLut); lut != nil {
		o.imm = uint32(lut.Imm) & 0xff
	}
	if o.dstU || o.words > 1 || o.pv != sinkPred {
		return
	}
	f := lop3Fast[uint8(o.imm)]
	if f == nil {
		terms := reedMuller(uint8(o.imm))
		f = func(_ *inst, d, a, b, c *lanes) { evalTerms(&terms, d, a, b, c) }
	}
	o.exec = func(w *warp, o *inst) { vecLOP3(w, o, f) }
}

// vecLOP3 evaluates a bitwise function. Where one source has unknown lanes, the result is known in a lane if all ones and all zeros
// in its place give the same.
func vecLOP3(w *warp, o *inst, f func(o *inst, d, a, b, c *lanes)) {
	a, ka := w.src(&o.a, &w.bufA)
	b, kb := w.src(&o.b, &w.bufB)
	c, kc := w.src(&o.c, &w.bufC)
	act := w.act
	known := ka & kb & kc
	p, kp := w.pred(o.pp)
	if w.weak != 0 || o.pu != sinkPred && act&^(known&kp) != 0 {
		foldLanes(w, o)
		return
	}
	if act&^known == 0 {
		d := w.out(o.dst)
		f(o, d, a, b, c)
		if o.pu != sinkPred {
			var set uint32
			for i := range d {
				set |= bit(d[i] != 0) << uint(i)
			}
			if o.mod(sass.ModOr) != 0 {
				set &= p
			} else {
				set |= p
			}
			w.putPred(o.pu, set, allLanes, 0)
		}
		w.commit(o.dst)
		return
	}
	why := w.missingReason(o, act)
	zeros, ones := [3]*lanes{a, b, c}, [3]*lanes{a, b, c}
	unsure := -1
	for k, known := range [3]uint32{ka, kb, kc} {
		if act&^known == 0 {
			continue
		}
		if unsure >= 0 {
			foldLanes(w, o)
			return
		}
		unsure = k
		w.bufE, w.bufF = *zeros[k], *ones[k]
		for set := act &^ known; set != 0; set &= set - 1 {
			i := first(set) & (warpLanes - 1)
			w.bufE[i], w.bufF[i] = 0, allLanes
		}
		zeros[k], ones[k] = &w.bufE, &w.bufF
	}
	f(o, &w.bufD, zeros[0], zeros[1], zeros[2])
	f(o, &w.bufG, ones[0], ones[1], ones[2])
	known = 0
	for i := range w.bufD {
		known |= bit(w.bufD[i] == w.bufG[i]) << uint(i)
	}
	if act == allLanes {
		w.rows[o.dst] = w.bufD
	}
	w.settle(o, known, why)
	if act&^known == 0 {
		w.why[o.dst] = 0
	}
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
	known := ka & kb & kp
	if w.weak != 0 || w.act&^known != 0 && !(o.pp.always && o.in.Bool() == sass.BoolAnd) {
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
	why := w.lostReason(o, known)
	w.putPred(o.pu, set, known, why)
	w.putPred(o.pv, not, known, why)
}

// bit is 1 for true; the compiler makes it a flag move.
func bit(b bool) uint32 {
	var v uint32
	if b {
		v = 1
	}
	return v
}

func fastSEL(m *machine, o *inst) {
	if !o.quiet() {
		return
	}
	o.exec = func(w *warp, o *inst) {
		a, ka := w.src(&o.a, &w.bufA)
		b, kb := w.src(&o.b, &w.bufB)
		p, kp := w.pred(o.pp)
		if w.weak != 0 || w.act&^kp != 0 {
			foldLanes(w, o)
			return
		}
		known := ka&p | kb&^p
		why := w.lostReason(o, known)
		d := w.out(o.dst)
		for i := range d {
			mask := -(p >> uint(i) & 1)
			d[i] = a[i]&mask | b[i]&^mask
		}
		w.settle(o, known, why)
	}
}

// plainFloat reports whether a float instruction rounds to nearest and neither flushes nor clamps. Flushing is left to the fold
// only where a lane is denormal, so the fast path checks for it.
func plainFloat(o *inst) bool {
	return o.quiet() && o.mod(sass.ModRound) == 0 && o.mod(sass.ModSat) == 0 && o.mod(sass.ModFtz) == 0
}

func fastFADD(m *machine, o *inst) {
	o.exec = foldUnlessUnknown
	if plainFloat(o) {
		o.exec = vec2(func(_ *inst, d, a, b *lanes) {
			for i := range d {
				d[i] = canonical(math.Float32frombits(a[i]) + math.Float32frombits(b[i]))
			}
		})
	}
}

func fastFMUL(m *machine, o *inst) {
	o.exec = foldUnlessUnknown
	if plainFloat(o) && scales[o.in.Enc.Bits(84, 3)] == 1 {
		o.exec = vec2(func(_ *inst, d, a, b *lanes) {
			for i := range d {
				d[i] = canonical(math.Float32frombits(a[i]) * math.Float32frombits(b[i]))
			}
		})
	}
}

func fastFFMA(m *machine, o *inst) {
	o.exec = foldUnlessUnknown
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

// foldUnlessUnknown runs a fold without probes, unless its sources are unknown in every active lane: then so is the result.
func foldUnlessUnknown(w *warp, o *inst) {
	_, ka := w.src(&o.a, &w.bufA)
	_, kb := w.src(&o.b, &w.bufB)
	_, kc := w.src(&o.c, &w.bufC)
	if w.weak == 0 && ka&kb&kc&w.act == 0 {
		w.poison(o, w.missingReason(o, w.act))
		return
	}
	foldLanes(w, o)
}
