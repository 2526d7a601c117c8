package sketch

import (
	"slices"
)

// method compiles a call of a member function: of cooperative groups, or of a type that is not followed.
func (c *compiler) method(fn *member, x *call) *cexpr {
	recv := c.expr(fn.x)
	if fn.arrow {
		recv = c.deref(c.load(recv), fn.span)
	}
	if recv.ty.kind == kindStruct && recv.ty.decl != nil && recv.lv != nil {
		if f := pickMethod(recv.ty.decl, fn.name, len(x.args)); f != nil {
			return c.callMethodOn(f, recv, x.span, fn.targs, c.arguments(f, x.args))
		}
	}
	if recv.ty.kind != kindOpaque {
		if recv.ty.vector || recv.ty.kind == kindFloat {
			return c.unknown(typeFloat, "a value of a library type", c.values(x.args)...)
		}
		c.fail(x.span, "sketch/method", "type %s has no member function %s that can be read", recv.ty.name, fn.name)
	}
	if g := groupMethods[fn.name]; g != nil && recv.lv != nil {
		if e := g(c, recv.lv.opaque, x); e != nil {
			return e
		}
	}
	return c.unknown(typeOpaque, "the result of "+fn.name, append(c.values(x.args), recv)...)
}

// methodRef is a member function found by its name inside another one.
type methodRef struct {
	f    *funcDecl
	recv *lval
	ty   *ctype
}

// pickMethod returns the member function of a name that takes n arguments, or any of that name.
func pickMethod(d *structDecl, name string, n int) *funcDecl {
	return overload(d.methods[name], n)
}

// callMethod calls a member function by name; nil when the type has none.
func (c *compiler) callMethod(recv *cexpr, name string, at span, targs []targ, args []*cexpr) *cexpr {
	if recv.ty.kind != kindStruct || recv.ty.decl == nil || recv.lv == nil {
		return nil
	}
	f := pickMethod(recv.ty.decl, name, len(args))
	if f == nil {
		return nil
	}
	return c.callMethodOn(f, recv, at, targs, args)
}

// callMethodOn calls a member function of an object, which is evaluated once.
func (c *compiler) callMethodOn(f *funcDecl, recv *cexpr, at span, targs []targ, args []*cexpr) *cexpr {
	pre, place := c.freeze(recv.lv)
	pre = c.then(recv.fn, pre)
	r := c.inlineMethod(f, place, recv.ty, at, targs, args)
	if pre != nil {
		r.fn, r.effects = c.then(pre, r.fn), true
	}
	return r
}

// callConversion converts a struct by its conversion operator; nil when it has none that fits.
func (c *compiler) callConversion(e *cexpr, t *ctype) *cexpr {
	if e.lv == nil {
		return nil
	}
	for _, f := range e.ty.decl.conversions {
		if (f.ret.form == formPointer) == (t.kind == kindPointer) {
			return c.callMethodOn(f, e, e.at, nil, nil)
		}
	}
	return nil
}

// inlineMethod compiles a call of a member function. recv is nil for a static one.
func (c *compiler) inlineMethod(f *funcDecl, recv *lval, ty *ctype, at span, targs []targ, args []*cexpr) *cexpr {
	if slices.Contains(c.active, f) {
		c.fail(at, "sketch/recursion", "%s calls itself, want a function without recursion", f.name)
	}
	if !c.p.parseBody(f) {
		panic(bailout{})
	}
	members := &scope{parent: ty.env, names: map[string]*symbol{}}
	for name, fs := range ty.decl.methods {
		members.names[name] = &symbol{method: &methodRef{fs[0], recv, ty}}
	}
	if recv != nil {
		for i := range ty.fields {
			l := *recv
			l.base += int64(ty.fields[i].off)
			l.ty = ty.fields[i].ty
			members.names[ty.fields[i].name] = &symbol{lv: &l}
		}
		l := *recv
		members.names["this"] = &symbol{val: &cexpr{ty: pointerTo(ty), pt: &l, from: recv.from}}
	}
	env := c.bindTemplate(f.name, at, f.tparams, targs, c.deduce(f, args), members)
	return c.inlineIn(f, at, env, args)
}
