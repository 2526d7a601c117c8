package sketch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
		if e.size < 0 {
			c.fail(t.span, "sketch/type", "array of %s, which is not complete here", e.name)
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
	if id, ok := a.x.(*ident); ok {
		if s := c.functionValue(id); s != nil {
			return s
		}
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
	env.names[unqualified(s.name)] = &symbol{ty: ty} // inside, the name alone is this instance
	for _, a := range s.types {
		env.names[a.name] = &symbol{ty: c.resolve(a.ty)}
	}
	for _, v := range s.consts {
		if v.init != nil && v.constant {
			init := v.init
			if v.given != nil {
				init = v.given
			}
			env.names[v.name] = &symbol{val: c.load(c.expr(init))}
		}
	}
	size, align := 0, 1
	for _, f := range s.fields {
		ft := c.resolve(f.ty)
		if ft == nil {
			c.fail(f.span, "sketch/type", "member %s has type auto, want a type", f.name)
		}
		if ft.size < 0 {
			c.fail(f.span, "sketch/type", "struct %s contains itself", s.name)
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
		} else if s.decl != nil {
			fmt.Fprintf(&b, "|%s=%s@%d", name, s.decl.name, s.decl.span.off)
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
