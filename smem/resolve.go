package smem

import (
	"fmt"
	"math/bits"
)

// Resolve works out how the unit serves r and writes it to out, which is overwritten. It allocates nothing unless it
// fails.
//
// Lanes are dropped, bounds and alignment checked, the groups chosen, and each group resolved: in every pass a bank
// delivers one word, so a group takes as many passes as the busiest of its banks has distinct words (or lanes, where the
// rule does not let lanes share). A load pairs when either every active lane whose neighbour lane^1 is active has that
// neighbour's address, or the same holds for lane^2; it is decided over the whole warp before conflicts (facts measured on
// an H200; docs/model.md).
//
// Errors: *Fault for an address the hardware would refuse, *UnsupportedError for an operation without a rule.
func (u *Unit) Resolve(out *Outcome, r *Request) error {
	rule, ok := u.Rules[Key{r.Op, r.Width}]
	if !ok {
		return &UnsupportedError{u.Name, r.Op, r.Width}
	}
	lanes := r.Addressing()
	if err := u.check(r, lanes); err != nil {
		return err
	}
	out.Groups = rule.Groups
	out.Paired = rule.Paired != nil && pairs(r.Addr, lanes)
	if out.Paired {
		out.Groups = rule.Paired
	}
	out.Basis = rule.Basis
	out.Wavefronts, out.Ideal, out.Ways = 0, 0, 0
	for i := range out.Group {
		out.Group[i], out.Pass[i] = -1, -1
	}
	for g, group := range out.Groups {
		group &= lanes
		if group == 0 {
			continue
		}
		passes := u.resolveGroup(out, r, rule.Shares, g, group)
		out.Wavefronts += passes * rule.PerPass
		out.Ideal += rule.PerPass
		out.Ways = max(out.Ways, passes)
	}
	out.Cycles = rule.cycles(out.Wavefronts, out.Paired)
	return nil
}

// cycles returns the cycles of a request that takes the given wavefronts: none when no lane takes part.
func (rule *Rule) cycles(wavefronts int, paired bool) float32 {
	if wavefronts == 0 {
		return 0
	}
	c := float32(wavefronts)
	if !paired {
		c = max(c, rule.Floor)
	}
	return c + rule.Extra
}

// check returns the fault of the lowest lane that the hardware would refuse, or an error if r is not well formed.
func (u *Unit) check(r *Request, lanes Mask) error {
	if r.Active&^u.FullMask() != 0 || len(r.Addr) < bits.Len64(uint64(lanes)) {
		return fmt.Errorf("request: active lanes %#x with %d addresses, want at most %d lanes with an address each",
			uint64(r.Active), len(r.Addr), u.Lanes)
	}
	size := uint32(r.Bytes())
	for m := lanes; m != 0; m &= m - 1 {
		lane := m.Lowest()
		addr := r.Addr[lane]
		if addr&(size-1) != 0 {
			return &Fault{Kind: Misaligned, Lane: lane, Addr: addr, Bytes: int(size)}
		}
		if uint64(addr)+uint64(size) > uint64(u.Size) {
			return &Fault{Kind: OutOfBounds, Lane: lane, Addr: addr, Bytes: int(size), Limit: u.Size}
		}
	}
	return nil
}

// pairs reports whether the lanes agree with their neighbours at distance 1, or all with those at distance 2. A lane
// whose neighbour is inactive agrees.
func pairs(addr []uint32, lanes Mask) bool {
	return agree(addr, lanes, 1, 0x5555555555555555) || agree(addr, lanes, 2, 0x3333333333333333)
}

func agree(addr []uint32, lanes Mask, distance uint, low Mask) bool {
	for m := lanes & (lanes >> distance) & low; m != 0; m &= m - 1 {
		lane := m.Lowest()
		if addr[lane] != addr[lane+int(distance)] {
			return false
		}
	}
	return true
}

// resolveGroup gives every lane of one group its pass and returns the number of passes.
//
// Aligned accesses of a group of one width never overlap in part, so an access is one cell of a coarser grid of banks: as
// many banks as it is words wide, side by side. Within a cell's column the first lane on a new word opens the next pass.
func (u *Unit) resolveGroup(out *Outcome, r *Request, shares bool, g int, group Mask) int {
	wordShift := uint(bits.TrailingZeros(uint(max(r.Bytes(), u.BankBytes))))
	rowShift := uint(bits.TrailingZeros(uint(u.RowBytes())))
	columnMask := uint32(u.RowBytes())>>wordShift - 1
	t := &out.scratch
	touched := uint64(0)
	passes := int8(0)
	for m := group; m != 0; m &= m - 1 {
		lane := m.Lowest() & (MaxLanes - 1)
		addr := r.Addr[lane]
		column := addr >> wordShift & columnMask & (MaxLanes - 1)
		rowOf := addr >> rowShift
		t.row[lane] = rowOf
		fold := uint64(1) << (rowOf & 63)
		if touched>>column&1 == 0 {
			touched |= 1 << column
			t.seen[column], t.count[column], t.last[column] = 0, 0, -1
		}
		out.Group[lane] = int8(g)
		if shares && t.seen[column]&fold != 0 {
			if opener := t.find(column, rowOf); opener >= 0 {
				out.Pass[lane] = out.Pass[opener]
				continue
			}
		}
		t.seen[column] |= fold
		t.before[lane] = t.last[column]
		t.last[column] = int8(lane)
		out.Pass[lane] = t.count[column]
		t.count[column]++
		passes = max(passes, t.count[column])
	}
	return int(passes)
}

// scratch is what resolveGroup keeps per column of the grid and per lane. It lives in the Outcome so that it need not be
// cleared for every group: a column is reset when it is first touched.
type scratch struct {
	seen   [MaxLanes]uint64 // per column, its rows folded to 64 bits: a clear bit proves a row new
	count  [MaxLanes]int8   // per column, the passes it needs
	last   [MaxLanes]int8   // per column, the last lane that opened a pass
	before [MaxLanes]int8   // per such lane, the one before it in its column
	row    [MaxLanes]uint32 // per lane
}

// find returns the lane that opened a pass on row in column, or -1.
func (t *scratch) find(column, row uint32) int8 {
	lane := t.last[column]
	for lane >= 0 && t.row[lane&(MaxLanes-1)] != row {
		lane = t.before[lane&(MaxLanes-1)]
	}
	return lane
}
