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
	p, err := u.lookup(r.Op, r.Width)
	if err != nil {
		return err
	}
	lanes := r.Addressing()
	if err := u.checkShape(r, lanes); err != nil {
		return err
	}
	out.Paired = p.rule.Paired != nil && pairs(r.Addr, lanes)
	g := &p.plain
	if out.Paired {
		g = &p.together
	}
	lanes &= g.lanes
	out.Basis, out.Groups = p.rule.Basis, g.masks
	out.Group, out.Pass = g.group, g.pass
	for m := ^lanes & g.lanes; m != 0; m &= m - 1 {
		lane := m.Lowest() & (MaxLanes - 1)
		out.Group[lane], out.Pass[lane] = -1, -1
	}
	var passes [maxGroups]int8
	all, free := out.free(p, g, r.Addr, lanes)
	if !free {
		all = out.serve(p, g, r.Addr, lanes, &passes)
	}
	// The union of all addresses is at least the largest of them, so it settles nearly every bounds check.
	if lanes != 0 && (all&(p.size-1) != 0 || uint64(all)+uint64(p.size) > uint64(u.Size)) {
		if err := u.fault(r, p, lanes); err != nil {
			return err
		}
	}
	out.Wavefronts, out.Ideal, out.Ways = 0, 0, 0
	for i, mask := range g.masks {
		if mask&lanes == 0 {
			continue
		}
		n := max(1, int(passes[i&(maxGroups-1)]))
		out.Wavefronts += n
		out.Ideal++
		out.Ways = max(out.Ways, n)
	}
	out.Wavefronts *= p.rule.PerPass
	out.Ideal *= p.rule.PerPass
	out.Cycles = p.rule.cycles(out.Wavefronts, out.Paired)
	return nil
}

// unserved is the Group and Pass of an outcome without lanes.
var unserved = func() (none [MaxLanes]int8) {
	for lane := range none {
		none[lane] = -1
	}
	return none
}()

// cycles returns the cycles of a request that takes the given wavefronts: none when no lane takes part.
func (rule *Rule) cycles(wavefronts int, paired bool) float32 {
	if wavefronts == 0 {
		return 0
	}
	floor := rule.Floor
	if paired {
		floor = rule.PairedFloor
	}
	return max(float32(wavefronts), floor) + rule.Extra
}

// checkShape returns an error if r names lanes that the warp has not, or lanes without an address.
func (u *Unit) checkShape(r *Request, lanes Mask) error {
	if r.Active&^u.FullMask() != 0 || len(r.Addr) < bits.Len64(uint64(lanes)) {
		return fmt.Errorf("request: active lanes %#x with %d addresses, want at most %d lanes with an address each",
			uint64(r.Active), len(r.Addr), u.Lanes)
	}
	return nil
}

// fault returns the fault of the lowest lane that the hardware would refuse, or nil.
func (u *Unit) fault(r *Request, p *plan, lanes Mask) error {
	for m := lanes; m != 0; m &= m - 1 {
		lane := m.Lowest()
		addr := r.Addr[lane]
		if addr&(p.size-1) != 0 {
			return &Fault{Kind: Misaligned, Lane: lane, Addr: addr, Bytes: int(p.size)}
		}
		if uint64(addr)+uint64(p.size) > uint64(u.Size) {
			return &Fault{Kind: OutOfBounds, Lane: lane, Addr: addr, Bytes: int(p.size), Limit: u.Size}
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

// A column is what is kept of one column of the grid. The columns live in the Outcome so that they need not be cleared:
// each is reset when it is first touched.
type column struct {
	seen  uint64 // its cells folded to 64 bits: a clear bit proves a cell new
	cell  uint32 // cell of the last pass
	count int8   // passes it needs
}

// free reports whether one pass serves every group: no column has two cells, or two lanes that may not share. If so it
// also returns the union of the addresses. Most requests of good kernels end here, so it keeps next to nothing, and the
// lanes of most are the first n: those need no search for the next lane.
func (out *Outcome) free(p *plan, g *grouping, addrs []uint32, lanes Mask) (all uint32, free bool) {
	shift, columns, shares := p.wordShift&31, p.column, p.rule.Shares
	touched := uint64(0)
	if n := bits.Len64(uint64(lanes)); lanes == Lanes(0, n) {
		base := g.base[:n]
		for lane, addr := range addrs[:n] {
			all |= addr
			cell := addr >> shift
			at := (uint32(base[lane]) + cell&columns) & (MaxLanes - 1)
			if touched&(1<<at) == 0 {
				touched |= 1 << at
				out.cells[at] = cell
			} else if !shares || out.cells[at] != cell {
				return 0, false
			}
		}
		return all, true
	}
	for m := lanes; m != 0; m &= m - 1 {
		lane := m.Lowest() & (MaxLanes - 1)
		addr := addrs[lane]
		all |= addr
		cell := addr >> shift
		at := (uint32(g.base[lane]) + cell&columns) & (MaxLanes - 1)
		if touched&(1<<at) == 0 {
			touched |= 1 << at
			out.cells[at] = cell
		} else if !shares || out.cells[at] != cell {
			return 0, false
		}
	}
	return all, true
}

// serve gives every lane its pass: in its column, a lane on a new cell opens the next pass; a lane on a cell that has a
// pass joins it where the rule lets lanes share. It expects out.Pass to be 0 for the lanes and sets passes for the groups
// that need more than one, and returns the union of the addresses.
func (out *Outcome) serve(p *plan, g *grouping, addrs []uint32, lanes Mask, passes *[maxGroups]int8) (all uint32) {
	shift, columns, shares := p.wordShift&31, p.column, p.rule.Shares
	touched := uint64(0)
	for m := lanes; m != 0; m &= m - 1 {
		lane := m.Lowest() & (MaxLanes - 1)
		addr := addrs[lane]
		all |= addr
		cell := addr >> shift
		at := (uint32(g.base[lane]) + cell&columns) & (MaxLanes - 1)
		c := &out.columns[at]
		if touched&(1<<at) == 0 {
			touched |= 1 << at
			*c = column{seen: fold(cell), cell: cell, count: 1}
			continue
		}
		if shares {
			if c.cell == cell {
				out.Pass[lane] = c.count - 1
				continue
			}
			if c.seen&fold(cell) != 0 {
				if pass, ok := out.passOf(p, g, addrs, lanes, lane); ok {
					out.Pass[lane] = pass
					continue
				}
			}
			c.seen |= fold(cell)
			c.cell = cell
		}
		out.Pass[lane] = c.count
		c.count++
		if n := &passes[g.group[lane]&(maxGroups-1)]; c.count > *n {
			*n = c.count
		}
	}
	return all
}

// fold maps a cell to one bit such that up to 64 adjacent rows of one column, and rows 64 apart, rarely share it.
func fold(cell uint32) uint64 { return 1 << (cell>>5&63 ^ cell>>11&63) }

// passOf returns the pass of a lane below the given one that accesses the same cell in the same group, if there is one.
func (out *Outcome) passOf(p *plan, g *grouping, addrs []uint32, lanes Mask, lane int) (int8, bool) {
	cell := addrs[lane] >> (p.wordShift & 31)
	for m := lanes & (1<<uint(lane) - 1); m != 0; m &= m - 1 {
		below := m.Lowest() & (MaxLanes - 1)
		if addrs[below]>>(p.wordShift&31) == cell && g.group[below] == g.group[lane&(MaxLanes-1)] {
			return out.Pass[below], true
		}
	}
	return 0, false
}
