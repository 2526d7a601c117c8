package sketch

// loopState is the state of a loop or switch that runs: the lanes that left it or skipped the rest of the body, and those
// that may have.
type loopState struct {
	brk, cont         laneMask
	pendBrk, pendCont laneMask
	unsure            laneMask // lanes that were unsure when it was entered
	isSwitch          bool
	outer             *loopState
}

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

func (c *compiler) forStmt(s *forStmt) stmtFn {
	c.push()
	defer c.pop()
	start := c.nodes
	var init stmtFn
	if s.init != nil {
		init = c.stmt(s.init)
	}
	var cond *cexpr
	if s.cond != nil {
		cond = c.condition(s.cond)
	}
	var step stmtFn
	if s.step != nil {
		step = run(c.discard(c.expr(s.step)))
	}
	ls := c.enterLoop(false)
	body := c.branch(s.body)
	c.loop = ls.outer
	if body == nil && c.terminates(s, cond) {
		return init
	}
	return both(init, c.loopFn(ls, cond, body, step, false, s.span, int64(c.nodes-start)))
}

func (c *compiler) enterLoop(isSwitch bool) *loopState {
	ls := &loopState{isSwitch: isSwitch, outer: c.loop}
	c.loop = ls
	return ls
}

// terminates reports whether a loop without a body surely ends and leaves nothing behind: it counts a variable of its own
// up or down to a bound, as in for (int i = 0; i < n; i++).
func (c *compiler) terminates(s *forStmt, cond *cexpr) bool {
	d, ok := s.init.(*declStmt)
	if !ok || len(d.vars) != 1 || cond == nil || cond.effects {
		return false
	}
	test, ok := s.cond.(*binary)
	if !ok {
		return false
	}
	name := func(x expr) bool {
		id, ok := x.(*ident)
		return ok && id.name == d.vars[0].name
	}
	var op string
	switch step := s.step.(type) {
	case *unary:
		if name(step.x) {
			op = step.op
		}
	case *postfix:
		if name(step.x) {
			op = step.op
		}
	case *assign:
		if lit, ok := step.y.(*intLit); ok && lit.val > 0 && lit.val < 1<<20 && name(step.x) {
			op = step.op + step.op
		}
	}
	up := (test.op == "<" || test.op == "<=") && name(test.x) && op == "++"
	down := (test.op == ">" || test.op == ">=") && name(test.x) && op == "--"
	// i <= max and unsigned i >= 0 never end; the limits on the literal bounds rule them out.
	bound, ok := test.y.(*intLit)
	if up {
		return test.op == "<" || ok && bound.val < 1<<30
	}
	return down && ok && (bound.val > 0 || test.op == ">") && bound.val < 1<<30
}

func (c *compiler) whileStmt(s *whileStmt) stmtFn {
	start := c.nodes
	ls := c.enterLoop(false)
	body := c.branch(s.body)
	c.loop = ls.outer
	cond := c.condition(s.cond)
	return c.loopFn(ls, cond, body, nil, s.do, s.span, int64(c.nodes-start))
}

// loopFn compiles a loop. Lanes leave it one by one; those of which it is not known whether they go on run the body once
// more, unresolved.
func (c *compiler) loopFn(ls *loopState, cond *cexpr, body, step stmtFn, do bool, at span, cost int64) stmtFn {
	var test evalFn
	place := at
	if cond != nil && !(cond.konst && cond.val != 0) {
		test = c.eval(cond)
		place = cond.at
	}
	if body == nil {
		body = pass
	}
	if step == nil {
		step = pass
	}
	reason := &branchReason{place: c.where(place)}
	fr := c.frame
	return func(m *machine, mask laneMask) laneMask {
		pend, unsure, ghost, why := m.pend, m.unsure, m.ghost, m.why
		*ls = loopState{isSwitch: ls.isSwitch, outer: ls.outer, unsure: unsure}
		active, done := mask, laneMask(0)
		for first, turn := true, 0; ; first, turn = false, turn+1 {
			if turn&1023 == 1023 {
				m.checkCancelled()
			}
			if m.steps -= 1 + cost/8; m.steps < 0 {
				m.exhausted(at)
				return 0
			}
			var doubtful laneMask
			if test != nil && !(do && first) {
				v := test(m, active)
				_, f, u := v.split(active)
				done |= f
				if active &^= f; active == 0 {
					break
				}
				if u != 0 {
					doubtful = u
					m.uncertain(u, reason.of(v.why))
				}
			}
			ls.cont = 0
			active = body(m, active) | ls.cont
			if m.steps < 0 {
				return 0
			}
			if ls.pendCont != 0 {
				ls.pendCont = 0
				m.pend = pend | fr.pend | ls.pendBrk
				m.unsure = unsure | m.pend | doubtful
			}
			if leaving := (doubtful | ls.pendBrk) & active; leaving != 0 {
				// Variables the step changes are not known for lanes that may have gone round more often.
				step(m, leaving)
				done |= leaving
				active &^= leaving
				if active != 0 {
					m.ghost |= leaving
				}
			}
			if active == 0 {
				break
			}
			if active = step(m, active); m.steps < 0 {
				return 0
			}
		}
		m.pend = pend | fr.pend
		m.unsure, m.ghost = unsure|m.pend, ghost
		if m.pend == 0 && ghost == 0 {
			m.why = why
		}
		return done | ls.brk
	}
}

// leave compiles break and continue.
func (c *compiler) leave(at span, brk bool) stmtFn {
	ls := c.loop
	for !brk && ls != nil && ls.isSwitch {
		ls = ls.outer
	}
	if ls == nil {
		c.fail(at, "sketch/syntax", "break or continue outside a loop")
	}
	if brk {
		return func(m *machine, mask laneMask) laneMask {
			doubt := m.unsure &^ ls.unsure & mask
			ls.brk |= mask &^ doubt
			ls.pendBrk |= doubt
			m.pend |= doubt
			return 0
		}
	}
	return func(m *machine, mask laneMask) laneMask {
		doubt := m.unsure &^ ls.unsure & mask
		ls.cont |= mask &^ doubt
		ls.pendCont |= doubt
		m.pend |= doubt
		return 0
	}
}

func (c *compiler) returnStmt(s *returnStmt) stmtFn {
	fr := c.frame
	var value evalFn
	switch {
	case s.x == nil:
	case fr.conver != nil:
		e := c.expr(s.x)
		if e.lv == nil {
			c.fail(s.span, "sketch/type", "got a value, want a place to return a reference to")
		}
		pre, place := c.freeze(e.lv)
		*fr.conver = *place
		value = c.then(e.fn, pre)
	case fr.ret != nil:
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
	if list, ok := s.x.(*initList); ok {
		e = c.constructList(fr.retTy, list, list.span)
	} else {
		e = c.value(s.x)
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

func (c *compiler) switchStmt(s *switchStmt) stmtFn {
	x := c.value(s.x)
	if !x.ty.isInteger() {
		c.fail(s.x.at(), "sketch/type", "got a switch on type %s, want an integer", x.ty.name)
	}
	ty := promote(x.ty)
	value := c.eval(c.convert(x, ty))
	c.push()
	defer c.pop()
	ls := c.enterLoop(true)
	defer func() { c.loop = ls.outer }()
	type arm struct {
		val   int64
		label bool
		other bool // default
		run   stmtFn
	}
	var arms []arm
	hasDefault := false
	for _, item := range s.list {
		if k, ok := item.(*caseStmt); ok {
			a := arm{label: true, other: k.val == nil}
			if k.val != nil {
				a.val = ty.wrap(c.constant(k.val, "a case"))
			}
			hasDefault = hasDefault || a.other
			arms = append(arms, a)
			continue
		}
		nodes := c.nodes
		if fn := c.stmt(item); fn != nil {
			arms = append(arms, arm{run: charge(fn, int64(c.nodes-nodes), item.at())})
		}
	}
	reason := &branchReason{place: c.where(s.x.at())}
	fr := c.frame
	return func(m *machine, mask laneMask) laneMask {
		pend, unsure, why := m.pend, m.unsure, m.why
		*ls = loopState{isSwitch: true, outer: ls.outer, unsure: unsure}
		v := value(m, mask)
		unknown := v.unk & mask
		if unknown != 0 {
			m.uncertain(unknown, reason.of(v.why))
		}
		matched := func(val int64) (in laneMask) {
			lanesOf(mask&^unknown, func(lane int) {
				if v.at(lane) == val {
					in |= 1 << lane
				}
			})
			return in
		}
		rest := mask &^ unknown
		for _, a := range arms {
			if a.label && !a.other {
				rest &^= matched(a.val)
			}
		}
		var active laneMask
		for _, a := range arms {
			switch {
			case a.other:
				active |= rest | unknown
			case a.label:
				active |= matched(a.val) | unknown
			case active != 0:
				active = a.run(m, active)
			}
			if m.steps < 0 {
				return 0
			}
		}
		out := active | ls.brk | ls.pendBrk | unknown
		if !hasDefault {
			out |= rest
		}
		m.pend = pend | fr.pend
		if ls.outer != nil {
			m.pend |= ls.outer.pendBrk | ls.outer.pendCont
		}
		m.unsure = unsure | m.pend
		if m.pend == 0 {
			m.why = why
		}
		return out & mask
	}
}
