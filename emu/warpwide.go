package emu

import (
	"math/bits"

	"shmoo/sass"
)

// warpOps act across the lanes of a warp. Lanes that run only maybe and not all together (ragged) make their results unknown.
var warpOps = map[string]semantics{
	"SHFL":   {exec: execSHFL},
	"VOTE":   {exec: execVOTE},
	"VOTEU":  {exec: execVOTE},
	"MATCH":  {exec: execMATCH},
	"REDUX":  {exec: execREDUX},
	"CREDUX": {exec: execREDUX},
	"ELECT":  {exec: execELECT},
}

// execSHFL reads another lane's register (PTX ISA, shfl): the clamp and segment masks come in C.
func execSHFL(w *warp, o *inst) {
	src, known := w.src(&o.a, &w.bufA)
	sel, ks := w.src(&o.b, &w.bufB)
	ctl, kc := w.src(&o.c, &w.bufC)
	mode := sass.ShflMode(o.mod(sass.ModShfl))
	act, uncertain := w.act, w.weak|w.ragged
	var got, inRange uint32
	var v lanes
	why := w.missingReason(o, act)
	for set := act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		b, c := int(sel[i]&31), ctl[i]
		seg := int(c >> 8 & 31)
		clamp := int(c & 31)
		top := i&seg | clamp&^seg
		var j int
		var ok bool
		switch mode {
		case sass.ShflUp:
			j = i - b
			ok = j >= top
		case sass.ShflDown:
			j = i + b
			ok = j <= top
		case sass.ShflBfly:
			j = i ^ b
			ok = j <= top
		default:
			j = i&seg | b&^seg
			ok = j <= top
		}
		if !ok {
			j = i
		} else {
			inRange |= 1 << uint(i)
		}
		from := uint32(1) << uint(j)
		v[i] = src[j]
		switch {
		case (ks&kc)>>uint(i)&1 == 0:
		case act&from == 0 || uncertain&from != 0 && j != i:
			why = because(whyLane, int(o.index))
		case known&from == 0:
			why = w.reasonOf(&o.a, from)
		default:
			got |= 1 << uint(i)
		}
	}
	for set := act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		w.putWord(o.dst, i, v[i], got>>uint(i)&1 != 0, why)
	}
	w.putPred(o.pu, inRange, ks&kc, why)
}

// execVOTE combines a predicate over the active lanes, as a mask and as one truth value.
func execVOTE(w *warp, o *inst) {
	value, known := w.pred(o.pp)
	act := w.act
	ballot := value & act
	sure := known & act
	ok := sure == act && (w.weak|w.ragged)&act == 0
	why := w.predReason(o.pp)
	if sure == act {
		why = w.maybeWhy
		if w.weak != 0 {
			why = w.guardWhy
		}
	}
	var all bool
	knownAll := ok
	certain := sure &^ (w.weak | w.ragged)
	switch sass.VoteMode(o.mod(sass.ModVote)) {
	case sass.VoteAny:
		all = ballot != 0
		if ballot&certain != 0 {
			all, knownAll = true, true
		}
	case sass.VoteEq:
		all = ballot == 0 || ballot == act
	default:
		all = ballot == act
		if certain&^ballot != 0 {
			all, knownAll = false, true
		}
	}
	weak := w.weak
	w.weak = 0
	if o.dstU {
		w.putUniform(o.dst, uint64(ballot), o.words, ok, why)
		w.putUniformPred(o.pu, all, knownAll, why)
	} else {
		for set := act; set != 0; set &= set - 1 {
			w.put(o.dst, o.words, first(set), uint64(ballot), ok && weak == 0, why)
		}
		w.putPred(o.pu, spread(all), spread(knownAll), why)
	}
	w.weak = weak
}

// execMATCH finds the lanes that hold the same value.
func execMATCH(w *warp, o *inst) {
	act := w.act
	why := w.missingReason(o, act)
	var vals [warpLanes]uint64
	ok := (w.weak|w.ragged)&act == 0
	for set := act; set != 0; set &= set - 1 {
		i := first(set)
		v, known := w.get(&o.a, i)
		vals[i], ok = v, ok && known
	}
	all := true
	for set := act; set != 0; set &= set - 1 {
		i := first(set)
		var same uint32
		for other := act; other != 0; other &= other - 1 {
			j := first(other)
			if vals[i] == vals[j] {
				same |= 1 << uint(j)
			}
		}
		all = all && same == act
		if o.mod(sass.ModMatchAll) != 0 {
			continue
		}
		w.put(o.dst, o.words, i, uint64(same), ok, why)
	}
	if o.mod(sass.ModMatchAll) == 0 {
		return
	}
	d := uint64(0)
	if all {
		d = uint64(act)
	}
	for set := act; set != 0; set &= set - 1 {
		w.put(o.dst, o.words, first(set), d, ok, why)
	}
	w.putPred(o.pu, spread(all), spread(ok), why)
}

// reduxFolds combine two values; the second argument says signed.
var reduxFolds = map[sass.ReduxOp]func(a, b uint32, signed bool) uint32{
	sass.ReduxAnd: func(a, b uint32, _ bool) uint32 { return a & b },
	sass.ReduxOr:  func(a, b uint32, _ bool) uint32 { return a | b },
	sass.ReduxXor: func(a, b uint32, _ bool) uint32 { return a ^ b },
	sass.ReduxSum: func(a, b uint32, _ bool) uint32 { return a + b },
	sass.ReduxMin: func(a, b uint32, signed bool) uint32 {
		if signed {
			return uint32(min(int32(a), int32(b)))
		}
		return min(a, b)
	},
	sass.ReduxMax: func(a, b uint32, signed bool) uint32 {
		if signed {
			return uint32(max(int32(a), int32(b)))
		}
		return max(a, b)
	},
}

func execREDUX(w *warp, o *inst) {
	fold := reduxFolds[sass.ReduxOp(o.mod(sass.ModRedux))]
	if fold == nil {
		unsupported(w, o)
		return
	}
	act := w.act
	ok := (w.weak|w.ragged)&act == 0
	why := w.missingReason(o, act)
	v, k := w.get(&o.a, first(act))
	ok = ok && k
	d := uint32(v)
	for set := act & (act - 1); set != 0; set &= set - 1 {
		v, k := w.get(&o.a, first(set))
		ok = ok && k
		d = fold(d, uint32(v), o.in.Signed())
	}
	w.putUniform(o.dst, uint64(d), o.words, ok, why)
}

// execELECT chooses the lowest candidate lane.
func execELECT(w *warp, o *inst) {
	candidates := w.act
	known := (w.weak|w.ragged)&w.act == 0
	if o.in.Arg(sass.RolePp) != nil {
		value, k := w.pred(o.pp)
		candidates &= value
		known = known && k&w.act == w.act
	} else {
		candidates &= w.uniformMask(o)
	}
	why := w.maybeWhy
	if candidates == 0 {
		w.putUniform(o.dst, 0, o.words, known, why)
		w.putPred(o.pu, 0, spread(known), why)
		return
	}
	lane := bits.TrailingZeros32(candidates)
	w.putUniform(o.dst, uint64(lane), o.words, known, why)
	w.putPred(o.pu, 1<<uint(lane), spread(known), why)
}
