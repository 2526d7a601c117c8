package sketch

import (
	"math"
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

func (c *compiler) ident(x *ident) *cexpr {
	if s := c.scope.find(x.name); s != nil {
		return c.symbolValue(s, x)
	}
	name := unqualified(x.name)
	if x.qual != nil {
		if ty := c.structNamed(x.qual); ty != nil {
			if s := ty.env.names[name]; s != nil {
				return c.symbolValue(s, x)
			}
		}
	}
	if e := c.enumValue(x.name); e != nil {
		return e
	}
	if e := c.enumValue(name); e != nil {
		return e
	}
	if v := c.p.unit.globals[x.name]; v != nil {
		return c.symbolValue(c.globalVar(v, x.name), x)
	}
	if v := c.p.unit.globals[name]; v != nil {
		return c.symbolValue(c.globalVar(v, name), x)
	}
	if name == "this" {
		c.fail(x.span, "sketch/name", "this outside a member function")
	}
	if name == "warpSize" {
		return constInt(typeInt, int64(c.lanes))
	}
	if builtinVectors[name] {
		return c.builtinVector(name)
	}
	if x.lit != nil {
		return c.expr(x.lit)
	}
	if x.name != name {
		return &cexpr{ty: typeOpaque, why: "library name " + x.name, lv: &lval{ty: typeOpaque, opaque: "library name " + x.name}}
	}
	c.fail(x.span, "sketch/name", "'%s' is not declared, want a declaration or -D %s=VALUE", clip(x.name), clip(x.name))
	return nil
}

func (c *compiler) symbolValue(s *symbol, x *ident) *cexpr {
	switch {
	case s.lv != nil:
		l := *s.lv
		l.at = x.span
		return &cexpr{ty: l.ty, lv: &l}
	case s.val != nil:
		v := *s.val
		return &v
	case s.fn != nil:
		return &cexpr{ty: typeOpaque, fun: s, why: "a lambda"}
	}
	c.fail(x.span, "sketch/name", "got type '%s', want an expression", clip(x.name))
	return nil
}

// enumValue returns the value of an enum's constant.
func (c *compiler) enumValue(name string) *cexpr {
	n := int64(0)
	for steps := 0; ; steps++ {
		k := c.p.unit.enums[name]
		if k == nil || steps > 1<<16 {
			return nil
		}
		if k.val != nil {
			saved := c.scope
			c.scope = c.global
			v := c.constant(k.val, "an enum value")
			c.scope = saved
			return constInt(typeInt, v+n)
		}
		if k.prev == "" {
			return constInt(typeInt, n)
		}
		n++
		name = k.prev
	}
}

// globalVar makes a variable of the file known, the first time it is used.
func (c *compiler) globalVar(v *varDecl, name string) *symbol {
	saved, frame := c.scope, c.frame
	c.scope = c.global
	defer func() { c.scope, c.frame = saved, frame }()
	// Against definitions in terms of themselves.
	c.global.names[name] = &symbol{val: &cexpr{ty: typeInt, why: "a constant defined by itself"}}
	var s *symbol
	switch {
	case v.shared:
		s = &symbol{lv: c.sharedPlace(v)}
	case v.device || !v.constant || v.init == nil:
		ty := c.resolve(v.ty)
		if ty == nil {
			ty = typeOpaque
		}
		s = &symbol{lv: &lval{ty: ty, opaque: "global variable " + name, from: &origin{}}}
	default:
		s = c.constantVar(v)
	}
	c.global.names[name] = s
	return s
}

// constantVar declares a constant of the file. What is not a compile-time constant is worked out when a warp starts.
func (c *compiler) constantVar(v *varDecl) *symbol {
	ty := c.resolve(v.ty)
	if ty == nil || ty.isScalar() {
		init := v.init
		if l, ok := init.(*initList); ok && len(l.elems) == 1 {
			init = l.elems[0]
		}
		if v.given != nil {
			init = v.given
		}
		e := c.value(init)
		if ty == nil {
			ty = e.ty
		}
		e = c.convert(e, ty)
		if e.konst {
			return &symbol{val: e}
		}
		if ty.isInteger() && e.why == "" {
			return &symbol{val: constInt(ty, c.constant(init, "constant "+v.name))}
		}
		return &symbol{val: e}
	}
	o, init := c.initialized(v, ty)
	if init != nil {
		c.prologue = append(c.prologue, init)
	}
	return &symbol{lv: o.lval(v.span)}
}

// builtinVectors are the built-in variables of type uint3 and dim3.
var builtinVectors = map[string]bool{"threadIdx": true, "blockIdx": true, "blockDim": true, "gridDim": true}

// builtinComponent compiles threadIdx.x and its like.
func (c *compiler) builtinComponent(name string, axis int) *cexpr {
	switch name {
	case "blockDim":
		return constInt(typeUint, int64(c.launch.block[axis]))
	case "gridDim":
		return constInt(typeUint, int64(c.launch.grid[axis]))
	case "blockIdx":
		return &cexpr{ty: typeUint, fn: func(m *machine, mask laneMask) *vec { return &m.place[axis] }}
	}
	return &cexpr{ty: typeUint, fn: func(m *machine, mask laneMask) *vec { return &m.thread[axis] }}
}

// builtinVector compiles a built-in variable used as a whole.
func (c *compiler) builtinVector(name string) *cexpr {
	o := c.newObject(name, builtinTypes["uint3"], name)
	var fill [3]evalFn
	for axis := range fill {
		fill[axis] = c.eval(c.builtinComponent(name, axis))
	}
	return &cexpr{ty: o.ty, lv: o.lval(span{}), effects: true, fn: func(m *machine, mask laneMask) *vec {
		o.declare(m, mask)
		for axis := range fill {
			o.assign(m, axis, fill[axis](m, mask), mask)
		}
		return nil
	}}
}

func (c *compiler) sizeof(x *sizeofExpr) *cexpr {
	var ty *ctype
	if x.ty != nil {
		ty = c.resolve(x.ty)
	} else {
		ty = c.expr(x.x).ty
	}
	if ty == nil || ty.kind == kindOpaque || ty.kind == kindArray && ty.n < 0 {
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

// convert brings a scalar to another type.
func (c *compiler) convert(e *cexpr, t *ctype) *cexpr {
	from := e.ty
	if t == nil || from == t {
		return e
	}
	if from.kind == kindStruct && from.decl != nil && t.isScalar() {
		if r := c.callConversion(e, t); r != nil {
			return c.convert(c.load(r), t)
		}
	}
	if !from.isScalar() || !t.isScalar() {
		if from.kind == kindOpaque || t.kind == kindOpaque || from.isAggregate() && t.kind == kindFloat {
			return c.unknown(t, "a value of a library type", e)
		}
		if t.isScalar() && from.kind == kindStruct {
			return c.unknown(t, "a struct converted to "+t.name, e)
		}
		return e
	}
	r := *e
	r.ty = t
	switch {
	case t.kind == kindFloat:
		if e.konst {
			if from.kind != kindFloat {
				r.fval = float64(e.val)
				if from.wideUnsigned() {
					r.fval = float64(uint64(e.val))
				}
			}
			return &r
		}
		if from.kind != kindFloat {
			return c.unknown(t, e.why, e)
		}
		return &r
	case from.kind == kindFloat:
		if e.konst {
			f := e.fval
			switch {
			case t.kind == kindBool:
				r.val = truth(f != 0)
			case f >= math.MaxInt64 || f <= math.MinInt64 || f != f:
				return c.unknown(t, "a floating-point value out of range")
			default:
				r.val = t.wrap(int64(f))
			}
			return &r
		}
		return c.unknown(t, e.why, e)
	case e.konst:
		r.val = t.wrap(e.val)
		r.pt = nil
		return &r
	case e.why != "":
		return c.unknown(t, e.why, e)
	case t.kind == kindPointer && from.kind == kindPointer:
		if e.pt != nil && t.elem.kind != kindVoid {
			pt := *e.pt
			pt.ty = t.elem
			r.pt = &pt
		}
		return &r
	case t.kind == kindPointer:
		if r.from == nil {
			r.from = &origin{}
		}
		return &r
	}
	if from.kind == kindPointer {
		r.fn, r.pt = c.eval(e), nil
	}
	if t.kind != kindBool && t.kind != kindPointer && fits(from, t) {
		return &r
	}
	fn := r.fn
	out := c.newVec()
	r.fn = func(m *machine, mask laneMask) *vec {
		a := fn(m, mask)
		out.uni, out.unk, out.why = a.uni, a.unk, a.why
		if a.uni {
			out.v[0] = t.wrap(a.v[0])
			return out
		}
		copy(out.v, a.v)
		wrapAll(t, out.v)
		return out
	}
	return &r
}

// fits reports whether every value of an integer type is the same in another.
func fits(from, to *ctype) bool {
	if from.kind == kindPointer {
		return to.size == 8
	}
	switch {
	case from.signed == to.signed:
		return from.size <= to.size
	case from.signed:
		return to.size == 8 && from.size == 8
	}
	return from.size < to.size || to.size == 8
}

// condition compiles a truth value.
func (c *compiler) condition(x expr) *cexpr {
	return c.truthOf(c.value(x))
}

func (c *compiler) truthOf(e *cexpr) *cexpr {
	if e.ty.isAggregate() || e.ty.kind == kindVoid {
		c.fail(e.at, "sketch/type", "got a value of type %s, want a condition", e.ty.name)
	}
	return c.convert(e, typeBool)
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
		if s := c.p.unit.globals[e.ty.name+"::"+x.name]; s != nil {
			return c.ident(&ident{span: x.span, name: e.ty.name + "::" + x.name})
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
