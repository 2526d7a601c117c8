package sketch

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
	if s := c.functionValue(x); s != nil {
		return c.symbolValue(s, x)
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
	case s.fn != nil || s.decl != nil:
		return &cexpr{ty: typeOpaque, fun: s, why: "a function"}
	}
	c.fail(x.span, "sketch/name", "got type '%s', want an expression", clip(x.name))
	return nil
}

// functionValue returns the function that a name stands for, or nil.
func (c *compiler) functionValue(x *ident) *symbol {
	if s := c.scope.find(x.name); s != nil {
		if s.decl != nil || s.fn != nil {
			return s
		}
		return nil
	}
	if fs := c.p.unit.funcs[unqualified(x.name)]; len(fs) > 0 {
		return &symbol{decl: fs[0]}
	}
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
