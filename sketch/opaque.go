package sketch

import (
	"strings"

	"shmoo/smem"
)

// unknownFunction stands for a call of a function that the source does not define: its result is not known, what it may
// write is forgotten, and what it may do to shared memory is unresolved.
func (c *compiler) unknownFunction(name string, x *call) *cexpr {
	if strings.HasPrefix(name, "__") && !strings.Contains(name, "::") {
		// An intrinsic that is not in the table: values in, a value out.
		return c.opaqueCall("function "+name, x)
	}
	c.diags.warnf("sketch/unknown-function", x.span,
		"unknown function '%s': its result and what it does to shared memory are not known", clip(name))
	return c.opaqueCall("function "+name, x)
}

func (c *compiler) opaqueCall(what string, x *call) *cexpr {
	var ops []*cexpr
	var run, after evalFn
	for _, a := range x.args {
		e := c.expr(a)
		o := objectOf(e)
		e = c.load(e)
		if o == nil {
			o = objectOf(e)
		}
		if o != nil && len(o.leaves) > 0 {
			why := "a value set by " + what
			after = c.then(after, func(m *machine, mask laneMask) *vec { o.forget(0, -1, mask, why); return nil })
		}
		if e.ty.isAggregate() {
			continue
		}
		if e.ty.kind == kindPointer && (e.pt == nil || e.pt.shared != nil) {
			slot, value := c.newVec(), c.eval(e)
			run = c.then(run, func(m *machine, mask laneMask) *vec {
				slot.copyFrom(value(m, mask))
				m.forgetTarget(slot, mask, "a value set by "+what)
				return slot
			})
			once := &cexpr{ty: e.ty, from: e.from, at: e.at, fn: func(m *machine, mask laneMask) *vec { return slot }}
			run = c.then(run, c.unresolvedTouch(smem.Load, c.deref(once, a.at()), what+" is not followed into shared memory"))
			continue
		}
		ops = append(ops, e)
	}
	r := c.unknown(typeOpaque, "the result of "+what, ops...)
	if run = c.then(run, after); run != nil {
		r.fn, r.effects = c.unknownAfter(c.then(r.fn, run), r), true
	}
	return r
}

// objectOf returns the variable that an expression names or points to, or nil.
func objectOf(e *cexpr) *object {
	switch {
	case e.lv != nil:
		return e.lv.obj
	case e.pt != nil:
		return e.pt.obj
	}
	return nil
}

// unresolvedTouch counts an access to a place whose addresses are not known for the reason why.
func (c *compiler) unresolvedTouch(op smemOp, e *cexpr, why string) evalFn {
	l := *e.lv
	if l.opaque != "" || l.obj != nil {
		return e.fn
	}
	width := 4
	if l.ty.size == 1 || l.ty.size == 2 || l.ty.size == 8 || l.ty.size == 16 {
		width = l.ty.size
	}
	site := c.newSite(op, l.at, l.from, l.dims, width, 1, "")
	site.why = why
	addr, sure := c.address(&l), l.shared != nil
	return c.then(e.fn, func(m *machine, mask laneMask) *vec {
		a := addr(m, mask)
		if !sure {
			mask = m.sharedLanes(a, mask, site.index >= 0)
		}
		m.emit(site, mask, a)
		return a
	})
}

// forgetTarget makes the variable that a pointer points to unknown.
func (m *machine) forgetTarget(p *vec, mask laneMask, why string) {
	at := p.at(mask.Lowest())
	if at>>tagShift != spaceLocal {
		return
	}
	if o, _ := m.code.find(at); o != nil {
		o.forget(0, -1, mask, why)
	}
}
