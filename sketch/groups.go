package sketch

// groupMethods are the member functions of cooperative groups, by what the group is.
var groupMethods = map[string]func(c *compiler, group string, x *call) *cexpr{
	"sync": func(c *compiler, group string, x *call) *cexpr { return &cexpr{ty: typeVoid} },
	"thread_rank": func(c *compiler, group string, x *call) *cexpr {
		switch group {
		case "the block":
			return c.linearThread()
		case "the warp":
			return c.laneIndex()
		}
		return nil
	},
	"size":        func(c *compiler, group string, x *call) *cexpr { return c.groupSize(group) },
	"num_threads": func(c *compiler, group string, x *call) *cexpr { return c.groupSize(group) },
	"meta_group_rank": func(c *compiler, group string, x *call) *cexpr {
		if group != "the warp" {
			return nil
		}
		return c.arith(opDiv, typeUint, typeUint, c.linearThread(), constInt(typeUint, int64(c.lanes)), x.span)
	},
	"meta_group_size": func(c *compiler, group string, x *call) *cexpr {
		if group != "the warp" {
			return nil
		}
		return constInt(typeUint, int64((c.launch.threads()+c.lanes-1)/c.lanes))
	},
}

func (c *compiler) groupSize(group string) *cexpr {
	switch group {
	case "the block":
		return constInt(typeUint, int64(c.launch.threads()))
	case "the warp":
		return constInt(typeUint, int64(c.lanes))
	}
	return nil
}

func (l *launch) threads() int { return l.block[0] * l.block[1] * l.block[2] }

func (c *compiler) linearThread() *cexpr {
	out := c.newVec()
	return &cexpr{ty: typeUint, fn: func(m *machine, mask laneMask) *vec {
		out.unk, out.uni = m.lane.unk, false
		out.why = m.lane.why
		for i := range out.v {
			out.v[i] = int64(m.warp*m.lanes + i)
		}
		return out
	}}
}

func (c *compiler) laneIndex() *cexpr {
	return &cexpr{ty: typeUint, fn: func(m *machine, mask laneMask) *vec { return &m.lane }}
}
