package sketch

import (
	"math/bits"
)

// expr compiles an expression; what names a place stays a place (see load).
func (c *compiler) expr(x expr) *cexpr {
	if c.nodes++; c.nodes > c.limits.Nodes {
		c.fail(x.at(), "sketch/limit", "kernel expands to more than %d operations, want fewer or smaller inlined calls",
			c.limits.Nodes)
	}
	e := c.operandOf(x)
	e.at = x.at()
	return e
}

// value compiles an expression and loads it.
func (c *compiler) value(x expr) *cexpr { return c.load(c.expr(x)) }

func constInt(t *ctype, v int64) *cexpr { return &cexpr{ty: t, konst: true, val: t.wrap(v)} }

func (c *compiler) operandOf(x expr) *cexpr {
	switch x := x.(type) {
	case *intLit:
		return &cexpr{ty: x.ty, konst: true, val: int64(x.val)}
	case *floatLit:
		return &cexpr{ty: x.ty, konst: true, fval: x.val}
	case *stringLit:
		return &cexpr{ty: pointerTo(typeChar), why: "a string", from: &origin{}}
	case *ident:
		return c.ident(x)
	case *unary:
		return c.unary(x)
	case *postfix:
		return c.increment(x.x, x.op, true, x.span)
	case *binary:
		return c.binary(x)
	case *assign:
		return c.assign(x)
	case *conditional:
		return c.conditional(x)
	case *index:
		return c.index(x)
	case *member:
		return c.member(x)
	case *call:
		return c.call(x)
	case *cast:
		return c.cast(x)
	case *construct:
		return c.construct(x)
	case *sizeofExpr:
		return c.sizeof(x)
	case *paren:
		return c.expr(x.x)
	case *lambda:
		return &cexpr{ty: typeOpaque, fun: &symbol{fn: x, env: c.scope}, why: "a lambda"}
	case *initList:
		c.fail(x.span, "sketch/syntax", "got a braced list, want an expression")
	}
	c.fail(x.at(), "sketch/internal", "expression of kind %T is not compiled", x)
	return nil
}

func (c *compiler) sizeof(x *sizeofExpr) *cexpr {
	var ty *ctype
	if x.ty != nil {
		ty = c.resolve(x.ty)
	} else {
		ty = c.expr(x.x).ty
	}
	if ty == nil || ty.size < 0 || ty.kind == kindOpaque || ty.kind == kindArray && ty.n < 0 {
		c.fail(x.span, "sketch/type", "size is not known, want a complete type")
	}
	if x.align {
		return constInt(typeULongLong, int64(ty.align))
	}
	return constInt(typeULongLong, int64(ty.size))
}

// unknown returns a value that is not followed, after the operands have done what they do.
func (c *compiler) unknown(ty *ctype, why string, operands ...*cexpr) *cexpr {
	r := &cexpr{ty: ty, why: why}
	var fn evalFn
	for _, o := range operands {
		if o.effects {
			fn = c.then(fn, o.fn)
			r.effects = true
		}
	}
	for _, o := range operands {
		if o.why != "" && r.why == "" {
			r.why = o.why
		}
	}
	if r.why == "" {
		r.why = "a floating-point value"
	}
	r.fn = c.unknownAfter(fn, r)
	return r
}

func (c *compiler) unary(x *unary) *cexpr {
	switch x.op {
	case "*":
		return c.deref(c.value(x.x), x.span)
	case "&":
		return c.addressOf(x)
	case "++", "--":
		return c.increment(x.x, x.op, false, x.span)
	case "!":
		e := c.condition(x.x)
		return c.arith(opEq, typeBool, typeBool, e, constInt(typeBool, 0), x.span)
	}
	e := c.value(x.x)
	switch {
	case e.ty.kind == kindFloat:
		if e.konst && x.op == "-" {
			return &cexpr{ty: e.ty, konst: true, fval: -e.fval}
		}
		if x.op == "+" {
			return e
		}
		return c.unknown(e.ty, e.why, e)
	case e.ty.kind == kindPointer && x.op == "+":
		return e
	case !e.ty.isInteger():
		return c.overloaded("operator"+x.op, x.span, e.ty, e)
	}
	ty := promote(e.ty)
	e = c.convert(e, ty)
	switch x.op {
	case "-":
		return c.arith(opSub, ty, ty, constInt(ty, 0), e, x.span)
	case "~":
		return c.arith(opXor, ty, ty, e, constInt(ty, -1), x.span)
	}
	return e
}

func (c *compiler) addressOf(x *unary) *cexpr {
	e := c.expr(x.x)
	if e.lv == nil {
		if e.fun != nil {
			return e
		}
		c.fail(x.span, "sketch/type", "got a value, want a place to take the address of")
	}
	return &cexpr{ty: pointerTo(e.lv.ty), fn: e.fn, effects: e.effects, pt: e.lv, from: e.lv.from}
}

// evalIfValue returns the evaluation of a value, or what must run before a place is used.
func (c *compiler) evalIfValue(e *cexpr) evalFn {
	if e.lv != nil || e.ty.kind == kindVoid {
		return e.fn
	}
	return c.eval(e)
}

// discard compiles an expression whose value nobody wants: a place is read.
func (c *compiler) discard(e *cexpr) *cexpr {
	if e.lv != nil && !e.stored && (e.lv.shared != nil || e.lv.ptr != nil) {
		if e.ty.kind == kindStruct {
			fn, _ := c.consume(e)
			return &cexpr{ty: typeVoid, fn: fn, effects: true}
		}
		if e.ty.isScalar() {
			return c.load(e)
		}
	}
	return e
}

func (c *compiler) index(x *index) *cexpr {
	base, i := c.expr(x.x), c.value(x.i)
	if base.ty.isInteger() && i.ty.kind == kindPointer { // 3[array]
		base, i = i, c.load(base)
	}
	if !i.ty.isInteger() {
		if i.ty.kind == kindOpaque {
			i = c.unknown(typeInt, "a value of a library type", i)
		} else {
			c.fail(x.i.at(), "sketch/type", "got an index of type %s, want an integer", i.ty.name)
		}
	}
	if base.lv != nil && base.ty.kind == kindOpaque {
		l := *base.lv
		l.at = x.span
		return &cexpr{ty: typeOpaque, lv: &l, fn: base.fn, effects: base.effects}
	}
	p := c.load(base)
	if p.ty.kind != kindPointer {
		if r := c.callMethod(base, "operator[]", x.span, nil, []*cexpr{i}); r != nil {
			return r
		}
		c.fail(x.span, "sketch/type", "got a value of type %s, want an array or pointer to index", p.ty.name)
	}
	q := c.movePointer(p, i, false)
	e := c.deref(q, x.span)
	if base.lv != nil {
		e.lv.dims = append(base.lv.dims[:len(base.lv.dims):len(base.lv.dims)], x.i.at())
	} else {
		e.lv.dims = []span{x.i.at()}
	}
	return e
}

func (c *compiler) member(x *member) *cexpr {
	if id, ok := unparen(x.x).(*ident); ok && !x.arrow && builtinVectors[id.name] && c.scope.find(id.name) == nil {
		switch x.name {
		case "x", "y", "z":
			return c.builtinComponent(id.name, int(x.name[0]-'x'))
		}
		c.fail(x.span, "sketch/name", "%s has no member '%s', want x, y or z", id.name, clip(x.name))
	}
	e := c.expr(x.x)
	if x.arrow {
		e = c.deref(c.load(e), x.span)
	}
	if e.ty.kind == kindOpaque || e.lv == nil && e.ty.kind == kindFloat {
		why := "member " + x.name + " of a library type"
		return &cexpr{ty: typeOpaque, fn: e.fn, effects: e.effects, lv: &lval{ty: typeOpaque, opaque: why, at: x.span}}
	}
	f := e.ty.field(x.name)
	if f == nil {
		if e.ty.kind == kindFloat || e.ty.vector {
			// The raw bits of a half and the like.
			c.fail(x.span, "sketch/name", "type %s has no member '%s'", e.ty.name, clip(x.name))
		}
		if e.ty.env != nil {
			if s := e.ty.env.names[x.name]; s != nil && s.val != nil {
				return c.symbolValue(s, &ident{span: x.span, name: x.name})
			}
		}
		c.fail(x.span, "sketch/name", "type %s has no member '%s'", e.ty.name, clip(x.name))
	}
	if e.lv == nil {
		c.fail(x.span, "sketch/type", "got a value of type %s, want a struct", e.ty.name)
	}
	l := *e.lv
	l.base += int64(f.off)
	l.ty, l.at = f.ty, x.span
	return &cexpr{ty: f.ty, lv: &l, fn: e.fn, effects: e.effects}
}

func (c *compiler) cast(x *cast) *cexpr {
	ty := c.resolve(x.ty)
	if ty == nil {
		return c.expr(x.x)
	}
	if x.ty.form == formReference {
		e := c.expr(x.x)
		if e.lv == nil {
			return c.convert(c.load(e), ty)
		}
		l := *e.lv
		l.ty, l.at = ty, x.span
		return &cexpr{ty: ty, lv: &l, fn: e.fn, effects: e.effects}
	}
	e := c.expr(x.x)
	if ty.kind == kindVoid {
		return c.discard(e)
	}
	e = c.load(e)
	if !e.ty.isScalar() || !ty.isScalar() {
		if e.ty.same(ty) {
			return e
		}
		return c.unknownOf(ty, "a value converted to "+ty.name, x.span, e)
	}
	return c.convert(e, ty)
}

// unknownOf is unknown for any type: an aggregate gets a temporary of unknown content.
func (c *compiler) unknownOf(ty *ctype, why string, at span, operands ...*cexpr) *cexpr {
	for i, o := range operands {
		if fn, effects := c.consume(o); o.lv != nil && effects {
			operands[i] = &cexpr{ty: o.ty, fn: fn, effects: true, why: o.why}
		}
	}
	r := c.unknown(ty, why, operands...)
	if !ty.isAggregate() {
		return r
	}
	o := c.newObject("a temporary", ty, why)
	r.lv, r.why = o.lval(at), ""
	return r
}

// lanesOf calls f for every lane of a mask.
func lanesOf(mask laneMask, f func(lane int)) {
	for w := uint64(mask); w != 0; w &= w - 1 {
		f(bits.TrailingZeros64(w))
	}
}

// unparen strips parentheses.
func unparen(x expr) expr {
	for {
		p, ok := x.(*paren)
		if !ok {
			return x
		}
		x = p.x
	}
}
