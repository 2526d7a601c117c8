package emu

import (
	"math"

	"shmoo/internal/half"
	"shmoo/sass"
)

// atomed is what an atomic operation does to one word.
type atomed struct {
	value  uint64 // new value
	known  bool
	writes bool
	flag   bool   // the instruction returns result instead of the old value
	result uint64 // with flag
}

// atomFolds are the two-operand atomics on unsigned integers. wide says 64 bits.
var atomFolds = map[sass.AtomOp]func(old, v uint64, t sass.DataType) uint64{
	sass.AtomAdd:  atomAdd,
	sass.AtomMin:  func(old, v uint64, t sass.DataType) uint64 { return pick(atomLess(v, old, t), v, old) },
	sass.AtomMax:  func(old, v uint64, t sass.DataType) uint64 { return pick(atomLess(old, v, t), v, old) },
	sass.AtomInc:  func(old, v uint64, _ sass.DataType) uint64 { return pick(old >= v, 0, old+1) },
	sass.AtomDec:  func(old, v uint64, _ sass.DataType) uint64 { return pick(old == 0 || old > v, v, old-1) },
	sass.AtomAnd:  func(old, v uint64, _ sass.DataType) uint64 { return old & v },
	sass.AtomOr:   func(old, v uint64, _ sass.DataType) uint64 { return old | v },
	sass.AtomXor:  func(old, v uint64, _ sass.DataType) uint64 { return old ^ v },
	sass.AtomExch: func(_, v uint64, _ sass.DataType) uint64 { return v },
}

func pick(first bool, a, b uint64) uint64 {
	if first {
		return a
	}
	return b
}

func atomAdd(old, v uint64, t sass.DataType) uint64 {
	switch t {
	case sass.TypeF32:
		return uint64(math.Float32bits(math.Float32frombits(uint32(old)) + math.Float32frombits(uint32(v))))
	case sass.TypeF64:
		return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(v))
	case sass.TypeF16x2:
		return uint64(halves2(uint32(old), uint32(v), func(a, b float64) float64 { return a + b }))
	}
	return old + v
}

func atomLess(a, b uint64, t sass.DataType) bool {
	switch t {
	case sass.TypeS32:
		return int32(a) < int32(b)
	case sass.TypeS64:
		return int64(a) < int64(b)
	}
	return a < b
}

// atom computes what an atomic does in one lane to a word that holds old.
func (w *warp) atom(o *inst, lane int, old uint64, oldKnown bool) atomed {
	data := func(src *operand) (uint64, bool) {
		v, known := w.get(src, lane)
		if atomBytes(o.in) == 8 && src.kind == fromRow && !src.wide {
			hi := w.rows[src.row2][lane]
			return v | uint64(hi)<<32, known && w.known[src.row2]>>uint(lane)&1 != 0
		}
		return v, known
	}
	v, known := data(&o.data)
	mask := ^uint64(0)
	if atomBytes(o.in) == 4 {
		mask = math.MaxUint32
	}
	t := sass.DataType(o.mod(sass.ModAtomType))
	switch op := o.in.AtomOp(); op {
	case sass.AtomCas, sass.AtomCast, sass.AtomCastSpin:
		next, nextKnown := data(&o.data2)
		d := atomed{writes: true, known: known && nextKnown && oldKnown, value: old}
		if old&mask == v&mask {
			d.value = next
		}
		if op != sass.AtomCas { // returns whether the store happened: all ones or zero
			d.flag, d.result = true, pick(old&mask == v&mask, mask, 0)
		}
		return d
	case sass.AtomPopcInc:
		// Counts the lanes that address the word: one increment per lane in lane order comes to the same.
		return atomed{writes: true, known: oldKnown, value: old + 1}
	case sass.AtomExch:
		return atomed{writes: true, known: known, value: v}
	default:
		fold := atomFolds[op]
		if fold == nil {
			return atomed{writes: true}
		}
		return atomed{writes: true, known: known && oldKnown, value: fold(old, v, t) & mask}
	}
}

func (w *warp) atomReason(o *inst, lane int) reason {
	for _, src := range []*operand{&o.data, &o.data2} {
		if r := w.reasonOf(src, 1<<uint(lane)); r != 0 {
			return r
		}
	}
	if w.weak != 0 {
		return w.guardWhy
	}
	if w.maybe != 0 {
		return w.maybeWhy
	}
	return because(whyData, int(o.index))
}

// halves2 applies a function to both halves of two packed pairs of 16-bit floats.
func halves2(a, b uint32, f func(a, b float64) float64) uint32 {
	lo := half.To(f(half.From(uint16(a)), half.From(uint16(b))))
	hi := half.To(f(half.From(uint16(a>>16)), half.From(uint16(b>>16))))
	return uint32(lo) | uint32(hi)<<16
}
