package sketch

// stmt compiles a statement; nil means that running it changes nothing.
func (c *compiler) stmt(s stmt) stmtFn {
	c.nodes++
	switch s := s.(type) {
	case *blockStmt:
		c.push()
		defer c.pop()
		return c.sequence(s.list)
	case *exprStmt:
		e := c.expr(s.x)
		c.resultUnused(e)
		return run(c.discard(e))
	case *declStmt:
		var list []stmtFn
		for _, v := range s.vars {
			if fn := c.declare(v); fn != nil {
				list = append(list, fn)
			}
		}
		return inOrder(list, s.span)
	case *ifStmt:
		return c.ifStmt(s)
	case *forStmt:
		return c.forStmt(s)
	case *whileStmt:
		return c.whileStmt(s)
	case *switchStmt:
		return c.switchStmt(s)
	case *breakStmt:
		return c.leave(s.span, true)
	case *continueStmt:
		return c.leave(s.span, false)
	case *returnStmt:
		return c.returnStmt(s)
	case *asmStmt:
		return c.asm(s)
	case *typeStmt:
		c.scope.names[s.name] = &symbol{ty: c.resolve(s.ty)}
		return nil
	case *caseStmt:
		c.fail(s.span, "sketch/syntax", "case outside a switch")
	}
	c.fail(s.at(), "sketch/internal", "statement of kind %T is not compiled", s)
	return nil
}

// run makes a statement of an expression.
func run(e *cexpr) stmtFn {
	if !e.effects || e.fn == nil {
		return nil
	}
	fn := e.fn
	return func(m *machine, mask laneMask) laneMask {
		fn(m, mask)
		return mask
	}
}

// sequence compiles statements one after another. An error in one is recorded and the rest compiled.
func (c *compiler) sequence(list []stmt) stmtFn {
	var fns []stmtFn
	var at span
	for _, s := range list {
		func() {
			before := *c
			defer func() {
				if e := recover(); e != nil {
					if _, ok := e.(bailout); !ok || c.diags.errors >= diagLimit || c.nodes > c.limits.Nodes ||
						c.memory > c.limits.Memory {
						panic(e)
					}
					c.scope, c.frame, c.loop, c.chain, c.active = before.scope, before.frame, before.loop, before.chain,
						before.active
					c.depth = before.depth
					c.poison(s)
				}
			}()
			nodes := c.nodes
			if fn := c.stmt(s); fn != nil {
				fns = append(fns, charge(fn, int64(c.nodes-nodes), s.at()))
				at = s.at()
			}
		}()
	}
	return inOrder(fns, at)
}

// poison declares the variables of a declaration that failed, so that their uses are not reported as well.
func (c *compiler) poison(s stmt) {
	d, ok := s.(*declStmt)
	if !ok {
		return
	}
	for _, v := range d.vars {
		if c.scope.names[v.name] == nil {
			l := &lval{ty: typeOpaque, opaque: "a variable whose declaration failed", from: &origin{}}
			c.scope.names[v.name] = &symbol{lv: l}
		}
	}
}

// charge makes a statement take its share of the steps.
func charge(fn stmtFn, cost int64, at span) stmtFn {
	return func(m *machine, mask laneMask) laneMask {
		if m.steps -= cost; m.steps < 0 {
			return m.exhausted(at)
		}
		return fn(m, mask)
	}
}

func inOrder(list []stmtFn, at span) stmtFn {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return func(m *machine, mask laneMask) laneMask {
		for _, fn := range list {
			if mask = fn(m, mask); mask == 0 || m.steps < 0 {
				return 0
			}
		}
		return mask
	}
}

// declare compiles the declaration of a variable.
func (c *compiler) declare(v *varDecl) stmtFn {
	if v.shared || v.extern && v.ty.form == formArray {
		c.scope.names[v.name] = &symbol{lv: c.sharedPlace(v)}
		return nil
	}
	if v.ty.form == formReference {
		return c.declareReference(v)
	}
	ty := c.resolve(v.ty)
	init := v.init
	if v.constant && v.given != nil && init != nil {
		init = v.given
	}
	if v.hasArgs {
		init = &construct{v.span, v.ty, v.args}
		if ty != nil && ty.kind == kindOpaque {
			init = &initList{v.span, v.args}
		}
	}
	var e *cexpr
	if list, ok := init.(*initList); init != nil && !ok {
		e = c.value(init)
		if e.fun != nil {
			c.scope.names[v.name] = e.fun
			return run(e)
		}
	} else if ok && ty != nil && !ty.isAggregate() {
		e = c.constructList(ty, list, list.span)
	}
	if ty == nil {
		if e == nil {
			c.fail(v.span, "sketch/type", "auto %s has no initializer, want one", v.name)
		}
		if ty = e.ty; v.ty.form == formPointer && ty.kind != kindPointer {
			c.fail(v.span, "sketch/type", "got a value of type %s for auto*, want a pointer", ty.name)
		}
	}
	if ty.kind == kindVoid {
		c.fail(v.span, "sketch/type", "variable %s has type void", v.name)
	}
	if ty.kind == kindArray && ty.n < 0 {
		ty = c.completeArray(v, ty)
	}
	if ty.kind == kindOpaque {
		l := &lval{ty: ty, opaque: "variable " + v.name + " of a library type", from: &origin{}}
		c.scope.names[v.name] = &symbol{lv: l}
		if e != nil {
			if e.lv != nil && e.lv.opaque != "" {
				l.opaque = e.lv.opaque
			}
			return run(e)
		}
		return nil
	}
	if e != nil && ty.isScalar() {
		e = c.convert(e, ty)
		if v.constant && e.konst {
			c.scope.names[v.name] = &symbol{val: e}
			return nil
		}
	}
	why := "variable " + v.name
	if e != nil && e.why != "" && !ty.tracked() {
		why = e.why
	}
	o := c.newObject(v.name, ty, why)
	for _, a := range v.aligns {
		c.constant(a, "an alignment")
	}
	var fill evalFn
	effects := false
	switch {
	case e != nil && ty.isScalar():
		fill, effects = c.store(o.lval(v.span), e)
	case e != nil:
		fill, effects = c.copyAggregate(o.lval(v.span), e)
	default:
		if list, ok := init.(*initList); ok {
			fill, effects = c.fill(o.lval(v.span), list)
		}
	}
	c.scope.names[v.name] = &symbol{lv: o.lval(v.span)}
	if len(o.leaves) == 0 && !effects {
		return nil
	}
	return func(m *machine, mask laneMask) laneMask {
		o.declare(m, mask)
		if effects {
			fill(m, mask)
		}
		return mask
	}
}

// sharedPlace declares a shared variable. One of a library type takes no space, since its size is not known.
func (c *compiler) sharedPlace(v *varDecl) *lval {
	base := c.resolve(v.ty)
	for base != nil && base.kind == kindArray {
		base = base.elem
	}
	if base != nil && base.kind == kindOpaque {
		c.diags.warnf("sketch/type", v.span, "shared variable %s has a library type of unknown size: what is declared after "+
			"it may lie elsewhere", v.name)
		return &lval{ty: typeOpaque, opaque: "shared variable " + v.name + " of a library type", from: &origin{}}
	}
	a := c.declareShared(v)
	return &lval{ty: a.ty, shared: a, from: a.from}
}

// initialized declares a file-level aggregate.
func (c *compiler) initialized(v *varDecl, ty *ctype) (*object, evalFn) {
	if ty.kind == kindArray && ty.n < 0 {
		ty = c.completeArray(v, ty)
	}
	o := c.newObject(v.name, ty, "constant "+v.name)
	list, ok := v.init.(*initList)
	if !ok {
		return o, func(m *machine, mask laneMask) *vec {
			o.declare(m, allLanes)
			return nil
		}
	}
	fn, effects := c.fill(o.lval(v.span), list)
	return o, func(m *machine, mask laneMask) *vec {
		o.declare(m, mask)
		if effects {
			fn(m, mask)
		}
		return nil
	}
}

func (c *compiler) completeArray(v *varDecl, ty *ctype) *ctype {
	list, ok := v.init.(*initList)
	if !ok || len(list.elems) == 0 {
		c.fail(v.span, "sketch/type", "array %s has no bound, want one", v.name)
	}
	return arrayOf(ty.elem, len(list.elems))
}

func (c *compiler) declareReference(v *varDecl) stmtFn {
	if v.init == nil {
		c.fail(v.span, "sketch/type", "reference %s has no initializer, want one", v.name)
	}
	e := c.expr(v.init)
	if e.lv == nil {
		if e.konst {
			c.scope.names[v.name] = &symbol{val: e}
			return nil
		}
		if e.fun != nil {
			c.scope.names[v.name] = e.fun
			return nil
		}
		o := c.newObject(v.name, e.ty, "reference "+v.name)
		fn, effects := c.store(o.lval(v.span), e)
		c.scope.names[v.name] = &symbol{lv: o.lval(v.span)}
		return func(m *machine, mask laneMask) laneMask {
			o.declare(m, mask)
			if effects {
				fn(m, mask)
			}
			return mask
		}
	}
	pre, place := c.freeze(e.lv)
	pre = c.then(e.fn, pre)
	c.scope.names[v.name] = &symbol{lv: place}
	if pre == nil {
		return nil
	}
	return func(m *machine, mask laneMask) laneMask {
		pre(m, mask)
		return mask
	}
}

func pass(m *machine, mask laneMask) laneMask { return mask }

func (c *compiler) ifStmt(s *ifStmt) stmtFn {
	c.push()
	defer c.pop()
	var init stmtFn
	if s.init != nil {
		init = c.stmt(s.init)
	}
	cond := c.condition(s.cond)
	if cond.konst {
		branch := s.yes
		if cond.val == 0 {
			branch = s.no
		}
		if branch == nil {
			return init
		}
		return both(init, c.branch(branch))
	}
	if s.constant {
		c.fail(s.cond.at(), "sketch/constant", "condition of if constexpr is not constant")
	}
	yes := c.branch(s.yes)
	var no stmtFn
	if s.no != nil {
		no = c.branch(s.no)
	}
	if yes == nil && no == nil {
		return both(init, run(cond))
	}
	if yes == nil {
		yes = pass
	}
	if no == nil {
		no = pass
	}
	test := c.eval(cond)
	reason := &branchReason{place: c.where(s.cond.at())}
	return both(init, func(m *machine, mask laneMask) laneMask {
		v := test(m, mask)
		t, f, u := v.split(mask)
		if u == 0 {
			var out laneMask
			if t != 0 {
				out = yes(m, t)
			}
			if f != 0 {
				out |= no(m, f)
			}
			return out
		}
		unsure, why := m.unsure, m.why
		m.uncertain(u, reason.of(v.why))
		out := yes(m, t|u)
		m.uncertain(u, reason.of(v.why))
		out |= no(m, f|u)
		if m.unsure = unsure | m.pend; m.pend == 0 {
			m.why = why
		}
		return out
	})
}

func both(a, b stmtFn) stmtFn {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return func(m *machine, mask laneMask) laneMask {
		if mask = a(m, mask); mask == 0 {
			return 0
		}
		return b(m, mask)
	}
}

// branch compiles a statement in a scope of its own.
func (c *compiler) branch(s stmt) stmtFn {
	c.push()
	defer c.pop()
	if b, ok := s.(*blockStmt); ok {
		return c.sequence(b.list)
	}
	return c.sequence([]stmt{s})
}

func (c *compiler) returnStmt(s *returnStmt) stmtFn {
	fr := c.frame
	var value evalFn
	switch {
	case s.x == nil:
	case fr.place != nil:
		e := c.expr(s.x)
		if e.lv == nil {
			c.fail(s.span, "sketch/type", "got a value, want a place to return a reference to")
		}
		if fr.place.ty != nil {
			c.fail(s.span, "sketch/reference", "%s returns a reference in several places, want one return", fr.decl.name)
		}
		pre, place := c.freeze(e.lv)
		*fr.place = *place
		value = c.then(e.fn, pre)
	case fr.ret != nil || fr.auto:
		value = c.returnValue(fr, s)
	default:
		if e := c.discard(c.expr(s.x)); e.effects {
			value = e.fn
		}
	}
	return func(m *machine, mask laneMask) laneMask {
		if value != nil {
			value(m, mask)
		}
		doubt := m.unsure &^ fr.unsure & mask
		fr.pend |= doubt
		m.pend |= doubt
		return 0
	}
}

func (c *compiler) returnValue(fr *frame, s *returnStmt) evalFn {
	var e *cexpr
	list, braced := s.x.(*initList)
	switch {
	case braced && fr.ret == nil:
		c.fail(s.span, "sketch/type", "got a braced list, want a value whose type %s can return", fr.decl.name)
	case braced:
		e = c.constructList(fr.retTy, list, list.span)
	default:
		e = c.value(s.x)
	}
	if fr.ret == nil {
		fr.retTy = e.ty
		if e.ty.kind == kindVoid {
			return e.fn
		}
		fr.ret = c.newObject("result of "+fr.decl.name, e.ty, "the result of "+fr.decl.name)
	}
	place := fr.ret.lval(s.span)
	fr.from.add(e.from)
	if fr.retTy.isAggregate() {
		if e.ty.isScalar() {
			e = c.unknownOf(fr.retTy, "a converted value", s.span, e)
		}
		fn, _ := c.copyAggregate(place, e)
		return fn
	}
	if e.why != "" && !fr.retTy.tracked() {
		fr.ret.why = e.why
	}
	fn, _ := c.store(place, c.convert(e, fr.retTy))
	return fn
}
