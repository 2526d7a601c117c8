package smem

import (
	"fmt"
	"math/bits"
)

// A plan is a rule made ready for Resolve. Aligned accesses of one width never overlap in part, so an access is one cell
// of a grid whose columns are as many banks side by side as it is words wide. Every group has columns of its own, so one
// pass over the lanes serves all groups.
type plan struct {
	rule            Rule
	size            uint32 // bytes of one access
	wordShift       uint8  // log2 of the bytes of a column
	column          uint32 // mask of the column bits after wordShift
	plain, together grouping
}

// A grouping says which group serves each lane.
type grouping struct {
	masks []Mask
	lanes Mask            // lanes of all groups
	group [MaxLanes]int8  // -1 for a lane in no group
	pass  [MaxLanes]int8  // 0 for a lane of a group, else -1: what serve starts from
	base  [MaxLanes]uint8 // first column of the lane's group
}

// maxGroups bounds the groups of a rule: groups times columns must fit the columns that Resolve tracks.
const maxGroups = 16

func (u *Unit) plan(key Key, rule Rule) (*plan, error) {
	if key.Op >= opCount || !powerOfTwo(key.Width) || key.Width >= 1<<widthCount {
		return nil, fmt.Errorf("want a known operation and a width of 1, 2, 4, 8 or 16 bytes")
	}
	if rule.PerPass < 1 {
		return nil, fmt.Errorf("%d wavefronts per pass, want at least 1", rule.PerPass)
	}
	r := Request{Op: key.Op, Width: key.Width}
	size := r.Bytes()
	span := max(size, u.BankBytes)
	if span > u.RowBytes() {
		return nil, fmt.Errorf("rows of %d bytes, want at least the %d of one access", u.RowBytes(), size)
	}
	columns := u.RowBytes() / span
	p := &plan{
		rule:      rule,
		size:      uint32(size),
		wordShift: uint8(bits.TrailingZeros(uint(span))),
		column:    uint32(columns - 1),
	}
	if err := p.plain.set(rule.Groups, columns, u.FullMask()); err != nil {
		return nil, err
	}
	if rule.Paired == nil {
		return p, nil
	}
	return p, p.together.set(rule.Paired, columns, u.FullMask())
}

func (g *grouping) set(masks []Mask, columns int, full Mask) error {
	if len(masks) > maxGroups || len(masks)*columns > MaxLanes {
		return fmt.Errorf("%d groups of %d columns, want at most %d columns in all", len(masks), columns, MaxLanes)
	}
	g.masks, g.group, g.pass = masks, unserved, unserved
	for i, m := range masks {
		if m&g.lanes != 0 || m&^full != 0 {
			return fmt.Errorf("group %d (lanes %#x) overlaps another or has lanes the warp has not, want each lane in one group at most", i, uint64(m))
		}
		g.lanes |= m
		for ; m != 0; m &= m - 1 {
			lane := m.Lowest()
			g.group[lane] = int8(i)
			g.pass[lane] = 0
			g.base[lane] = uint8(i * columns)
		}
	}
	return nil
}
