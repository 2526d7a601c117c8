package sketch

// overloaded calls an operator function of the source; without one the result is not followed.
func (c *compiler) overloaded(name string, at span, ty *ctype, args ...*cexpr) *cexpr {
	for _, f := range c.p.unit.funcs[name] {
		if len(f.params) == len(args) {
			return c.inline(f, at, nil, args)
		}
	}
	for i, a := range args {
		if fn, effects := c.consume(a); effects {
			args[i] = &cexpr{ty: a.ty, fn: fn, effects: true}
		}
	}
	if ty.kind == kindStruct {
		o := c.newObject("a temporary", ty, "a value computed by "+name)
		r := c.unknown(ty, "a value computed by "+name, args...)
		r.lv, r.why = o.lval(at), ""
		return r
	}
	return c.unknown(ty, "a value computed by "+name, args...)
}

func (c *compiler) binary(x *binary) *cexpr {
	switch x.op {
	case ",":
		a := c.discard(c.expr(x.x))
		b := c.expr(x.y)
		r := *b
		if a.effects {
			r.fn, r.effects = c.then(a.fn, c.evalIfValue(b)), true
			if b.lv == nil {
				r.konst = false
			}
		}
		return &r
	case "&&", "||":
		return c.logical(x)
	}
	a, b := c.value(x.x), c.value(x.y)
	return c.combine(x.op, a, b, x.span)
}

// combine applies a binary operator other than && || and comma to two values.
func (c *compiler) combine(op string, a, b *cexpr, at span) *cexpr {
	comparison := op == "==" || op == "!=" || op == "<" || op == ">" || op == "<=" || op == ">="
	if op == ">" || op == ">=" {
		a, b = b, a
		op = map[string]string{">": "<", ">=": "<="}[op]
	}
	code := opcodes[op]
	ap, bp := a.ty.kind == kindPointer, b.ty.kind == kindPointer
	switch {
	case a.ty.kind == kindVoid || b.ty.kind == kindVoid:
		c.fail(at, "sketch/type", "got void, want two operands of '%s'", op)
	case !a.ty.isScalar() || !b.ty.isScalar():
		ty := a.ty
		if !ty.isAggregate() && b.ty.isAggregate() {
			ty = b.ty
		}
		if comparison {
			ty = typeBool
		}
		return c.overloaded("operator"+op, at, ty, a, b)
	case comparison && (ap || bp):
		return c.arith(code, typeBool, typeULongLong, a, b, at)
	case ap && bp && op == "-":
		size := int64(max(a.ty.elem.size, 1))
		d := c.arith(opSub, typeLongLong, typeLongLong, a, b, at)
		return c.arith(opDiv, typeLongLong, typeLongLong, d, constInt(typeLongLong, size), at)
	case ap && b.ty.isInteger() && (op == "+" || op == "-"):
		return c.movePointer(a, b, op == "-")
	case bp && a.ty.isInteger() && op == "+":
		return c.movePointer(b, a, false)
	case ap || bp:
		c.fail(at, "sketch/type", "got a pointer, want arithmetic operands of '%s'", op)
	case a.ty.kind == kindFloat || b.ty.kind == kindFloat:
		return c.floatOp(op, a, b, at)
	}
	if op == "<<" || op == ">>" {
		ty := promote(a.ty)
		return c.arith(code, ty, ty, c.convert(a, ty), c.convert(b, promote(b.ty)), at)
	}
	ty := arithmetic(a.ty, b.ty)
	result := ty
	if comparison {
		result = typeBool
	}
	return c.arith(code, result, ty, c.convert(a, ty), c.convert(b, ty), at)
}

// movePointer adds an integer to a pointer.
func (c *compiler) movePointer(p, i *cexpr, back bool) *cexpr {
	size := int64(p.ty.elem.size)
	if p.ty.elem.kind == kindArray && p.ty.elem.n < 0 {
		size = 0
	}
	if back {
		size = -size
	}
	r := &cexpr{ty: p.ty, effects: p.effects || i.effects, from: p.from}
	if p.pt != nil {
		r.fn, r.pt = p.fn, c.offset(p.pt, i, size)
		return r
	}
	l := c.offset(&lval{ptr: c.eval(p), ty: p.ty.elem}, i, size)
	r.fn = c.address(l)
	return r
}

func (c *compiler) floatOp(op string, a, b *cexpr, at span) *cexpr {
	ty := arithmetic(a.ty, b.ty)
	if a.konst && b.konst {
		x, y := c.convert(a, ty).fval, c.convert(b, ty).fval
		switch op {
		case "+":
			return &cexpr{ty: ty, konst: true, fval: x + y}
		case "-":
			return &cexpr{ty: ty, konst: true, fval: x - y}
		case "*":
			return &cexpr{ty: ty, konst: true, fval: x * y}
		case "/":
			return &cexpr{ty: ty, konst: true, fval: x / y}
		case "<":
			return constInt(typeBool, truth(x < y))
		case "<=":
			return constInt(typeBool, truth(x <= y))
		case "==":
			return constInt(typeBool, truth(x == y))
		case "!=":
			return constInt(typeBool, truth(x != y))
		}
	}
	switch op {
	case "<", "<=", "==", "!=":
		ty = typeBool
	case "+", "-", "*", "/":
	default:
		c.fail(at, "sketch/type", "got floating-point operands of '%s', want integers", op)
	}
	return c.unknown(ty, "", a, b)
}

// arith applies an integer operator to operands that have been brought to type ty.
func (c *compiler) arith(op opcode, result, ty *ctype, a, b *cexpr, at span) *cexpr {
	divides := op == opDiv || op == opRem
	if a.konst && b.konst {
		if divides && b.val == 0 {
			c.fail(at, "sketch/division", "division by zero")
		}
		return &cexpr{ty: result, konst: true, val: op.one(ty, a.val, b.val)}
	}
	r := &cexpr{ty: result, effects: a.effects || b.effects, from: a.from}
	if a.from != nil && b.from != nil {
		r.from = &origin{from: []*origin{a.from, b.from}}
	} else if b.from != nil {
		r.from = b.from
	}
	if a.why != "" || b.why != "" {
		u := c.unknown(result, "", a, b)
		u.from = r.from
		return u
	}
	if divides && b.konst && b.val == 0 {
		c.fail(at, "sketch/division", "division by zero")
	}
	x, y, out := c.eval(a), c.eval(b), c.newVec()
	guard := divides && !b.konst
	r.fn = func(m *machine, mask laneMask) *vec {
		p := x(m, mask)
		q := y(m, mask)
		if p.unk|q.unk == 0 {
			out.unk = 0
		} else {
			out.blame(p, q)
		}
		if guard {
			checkDivisor(m, mask, q, out, at)
		}
		if p.uni && q.uni {
			out.uni = true
			out.v[0] = op.one(ty, p.v[0], q.v[0])
			return out
		}
		out.uni = false
		switch {
		case q.uni:
			op.right(ty, out.v, p.v, q.v[0])
		case p.uni && op.commutes():
			op.right(ty, out.v, q.v, p.v[0])
		default:
			p.spread()
			op.all(ty, out.v, p.v, q.v)
		}
		return out
	}
	return r
}

// checkDivisor ends the run when a lane divides by zero. Lanes that may not run get an unknown result instead.
func checkDivisor(m *machine, mask laneMask, q, out *vec, at span) {
	_, zero, _ := q.split(mask)
	if zero == 0 {
		return
	}
	if doubtful := zero & m.unsure; doubtful != zero || m.ghost != 0 {
		lane := (zero &^ m.unsure).Lowest()
		m.fail(at, "sketch/division", "division by zero in lane %d of warp %d", lane, m.warp)
		return
	}
	out.unk |= zero
	out.why = "a division by zero that may not run"
	if out.uni {
		out.unk = allLanes
	}
}
