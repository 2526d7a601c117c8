package sketch

import (
	"math"
)

// convert brings a scalar to another type.
func (c *compiler) convert(e *cexpr, t *ctype) *cexpr {
	from := e.ty
	if t == nil || from == t {
		return e
	}
	if from.kind == kindStruct && from.decl != nil && t.isScalar() {
		if r := c.callConversion(e, t); r != nil {
			return c.convert(c.load(r), t)
		}
	}
	if !from.isScalar() || !t.isScalar() {
		if from.kind == kindOpaque || t.kind == kindOpaque || from.isAggregate() && t.kind == kindFloat {
			return c.unknown(t, "a value of a library type", e)
		}
		if t.isScalar() && from.kind == kindStruct {
			return c.unknown(t, "a struct converted to "+t.name, e)
		}
		return e
	}
	r := *e
	r.ty = t
	switch {
	case t.kind == kindFloat:
		if e.konst {
			if from.kind != kindFloat {
				r.fval = float64(e.val)
				if from.wideUnsigned() {
					r.fval = float64(uint64(e.val))
				}
			}
			return &r
		}
		if from.kind != kindFloat {
			return c.unknown(t, e.why, e)
		}
		return &r
	case from.kind == kindFloat:
		if e.konst {
			f := e.fval
			switch {
			case t.kind == kindBool:
				r.val = truth(f != 0)
			case f >= math.MaxInt64 || f <= math.MinInt64 || f != f:
				return c.unknown(t, "a floating-point value out of range")
			default:
				r.val = t.wrap(int64(f))
			}
			return &r
		}
		return c.unknown(t, e.why, e)
	case e.konst:
		r.val = t.wrap(e.val)
		r.pt = nil
		return &r
	case e.why != "":
		return c.unknown(t, e.why, e)
	case t.kind == kindPointer && from.kind == kindPointer:
		if e.pt != nil && t.elem.kind != kindVoid {
			pt := *e.pt
			pt.ty = t.elem
			r.pt = &pt
		}
		return &r
	case t.kind == kindPointer:
		if r.from == nil {
			r.from = &origin{}
		}
		return &r
	}
	if from.kind == kindPointer {
		r.fn, r.pt = c.eval(e), nil
	}
	if t.kind != kindBool && t.kind != kindPointer && fits(from, t) {
		return &r
	}
	fn := r.fn
	out := c.newVec()
	r.fn = func(m *machine, mask laneMask) *vec {
		a := fn(m, mask)
		out.uni, out.unk, out.why = a.uni, a.unk, a.why
		if a.uni {
			out.v[0] = t.wrap(a.v[0])
			return out
		}
		copy(out.v, a.v)
		wrapAll(t, out.v)
		return out
	}
	return &r
}

// fits reports whether every value of an integer type is the same in another.
func fits(from, to *ctype) bool {
	if from.kind == kindPointer {
		return to.size == 8
	}
	switch {
	case from.signed == to.signed:
		return from.size <= to.size
	case from.signed:
		return to.size == 8 && from.size == 8
	}
	return from.size < to.size || to.size == 8
}

// condition compiles a truth value.
func (c *compiler) condition(x expr) *cexpr {
	return c.truthOf(c.value(x))
}

func (c *compiler) truthOf(e *cexpr) *cexpr {
	if e.ty.isAggregate() || e.ty.kind == kindVoid {
		c.fail(e.at, "sketch/type", "got a value of type %s, want a condition", e.ty.name)
	}
	return c.convert(e, typeBool)
}
