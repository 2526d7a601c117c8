package sketch

import (
	"math/bits"

	"shmoo/smem"
)

func (c *compiler) loadLocal(r, e *cexpr, l *lval) {
	o := l.obj
	if !l.ty.isScalar() || l.ty.kind == kindFloat && len(o.leaves) == 0 || l.ty.kind == kindFloat {
		r.why = o.why
		var fn evalFn
		if e.fn != nil || l.effects() {
			fn = c.then(e.fn, c.address(l))
		}
		r.fn = c.unknownAfter(fn, r)
		return
	}
	if len(l.terms) == 0 {
		i := o.leafAt(l.base, l.ty.size)
		if i < 0 {
			r.why = "a value in " + o.name + " that is read with another type than it was written with"
			r.fn = c.unknownAfter(e.fn, r)
			return
		}
		leaf, ty := &o.leaves[i], l.ty
		pre := e.fn
		if at := o.at[i].ty; at.kind != ty.kind || at.signed != ty.signed {
			out := c.newVec()
			r.fn = func(m *machine, mask laneMask) *vec {
				if pre != nil {
					pre(m, mask)
				}
				out.copyFrom(leaf)
				o.convert(out, i, ty)
				return out
			}
			return
		}
		r.fn = func(m *machine, mask laneMask) *vec {
			if pre != nil {
				pre(m, mask)
			}
			return leaf
		}
		return
	}
	out, addr, pre, ty := c.newVec(), c.address(l), e.fn, l.ty
	r.fn = func(m *machine, mask laneMask) *vec {
		if pre != nil {
			pre(m, mask)
		}
		o.gather(out, ty, addr(m, mask), mask)
		return out
	}
}

// readLocal reads through a pointer to a variable.
func (m *machine) readLocal(out *vec, ty *ctype, a *vec, mask laneMask) *vec {
	first := mask.Lowest()
	o, off := m.code.find(a.at(first))
	if o == nil || ty.kind == kindFloat || len(o.leaves) == 0 {
		out.setUnknown("a value read through a pointer to a variable")
		return out
	}
	if a.uni {
		var at vec
		at.v = []int64{off}
		at.uni, at.unk, at.why = true, a.unk, a.why
		if a.unk != 0 {
			out.setUnknown(a.why)
			return out
		}
		o.gather(out, ty, &at, mask)
		return out
	}
	rel := vec{v: make([]int64, len(a.v)), unk: a.unk, why: a.why}
	for i, x := range a.v {
		rel.v[i] = x - o.addr
	}
	o.gather(out, ty, &rel, mask)
	return out
}

// writeLocal writes through a pointer to a variable.
func (m *machine) writeLocal(ty *ctype, a, v *vec, mask laneMask) {
	for w := uint64(mask); w != 0; w &= w - 1 {
		lane := bits.TrailingZeros64(w)
		o, off := m.code.find(a.at(lane))
		if o == nil {
			continue
		}
		lanes := laneMask(1) << lane
		if a.uni {
			lanes = mask
		}
		rel := vec{v: []int64{off}, uni: true, unk: a.unk, why: a.why}
		if ty.kind == kindFloat {
			v = nil
		}
		o.scatter(m, ty, &rel, v, lanes)
		if a.uni {
			return
		}
	}
}

func (c *compiler) storeLocal(l *lval, src *cexpr) (evalFn, bool) {
	o := l.obj
	o.from.add(src.from)
	if len(o.leaves) == 0 {
		fn := src.fn
		if !src.effects {
			fn = nil
		}
		if l.effects() {
			fn = c.then(fn, c.address(l))
		}
		return fn, src.effects || l.effects()
	}
	value := c.eval(src)
	if l.ty.kind == kindFloat || !l.ty.isScalar() {
		value = nil
	}
	if len(l.terms) == 0 {
		i, size, base := o.leafAt(l.base, l.ty.size), l.ty.size, int(l.base)
		if i < 0 || value == nil {
			run := src.fn
			return func(m *machine, mask laneMask) *vec {
				if run != nil {
					run(m, mask)
				}
				o.forget(base, size, mask, o.why)
				return nil
			}, true
		}
		return func(m *machine, mask laneMask) *vec {
			v := value(m, mask)
			o.assign(m, i, v, mask)
			return v
		}, true
	}
	addr, ty, run := c.address(l), l.ty, src.fn
	return func(m *machine, mask laneMask) *vec {
		var v *vec
		if value != nil {
			v = value(m, mask)
		} else if run != nil {
			run(m, mask)
		}
		o.scatter(m, ty, addr(m, mask), v, mask)
		return v
	}, true
}

// copyAggregate returns the evaluation that copies a struct or array.
func (c *compiler) copyAggregate(dst *lval, src *cexpr) (evalFn, bool) {
	run, effects := c.consume(src)
	if src.lv == nil {
		run, effects = src.fn, src.effects
	}
	switch {
	case dst.opaque != "" || dst.ty.kind == kindOpaque:
		return run, effects
	case dst.obj == nil:
		return c.then(run, c.touch(smem.Store, dst)), true
	case len(dst.obj.leaves) == 0:
		if dst.effects() {
			return c.then(run, c.address(dst)), true
		}
		return run, effects
	}
	dst.obj.from.add(src.from)
	o, size := dst.obj, dst.ty.size
	if s := src.lv; s != nil && s.obj != nil && len(s.obj.leaves) > 0 && len(dst.terms) == 0 && len(s.terms) == 0 &&
		s.ty.same(dst.ty) {
		o.from.add(s.obj.from)
		from, to, n := int(s.base), int(dst.base), size
		so := s.obj
		return func(m *machine, mask laneMask) *vec {
			if run != nil {
				run(m, mask)
			}
			for i, p := range so.at {
				if p.off < from || p.off >= from+n {
					continue
				}
				if k := o.leafAt(int64(p.off-from+to), p.ty.size); k >= 0 {
					o.assign(m, k, &so.leaves[i], mask)
				}
			}
			return nil
		}, true
	}
	why := "a value copied into " + o.name
	if src.why != "" {
		why = src.why
	} else if src.lv != nil && src.lv.obj == nil {
		why = "a value loaded at " + c.where(src.at)
	}
	addr := c.address(dst)
	return func(m *machine, mask laneMask) *vec {
		if run != nil {
			run(m, mask)
		}
		a := addr(m, mask)
		if a.uni && a.unk == 0 {
			o.forget(int(a.v[0]), size, mask, why)
		} else {
			o.forget(0, -1, mask, why)
		}
		return nil
	}, true
}
