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
		for first := true; ; first = false {
			if m.steps -= 1 + cost/8; m.steps < 0 {
				m.exhausted(at)
				return 0
			}
			if m.steps < m.nextCheck {
				m.checkCancelled()
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
