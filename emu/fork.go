package emu

import "shmoo/sass"

// Branches on unknown data.
//
// Where the predicate of a branch is unknown for some lanes, both sides run, one after the other, each from the state before the
// branch, up to the instruction where they meet (the branch's immediate post-dominator). There a register stays known
// only if both sides left the same known value. While a side runs, its unsure lanes are "maybe" lanes: their accesses are
// reported as unresolved, and what they store to shared or global memory becomes unknown unless it is what was there.
//
// A loop whose condition is unknown would nest for ever. After loopRounds rounds of the same branch the loop is left, everything that
// it can write becomes unknown, and its accesses are marked as having no upper bound.

const loopRounds = 2

// A frame is one branch on unknown data whose two sides are being run.
type frame struct {
	branch  int32
	at      int32  // where the sides meet, or noJoin: they run to the end
	unsure  uint32 // lanes for which the branch is unknown
	lanes   uint32 // all lanes that came to the branch
	waiting group  // the second side: lanes known to go there, and the unsure ones
	second  bool   // the second side runs

	before, after lanesState // unsure lanes before the branch and after the first side
	groups        []group    // where the unsure lanes ended the first side
	exited        uint32     // unsure lanes that ended in the first side

	maybe, ragged uint32
	maybeWhy      reason
	joinAt        int32
}

// lanesState is a copy of what a side may change.
type lanesState struct {
	rows    []lanes
	known   []uint32
	why     []reason
	preds   [numPreds]uint32
	pknown  [numPreds]uint32
	uregs   [numUregs]uint32
	uknown  [numUregs]bool
	upreds  [numPreds]bool
	upknown [numPreds]bool
	joined  [numBarReg][]convergence
}

func (w *warp) save(s *lanesState) {
	s.rows = append(s.rows[:0], w.rows...)
	s.known = append(s.known[:0], w.known...)
	s.why = append(s.why[:0], w.why...)
	s.preds, s.pknown = w.preds, w.pknown
	s.uregs, s.uknown, s.upreds, s.upknown = w.uregs, w.uknown, w.upreds, w.upknown
	for i := range w.joined {
		s.joined[i] = append(s.joined[i][:0], w.joined[i]...)
	}
}

// restore brings lanes, and the uniform state of the warp, back to a saved state.
func (w *warp) restore(s *lanesState, set uint32) {
	for r := range w.rows {
		if r >= len(s.rows) {
			w.known[r] &^= set
			continue
		}
		w.copyLanes(r, &s.rows[r], s.known[r], s.why[r], set)
	}
	for p := range w.preds {
		w.preds[p] = w.preds[p]&^set | s.preds[p]&set
		w.pknown[p] = w.pknown[p]&^set | s.pknown[p]&set
	}
	w.uregs, w.uknown, w.upreds, w.upknown = s.uregs, s.uknown, s.upreds, s.upknown
	for reg := range w.joined {
		w.leave(reg, set)
		for _, c := range s.joined[reg] {
			if c.mask&set == 0 {
				continue
			}
			if now := w.convergence(reg, c.mask&^set); now != nil && now.at == c.at {
				now.mask |= c.mask & set
				continue
			}
			w.joined[reg] = append(w.joined[reg], convergence{mask: c.mask & set, at: c.at})
		}
	}
}

func (w *warp) copyLanes(r int, from *lanes, known uint32, why reason, set uint32) {
	to := &w.rows[r]
	for left := set; left != 0; left &= left - 1 {
		i := first(left) & (warpLanes - 1)
		to[i] = from[i]
	}
	w.known[r] = w.known[r]&^set | known&set
	if known&set != set {
		w.why[r] = why
	}
}

// join merges a saved state into the present one for lanes that come from both: what differs becomes unknown.
func (w *warp) join(s *lanesState, set uint32, why reason) {
	for r := range w.rows {
		if r >= len(s.rows) {
			w.known[r] &^= set
			w.why[r] = why
			continue
		}
		if r >= int(w.m.zeroRow) && r < w.m.rows {
			continue
		}
		both := w.known[r] & s.known[r] & set
		for left := both; left != 0; left &= left - 1 {
			i := first(left) & (warpLanes - 1)
			if w.rows[r][i] != s.rows[r][i] {
				both &^= 1 << uint(i)
			}
		}
		if lost := w.known[r] & set &^ both; lost != 0 {
			w.known[r] &^= lost
			w.why[r] = why
		}
	}
	for p := range w.preds {
		same := s.pknown[p] &^ (w.preds[p] ^ s.preds[p])
		if lost := w.pknown[p] & set &^ same; lost != 0 {
			w.pknown[p] &^= lost
			w.pwhy[p] = why
		}
	}
	for r := range w.uregs {
		if w.uknown[r] && !(s.uknown[r] && s.uregs[r] == w.uregs[r]) {
			w.uknown[r], w.uwhy[r] = false, why
		}
	}
	for p := range w.upreds {
		if w.upknown[p] && !(s.upknown[p] && s.upreds[p] == w.upreds[p]) {
			w.upknown[p], w.upwhy[p] = false, why
		}
	}
}

// suspended returns the lanes that must not run now: those of open frames that wait for the second side.
func (w *warp) suspended() uint32 {
	var set uint32
	for k, f := range w.frames {
		if !f.second {
			set |= f.waiting.mask &^ f.unsure
		}
		if k == len(w.frames)-1 {
			set |= ^f.lanes
		}
	}
	return set
}

// unknownBranch runs both sides of a branch: taken are the lanes known to take it, unsure those that may.
func (w *warp) unknownBranch(o *inst, taken, unsure uint32) {
	why := w.conditionReason(o, unsure)
	w.block.unknownBranches[o.index]++
	if side, loop := w.rounds(o.index); loop {
		w.leaveLoop(o, taken, unsure, side)
		return
	}
	// The side that goes forward runs first: for a loop that is the way out.
	other := w.mask &^ taken
	firstSide, firstPC, secondPC := taken|unsure, o.target, w.pc
	if o.target <= o.index {
		firstSide, other = other, taken|unsure
		firstPC, secondPC = w.pc, o.target
	}
	if !w.open(o, unsure, group{pc: secondPC, mask: other | unsure}) {
		return
	}
	w.suspect(unsure, why, !o.uniformCondition())
	// The lanes known to take the second side wait as a group of their own.
	w.mask, w.pc = firstSide, firstPC
	w.groups[w.cur] = group{pc: firstPC, mask: firstSide}
	if rest := other &^ unsure; rest != 0 {
		w.groups = append(w.groups, group{pc: secondPC, mask: rest})
	}
}

// open starts a frame for the running group: its lanes that are unsure run the second side, too, together with those that wait there.
func (w *warp) open(o *inst, unsure uint32, waiting group) bool {
	if w.forks++; w.forks > w.m.limits.Forks {
		w.limit("unknown branches followed", int64(w.m.limits.Forks))
		return false
	}
	f := w.newFrame()
	f.branch, f.at, f.unsure, f.lanes, f.waiting = o.index, w.m.program.flow.join(o.index), unsure, w.mask, waiting
	f.maybe, f.ragged, f.maybeWhy, f.joinAt = w.maybe, w.ragged, w.maybeWhy, w.joinAt
	if f.at == noJoin {
		f.at = w.reconvergence(w.mask)
	}
	w.save(&f.before)
	w.guardeds = w.guardeds[:0]
	w.frames = append(w.frames, f)
	w.joinAt = f.at
	return true
}

// newFrame returns an empty frame, if it can one that was closed: their copies of the registers are large.
func (w *warp) newFrame() *frame {
	n := len(w.spare)
	if n == 0 {
		return new(frame)
	}
	f := w.spare[n-1]
	w.spare = w.spare[:n-1]
	f.second, f.exited, f.groups = false, 0, f.groups[:0]
	return f
}

// unknownIndirect follows an indirect branch with an unknown target to all places that the file lists, one after the other: each frame
// runs one of them as its first side and comes back to the branch as its second.
func (w *warp) unknownIndirect(o *inst, lane int) {
	targets := w.m.program.flow.indirect[o.index]
	if len(targets) == 0 || w.act != w.mask {
		w.fault(UnknownBranches, o, lane, 0, "")
		return
	}
	w.block.unknownBranches[o.index]++
	tried, inside := 0, false
	for _, f := range w.frames {
		if f.branch == o.index {
			tried += int(bit(f.second))
			inside = inside || !f.second
		}
	}
	switch {
	case inside: // a loop through the branch: its further rounds are not followed
		for _, i := range w.m.program.flow.loop(o.index) {
			if site := w.m.code[i].site; site >= 0 {
				w.block.unbounded[site] = true
			}
		}
		w.block.shared.poison(because(whyLoop, int(o.index)))
		w.end(w.mask)
	case tried >= len(targets)-1:
		w.pc = targets[len(targets)-1]
	default:
		why := w.missingReason(o, w.act)
		if !w.open(o, w.mask, group{pc: o.index, mask: w.mask}) {
			return
		}
		w.suspect(w.mask, why, !o.a.uniform())
		w.pc = targets[tried]
		w.groups[w.cur] = group{pc: w.pc, mask: w.mask}
	}
}

// uniform reports whether an operand is the same in all lanes.
func (o *operand) uniform() bool { return o.kind != fromRow }

// reconvergence returns where the innermost BSSY region around lanes ends.
func (w *warp) reconvergence(set uint32) int32 {
	best, size := int32(noJoin), 33
	for reg := range w.joined {
		for _, c := range w.joined[reg] {
			if c.mask&set == set && c.at >= 0 && popcount(c.mask) < size {
				best, size = c.at, popcount(c.mask)
			}
		}
	}
	return best
}

// atJoin parks the running group where the sides of the innermost frame meet.
func (w *warp) atJoin() bool {
	w.rest(parkJoin, 0)
	return true
}

// rounds reports whether a branch has been followed on both sides loopRounds times without its sides meeting, and if so which
// side leaves the loop: true for the first one.
func (w *warp) rounds(branch int32) (first, loop bool) {
	n := 0
	for _, f := range w.frames {
		if f.branch == branch {
			n++
			first = f.second
		}
	}
	return first, n >= loopRounds
}

// leaveLoop sends all unsure lanes out of a loop whose trip count is unknown.
func (w *warp) leaveLoop(o *inst, taken, unsure uint32, firstSide bool) {
	w.guardeds = w.guardeds[:0]
	forward := o.target > o.index
	why := because(whyLoop, int(o.index))
	for _, i := range w.m.program.flow.loop(o.index) {
		in := &w.m.code[i]
		if in.site >= 0 {
			w.block.unbounded[in.site] = true
			if w.m.program.sites[in.site].Op.Writes() {
				w.block.shared.poison(why)
			}
		}
		switch in.in.Op {
		case sass.STL:
			for set := unsure; set != 0; set &= set - 1 {
				w.forgetLocal(first(set), why)
			}
		case sass.STG, sass.ST, sass.ATOMG, sass.ATOM, sass.REDG, sass.RED:
			w.block.counts.assumedAliases++
		}
		w.forget(in, unsure, why)
	}
	// firstSide tells which side leads out: the forward one runs first.
	if firstSide == forward {
		taken |= unsure
	}
	switch {
	case taken == w.mask:
		w.pc = o.target
	case taken != 0:
		w.split(taken, o.target)
	}
}

// forget marks what an instruction writes as unknown in lanes.
func (w *warp) forget(o *inst, set uint32, why reason) {
	if o.dstU {
		for k := range o.words {
			if r := o.dst + k; r < uregZero {
				w.uknown[r], w.uwhy[r] = false, why
			}
		}
	} else if o.dst != w.sink {
		for k := range o.words {
			w.known[o.dst+k] &^= set
			w.why[o.dst+k] = why
		}
	}
	for _, p := range []uint8{o.pu, o.pv} {
		if p == sinkPred {
			continue
		}
		if o.uniform {
			w.upknown[p], w.upwhy[p] = false, why
		} else {
			w.pknown[p] &^= set
			w.pwhy[p] = why
		}
	}
}

// waitsForBlock reports whether a lane of the innermost frame waits at a block-wide barrier that other warps may yet reach.
func (w *warp) waitsForBlock() bool {
	if w.block.stuck {
		return false
	}
	f := w.frames[len(w.frames)-1]
	for _, g := range w.groups {
		if g.state == parkBlock && g.mask&f.unsure != 0 {
			return true
		}
	}
	return false
}

// turn ends the running side of the innermost frame: the second side starts, or the frame closes.
func (w *warp) turn() {
	w.guardeds = w.guardeds[:0]
	f := w.frames[len(w.frames)-1]
	if !f.second {
		f.second = true
		w.save(&f.after)
		f.groups = w.remove(f.groups[:0], f.unsure)
		f.exited = w.exited & f.unsure
		w.exited &^= f.unsure
		w.restore(&f.before, f.unsure)
		// Lanes known to take the second side wait at its start; the unsure ones come to them.
		for i := range w.groups {
			if g := &w.groups[i]; g.state == ready && g.pc == f.waiting.pc && g.mask == f.waiting.mask&^f.unsure {
				g.mask |= f.unsure
				return
			}
		}
		w.groups = append(w.groups, group{pc: f.waiting.pc, mask: f.unsure})
		return
	}
	w.frames = w.frames[:len(w.frames)-1]
	w.joinAt = f.joinAt
	why := because(whyJoin, int(f.branch))
	exited := w.exited & f.unsure
	both := f.unsure &^ f.exited &^ exited
	onlyFirst := f.unsure &^ f.exited & exited
	if onlyFirst != 0 {
		uregs, uknown, upreds, upknown := w.uregs, w.uknown, w.upreds, w.upknown
		w.restore(&f.after, onlyFirst)
		w.uregs, w.uknown, w.upreds, w.upknown = uregs, uknown, upreds, upknown
		w.exited &^= onlyFirst
		for _, g := range f.groups {
			if g.mask &= onlyFirst; g.mask != 0 {
				w.groups = append(w.groups, g)
			}
		}
	}
	w.join(&f.after, both, why)
	// Lanes that live on whichever way they went are certain again; the others stay unsure.
	still := f.exited ^ exited
	w.maybe = f.maybe | still
	w.ragged = f.ragged | still
	w.maybeWhy = f.maybeWhy
	if still != 0 {
		w.maybeWhy = why
	}
	at := f.at
	w.merge(func(g *group) bool { return g.state == parkJoin && g.pc == at })
	w.spare = append(w.spare, f)
}

// remove takes lanes out of all groups and appends where they stood.
func (w *warp) remove(from []group, set uint32) []group {
	kept := w.groups[:0]
	for _, g := range w.groups {
		if g.mask&set != 0 {
			h := g
			h.mask &= set
			from = append(from, h)
		}
		if g.mask &^= set; g.mask != 0 {
			kept = append(kept, g)
		}
	}
	w.groups = kept
	return from
}
