package sketch

import (
	"strings"

	"shmoo/smem"
)

// casLoop is why atomics without an instruction of their own are not resolved.
const casLoop = "compare-and-swap loop, count depends on contention"

func initAtomics() {
	for _, name := range strings.Fields(`atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc atomicDec atomicAnd
		atomicOr atomicXor atomicCAS`) {
		for _, suffix := range []string{"", "_block", "_system"} {
			builtins[name+suffix] = func(c *compiler, x *call, _ []targ) *cexpr { return c.atomic(name, x) }
		}
	}
}

// atomic compiles an atomic function on the place its first argument points to.
func (c *compiler) atomic(name string, x *call) *cexpr {
	c.wantArgs(x, 2)
	place := c.deref(c.value(x.args[0]), x.args[0].at())
	ops := c.values(x.args[1:])
	place.lv.at = x.span
	return c.atomicAt(name, place, ops, x.span)
}

func (c *compiler) atomicAt(name string, place *cexpr, ops []*cexpr, at span) *cexpr {
	l := place.lv
	ty := l.ty
	r := &cexpr{ty: ty, effects: true, why: "the result of " + name}
	var fn evalFn
	for _, o := range ops {
		if o.effects {
			fn = c.then(fn, o.fn)
		}
	}
	if l.obj != nil || l.opaque != "" {
		r.fn = c.unknownAfter(c.then(fn, place.fn), r)
		r.effects = r.fn != nil
		return r
	}
	op := smem.Atomic
	if name == "atomicCAS" {
		op = smem.CompareSwap
	}
	width := ty.size
	if width != 4 && width != 8 && width != 2 {
		c.fail(at, "sketch/type", "%s on a %d-byte value of type %s, want 2, 4 or 8 bytes", name, width, ty.name)
	}
	site := c.newSite(op, at, l.from, l.dims, width, 1, "")
	native := width == 4 && ty.isInteger() ||
		(name == "atomicExch" || name == "atomicCAS") && (width == 4 || width == 8)
	if !native {
		site.why = casLoop
	}
	r.fn = c.unknownAfter(c.then(fn, c.then(place.fn, c.touchSite(site, l))), r)
	if op == smem.Atomic && native && width == 4 {
		c.atomics = append(c.atomics, atomicRef{r, site})
	}
	return r
}

// atomicRef remembers the site of an atomic whose result may turn out to be unused.
type atomicRef struct {
	e    *cexpr
	site *siteRef
}

// resultUnused makes a reduction of an atomic whose value nobody takes.
func (c *compiler) resultUnused(e *cexpr) {
	if n := len(c.atomics); n > 0 && c.atomics[n-1].e == e {
		c.atomics[n-1].site.op = smem.Reduce
	}
}

// touchSite is touch for one given site.
func (c *compiler) touchSite(site *siteRef, l *lval) evalFn {
	addr, sure := c.address(l), l.shared != nil
	return func(m *machine, mask laneMask) *vec {
		a := addr(m, mask)
		if !sure {
			mask = m.sharedLanes(a, mask, site.index >= 0)
		}
		m.emit(site, mask, a)
		return a
	}
}
