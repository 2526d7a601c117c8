package emu

import "shmoo/sass"

// Every instruction with a fold has this executor. It is the reference: the fast paths of vector.go must agree with it, and fall
// back to it when a source is unknown or lanes run under an unknown guard.
func foldLanes(w *warp, o *inst) {
	x := &w.vals
	*x = values{}
	var (
		puSet, pvSet   uint32
		puKnow, pvKnow uint32
		why            reason
		tookWhy        bool
	)
	pp, kp := w.pred(o.pp)
	pq, kq := w.pred(o.pq)
	pr, kr := w.pred(o.pr)
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set)
		bit := uint32(1) << uint(i)
		var ka, kb, kc bool
		x.a, ka = w.get(&o.a, i)
		x.b, kb = w.get(&o.b, i)
		x.c, kc = w.get(&o.c, i)
		x.p, x.q, x.r = pp&bit != 0, pq&bit != 0, pr&bit != 0
		x.compare = maybe
		missing := missing{!ka, !kb, !kc, kp&bit == 0, kq&bit == 0, kr&bit == 0}
		var k outcome
		if missing == none {
			o.fold(o, x)
			k = outcome{true, true, true}
		} else {
			k = w.try(o, x, missing)
			if !tookWhy && !(k.d && k.u && k.v) {
				why, tookWhy = w.missingReason(o, bit), true
			}
		}
		w.put(o.dst, o.words, i, x.d, k.d, why)
		if x.u {
			puSet |= bit
		}
		if x.v {
			pvSet |= bit
		}
		if k.u {
			puKnow |= bit
		}
		if k.v {
			pvKnow |= bit
		}
	}
	w.putPred(o.pu, puSet, puKnow, why)
	w.putPred(o.pv, pvSet, pvKnow, why)
}

// missing lists the sources that are unknown: a, b, c, p, q, r.
type missing [6]bool

var none missing

// outcome says which results are known.
type outcome struct{ d, u, v bool }

// try finds which results of a fold do not depend on its unknown sources, and leaves the results in x.
func (w *warp) try(o *inst, x *values, m missing) outcome {
	numbers := m[0] || m[1] || m[2]
	switch {
	case o.probes == probeNone, o.probes == probePermute && m[1]:
		return outcome{}
	case o.probes == probeCompare && numbers:
		m[0], m[1], m[2] = false, false, false // the outcome of the comparison stands for them
	}
	// An unknown source takes two values; bit k of a trial chooses that of source k. A comparison is one source more.
	const compare = len(m)
	var list [compare + 1]int
	sources := list[:0]
	for k, unknown := range m {
		if unknown {
			sources = append(sources, k)
		}
	}
	if o.probes == probeCompare && numbers {
		sources = append(sources, compare)
	}
	in, k := *x, outcome{true, true, true}
	always, ever := ^uint64(0), uint64(0)
	for trial := range 1 << len(sources) {
		y := &w.trial
		*y = in
		for n, source := range sources {
			y.choose(source, trial>>n&1 != 0)
		}
		o.fold(o, y)
		always, ever = always&y.d, ever|y.d
		if trial == 0 {
			*x = *y
			continue
		}
		k.d = k.d && y.d == x.d
		k.u = k.u && y.u == x.u
		k.v = k.v && y.v == x.v
	}
	if o.probes == probeLogic && numbers {
		k.u = w.tryNonzero(o, x, in, m[3], always, ever)
	}
	return k
}

// tryNonzero decides Pu of a bitwise operation with unknown sources: the result is not zero if a bit is set in every trial, and
// zero if none is in any.
func (w *warp) tryNonzero(o *inst, x *values, in values, unknownP bool, always, ever uint64) bool {
	outcomes := [2]tristate{yes, no}
	switch {
	case always != 0:
		outcomes[1] = yes
	case ever == 0:
		outcomes[0] = no
	}
	seen := 0
	for _, in.compare = range outcomes {
		for _, p := range [2]bool{false, true} {
			y := &w.trial
			*y = in
			if unknownP {
				y.p = p
			}
			d := x.d
			o.fold(o, y)
			if seen++; seen > 1 && y.u != x.u {
				return false
			}
			x.u, x.d = y.u, d
		}
	}
	return true
}

// choose sets a source to one of two values: A, B, C, Pp, Pq, Pr, or the outcome of a comparison.
func (x *values) choose(source int, second bool) {
	switch source {
	case 0:
		x.a = ones(second)
	case 1:
		x.b = ones(second)
	case 2:
		x.c = ones(second)
	case 3:
		x.p = second
	case 4:
		x.q = second
	case 5:
		x.r = second
	default:
		x.compare = no
		if second {
			x.compare = yes
		}
	}
}

func ones(t bool) uint64 {
	if t {
		return ^uint64(0)
	}
	return 0
}

// missingReason returns why a source of the instruction is unknown in a set of lanes.
func (w *warp) missingReason(o *inst, set uint32) reason {
	for _, src := range [...]*operand{&o.a, &o.b, &o.c} {
		if r := w.reasonOf(src, set); r != 0 {
			return r
		}
	}
	for _, p := range [...]predRef{o.pp, o.pq, o.pr} {
		if _, known := w.pred(p); known&set != set {
			return w.predReason(p)
		}
	}
	return because(whyOp, int(o.index))
}

// foldUniform executes an instruction with a fold on the uniform datapath.
func foldUniform(w *warp, o *inst) {
	x := &w.vals
	*x = values{}
	var ka, kb, kc bool
	x.a, ka = w.getUniform(&o.a)
	x.b, kb = w.getUniform(&o.b)
	x.c, kc = w.getUniform(&o.c)
	pp, kp := w.pred(o.pp)
	pq, kq := w.pred(o.pq)
	pr, kr := w.pred(o.pr)
	lane := uint32(1) << uint(first(w.act))
	x.p, x.q, x.r = pp&lane != 0, pq&lane != 0, pr&lane != 0
	m := missing{!ka, !kb, !kc, kp&lane == 0, kq&lane == 0, kr&lane == 0}
	k := outcome{true, true, true}
	var why reason
	if m == none {
		o.fold(o, x)
	} else {
		why = w.missingReason(o, lane)
		k = w.try(o, x, m)
	}
	w.putUniform(o.dst, x.d, o.words, k.d, why)
	w.putUniformPred(o.pu, x.u, k.u, why)
	w.putUniformPred(o.pv, x.v, k.v, why)
}

// put writes a result of one or two words in one lane. Where the lane's guard is unknown, the old value may stay.
func (w *warp) put(row, words int32, lane int, v uint64, known bool, why reason) {
	if words == 0 {
		return
	}
	w.putWord(row, lane, uint32(v), known, why)
	if words > 1 {
		w.putWord(row+1, lane, uint32(v>>32), known, why)
	}
}

func (w *warp) putWord(row int32, lane int, v uint32, known bool, why reason) {
	bit := uint32(1) << uint(lane)
	if w.weak&bit != 0 {
		if known && w.known[row]&bit != 0 && w.rows[row][lane] == v {
			return
		}
		if known {
			w.rows[row][lane] = v
			w.known[row] &^= bit
			w.why[row] = w.guardWhy
			w.guardValue(row, bit)
			return
		}
	}
	if len(w.guardeds) > 0 {
		w.dropRow(row)
	}
	if known {
		w.rows[row][lane] = v
		w.known[row] |= bit
		return
	}
	w.known[row] &^= bit
	w.why[row] = why
}

// putPred writes a predicate in the active lanes.
func (w *warp) putPred(p uint8, value, known uint32, why reason) {
	if p == sinkPred {
		return
	}
	if len(w.guardeds) > 0 {
		w.dropGuard(p, false)
	}
	if w.weak != 0 {
		same := known & w.pknown[p] &^ (value ^ w.preds[p])
		if known&w.weak&^same != 0 {
			why = w.guardWhy
		}
		known &^= w.weak &^ same
	}
	set := w.act
	w.preds[p] = w.preds[p]&^set | value&set
	w.pknown[p] = w.pknown[p]&^set | known&set
	if known&set != set {
		w.pwhy[p] = why
	}
}

func (w *warp) putUniform(reg int32, v uint64, words int32, known bool, why reason) {
	if words == 0 {
		return
	}
	w.putUniformWord(reg, uint32(v), known, why)
	if words > 1 {
		w.putUniformWord(reg+1, uint32(v>>32), known, why)
	}
}

func (w *warp) putUniformWord(reg int32, v uint32, known bool, why reason) {
	if reg >= uregZero {
		return
	}
	if w.weak != 0 && !(known && w.uknown[reg] && w.uregs[reg] == v) {
		if known {
			why = w.guardWhy
		}
		known = false
	}
	w.uregs[reg], w.uknown[reg] = v, known
	if !known {
		w.uwhy[reg] = why
	}
}

func (w *warp) putUniformPred(p uint8, v, known bool, why reason) {
	if p == sinkPred || p == sass.PT {
		return
	}
	if len(w.guardeds) > 0 {
		w.dropGuard(p, true)
	}
	if w.weak != 0 && !(known && w.upknown[p] && w.upreds[p] == v) {
		if known {
			why = w.guardWhy
		}
		known = false
	}
	w.upreds[p], w.upknown[p] = v, known
	if !known {
		w.upwhy[p] = why
	}
}

// poison marks all destinations of an instruction unknown.
func (w *warp) poison(o *inst, why reason) {
	if o.dstU {
		for k := range o.words {
			w.putUniformWord(o.dst+k, 0, false, why)
		}
		w.putUniformPred(o.pu, false, false, why)
		w.putUniformPred(o.pv, false, false, why)
		return
	}
	w.poisonRows(o, why)
	w.putPred(o.pu, 0, 0, why)
	w.putPred(o.pv, 0, 0, why)
}

func (w *warp) poisonRows(o *inst, why reason) {
	if o.dst == w.sink {
		return
	}
	for k := range o.words {
		if len(w.guardeds) > 0 {
			w.dropRow(o.dst + k)
		}
		w.known[o.dst+k] &^= w.act
		w.why[o.dst+k] = why
	}
}
