package sketch

func (c *compiler) logical(x *binary) *cexpr {
	and := x.op == "&&"
	a := c.condition(x.x)
	if a.konst {
		if (a.val != 0) != and {
			return constInt(typeBool, truth(!and))
		}
		return c.condition(x.y)
	}
	b := c.condition(x.y)
	if !a.effects && !b.effects && a.why != "" && b.why != "" {
		return c.unknown(typeBool, a.why)
	}
	left, right, out := c.eval(a), c.eval(b), c.newVec()
	reason := &branchReason{place: c.where(x.x.at())}
	sure := !b.effects
	return &cexpr{ty: typeBool, effects: a.effects || b.effects, fn: func(m *machine, mask laneMask) *vec {
		p := left(m, mask)
		yes, no, unknown := p.split(mask)
		decided, open := no, yes
		if !and {
			decided, open = yes, no
		}
		if open|unknown == 0 {
			out.set(truth(!and))
			return out
		}
		var q *vec
		if unknown != 0 && !sure {
			unsure, why := m.unsure, m.why
			m.uncertain(unknown, reason.of(p.why))
			q = right(m, open|unknown)
			m.unsure, m.why = unsure, why
		} else {
			q = right(m, open|unknown)
		}
		if decided|unknown == 0 {
			return q
		}
		out.set(truth(!and))
		out.merge(q, open)
		if unknown != 0 {
			// unknown && false is false, unknown || true is true.
			_, f, _ := q.split(unknown)
			t, _, _ := q.split(unknown)
			still := unknown &^ f
			known := f
			if !and {
				still, known = unknown&^t, t
			}
			out.merge(q, known)
			if still != 0 {
				out.spread()
				out.uni = false
				out.unk |= still
				out.why = p.why
			}
		}
		return out
	}}
}

func (c *compiler) conditional(x *conditional) *cexpr {
	cond := c.condition(x.cond)
	if cond.konst {
		if cond.val != 0 {
			return c.expr(x.yes)
		}
		return c.expr(x.no)
	}
	a, b := c.value(x.yes), c.value(x.no)
	switch {
	case a.ty.kind == kindVoid || b.ty.kind == kindVoid:
		return c.choose(cond, typeVoid, a, b, x)
	case a.ty.isAggregate() || b.ty.isAggregate():
		return c.chooseAggregate(cond, a, b, x)
	case a.ty.kind == kindPointer || b.ty.kind == kindPointer:
		ty := a.ty
		if ty.kind != kindPointer || ty.elem.kind == kindVoid {
			ty = b.ty
		}
		r := c.choose(cond, ty, a, b, x)
		r.from = &origin{from: []*origin{a.from, b.from}}
		return r
	case a.ty.kind == kindOpaque || b.ty.kind == kindOpaque:
		return c.choose(cond, typeOpaque, a, b, x)
	}
	ty := arithmetic(a.ty, b.ty)
	if a.ty == b.ty {
		ty = a.ty
	}
	r := c.choose(cond, ty, c.convert(a, ty), c.convert(b, ty), x)
	if a.from != nil || b.from != nil {
		r.from = &origin{from: []*origin{a.from, b.from}}
	}
	return r
}

// choose evaluates one of two expressions in each lane.
func (c *compiler) choose(cond *cexpr, ty *ctype, a, b *cexpr, x *conditional) *cexpr {
	r := &cexpr{ty: ty, effects: cond.effects || a.effects || b.effects}
	if !ty.isScalar() || ty.kind == kindFloat {
		r.why = "a floating-point value"
		for _, e := range []*cexpr{cond, a, b} {
			if e.why != "" {
				r.why = e.why
			}
		}
		if !r.effects {
			return r
		}
	}
	test, yes, no, out := c.eval(cond), c.evalOrNone(a), c.evalOrNone(b), c.newVec()
	reason := &branchReason{place: c.where(x.cond.at())}
	why, effects := r.why, a.effects || b.effects
	r.fn = func(m *machine, mask laneMask) *vec {
		p := test(m, mask)
		t, f, u := p.split(mask)
		unsure, oldWhy := m.unsure, m.why
		if u != 0 && effects {
			m.uncertain(u, reason.of(p.why))
		}
		out.unk = 0
		out.set(0)
		if t|u != 0 {
			if v := yes(m, t|u); v != nil {
				if f|u == 0 {
					out.copyFrom(v)
				} else {
					out.uni = false
					out.merge(v, t)
				}
			}
		}
		if f|u != 0 {
			if v := no(m, f|u); v != nil {
				if t|u == 0 {
					out.copyFrom(v)
				} else {
					out.merge(v, f)
				}
			}
		}
		if u != 0 {
			out.spread()
			out.uni = false
			out.unk |= u
			out.why = p.why
			m.unsure, m.why = unsure, oldWhy
		}
		if why != "" {
			out.setUnknown(why)
		}
		return out
	}
	return r
}

// evalOrNone returns the evaluation of a value, or one that does nothing.
func (c *compiler) evalOrNone(e *cexpr) evalFn {
	if e.ty.isScalar() {
		return c.eval(e)
	}
	if e.fn != nil {
		return e.fn
	}
	return func(m *machine, mask laneMask) *vec { return nil }
}

func (c *compiler) chooseAggregate(cond, a, b *cexpr, x *conditional) *cexpr {
	o := c.newObject("a temporary", a.ty, "a value chosen by a condition")
	fa, ea := c.copyAggregate(o.lval(x.span), a)
	fb, eb := c.copyAggregate(o.lval(x.span), b)
	r := c.choose(cond, typeVoid, &cexpr{ty: typeVoid, fn: fa, effects: ea}, &cexpr{ty: typeVoid, fn: fb, effects: eb}, x)
	run := r.fn
	return &cexpr{ty: a.ty, lv: o.lval(x.span), effects: r.effects, fn: func(m *machine, mask laneMask) *vec {
		o.declare(m, mask)
		if run != nil {
			run(m, mask)
		}
		return nil
	}}
}
