package sketch

import (
	"shmoo/smem"
)

type smemOp = smem.Op

// address returns the evaluation of where a place is: the offset in its variable or in shared memory, or a pointer.
func (c *compiler) address(l *lval) evalFn {
	out := c.newVec()
	arr, base := l.shared, l.base
	if l.ptr == nil && len(l.terms) == 0 {
		return func(m *machine, mask laneMask) *vec {
			x := base
			if arr != nil {
				x += arr.off
			}
			out.set(x)
			return out
		}
	}
	ptr := l.ptr
	if ptr == nil && len(l.terms) == 1 {
		fn, scale := l.terms[0].fn, l.terms[0].scale
		return func(m *machine, mask laneMask) *vec {
			x := base
			if arr != nil {
				x += arr.off
			}
			a := fn(m, mask)
			out.uni, out.unk, out.why = a.uni, a.unk, a.why
			if a.uni {
				out.v[0] = x + a.v[0]*scale
				return out
			}
			for i, v := range a.v {
				out.v[i] = x + v*scale
			}
			return out
		}
	}
	terms := l.terms
	return func(m *machine, mask laneMask) *vec {
		x := base
		if arr != nil {
			x += arr.off
		}
		out.set(x)
		if ptr != nil {
			p := ptr(m, mask)
			out.uni, out.unk, out.why = p.uni, p.unk, p.why
			if p.uni {
				out.v[0] = x + p.v[0]
			} else {
				for i, v := range p.v {
					out.v[i] = x + v
				}
			}
		}
		for i := range terms {
			addTerm(out, terms[i].fn(m, mask), terms[i].scale)
		}
		return out
	}
}

// addTerm adds a scaled index. Unknown lanes keep what they have, so that a pointer keeps its tag.
func addTerm(out, a *vec, scale int64) {
	if a.unk != 0 {
		out.unk |= a.unk
		out.why = a.why
		if a.uni {
			return
		}
		out.spread()
		out.uni = false
		for i, v := range a.v {
			if !a.unk.Has(i) {
				out.v[i] += v * scale
			}
		}
		return
	}
	switch {
	case out.uni && a.uni:
		out.v[0] += a.v[0] * scale
	case a.uni:
		x := a.v[0] * scale
		for i := range out.v {
			out.v[i] += x
		}
	case out.uni:
		x := out.v[0]
		for i, v := range a.v {
			out.v[i] = x + v*scale
		}
		out.uni = false
	default:
		for i, v := range a.v {
			out.v[i] += v * scale
		}
	}
}

// freeze evaluates where a place is once: the returned place refers to the result of pre, which runs first.
func (c *compiler) freeze(l *lval) (pre evalFn, frozen *lval) {
	if l.opaque != "" || l.ptr == nil && len(l.terms) == 0 {
		return nil, l
	}
	f := *l
	arr := l.shared
	plain := *l
	plain.shared = nil
	addr := c.address(&plain)
	slot := c.newVec()
	pre = func(m *machine, mask laneMask) *vec {
		slot.copyFrom(addr(m, mask))
		return slot
	}
	read := func(m *machine, mask laneMask) *vec { return slot }
	f.base, f.terms, f.ptr, f.shared = 0, nil, nil, arr
	if l.ptr != nil {
		f.ptr = read
	} else {
		f.terms = []term{{fn: read, scale: 1}}
	}
	return pre, &f
}

// accesses returns the sites that move a value of a type to or from a place.
func (c *compiler) accesses(op smemOp, l *lval) []*siteRef {
	width, n := l.ty.pieces()
	if n > 256 {
		c.fail(l.at, "sketch/limit", "value of %d bytes moved at once, want at most %d", l.ty.size, 256*width)
	}
	sites := make([]*siteRef, n)
	for i := range sites {
		sites[i] = c.newSite(op, l.at, l.from, l.dims, width, n, "")
		sites[i].offset = i * width
	}
	return sites
}

// load turns a place into its value.
func (c *compiler) load(e *cexpr) *cexpr {
	l := e.lv
	if l == nil {
		return e
	}
	switch {
	case l.ty.kind == kindArray:
		return c.decay(e)
	case l.ty.kind == kindStruct || l.ty.kind == kindOpaque:
		return e
	}
	r := &cexpr{ty: l.ty, effects: e.effects || l.effects(), from: l.from, at: e.at}
	switch {
	case l.opaque != "":
		r.why = l.opaque
		r.fn = c.unknownAfter(e.fn, r)
	case l.obj != nil:
		c.loadLocal(r, e, l)
	default:
		c.loadMemory(r, e, l)
	}
	return r
}

// decay turns an array into a pointer to its first element.
func (c *compiler) decay(e *cexpr) *cexpr {
	l := *e.lv
	l.ty = l.ty.elem
	return &cexpr{ty: pointerTo(l.ty), fn: e.fn, effects: e.effects, pt: &l, from: l.from, at: e.at}
}

// unknownAfter returns an evaluation that runs fn and gives an unknown value; nil where there is nothing to run.
func (c *compiler) unknownAfter(fn evalFn, e *cexpr) evalFn {
	if fn == nil {
		return nil
	}
	out := c.newVec()
	out.setUnknown(e.why)
	if e.ty.kind == kindPointer {
		out.v[0] = otherBase
	}
	return func(m *machine, mask laneMask) *vec {
		fn(m, mask)
		return out
	}
}

// then runs two evaluations and gives the value of the second.
func (c *compiler) then(a, b evalFn) evalFn {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return func(m *machine, mask laneMask) *vec {
		a(m, mask)
		return b(m, mask)
	}
}

func (c *compiler) loadMemory(r, e *cexpr, l *lval) {
	r.effects = true
	out, pre := c.newVec(), e.fn
	touch := c.touch(smem.Load, l)
	out.setUnknown("a value read from shared memory at " + c.where(l.at))
	if l.shared != nil {
		r.from = nil
		r.fn = func(m *machine, mask laneMask) *vec {
			if pre != nil {
				pre(m, mask)
			}
			touch(m, mask)
			return out
		}
		return
	}
	other := c.newVec()
	other.setUnknown("a value loaded from global memory at " + c.where(l.at))
	if l.ty.kind == kindPointer {
		out.v[0], other.v[0] = otherBase, otherBase
	}
	local, ty := c.newVec(), l.ty
	r.fn = func(m *machine, mask laneMask) *vec {
		if pre != nil {
			pre(m, mask)
		}
		a := touch(m, mask)
		switch a.at(mask.Lowest()) >> tagShift {
		case spaceShare:
			return out
		case spaceLocal:
			return m.readLocal(local, ty, a, mask)
		}
		return other
	}
	r.from = nil
}

// touch returns the evaluation that accesses shared memory at a place and gives the address. For a pointer only the
// lanes that point into shared memory take part.
func (c *compiler) touch(op smemOp, l *lval) evalFn {
	addr := c.address(l)
	sites := c.accesses(op, l)
	if l.shared != nil {
		if len(sites) == 1 {
			site := sites[0]
			return func(m *machine, mask laneMask) *vec {
				a := addr(m, mask)
				m.emit(site, mask, a)
				return a
			}
		}
		return func(m *machine, mask laneMask) *vec {
			a := addr(m, mask)
			for _, s := range sites {
				m.emit(s, mask, a)
			}
			return a
		}
	}
	return func(m *machine, mask laneMask) *vec {
		a := addr(m, mask)
		if in := m.sharedLanes(a, mask, sites[0].index >= 0); in != 0 {
			for _, s := range sites {
				m.emit(s, in, a)
			}
		}
		return a
	}
}

// store returns the evaluation that writes src, a value of the place's type, to a place. The value of the result is that
// of src.
func (c *compiler) store(l *lval, src *cexpr) (fn evalFn, effects bool) {
	switch {
	case l.opaque != "":
		return src.fn, src.effects
	case l.obj != nil:
		return c.storeLocal(l, src)
	}
	touch := c.touch(smem.Store, l)
	value := c.eval(src)
	if l.shared != nil {
		return func(m *machine, mask laneMask) *vec {
			v := value(m, mask)
			touch(m, mask)
			return v
		}, true
	}
	ty := l.ty
	l.from.add(src.from)
	return func(m *machine, mask laneMask) *vec {
		v := value(m, mask)
		a := touch(m, mask)
		if a.at(mask.Lowest())>>tagShift == spaceLocal {
			m.writeLocal(ty, a, v, mask)
		}
		return v
	}, true
}

// consume returns the evaluation that reads an aggregate as a whole, and whether it does anything.
func (c *compiler) consume(e *cexpr) (evalFn, bool) {
	l := e.lv
	if l == nil || l.obj != nil || l.opaque != "" || l.ty.kind == kindOpaque {
		if !e.effects {
			return nil, false
		}
		return e.fn, true
	}
	return c.then(e.fn, c.touch(smem.Load, l)), true
}

// eval returns the evaluation of a scalar, constants and values that are not followed included.
func (c *compiler) eval(e *cexpr) evalFn {
	switch {
	case e.pt != nil && e.fn == nil, e.pt != nil && !e.konst && e.ty.kind == kindPointer:
		return c.then(e.fn, c.pointerValue(e.pt))
	case e.fn != nil:
		return e.fn
	}
	out := c.newVec()
	switch {
	case e.konst:
		x := e.val
		out.set(x)
		for i := range out.v {
			out.v[i] = x
		}
	default:
		out.setUnknown(e.why)
		if e.ty.kind == kindPointer {
			out.v[0] = otherBase
		}
	}
	return func(m *machine, mask laneMask) *vec { return out }
}

// pointerValue makes a pointer to a place.
func (c *compiler) pointerValue(l *lval) evalFn {
	if l.opaque != "" {
		out := c.newVec()
		out.setUnknown(l.opaque)
		out.v[0] = otherBase
		return func(m *machine, mask laneMask) *vec { return out }
	}
	p := *l
	switch {
	case l.shared != nil:
		p.base += sharedBase
	case l.obj != nil:
		p.base += l.obj.addr
	}
	return c.address(&p)
}

// deref returns the place that a pointer points to.
func (c *compiler) deref(p *cexpr, at span) *cexpr {
	if p.ty.kind != kindPointer {
		c.fail(at, "sketch/type", "got a value of type %s, want a pointer", p.ty.name)
	}
	var l lval
	if p.pt != nil {
		l = *p.pt
	} else {
		l = lval{ptr: c.eval(p), from: p.from}
		if p.from == nil {
			l.from = &origin{}
		}
	}
	l.ty, l.at = p.ty.elem, at
	e := &cexpr{ty: l.ty, lv: &l, effects: p.effects, at: at}
	if p.pt != nil {
		e.fn = p.fn
	}
	return e
}

// offset adds a scaled index to a place.
func (c *compiler) offset(l *lval, i *cexpr, scale int64) *lval {
	n := *l
	if i.konst {
		n.base += i.val * scale
		return &n
	}
	n.terms = append(n.terms[:len(n.terms):len(n.terms)], term{c.eval(i), scale, i.effects})
	return &n
}
