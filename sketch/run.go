package sketch

import (
	"context"

	"shmoo/smem"
)

func newCompiler(p *Program, parser *parser, ds *diags, l *launch) *compiler {
	c := &compiler{
		code: &code{file: p.file, limits: p.opts.Limits, lanes: p.opts.Lanes},
		p:    parser, diags: ds, launch: l,
		global: &scope{names: map[string]*symbol{}},
		shared: map[string]*sharedArray{}, types: map[string]*ctype{},
	}
	c.scope = c.global
	c.frame = &frame{decl: &funcDecl{name: "the sketch"}, from: &origin{}}
	return c
}

// kernelScope binds the template parameters of a kernel to what -D gives, or their defaults.
func (c *compiler) kernelScope(f *funcDecl) *scope {
	return c.bindTemplate(f.name, f.span, f.tparams, nil, nil, c.global)
}

// bindGiven binds a template parameter to what -D gives.
func (c *compiler) bindGiven(t tparam) *symbol {
	if t.isType {
		return &symbol{ty: c.givenType(t)}
	}
	x := c.p.givenExpr(t.given)
	if x == nil {
		c.fail(t.span, "sketch/template", "-D %s=%s is no value for a template parameter", t.name, joined(t.given))
	}
	return c.bindArg(t, targ{x: x})
}

// givenType reads a type that -D gives.
func (c *compiler) givenType(t tparam) *ctype {
	sub := *c.p
	sub.toks = append(append([]token(nil), t.given...), token{kind: tokEOF})
	for i := range sub.toks {
		sub.toks[i].given = ""
	}
	sub.pos, sub.quiet, sub.depth = 0, true, 0
	var ty *ctype
	func() {
		defer rescue()
		te := sub.typeName()
		if sub.tok().kind == tokEOF {
			ty = c.resolve(te)
		}
	}()
	if ty == nil {
		c.fail(t.span, "sketch/template", "-D %s=%s is no type, want a type for template parameter %s", t.name,
			joined(t.given), t.name)
	}
	return ty
}

// kernel compiles the kernel that runs.
func (c *compiler) kernel(f *funcDecl) {
	if !c.p.parseBody(f) {
		panic(bailout{})
	}
	c.frame = &frame{decl: f, from: &origin{}}
	c.fn = c.frame
	c.scope = c.kernelScope(f)
	c.push()
	c.active = []*funcDecl{f}
	for i, p := range f.params {
		c.kernelParam(p, i)
	}
	body := c.sequence(f.body.list)
	if body == nil {
		body = pass
	}
	c.body = body
	c.layoutDynamic()
	c.number()
}

// kernelParam declares a parameter: a pointer into global memory, a value that -D gives, or something unknown.
func (c *compiler) kernelParam(p *varDecl, i int) {
	ty := c.resolve(p.ty)
	if ty == nil {
		c.fail(p.span, "sketch/type", "kernel parameter %s has type auto, want a type", p.name)
	}
	if ty.kind == kindArray {
		ty = pointerTo(ty.elem)
	}
	if p.name == "" {
		return
	}
	if p.given != nil && ty.isScalar() {
		e := c.convert(c.value(p.given), ty)
		if e.konst {
			// A parameter may be assigned to, so it is a variable.
			o := c.newObject(p.name, ty, e.why)
			fn, effects := c.store(o.lval(p.span), e)
			c.prologue = append(c.prologue, func(m *machine, mask laneMask) *vec {
				o.declare(m, mask)
				if effects {
					fn(m, mask)
				}
				return nil
			})
			c.scope.names[p.name] = &symbol{lv: o.lval(p.span)}
			return
		}
	}
	why := "kernel parameter " + p.name
	if ty.isScalar() && ty.kind != kindPointer {
		why += ", which -D " + p.name + "=VALUE would set"
	}
	if ty.kind == kindOpaque {
		c.scope.names[p.name] = &symbol{lv: &lval{ty: ty, opaque: why, from: &origin{}}}
		return
	}
	o := c.newObject(p.name, ty, why)
	c.prologue = append(c.prologue, func(m *machine, mask laneMask) *vec {
		o.declare(m, mask)
		for i := range o.leaves {
			if o.at[i].ty.kind == kindPointer {
				o.leaves[i].v[0] = otherBase
			}
		}
		return nil
	})
	c.scope.names[p.name] = &symbol{lv: o.lval(p.span)}
}

func newMachine(c *code) *machine {
	m := &machine{code: c, lanes: c.lanes}
	vec := func() vec {
		v := vec{v: make([]int64, c.lanes)}
		v.setUnknown("the thread that runs")
		return v
	}
	for axis := range 3 {
		m.thread[axis], m.place[axis] = vec(), vec()
	}
	m.lane = vec()
	return m
}

// runWarp runs the kernel for one warp.
func (m *machine) runWarp(l *launch, block, warp int, ctx context.Context) {
	m.block, m.warp, m.ctx = block, warp, ctx
	m.steps = m.code.limits.Steps
	m.nextCheck = m.steps
	m.unsure, m.ghost, m.pend = 0, 0, 0
	threads := l.threads()
	first := warp * m.lanes
	mask := smem.Lanes(0, min(m.lanes, threads-first))
	for axis := range 3 {
		m.thread[axis].unk, m.place[axis].unk = 0, 0
	}
	m.lane.unk, m.lane.uni = 0, false
	for i := range m.lanes {
		t := first + i
		m.lane.v[i] = int64(i)
		m.thread[0].v[i] = int64(t % l.block[0])
		m.thread[1].v[i] = int64(t / l.block[0] % l.block[1])
		m.thread[2].v[i] = int64(t / (l.block[0] * l.block[1]))
	}
	for axis := range 3 {
		v := &m.thread[axis]
		v.uni = true
		for i := range mask.Count() {
			v.uni = v.uni && v.v[i] == v.v[0]
		}
	}
	m.place[0].set(int64(block % l.grid[0]))
	m.place[1].set(int64(block / l.grid[0] % l.grid[1]))
	m.place[2].set(int64(block / l.grid[0] / l.grid[1]))
	m.code.fn.pend, m.code.fn.unsure = 0, 0
	for _, fn := range m.code.prologue {
		fn(m, mask)
	}
	m.code.body(m, mask)
}

// checkSteps is how many steps a warp runs between two looks at its context.
const checkSteps = 1 << 12

// checkCancelled ends the run when its context is done.
func (m *machine) checkCancelled() {
	m.nextCheck = m.steps - checkSteps
	if m.ctx == nil || m.cancelled != nil {
		return
	}
	if m.cancelled = isCancelled(m.ctx); m.cancelled != nil {
		m.stopped = false
		m.halt()
	}
}
