package sketch

import (
	"math/bits"
)

// object is a variable: one leaf per scalar in it. A variable without followed parts has no leaves.
type object struct {
	name   string
	ty     *ctype
	leaves []vec
	at     []leafPlace
	index  []int32 // byte offset -> leaf, -1 where none starts
	addr   int64   // in the local space
	live   laneMask
	unsure laneMask // lanes that were unsure when it was declared
	from   *origin
	why    string // why untracked parts are unknown
}

type leafPlace struct {
	off int
	ty  *ctype
}

// declare makes the variable come to life without a value.
func (o *object) declare(m *machine, mask laneMask) {
	o.live, o.unsure = mask, m.unsure
	for i := range o.leaves {
		o.leaves[i].setUnknown(o.why)
	}
}

// assign gives the lanes of mask of a leaf a new value.
func (o *object) assign(m *machine, leaf int, src *vec, mask laneMask) {
	dst := &o.leaves[leaf]
	doubt := m.unsure &^ o.unsure & mask
	if o.live&^mask == 0 && doubt == 0 {
		if dst != src {
			dst.copyFrom(src)
		}
		return
	}
	dst.merge(src, mask)
	if doubt != 0 {
		dst.spread()
		dst.uni = false
		dst.unk |= doubt
		dst.why = m.why
	}
}

// forget makes the lanes of mask unknown in all leaves that overlap n bytes at offset; n < 0 means all leaves.
func (o *object) forget(off, n int, mask laneMask, why string) {
	for i := range o.leaves {
		p := o.at[i]
		if n >= 0 && (p.off+p.ty.size <= off || p.off >= off+n) {
			continue
		}
		v := &o.leaves[i]
		if o.live&^mask == 0 {
			v.setUnknown(why)
			continue
		}
		v.spread()
		v.uni = false
		v.unk |= mask
		v.why = why
	}
}

// leafAt returns the leaf of the given size that starts at a byte offset, or -1.
func (o *object) leafAt(off int64, size int) int {
	if off < 0 || off >= int64(len(o.index)) {
		return -1
	}
	i := o.index[off]
	if i >= 0 && o.at[i].ty.size == size {
		return int(i)
	}
	return -1
}

// gather reads a value of type t at the offsets in a.
func (o *object) gather(out *vec, t *ctype, a *vec, mask laneMask) {
	if a.uni && a.unk == 0 {
		if i := o.leafAt(a.v[0], t.size); i >= 0 {
			out.copyFrom(&o.leaves[i])
			o.convert(out, i, t)
			return
		}
		out.setUnknown(o.why)
		return
	}
	a.spread()
	out.uni, out.unk = false, a.unk
	out.why = a.why
	for w := uint64(mask &^ a.unk); w != 0; w &= w - 1 {
		lane := bits.TrailingZeros64(w)
		i := o.leafAt(a.v[lane], t.size)
		if i < 0 {
			out.unk |= 1 << lane
			out.why = o.why
			continue
		}
		leaf := &o.leaves[i]
		out.v[lane] = t.wrap(leaf.at(lane))
		if leaf.unk.Has(lane) {
			out.unk |= 1 << lane
			out.why = leaf.why
		}
	}
}

func (o *object) convert(out *vec, leaf int, t *ctype) {
	if from := o.at[leaf].ty; from.signed != t.signed || from.kind != t.kind {
		if out.uni {
			out.v[0] = t.wrap(out.v[0])
		} else {
			wrapAll(t, out.v)
		}
	}
}

// scatter writes src, of type t, at the offsets in a. Where src is nil the value is unknown.
func (o *object) scatter(m *machine, t *ctype, a, src *vec, mask laneMask) {
	if a.unk&mask != 0 {
		o.forget(0, -1, mask, "an array element that depends on "+a.why)
		return
	}
	if a.uni {
		i := o.leafAt(a.v[0], t.size)
		if i < 0 || src == nil {
			o.forget(int(a.v[0]), t.size, mask, o.why)
			return
		}
		o.assign(m, i, src, mask)
		return
	}
	for w := uint64(mask); w != 0; w &= w - 1 {
		lane := bits.TrailingZeros64(w)
		one := laneMask(1) << lane
		i := o.leafAt(a.v[lane], t.size)
		if i < 0 || src == nil {
			o.forget(int(a.v[lane]), t.size, one, o.why)
			continue
		}
		leaf := &o.leaves[i]
		leaf.merge(src, one)
		if doubt := m.unsure &^ o.unsure & one; doubt != 0 {
			leaf.unk |= doubt
			leaf.why = m.why
		}
	}
}

// find returns the variable at a local address and the offset in it.
func (c *code) find(addr int64) (*object, int64) {
	lo, hi := 0, len(c.objects)
	for lo < hi {
		mid := (lo + hi) / 2
		if c.objects[mid].addr <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil, 0
	}
	o := c.objects[lo-1]
	if off := addr - o.addr; off < int64(o.ty.size) {
		return o, off
	}
	return nil, 0
}
