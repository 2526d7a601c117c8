package sketch

func (c *compiler) assign(x *assign) *cexpr {
	dst := c.expr(x.x)
	if dst.lv == nil {
		if dst.ty.kind == kindOpaque {
			return c.unknown(typeOpaque, "a value of a library type", dst, c.value(x.y))
		}
		c.fail(x.x.at(), "sketch/type", "got a value, want a place to assign to")
	}
	if l, ok := x.y.(*initList); ok {
		if x.op != "" {
			c.fail(l.span, "sketch/syntax", "got a braced list, want an expression")
		}
		return c.assignList(dst, l)
	}
	if x.op == "" {
		return c.assignValue(dst, c.value(x.y), x.span)
	}
	pre, place := c.freeze(dst.lv)
	pre = c.then(dst.fn, pre)
	place.at = x.x.at()
	old := c.load(&cexpr{ty: place.ty, lv: place, at: x.x.at()})
	rhs := c.value(x.y)
	sum := c.combine(x.op, old, rhs, x.span)
	return c.finishUpdate(place, pre, dst.effects, sum)
}

// finishUpdate stores the new value of an assignment, after pre has run.
func (c *compiler) finishUpdate(place *lval, pre evalFn, preEffects bool, sum *cexpr) *cexpr {
	if place.ty.isAggregate() {
		fn, effects := c.copyAggregate(place, sum)
		if effects || preEffects {
			fn = c.then(pre, fn)
		}
		return &cexpr{ty: place.ty, fn: fn, effects: effects || preEffects, lv: place, stored: true}
	}
	sum = c.convert(sum, place.ty)
	fn, effects := c.store(place, sum)
	effects = effects || preEffects
	r := &cexpr{ty: place.ty, effects: effects, from: place.from}
	if !effects {
		r.why = sum.why
		if r.why == "" {
			r.why = "a value that is not followed"
		}
		return r
	}
	r.fn = c.then(pre, fn)
	if sum.why != "" || fn == nil {
		r.why = sum.why
		if r.why == "" {
			r.why = "a value that is not followed"
		}
		r.fn = c.unknownAfter(r.fn, r)
	}
	return r
}

func (c *compiler) assignValue(dst, src *cexpr, at span) *cexpr {
	place := dst.lv
	if place.ty.isAggregate() {
		if src.ty.isScalar() && place.ty.kind == kindArray {
			c.fail(at, "sketch/type", "got a value of type %s, want an element of the array to assign to", src.ty.name)
		}
		fn, effects := c.copyAggregate(place, src)
		return &cexpr{ty: place.ty, lv: place, fn: c.then(dst.fn, fn), effects: effects || dst.effects,
			stored: true}
	}
	if src.ty.kind == kindVoid {
		c.fail(at, "sketch/type", "got void, want a value of type %s", place.ty.name)
	}
	if !place.ty.isScalar() {
		u := c.unknown(place.ty, "a value of a library type", dst, src)
		return u
	}
	return c.finishUpdate(place, dst.fn, dst.effects, c.convert(src, place.ty))
}

func (c *compiler) assignList(dst *cexpr, l *initList) *cexpr {
	o := c.newObject("a temporary", dst.ty, "a braced list")
	fn, effects := c.fill(o.lval(l.span), l)
	return c.assignValue(dst, &cexpr{ty: dst.ty, lv: o.lval(l.span), effects: true, fn: func(m *machine, mask laneMask) *vec {
		o.declare(m, mask)
		if effects {
			fn(m, mask)
		}
		return nil
	}}, l.span)
}

// increment compiles ++ and --.
func (c *compiler) increment(x expr, op string, post bool, at span) *cexpr {
	dst := c.expr(x)
	if dst.lv == nil || !dst.lv.ty.isScalar() {
		c.fail(at, "sketch/type", "got a value of type %s, want a scalar variable for %s", dst.ty.name, op)
	}
	pre, place := c.freeze(dst.lv)
	pre = c.then(dst.fn, pre)
	place.at = x.at()
	old := c.load(&cexpr{ty: place.ty, lv: place, at: x.at()})
	one := constInt(typeInt, 1)
	if !post || place.obj == nil || old.why != "" {
		r := c.finishUpdate(place, pre, dst.effects, c.combine(op[:1], old, one, at))
		if post && r.why == "" {
			r.why = "a value read from memory at " + c.where(at)
			r.fn = c.unknownAfter(r.fn, r)
		}
		return r
	}
	read, slot := c.eval(old), c.newVec()
	kept := *old
	kept.pt = nil
	kept.fn = func(m *machine, mask laneMask) *vec { return slot }
	update := c.finishUpdate(place, nil, false, c.combine(op[:1], &kept, one, at)).fn
	return &cexpr{ty: place.ty, effects: true, from: place.from, fn: func(m *machine, mask laneMask) *vec {
		if pre != nil {
			pre(m, mask)
		}
		slot.copyFrom(read(m, mask))
		if update != nil {
			update(m, mask)
		}
		return slot
	}}
}

func (c *compiler) construct(x *construct) *cexpr {
	ty := c.resolve(x.ty)
	if ty == nil {
		c.fail(x.span, "sketch/type", "got auto, want a type")
	}
	if len(x.args) == 1 {
		if l, ok := x.args[0].(*initList); ok {
			return c.constructList(ty, l, x.span)
		}
		e := c.value(x.args[0])
		if ty.isScalar() && e.ty.isScalar() {
			return c.convert(e, ty)
		}
		if e.ty.same(ty) {
			return e
		}
		if ty.kind == kindStruct && ty.decl != nil && !ty.decl.ctor {
			return c.constructList(ty, &initList{x.span, x.args}, x.span)
		}
		return c.unknownOf(ty, "a value converted to "+ty.name, x.span, e)
	}
	if ty.kind == kindStruct && ty.decl != nil && ty.decl.ctor && len(x.args) > 0 {
		return c.unknownOf(ty, "the result of a constructor of "+ty.name, x.span, c.values(x.args)...)
	}
	return c.constructList(ty, &initList{x.span, x.args}, x.span)
}

func (c *compiler) constructList(ty *ctype, l *initList, at span) *cexpr {
	switch {
	case ty.isScalar() && len(l.elems) == 0:
		return &cexpr{ty: ty, konst: true}
	case ty.isScalar() && len(l.elems) == 1:
		return c.convert(c.value(l.elems[0]), ty)
	case !ty.isAggregate():
		var ops []*cexpr
		for _, x := range l.elems {
			if _, ok := x.(*initList); !ok {
				ops = append(ops, c.value(x))
			}
		}
		return c.unknownOf(ty, "a value of a library type", at, ops...)
	}
	o := c.newObject("a temporary", ty, "a floating-point value")
	fn, effects := c.fill(o.lval(at), l)
	return &cexpr{ty: ty, lv: o.lval(at), effects: effects, fn: func(m *machine, mask laneMask) *vec {
		o.declare(m, mask)
		if effects {
			fn(m, mask)
		}
		return nil
	}}
}

// fill compiles the initialization of a place by a braced list. Elements without a value become zero.
func (c *compiler) fill(l *lval, list *initList) (evalFn, bool) {
	var run evalFn
	effects := false
	put := func(part *lval, src *cexpr) {
		var fn evalFn
		var does bool
		if part.ty.isAggregate() {
			fn, does = c.copyAggregate(part, src)
		} else if part.ty.isScalar() {
			fn, does = c.store(part, c.convert(src, part.ty))
		} else {
			fn, does = src.fn, src.effects
		}
		if does {
			run, effects = c.then(run, fn), true
		}
	}
	parts := partsOf(l)
	if len(list.elems) > parts.n && parts.n >= 0 {
		c.fail(list.span, "sketch/type", "braced list has %d elements, want at most %d for %s", len(list.elems), parts.n,
			l.ty.name)
	}
	for i := range list.elems {
		part := parts.at(i)
		part.at = list.elems[i].at()
		if sub, ok := list.elems[i].(*initList); ok {
			if part.ty.isScalar() && len(sub.elems) <= 1 {
				put(part, c.constructList(part.ty, sub, sub.span))
				continue
			}
			fn, does := c.fill(part, sub)
			if does {
				run, effects = c.then(run, fn), true
			}
			continue
		}
		put(part, c.value(list.elems[i]))
	}
	if o := l.obj; o != nil && len(o.leaves) > 0 && len(l.terms) == 0 {
		// The rest is zero.
		from := l.base + parts.start(len(list.elems))
		to := l.base + int64(l.ty.size)
		zero := c.newVec()
		zero.set(0)
		zero.spread()
		for i, p := range o.at {
			if int64(p.off) >= from && int64(p.off) < to {
				run, effects = c.then(run, func(m *machine, mask laneMask) *vec {
					o.assign(m, i, zero, mask)
					return nil
				}), true
			}
		}
	}
	return run, effects
}

// parts are the elements or members of a place.
type parts struct {
	l *lval
	n int
}

func partsOf(l *lval) parts {
	switch l.ty.kind {
	case kindArray:
		return parts{l, l.ty.n}
	case kindStruct:
		return parts{l, len(l.ty.fields)}
	}
	return parts{l, 1}
}

func (p parts) start(i int) int64 {
	switch {
	case p.l.ty.kind == kindArray:
		return int64(i) * int64(p.l.ty.elem.size)
	case p.l.ty.kind == kindStruct && i < len(p.l.ty.fields):
		return int64(p.l.ty.fields[i].off)
	case i == 0:
		return 0
	}
	return int64(p.l.ty.size)
}

func (p parts) at(i int) *lval {
	l := *p.l
	l.base += p.start(i)
	switch l.ty.kind {
	case kindArray:
		l.ty = l.ty.elem
	case kindStruct:
		l.ty = l.ty.fields[i].ty
	}
	return &l
}
