package sketch

import "strings"

// initShuffles adds warp shuffles and votes. Their results are exact where the operands are known.
func initShuffles() {
	for name, pick := range map[string]func(lane, src, width int) int{
		"__shfl_sync":      func(lane, src, width int) int { return lane&^(width-1) | src&(width-1) },
		"__shfl_xor_sync":  func(lane, src, width int) int { return inSegment(lane, lane^src, width) },
		"__shfl_down_sync": func(lane, src, width int) int { return inSegment(lane, lane+src, width) },
		"__shfl_up_sync":   func(lane, src, width int) int { return inSegment(lane, lane-src, width) },
	} {
		builtins[name] = func(c *compiler, x *call, _ []targ) *cexpr {
			c.wantArgs(x, 3)
			return c.shuffle(x.args[1:], pick, x)
		}
		builtins[strings.TrimSuffix(name, "_sync")] = func(c *compiler, x *call, _ []targ) *cexpr {
			c.wantArgs(x, 2)
			return c.shuffle(x.args, pick, x)
		}
	}
	vote := func(f func(yes, active laneMask) int64) builtin {
		return func(c *compiler, x *call, _ []targ) *cexpr {
			c.wantArgs(x, 1)
			e := c.truthOf(c.value(x.args[len(x.args)-1]))
			fn, out := c.eval(e), c.newVec()
			return &cexpr{ty: typeUint, effects: e.effects, fn: func(m *machine, mask laneMask) *vec {
				a := fn(m, mask)
				yes, _, u := a.split(mask)
				if u != 0 {
					out.setUnknown(a.why)
					return out
				}
				out.set(f(yes, mask))
				return out
			}}
		}
	}
	builtins["__ballot_sync"] = vote(func(yes, active laneMask) int64 { return int64(uint32(yes)) })
	builtins["__any_sync"] = vote(func(yes, active laneMask) int64 { return truth(yes != 0) })
	builtins["__all_sync"] = vote(func(yes, active laneMask) int64 { return truth(yes == active) })
	builtins["__activemask"] = func(c *compiler, x *call, _ []targ) *cexpr {
		out := c.newVec()
		return &cexpr{ty: typeUint, fn: func(m *machine, mask laneMask) *vec {
			out.set(int64(uint32(mask)))
			return out
		}}
	}
}

func inSegment(lane, src, width int) int {
	if src < 0 || lane/width != src/width {
		return lane
	}
	return src
}

// shuffle compiles a warp shuffle: value, source and an optional width.
func (c *compiler) shuffle(args []expr, pick func(lane, src, width int) int, x *call) *cexpr {
	val, src := c.value(args[0]), c.value(args[1])
	if !val.ty.isInteger() || val.why != "" || src.why != "" {
		return c.unknownOf(val.ty, "a value shuffled at "+c.where(x.span), x.span, val, src)
	}
	width := c.lanes
	if len(args) > 2 {
		width = int(c.constant(args[2], "the width of a shuffle"))
		if width < 1 || width > c.lanes || width&(width-1) != 0 {
			c.fail(x.span, "sketch/type", "width of a shuffle is %d, want a power of two up to %d", width, c.lanes)
		}
	}
	vf, sf, out := c.eval(val), c.eval(src), c.newVec()
	return &cexpr{ty: val.ty, effects: val.effects || src.effects, fn: func(m *machine, mask laneMask) *vec {
		v := vf(m, mask)
		s := sf(m, mask)
		if v.uni && v.unk == 0 {
			out.copyFrom(v)
			return out
		}
		if s.unk&mask != 0 {
			out.setUnknown(s.why)
			return out
		}
		out.uni, out.unk, out.why = false, 0, v.why
		first, same := int64(0), true
		for lane := range out.v {
			from := pick(lane, int(int32(s.at(lane))), width)
			if from >= len(out.v) {
				from = lane
			}
			out.v[lane] = v.at(from)
			if v.unk.Has(from) {
				out.unk |= 1 << lane
			}
			if lane == 0 {
				first = out.v[0]
			}
			same = same && out.v[lane] == first
		}
		out.uni = same && out.unk == 0
		return out
	}}
}
