package sketch

import (
	"fmt"
	"slices"

	"shmoo/diag"
)

// code is a kernel compiled for one launch. It holds the state of the warp that runs and so serves one run at a time.
type code struct {
	file     *file
	limits   Limits
	lanes    int
	prologue []evalFn // file-level constants
	body     stmtFn
	fn       *frame
	objects  []*object // by address
	sites    []*siteRef
	arrays   []*sharedArray
	reasons  map[string]string
	static   int64 // bytes of static shared memory
}

// frame is the state of a function that is being inlined.
type frame struct {
	decl   *funcDecl
	ret    *object // where return puts its value; nil for void
	retTy  *ctype
	unsure laneMask // lanes that were unsure when it was entered
	pend   laneMask // lanes that may have returned
	from   *origin
	place  *lval // what a returned reference names; its type is nil before the first return
	auto   bool  // the type of the result is that of the first return
}

type symbol struct {
	lv     *lval   // variable or reference
	val    *cexpr  // constant
	ty     *ctype  // type
	fn     *lambda // lambda, compiled in env
	method *methodRef
	decl   *funcDecl // a function used as a value
	env    *scope
}

type scope struct {
	parent *scope
	names  map[string]*symbol
}

func (s *scope) find(name string) *symbol {
	for ; s != nil; s = s.parent {
		if y := s.names[name]; y != nil {
			return y
		}
	}
	return nil
}

type compiler struct {
	*code
	p       *parser
	diags   *diags
	launch  *launch
	scope   *scope
	global  *scope
	frame   *frame
	loop    *loopState
	chain   []diag.Pos
	active  []*funcDecl
	nodes   int
	memory  int // bytes of lane vectors
	local   int64
	shared  map[string]*sharedArray
	types   map[string]*ctype
	atomics []atomicRef
	depth   int
}

// launch is what a kernel is compiled for.
type launch struct {
	block, grid [3]int
	dynamic     int
}

// A cexpr is a compiled expression. A constant has konst set and no fn. An expression whose value is not followed has
// why set; its fn, if any, is run for what it does. An aggregate, and anything that names a place, has lv; fn is then
// run before lv is used.
type cexpr struct {
	ty      *ctype
	fn      evalFn
	konst   bool
	val     int64
	fval    float64
	effects bool
	why     string
	lv      *lval
	pt      *lval // of a pointer: what it points to, where that is known now
	from    *origin
	at      span
	fun     *symbol // a lambda
	stored  bool    // the place was just written: as a statement it is not read back
}

// lval is a place: a variable, a piece of a named shared array, something behind a pointer, or something not followed.
type lval struct {
	ty     *ctype
	obj    *object
	shared *sharedArray
	ptr    evalFn
	opaque string // why nothing is known about it
	base   int64
	terms  []term
	from   *origin
	dims   []span
	at     span
}

type term struct {
	fn      evalFn
	scale   int64
	effects bool
}

func (l *lval) effects() bool {
	return slices.ContainsFunc(l.terms, func(t term) bool { return t.effects })
}

func (c *compiler) fail(s span, id, format string, args ...any) {
	c.diags.errorf(id, s, format, args...)
	panic(bailout{})
}

func (c *compiler) where(s span) string { return c.file.place(s).Pos.String() }

// vecBytes is the size of a lane vector in memory, roughly.
func (c *compiler) newVec() *vec {
	c.memory += c.lanes*8 + 64
	if c.memory > c.limits.Memory {
		c.fail(c.frame.decl.span, "sketch/limit",
			"%s needs more than %d bytes of lane values, want fewer or smaller local arrays", c.frame.decl.name,
			c.limits.Memory)
	}
	v := &vec{v: make([]int64, c.lanes)}
	v.setUnknown("a value that is not constant")
	return v
}

func (c *compiler) push() { c.scope = &scope{parent: c.scope, names: map[string]*symbol{}} }

func (c *compiler) pop() { c.scope = c.scope.parent }

// newObject makes a variable of a type.
func (c *compiler) newObject(name string, ty *ctype, why string) *object {
	o := &object{name: name, ty: ty, from: &origin{}, why: why, addr: localBase + c.local}
	c.local += int64(max(ty.size, 1)+15) / 16 * 16
	if ty.tracked() {
		c.leaves(o, ty, 0)
		if len(o.at) == 1 && ty.isScalar() {
			o.index = []int32{0}
		} else {
			o.index = make([]int32, ty.size)
			c.memory += 4 * ty.size
			for i := range o.index {
				o.index[i] = -1
			}
			for i, p := range o.at {
				o.index[p.off] = int32(i)
			}
		}
		for i := range o.leaves {
			o.leaves[i] = *c.newVec()
		}
	}
	c.objects = append(c.objects, o)
	return o
}

// leaves lists the followed scalars of a type.
func (c *compiler) leaves(o *object, ty *ctype, off int) {
	switch {
	case !ty.tracked():
	case ty.kind == kindArray:
		if ty.size > c.limits.Memory/8 {
			c.fail(c.frame.decl.span, "sketch/limit", "variable %s has %d bytes per thread, want at most %d", o.name, ty.size,
				c.limits.Memory/8)
		}
		for i := range ty.n {
			c.leaves(o, ty.elem, off+i*ty.elem.size)
		}
	case ty.kind == kindStruct:
		for _, f := range ty.fields {
			c.leaves(o, f.ty, off+f.off)
		}
	default:
		o.at = append(o.at, leafPlace{off, ty})
		o.leaves = append(o.leaves, vec{})
	}
}

func (o *object) lval(at span) *lval { return &lval{ty: o.ty, obj: o, from: o.from, at: at} }

// constant evaluates an expression that must be known now.
func (c *compiler) constant(x expr, what string) int64 {
	e := c.load(c.expr(x))
	if e.ty.kind == kindFloat {
		e = c.convert(e, typeInt)
	}
	if e.konst {
		return e.val
	}
	if e.why == "" && e.fn != nil && e.ty.isInteger() {
		m := c.probe()
		if v := e.fn(m, 1); m.err == nil && m.steps > 0 && v.unk&1 == 0 {
			return v.at(0)
		}
	}
	c.fail(x.at(), "sketch/constant", "%s is not constant: want constants, or a -D for each name in it", what)
	return 0
}

// probe returns a machine that evaluates constant expressions: nothing about the thread is known to it.
func (c *compiler) probe() *machine {
	m := newMachine(c.code)
	m.steps = min(c.limits.Steps, 1<<20)
	return m
}

// declareShared gives a shared array its place.
func (c *compiler) declareShared(v *varDecl) *sharedArray {
	ty := c.resolve(v.ty)
	if ty == nil {
		c.fail(v.span, "sketch/type", "shared variable %s has type auto, want a type", v.name)
	}
	key := fmt.Sprintf("%p/%s/%d", v, ty.name, ty.size)
	if a := c.shared[key]; a != nil {
		return a
	}
	a := &sharedArray{name: v.name, decl: v, span: v.span, ty: ty, align: c.alignOf(ty, v.aligns), dynamic: v.extern}
	a.from = &origin{array: a}
	for t := v.ty; t.form == formArray; t = t.elem {
		d := dimension{n: -1, at: t.span}
		if t.dim != nil {
			d.at, d.n, d.ok = t.dim.at(), c.arrayLength(t.dim), true
		}
		a.dims = append(a.dims, d)
		a.elem = t.elem
	}
	if !a.dynamic && ty.kind == kindArray && ty.n < 0 {
		c.fail(v.span, "sketch/type", "shared array %s has no first bound: want a bound, or extern", v.name)
	}
	if !a.dynamic {
		a.off = (c.static + int64(a.align) - 1) / int64(a.align) * int64(a.align)
		c.static = a.off + int64(ty.size)
	}
	c.shared[key] = a
	c.arrays = append(c.arrays, a)
	return a
}

type dimension struct {
	n  int
	at span
	ok bool
}

// layoutDynamic puts dynamic arrays behind the static ones; all of them start at the same place.
func (c *compiler) layoutDynamic() {
	off, align := c.static, int64(16)
	for _, a := range c.arrays {
		if a.dynamic {
			align = max(align, int64(a.align))
		}
	}
	off = (off + align - 1) / align * align
	for _, a := range c.arrays {
		if a.dynamic {
			a.off = off
		}
	}
}

// newSite adds an access to the table of the compiled code.
func (c *compiler) newSite(op smemOp, at span, from *origin, dims []span, width, pieces int, instr string) *siteRef {
	s := &siteRef{index: -1, span: at, op: op, width: width, instr: instr, pieces: pieces, from: from, indexes: dims,
		chain: slices.Clone(c.chain)}
	c.sites = append(c.sites, s)
	return s
}

// number gives the sites that may touch shared memory their index, in source order.
func (c *code) number() {
	var kept []*siteRef
	for _, s := range c.sites {
		if _, shared := s.from.resolve(); shared || s.keep {
			kept = append(kept, s)
		}
	}
	slices.SortStableFunc(kept, func(a, b *siteRef) int {
		if a.span.file != b.span.file {
			return int(a.span.file) - int(b.span.file)
		}
		return int(a.span.off - b.span.off)
	})
	for i, s := range kept {
		s.index = i
	}
	c.sites = kept
}
