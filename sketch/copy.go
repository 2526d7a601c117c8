package sketch

import "shmoo/smem"

// initCopies adds asynchronous copies, wmma and the groups of cooperative groups.
func initCopies() {
	builtins["__pipeline_memcpy_async"] = func(c *compiler, x *call, _ []targ) *cexpr {
		c.wantArgs(x, 3)
		dst := c.deref(c.value(x.args[0]), x.span)
		src := c.value(x.args[1])
		size := c.constant(x.args[2], "the size of an asynchronous copy")
		if size != 4 && size != 8 && size != 16 {
			c.fail(x.args[2].at(), "sketch/type", "asynchronous copy of %d bytes, want 4, 8 or 16", size)
		}
		op := smem.CopyAsync
		if size == 16 { // the header's 16-byte form bypasses L1
			op = smem.CopyAsyncCG
		}
		site := c.newSite(op, x.span, dst.lv.from, dst.lv.dims, int(size), 1, "")
		return &cexpr{ty: typeVoid, effects: true,
			fn: c.then(effectsOf(src), c.then(dst.fn, c.touchSite(site, dst.lv)))}
	}
	opaque := func(why string) builtin {
		return func(c *compiler, x *call, _ []targ) *cexpr {
			var fn evalFn
			for _, a := range x.args {
				e := c.load(c.expr(a))
				if e.ty.kind == kindPointer {
					fn = c.then(fn, c.unresolvedTouch(smem.Load, c.deref(e, x.span), why))
				} else if e.effects {
					fn = c.then(fn, e.fn)
				}
			}
			return &cexpr{ty: typeVoid, effects: fn != nil, fn: fn}
		}
	}
	builtins["memcpy_async"] = opaque("how memcpy_async splits a copy among the lanes is not specified")
	for _, name := range []string{"load_matrix_sync", "store_matrix_sync"} {
		builtins[name] = opaque("the lane map of wmma fragments is not specified")
	}
	for _, name := range []string{"fill_fragment", "mma_sync"} {
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr {
			return c.unknown(typeVoid, "nothing", c.values(x.args)...)
		}
	}
	for name, what := range map[string]string{"this_thread_block": "the block", "this_grid": "the grid"} {
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr {
			return &cexpr{ty: typeOpaque, lv: &lval{ty: typeOpaque, opaque: what, at: x.span}}
		}
	}
	builtins["tiled_partition"] = func(c *compiler, x *call, targs []targ) *cexpr {
		what := "a tile of unknown size"
		if len(targs) > 0 && targs[0].x != nil && c.constant(targs[0].x, "the size of a tile") == int64(c.lanes) {
			what = "the warp"
		}
		return &cexpr{ty: typeOpaque, lv: &lval{ty: typeOpaque, opaque: what, at: x.span}}
	}
}
