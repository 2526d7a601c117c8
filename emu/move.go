package emu

import "shmoo/sass"

// moveOps are moves, special registers and predicates as bits.
var moveOps = withUniform(map[string]semantics{
	"MOV":   {fold: foldMOV, prepare: fastMOV},
	"S2R":   {exec: execS2R},
	"CS2R":  {exec: execS2R},
	"S2UR":  {exec: execS2UR, uniform: true},
	"CS2UR": {exec: execS2UR, uniform: true},
	"R2UR":  {exec: execR2UR},
	"P2R":   {exec: execP2R},
	"R2P":   {exec: execR2P},
	"UP2UR": {exec: execUP2UR, uniform: true},
	"UR2UP": {exec: execUR2UP, uniform: true},
	"LEPC":  {exec: execLEPC},
}, map[string]string{"MOV": "UMOV"})

func foldMOV(_ *inst, x *values) { x.d = x.b }

// fixed special registers by number; launch says the others.
const (
	srLane       = 0
	srTidPacked  = 32
	srTidX       = 33
	srTidY       = 34
	srTidZ       = 35
	srCtaX       = 37
	srCtaY       = 38
	srCtaZ       = 39
	srNtidPacked = 40
	srLocalHi    = 46
	srSharedHi   = 47
	srSharedLo   = 48
	srLocalLo    = 52
	srEqMask     = 56
	srLtMask     = 57
	srLeMask     = 58
	srGtMask     = 59
	srGeMask     = 60
	srCgaRank    = 136
	srZero       = 255
)

// special returns a special register in a lane; known is false for clocks and machine state.
func (w *warp) special(n, lane int) (v uint64, known bool) {
	b := w.m.launch.Block
	t := w.id*warpLanes + lane
	bit := uint32(1) << uint(lane)
	switch n {
	case srLane:
		return uint64(lane), true
	case srTidX:
		return uint64(t % b[0]), true
	case srTidY:
		return uint64(t / b[0] % b[1]), true
	case srTidZ:
		return uint64(t / (b[0] * b[1])), true
	case srTidPacked:
		return uint64(t%b[0] | t/b[0]%b[1]<<16 | t/(b[0]*b[1])<<26), true
	case srCtaX, srCtaY, srCtaZ:
		return uint64(w.block.at[n-srCtaX]), true
	case srNtidPacked:
		return uint64(b[0] | b[1]<<16 | b[2]<<26), true
	case srLocalHi:
		return localWindowAddr >> 32, true
	case srSharedHi:
		return sharedWindowAddr >> 32, true
	case srSharedLo:
		return sharedWindowAddr & uint64(allLanes), true
	case srLocalLo:
		return localWindowAddr & uint64(allLanes), true
	case srEqMask:
		return uint64(bit), true
	case srLtMask:
		return uint64(bit - 1), true
	case srLeMask:
		return uint64(bit | (bit - 1)), true
	case srGtMask:
		return uint64(^(bit | (bit - 1))), true
	case srGeMask:
		return uint64(^(bit - 1)), true
	case srCgaRank, srZero:
		return 0, true
	}
	return 0, false
}

func (o *inst) specialNumber() int {
	if s := o.in.Arg(sass.RoleA); s != nil && s.Kind == sass.KindSReg {
		return int(s.Imm)
	}
	return -1
}

func execS2R(w *warp, o *inst) {
	n := o.specialNumber()
	why := because(whySpecial, int(o.index))
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set)
		v, known := w.special(n, i)
		w.put(o.dst, o.words, i, v, known, why)
	}
}

func execS2UR(w *warp, o *inst) {
	n := o.specialNumber()
	v, known := w.special(n, first(w.mask))
	switch n { // differ between lanes: no value for the warp unless it has one lane
	case srLane, srTidX, srTidY, srTidZ, srEqMask, srLtMask, srLeMask, srGtMask, srGeMask, srTidPacked:
		known = known && w.sameSpecial(n)
	}
	w.putUniform(o.dst, v, o.words, known, because(whySpecial, int(o.index)))
}

func (w *warp) sameSpecial(n int) bool {
	want, _ := w.special(n, first(w.mask))
	for set := w.mask; set != 0; set &= set - 1 {
		if v, _ := w.special(n, first(set)); v != want {
			return false
		}
	}
	return true
}

// execR2UR moves a register to the uniform file: the value of the lowest active lane, or with .OR that of all lanes together.
func execR2UR(w *warp, o *inst) {
	v, known := w.get(&o.a, first(w.act))
	why := w.reasonOf(&o.a, w.act)
	if o.mod(sass.ModOr) != 0 {
		v = 0
		for set := w.act; set != 0; set &= set - 1 {
			x, k := w.get(&o.a, first(set))
			v, known = v|x, known && k
		}
	}
	w.putUniform(o.dst, v, o.words, known, why)
	w.putUniformPred(o.pu, v != 0, known, why)
}

// byteOf returns which byte of a register P2R and R2P work on, as a shift.
func byteOf(o *inst) uint { return 8 * uint(o.mod(sass.ModByte)&3) }

func execP2R(w *warp, o *inst) {
	at := byteOf(o)
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set)
		base, known := w.get(&o.a, i)
		mask, k := w.get(&o.b, i)
		known = known && k
		why := w.missingReason(o, 1<<uint(i))
		var p uint32
		for n := range 7 {
			if mask>>n&1 == 0 {
				continue
			}
			p |= w.preds[n] >> uint(i) & 1 << n
			if w.pknown[n]>>uint(i)&1 == 0 {
				known, why = false, w.pwhy[n]
			}
		}
		m := uint32(mask&0xff) << at
		w.put(o.dst, o.words, i, uint64(uint32(base)&^m|p<<at), known, why)
	}
}

func execR2P(w *warp, o *inst) {
	at := byteOf(o)
	a, ka := w.src(&o.a, &w.bufA)
	mask, known := w.get(&o.b, first(w.act))
	why := w.missingReason(o, w.act)
	for n := range 7 {
		if known && mask>>n&1 == 0 {
			continue
		}
		var v uint32
		for i := range warpLanes {
			v |= a[i] >> (at + uint(n)) & 1 << uint(i)
		}
		w.putPred(uint8(n), v, ka&spread(known), why)
	}
}

func execUP2UR(w *warp, o *inst) {
	at := byteOf(o)
	base, known := w.getUniform(&o.a)
	mask, k := w.getUniform(&o.b)
	known = known && k
	why := w.missingReason(o, 0)
	var p uint32
	for n := range 7 {
		if mask>>n&1 == 0 {
			continue
		}
		p |= ones32(w.upreds[n]) << n
		if !w.upknown[n] {
			known, why = false, w.upwhy[n]
		}
	}
	m := uint32(mask&0xff) << at
	w.putUniform(o.dst, uint64(uint32(base)&^m|p<<at), o.words, known, why)
}

func execUR2UP(w *warp, o *inst) {
	at := byteOf(o)
	a, known := w.getUniform(&o.a)
	mask, k := w.getUniform(&o.b)
	why := w.missingReason(o, 0)
	for n := range 7 {
		if !k || mask>>n&1 != 0 {
			w.putUniformPred(uint8(n), a>>(at+uint(n))&1 != 0, known && k, why)
		}
	}
}

// execLEPC loads a program counter: that of the next instruction plus a displacement.
func execLEPC(w *warp, o *inst) {
	pc := uint64(o.index+1) * instSize
	if t, ok := o.in.Target(uint64(o.index) * instSize); ok {
		pc = t
	}
	for set := w.act; set != 0; set &= set - 1 {
		w.put(o.dst, o.words, first(set), pc, true, 0)
	}
}
