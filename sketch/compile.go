package sketch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	conver *lval // what a returned reference names
}

type symbol struct {
	lv     *lval   // variable or reference
	val    *cexpr  // constant
	ty     *ctype  // type
	fn     *lambda // lambda, compiled in env
	method *methodRef
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
func (c *compiler) pop()  { c.scope = c.scope.parent }

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

// resolve turns a type as written into a type. auto gives nil.
func (c *compiler) resolve(t *typeExpr) *ctype {
	if c.depth++; c.depth > nestingDepth {
		c.depth = 0
		c.fail(t.span, "sketch/limit", "type nested more than %d deep", nestingDepth)
	}
	defer func() { c.depth-- }()
	switch t.form {
	case formPointer:
		if e := c.resolve(t.elem); e != nil {
			return pointerTo(e)
		}
		return nil
	case formReference:
		return c.resolve(t.elem)
	case formDecltype:
		return c.expr(t.dim).ty
	case formArray:
		e := c.resolve(t.elem)
		if e == nil {
			c.fail(t.span, "sketch/type", "array of auto, want an element type")
		}
		n := -1
		if t.dim != nil {
			n = c.arrayLength(t.dim)
		}
		if e.kind == kindArray && e.n < 0 {
			c.fail(t.span, "sketch/type", "array of arrays without a bound, want only the first bound missing")
		}
		if n > 0 && e.size > typeBytes/n {
			c.fail(t.span, "sketch/limit", "array of %d elements of %d bytes is larger than any memory", n, e.size)
		}
		return arrayOf(e, n)
	}
	return c.named(t)
}

func (c *compiler) arrayLength(x expr) int {
	v := c.constant(x, "an array bound")
	if v <= 0 || v > typeBytes {
		c.fail(x.at(), "sketch/type", "array bound is %d, want at least 1", v)
	}
	return int(v)
}

func (c *compiler) named(t *typeExpr) *ctype {
	if t.name == "auto" {
		return nil
	}
	if s := c.scope.find(t.name); s != nil && s.ty != nil {
		return s.ty
	}
	if t.given != "" {
		return c.named(&typeExpr{span: t.span, form: formNamed, name: t.given})
	}
	for _, name := range []string{t.name, unqualified(t.name)} {
		if ty := canonicalTypes[name]; ty != nil {
			return ty
		}
		if s := c.p.unit.structs[name]; s != nil {
			return c.structType(s, t)
		}
		if a := c.p.unit.aliases[name]; a != nil {
			return c.aliasType(a, t)
		}
		if ty := builtinTypes[name]; ty != nil {
			return ty
		}
		if b, ok := c.p.unit.broken[name]; ok && b.message != "" {
			c.fail(b.at, "sketch/syntax", "%s", b.message)
		}
	}
	if i := strings.LastIndex(t.name, "::"); i > 0 {
		if ty := c.memberType(t, t.name[:i], t.name[i+2:]); ty != nil {
			return ty
		}
	}
	if strings.Contains(t.name, "::") || len(t.targs) > 0 {
		return c.libraryType(t)
	}
	c.fail(t.span, "sketch/type", "unknown type '%s', want a CUDA scalar or vector type or one that the source declares",
		clip(t.name))
	return nil
}

// memberType resolves S::T, where S is a struct of the source or a type that has a name here.
func (c *compiler) memberType(t *typeExpr, qual, name string) *ctype {
	ty := c.structNamed(&typeExpr{span: t.span, form: formNamed, name: qual})
	if ty == nil {
		return nil
	}
	if s := ty.env.names[name]; s != nil {
		return s.ty
	}
	return nil
}

// structNamed returns the struct that a type names, or nil.
func (c *compiler) structNamed(t *typeExpr) *ctype {
	s := c.scope.find(t.name)
	known := s != nil && s.ty != nil || c.p.unit.structs[unqualified(t.name)] != nil ||
		c.p.unit.aliases[unqualified(t.name)] != nil
	if !known {
		return nil
	}
	if d := c.p.unit.structs[unqualified(t.name)]; (s == nil || s.ty == nil) && d != nil && len(t.targs) == 0 {
		for _, p := range d.tparams {
			if p.def.ty == nil && p.def.x == nil {
				return nil
			}
		}
	}
	if ty := c.resolve(t); ty != nil && ty.kind == kindStruct && ty.decl != nil {
		return ty
	}
	return nil
}

// libraryType knows a few templates of the standard libraries; other library types are opaque.
func (c *compiler) libraryType(t *typeExpr) *ctype {
	switch name := unqualified(t.name); {
	case name == "array" && len(t.targs) == 2 && t.targs[0].ty != nil:
		n := c.targValue(t.targs[1])
		return arrayOf(c.resolve(t.targs[0].ty), int(min(max(n, 1), 1<<20)))
	case name == "type" || name == "value_type":
		return typeOpaque
	}
	return typeOpaque
}

func (c *compiler) targValue(a targ) int64 {
	if a.x == nil {
		if s := c.scope.find(a.ty.name); s != nil && s.val != nil {
			return s.val.val
		}
		c.fail(a.ty.span, "sketch/template", "got type '%s' as a template argument, want a value", a.ty.name)
	}
	return c.constant(a.x, "a template argument")
}

// bindTemplate puts template arguments into a new scope over parent. bound gives what was deduced.
func (c *compiler) bindTemplate(what string, at span, ps []tparam, args []targ, bound map[string]*symbol,
	parent *scope) *scope {
	env := &scope{parent: parent, names: map[string]*symbol{}}
	if len(args) > len(ps) {
		c.fail(at, "sketch/template", "%s got %d template arguments, want at most %d", what, len(args), len(ps))
	}
	for i, t := range ps {
		var s *symbol
		switch {
		case i < len(args):
			s = c.bindArg(t, args[i])
		case bound[t.name] != nil:
			s = bound[t.name]
		case len(t.given) > 0 || t.def.ty != nil || t.def.x != nil:
			saved := c.scope
			c.scope = env
			if len(t.given) > 0 {
				s = c.bindGiven(t)
			} else {
				s = c.bindArg(t, t.def)
			}
			c.scope = saved
		default:
			c.fail(at, "sketch/template", "template parameter %s of %s has no value, want -D %s=VALUE", t.name, what, t.name)
		}
		if t.name != "" {
			env.names[t.name] = s
		}
	}
	return env
}

func (c *compiler) bindArg(t tparam, a targ) *symbol {
	if t.isType {
		te := a.ty
		if te == nil {
			if id, ok := a.x.(*ident); ok {
				te = &typeExpr{span: id.span, form: formNamed, name: id.name, targs: id.targs}
			} else {
				c.fail(a.x.at(), "sketch/template", "got a value for template parameter %s, want a type", t.name)
			}
		}
		ty := c.resolve(te)
		if ty == nil {
			c.fail(te.span, "sketch/template", "got auto for template parameter %s, want a type", t.name)
		}
		return &symbol{ty: ty}
	}
	ty := typeInt
	if t.ty != nil && t.ty.name != "auto" {
		saved := c.scope
		if c.scope.find(t.ty.name) == nil {
			c.scope = c.global
		}
		if r := c.resolve(t.ty); r != nil && r.isInteger() {
			ty = r
		}
		c.scope = saved
	}
	return &symbol{val: &cexpr{ty: ty, konst: true, val: ty.wrap(c.targValue(a))}}
}

func (c *compiler) aliasType(a *aliasDecl, t *typeExpr) *ctype {
	saved := c.scope
	defer func() { c.scope = saved }()
	if len(a.tparams) > 0 {
		c.scope = c.bindTemplate(a.name, t.span, a.tparams, t.targs, nil, c.global)
	} else {
		c.scope = c.global
	}
	return c.resolve(a.ty)
}

// structType lays out a struct as the CUDA compiler does on Linux.
func (c *compiler) structType(s *structDecl, t *typeExpr) *ctype {
	key := s.name
	env := &scope{parent: c.global, names: map[string]*symbol{}}
	if len(s.tparams) > 0 {
		env = c.bindTemplate(s.name, t.span, s.tparams, t.targs, nil, c.global)
		key += scopeKey(env)
	}
	if ty := c.types[key]; ty != nil {
		if ty.size < 0 {
			c.fail(t.span, "sketch/type", "struct %s contains itself", s.name)
		}
		return ty
	}
	ty := &ctype{kind: kindStruct, name: s.name, size: -1, align: 1, union: s.union, decl: s, env: env}
	c.types[key] = ty
	saved := c.scope
	c.scope = env
	defer func() {
		c.scope = saved
		if ty.size < 0 {
			delete(c.types, key)
		}
	}()
	for _, a := range s.types {
		env.names[a.name] = &symbol{ty: c.resolve(a.ty)}
	}
	for _, v := range s.consts {
		if v.init != nil && v.constant {
			env.names[v.name] = &symbol{val: c.load(c.expr(v.init))}
		}
	}
	size, align := 0, 1
	for _, f := range s.fields {
		ft := c.resolve(f.ty)
		if ft == nil {
			c.fail(f.span, "sketch/type", "member %s has type auto, want a type", f.name)
		}
		a := c.alignOf(ft, f.aligns)
		if !s.union {
			size = (size + a - 1) / a * a
		}
		off := size
		if s.union {
			off = 0
		}
		if f.name == "" {
			for _, in := range ft.fields {
				ty.fields = append(ty.fields, field{in.name, off + in.off, in.ty})
			}
		} else {
			ty.fields = append(ty.fields, field{f.name, off, ft})
		}
		size = max(size, off+ft.size)
		align = max(align, a)
		if size > typeBytes {
			c.fail(f.span, "sketch/limit", "struct %s is larger than any memory", s.name)
		}
	}
	ty.align = align
	ty.align = c.alignOf(ty, s.aligns)
	ty.size = max((size+ty.align-1)/ty.align*ty.align, 1)
	return ty
}

func scopeKey(env *scope) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env.names)) {
		s := env.names[name]
		if s.ty != nil {
			fmt.Fprintf(&b, "|%s=%s/%d", name, s.ty.name, s.ty.size)
		} else if s.val != nil {
			fmt.Fprintf(&b, "|%s=%d", name, s.val.val)
		}
	}
	return b.String()
}

func (c *compiler) alignOf(t *ctype, aligns []expr) int {
	a := t.align
	for _, x := range aligns {
		v := c.constant(x, "an alignment")
		if v <= 0 || v&(v-1) != 0 || v > 1<<20 {
			c.fail(x.at(), "sketch/type", "alignment is %d, want a power of two", v)
		}
		a = max(a, int(v))
	}
	return a
}

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
