package sketch

import (
	"slices"
)

// inlineDepth bounds calls in calls.
const inlineDepth = 64

func (c *compiler) call(x *call) *cexpr {
	switch fn := unparen(x.fn).(type) {
	case *ident:
		if s := c.scope.find(fn.name); s != nil {
			switch {
			case s.fn != nil:
				return c.callLambda(s, x)
			case s.decl != nil:
				return c.inline(s.decl, x.span, fn.targs, c.arguments(s.decl, x.args))
			case s.method != nil:
				m := s.method
				return c.inlineMethod(m.f, m.recv, m.ty, x.span, fn.targs, c.arguments(m.f, x.args))
			}
			break
		}
		if fn.qual != nil {
			if ty := c.structNamed(fn.qual); ty != nil {
				if f := pickMethod(ty.decl, unqualified(fn.name), len(x.args)); f != nil {
					return c.inlineMethod(f, nil, ty, x.span, fn.targs, c.arguments(f, x.args))
				}
			}
		}
		if f := c.findFunc(fn.name, len(x.args)); f != nil {
			return c.inline(f, x.span, fn.targs, c.arguments(f, x.args))
		}
		if b := builtins[unqualified(fn.name)]; b != nil {
			return b(c, x, fn.targs)
		}
		return c.unknownFunction(fn.name, x)
	case *member:
		return c.method(fn, x)
	case *lambda:
		return c.callLambda(&symbol{fn: fn, env: c.scope}, x)
	}
	e := c.expr(x.fn)
	if e.ty.kind == kindStruct && e.ty.decl != nil {
		if r := c.callMethod(e, "operator()", x.span, nil, c.values(x.args)); r != nil {
			return r
		}
	}
	if e.fun != nil {
		return c.callLambda(e.fun, x)
	}
	if e.ty.kind == kindOpaque {
		return c.unknown(typeOpaque, "a value of a library type", append(c.values(x.args), e)...)
	}
	c.fail(x.span, "sketch/name", "got a call of a value of type %s, want a function", e.ty.name)
	return nil
}

func (c *compiler) values(args []expr) []*cexpr {
	var out []*cexpr
	for _, a := range args {
		if l, ok := a.(*initList); ok {
			out = append(out, c.values(l.elems)...)
			continue
		}
		e := c.value(a)
		if e.ty.isAggregate() {
			fn, effects := c.consume(e)
			e = &cexpr{ty: e.ty, fn: fn, effects: effects, lv: e.lv, at: e.at}
		}
		out = append(out, e)
	}
	return out
}

// findFunc returns the function of a name that takes n arguments.
func (c *compiler) findFunc(name string, n int) *funcDecl {
	fs := c.p.unit.funcs[name]
	if fs == nil {
		fs = c.p.unit.funcs[unqualified(name)]
	}
	return overload(fs, n)
}

// overload returns the function that takes n arguments, or the first.
func overload(fs []*funcDecl, n int) *funcDecl {
	for _, f := range fs {
		least := len(f.params)
		for least > 0 && f.params[least-1].init != nil {
			least--
		}
		if n >= least && n <= len(f.params) {
			return f
		}
	}
	if len(fs) > 0 {
		return fs[0]
	}
	return nil
}

// arguments compiles the arguments of a call; those of reference parameters stay places.
func (c *compiler) arguments(f *funcDecl, args []expr) []*cexpr {
	var out []*cexpr
	for i, a := range args {
		if l, ok := a.(*initList); ok {
			if i >= len(f.params) {
				c.fail(l.span, "sketch/syntax", "got a braced list, want an expression")
			}
			saved := c.scope
			c.scope = c.global
			ty := c.resolve(f.params[i].ty)
			c.scope = saved
			out = append(out, c.constructList(ty, l, l.span))
			continue
		}
		if i < len(f.params) && f.params[i].ty.form == formReference {
			out = append(out, c.expr(a))
			continue
		}
		out = append(out, c.value(a))
	}
	return out
}

func (c *compiler) callLambda(s *symbol, x *call) *cexpr {
	if s.decl != nil {
		return c.inline(s.decl, x.span, nil, c.arguments(s.decl, x.args))
	}
	f := s.fn.fn
	args := c.arguments(f, x.args)
	return c.inlineIn(f, x.span, s.env, args)
}

// inline compiles a call of a function in place.
func (c *compiler) inline(f *funcDecl, at span, targs []targ, args []*cexpr) *cexpr {
	if slices.Contains(c.active, f) {
		c.fail(at, "sketch/recursion", "%s calls itself, want a function without recursion", f.name)
	}
	if !c.p.parseBody(f) {
		panic(bailout{})
	}
	if c.p.unit.special[f.name] {
		c.diags.warnf("sketch/template", at, "explicit specializations of %s are passed over: the general form is used", f.name)
	}
	bound := c.deduce(f, args)
	env := c.bindTemplate(f.name, at, f.tparams, targs, bound, c.global)
	return c.inlineIn(f, at, env, args)
}

// deduce works out template arguments from the types of call arguments.
func (c *compiler) deduce(f *funcDecl, args []*cexpr) map[string]*symbol {
	if len(f.tparams) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, t := range f.tparams {
		names[t.name] = t.isType
	}
	bound := map[string]*symbol{}
	for i, p := range f.params {
		if i < len(args) {
			c.match(p.ty, args[i].ty, names, bound)
		}
	}
	return bound
}

func (c *compiler) match(te *typeExpr, ty *ctype, names map[string]bool, bound map[string]*symbol) {
	switch te.form {
	case formReference:
		c.match(te.elem, ty, names, bound)
	case formPointer:
		if ty.elem != nil {
			c.match(te.elem, ty.elem, names, bound)
		}
	case formArray:
		if ty.elem == nil {
			return
		}
		if id, ok := te.dim.(*ident); ok && ty.kind == kindArray {
			if isType, isParam := names[id.name]; isParam && !isType && bound[id.name] == nil {
				bound[id.name] = &symbol{val: constInt(typeInt, int64(ty.n))}
			}
		}
		c.match(te.elem, ty.elem, names, bound)
	case formNamed:
		if names[te.name] && bound[te.name] == nil {
			bound[te.name] = &symbol{ty: ty}
		}
	}
}

// inlineIn compiles a call whose names are looked up in env.
func (c *compiler) inlineIn(f *funcDecl, at span, env *scope, args []*cexpr) *cexpr {
	if slices.Contains(c.active, f) {
		c.fail(at, "sketch/recursion", "%s calls itself, want a function without recursion", f.name)
	}
	if len(c.active) >= inlineDepth {
		c.fail(at, "sketch/limit", "calls nested more than %d deep", inlineDepth)
	}
	if len(args) > len(f.params) {
		c.fail(at, "sketch/type", "%s got %d arguments, want %d", f.name, len(args), len(f.params))
	}
	caller := c.scope
	fr := &frame{decl: f, from: &origin{}}
	oldFrame, oldLoop, oldActive, oldChain := c.frame, c.loop, c.active, c.chain
	defer func() {
		c.scope, c.frame, c.loop, c.active, c.chain = caller, oldFrame, oldLoop, oldActive, oldChain
	}()
	c.scope = env
	c.push()
	var enter []stmtFn
	effects := false
	for i, p := range f.params {
		var a *cexpr
		switch {
		case i < len(args):
			a = args[i]
		case p.init != nil:
			a = c.value(p.init)
		default:
			c.fail(at, "sketch/type", "%s got %d arguments, want %d", f.name, len(args), len(f.params))
		}
		if fn := c.bindParam(p, a); fn != nil {
			enter = append(enter, fn)
			effects = effects || a.effects
		}
	}
	r := &cexpr{ty: typeVoid, from: fr.from}
	ret := c.resolve(f.ret)
	switch {
	case ret == nil:
		fr.auto = true
	case f.ret.form == formReference && ret.kind != kindOpaque:
		fr.place = &lval{}
		r.ty = ret
	case ret.kind != kindVoid:
		fr.ret, fr.retTy = c.newObject("result of "+f.name, ret, "the result of "+f.name), ret
		r.ty = ret
	}
	c.frame, c.loop = fr, nil
	c.active = append(oldActive[:len(oldActive):len(oldActive)], f)
	c.chain = append([]diagPos{c.file.place(at).Pos}, oldChain...)
	body := c.sequence(f.body.list)
	if fr.auto {
		if ret = fr.retTy; ret == nil {
			ret = typeVoid
		}
		r.ty = ret
	}
	if fr.place != nil && fr.place.ty == nil {
		c.fail(at, "sketch/reference", "%s returns no reference that can be followed", f.name)
	}
	start := inOrder(enter, at)
	if start == nil {
		start = pass
	}
	if body == nil {
		body = pass
	}
	enterAndRun := func(m *machine, mask laneMask) {
		pend, unsure, why := m.pend, m.unsure, m.why
		fr.pend, fr.unsure = 0, unsure
		if fr.ret != nil {
			fr.ret.declare(m, mask)
		}
		start(m, mask)
		body(m, mask)
		m.pend = pend
		if m.unsure = unsure | pend; pend == 0 {
			m.why = why
		}
	}
	r.effects = true
	switch {
	case fr.place != nil:
		r.lv = fr.place
		r.fn = func(m *machine, mask laneMask) *vec { enterAndRun(m, mask); return nil }
	case fr.ret == nil:
		r.fn = func(m *machine, mask laneMask) *vec { enterAndRun(m, mask); return nil }
	case ret.isScalar() && ret.tracked():
		leaf := &fr.ret.leaves[0]
		r.fn = func(m *machine, mask laneMask) *vec { enterAndRun(m, mask); return leaf }
	case ret.isScalar():
		r.why = fr.ret.why
		r.fn = c.unknownAfter(func(m *machine, mask laneMask) *vec { enterAndRun(m, mask); return nil }, r)
	default:
		r.lv = fr.ret.lval(at)
		r.fn = func(m *machine, mask laneMask) *vec { enterAndRun(m, mask); return nil }
	}
	return r
}

// bindParam gives a parameter its argument.
func (c *compiler) bindParam(p *varDecl, a *cexpr) stmtFn {
	if a.fun != nil {
		c.scope.names[p.name] = a.fun
		return nil
	}
	if p.ty.form == formReference && a.lv != nil {
		pre, place := c.freeze(a.lv)
		pre = c.then(a.fn, pre)
		if p.name != "" {
			c.scope.names[p.name] = &symbol{lv: place}
		}
		if pre == nil {
			return nil
		}
		return func(m *machine, mask laneMask) laneMask { pre(m, mask); return mask }
	}
	ty := c.resolve(p.ty)
	if ty == nil {
		ty = a.ty
	}
	if ty.kind == kindArray {
		ty = pointerTo(ty.elem)
	}
	if ty.kind == kindOpaque {
		c.scope.names[p.name] = &symbol{lv: &lval{ty: ty, opaque: "parameter " + p.name + " of a library type",
			from: &origin{}}}
		return run(a)
	}
	why := "parameter " + p.name
	if a.why != "" {
		why = a.why
	}
	if a.ty.kind == kindVoid {
		c.fail(a.at, "sketch/type", "got void for parameter %s, want a value", p.name)
	}
	if a.konst && a.ty.isScalar() && ty.isScalar() && p.ty.isCon {
		c.scope.names[p.name] = &symbol{val: c.convert(a, ty)}
		return nil
	}
	o := c.newObject(p.name, ty, why)
	var fn evalFn
	var effects bool
	switch {
	case ty.isScalar():
		fn, effects = c.store(o.lval(p.span), c.convert(a, ty))
	case a.ty.isScalar():
		fn, effects = a.fn, a.effects
	default:
		fn, effects = c.copyAggregate(o.lval(p.span), a)
	}
	if p.name != "" {
		c.scope.names[p.name] = &symbol{lv: o.lval(p.span)}
	}
	if len(o.leaves) == 0 && !effects {
		return nil
	}
	return func(m *machine, mask laneMask) laneMask {
		o.declare(m, mask)
		if effects {
			fn(m, mask)
		}
		return mask
	}
}
