package emu

import "shmoo/sass"

// A group is a set of lanes of a warp that execute together. Groups part at branches whose lanes disagree, and meet again only where
// the code says so: at BSYNC, WARPSYNC, and a block-wide barrier.
type group struct {
	pc    int32
	mask  uint32
	state parkState
	arg   uint32 // parkBarrier: barrier; parkSync: convergence register; parkWarp: lanes waited for
}

type parkState uint8

const (
	ready     parkState = iota
	parkSync            // at BSYNC
	parkWarp            // at WARPSYNC
	parkBlock           // at BAR
	parkJoin            // where the sides of a branch on unknown data meet
)

// A convergence is what BSSY records: lanes that will meet, and where.
type convergence struct {
	mask uint32
	at   int32 // the instruction that BSSY names
}

// pick makes the ready group with the lowest pc the running one. Without one the warp is blocked or done.
func (w *warp) pick() bool {
	for {
		w.releaseParked()
		best := -1
		for i := range w.groups {
			g := &w.groups[i]
			if g.state == ready && g.mask&w.suspended() == 0 && (best < 0 || g.pc < w.groups[best].pc) {
				best = i
			}
		}
		if best >= 0 {
			w.take(best)
			return true
		}
		if len(w.frames) > 0 && !w.waitsForBlock() {
			w.turn()
			continue
		}
		w.cur = -1
		if len(w.groups) == 0 {
			w.state = done
		} else {
			w.state = blocked
		}
		return false
	}
}

func (w *warp) take(i int) {
	w.cur, w.pc, w.mask = i, w.groups[i].pc, w.groups[i].mask
	w.groups[i].state = ready
}

// park stores the running group with a state. The caller picks the next one.
func (w *warp) park(state parkState, arg uint32) {
	w.groups[w.cur] = group{pc: w.pc, mask: w.mask, state: state, arg: arg}
	w.cur = -1
}

// rest parks the running group and goes on with another.
func (w *warp) rest(state parkState, arg uint32) {
	w.park(state, arg)
	w.pick()
}

// end removes lanes of the running group.
func (w *warp) end(set uint32) {
	w.exited |= set
	w.mask &^= set
	if w.mask != 0 {
		return
	}
	w.drop(w.cur)
	w.cur = -1
	w.pick()
}

func (w *warp) drop(i int) {
	last := len(w.groups) - 1
	w.groups[i] = w.groups[last]
	w.groups = w.groups[:last]
}

// releaseParked lets groups go whose condition has come true.
func (w *warp) releaseParked() {
	for i := 0; i < len(w.groups); i++ {
		g := w.groups[i]
		switch g.state {
		case parkSync:
			c := w.convergence(int(g.arg), g.mask)
			if c == nil {
				w.groups[i].state = ready
				continue
			}
			w.release(parkSync, g.arg, c.mask&w.live())
		case parkWarp:
			w.release(parkWarp, g.arg, g.arg&w.live())
		}
	}
}

// release lets the groups that wait in a state go together once they are all lanes of the set.
func (w *warp) release(state parkState, arg, set uint32) {
	var here uint32
	for _, g := range w.groups {
		if g.state == state && (g.arg == arg || state == parkWarp) {
			here |= g.mask & set
		}
	}
	if here != set {
		return
	}
	w.merge(func(g *group) bool {
		return g.state == state && (g.arg == arg || state == parkWarp) && g.mask&^set == 0
	})
	if state == parkSync {
		w.leave(int(arg), set)
	}
}

// merge makes the groups that match ready, joining those that stand at the same place.
func (w *warp) merge(match func(*group) bool) {
	for i := 0; i < len(w.groups); i++ {
		g := &w.groups[i]
		if !match(g) {
			continue
		}
		for j := i + 1; j < len(w.groups); {
			if h := &w.groups[j]; match(h) && h.pc == g.pc {
				g.mask |= h.mask
				w.drop(j)
				continue
			}
			j++
		}
	}
	for i := range w.groups {
		if match(&w.groups[i]) {
			w.groups[i].state = ready
		}
	}
}

// convergence returns the entry of a convergence register that lanes belong to.
func (w *warp) convergence(reg int, set uint32) *convergence {
	for i := range w.joined[reg] {
		if c := &w.joined[reg][i]; c.mask&set != 0 {
			return c
		}
	}
	return nil
}

// leave removes lanes from a convergence register.
func (w *warp) leave(reg int, set uint32) {
	kept := w.joined[reg][:0]
	for _, c := range w.joined[reg] {
		if c.mask &^= set; c.mask != 0 {
			kept = append(kept, c)
		}
	}
	w.joined[reg] = kept
}

func barrierReg(o *inst) int {
	if b := o.in.Arg(sass.RoleBarrier); b != nil {
		return int(b.Reg) % numBarReg
	}
	return 0
}

func execBSSY(w *warp, o *inst) {
	reg := barrierReg(o)
	w.leave(reg, w.mask)
	w.joined[reg] = append(w.joined[reg], convergence{mask: w.mask, at: o.target})
}

func execBSYNC(w *warp, o *inst) {
	if w.act != w.mask {
		// A guarded BSYNC: lanes that do not take part go on by themselves.
		w.split(w.act, w.pc)
		return
	}
	reg := barrierReg(o)
	c := w.convergence(reg, w.mask)
	if c == nil {
		return
	}
	if c.mask&w.live()&^w.mask == 0 {
		w.leave(reg, w.mask)
		return
	}
	w.rest(parkSync, uint32(reg))
}

func execBREAK(w *warp, o *inst) {
	value, _ := w.condition(o)
	w.leave(barrierReg(o), w.act&value)
}

// execBMOV ignores moves of convergence registers: calls restore what they saved, and entries are kept per set of lanes.
func execBMOV(w *warp, o *inst) {
	if o.words > 0 {
		for set := w.act; set != 0; set &= set - 1 {
			w.put(o.dst, o.words, first(set), uint64(w.mask), true, 0)
		}
	}
}

// split moves lanes of the running group to another place.
func (w *warp) split(set uint32, pc int32) {
	if set == w.mask {
		w.pc = pc
		return
	}
	w.mask &^= set
	w.groups[w.cur].mask = w.mask
	w.groups = append(w.groups, group{pc: pc, mask: set})
	w.rest(ready, 0)
}

func execEXIT(w *warp, o *inst) {
	value, known := w.pred(o.pp)
	set := w.act & (value | ^known)
	unsure := set & (w.weak | ^known)
	if unsure != 0 {
		if w.weak&unsure == 0 {
			w.guardWhy = w.predReason(o.pp)
		}
		w.suspect(unsure, w.guardWhy, true)
	}
	if sure := set &^ unsure; sure != 0 {
		w.end(sure)
	}
}

// suspect marks lanes as running only maybe.
func (w *warp) suspect(set uint32, why reason, ragged bool) {
	w.maybe |= set
	w.maybeWhy = why
	if ragged {
		w.ragged |= set
	}
}

// condition returns the lanes where a control instruction's own predicates hold: Pp, and for BRA.U a uniform one.
func (w *warp) condition(o *inst) (value, known uint32) {
	value, known = w.pred(o.pp)
	if !o.pq.always {
		v, k := w.pred(o.pq)
		known = known&k | known&^value | k&^v
		value &= v
	}
	return value, known
}

// conditionReason says why a condition is unknown in lanes.
func (w *warp) conditionReason(o *inst, set uint32) reason {
	if w.weak&set != 0 {
		return w.guardWhy
	}
	if _, known := w.pred(o.pp); known&set != set {
		return w.predReason(o.pp)
	}
	return w.predReason(o.pq)
}

// uniformCondition reports whether all lanes agree on a condition, known or not.
func (o *inst) uniformCondition() bool {
	one := func(p predRef) bool { return p.uniform || p.always }
	return one(o.pp) && one(o.pq) && one(o.guard)
}

func execBRA(w *warp, o *inst) {
	value, known := w.condition(o)
	unsure := w.act & (w.weak | ^known)
	taken := w.act & (value | ^known) &^ unsure
	unsure &= value | ^known
	switch sass.BraMode(o.mod(sass.ModBra)) {
	case sass.BraU:
		// The uniform predicate is the condition.
	case sass.BraDiv, sass.BraConv:
		whole := w.uniformMask(o) & w.live()
		if diverged := whole&^w.mask != 0; diverged != (o.mod(sass.ModBra) == uint8(sass.BraDiv)) {
			return
		}
	}
	if o.target < 0 && taken|unsure != 0 {
		w.badTarget(o, first(taken|unsure))
		return
	}
	switch {
	case unsure != 0:
		w.unknownBranch(o, taken, unsure)
	case taken == w.mask:
		w.pc = o.target
		if o.target <= o.index {
			w.spin()
		}
	case taken != 0:
		w.split(taken, o.target)
	}
}

// spinLimit is how many backward branches a group takes before other groups of its warp get a turn.
const spinLimit = 256

// spin counts backward branches and lets other groups of the warp run now and then, so that lanes waiting for lanes of the same warp
// do not wait for ever.
func (w *warp) spin() {
	if w.spins++; w.spins%spinLimit != 0 || len(w.groups) == 1 {
		return
	}
	if !w.yield() {
		w.releaseSoft()
	}
}

// yield passes the turn to the next ready group, if there is one.
func (w *warp) yield() bool {
	from := w.cur
	for k := 1; k < len(w.groups); k++ {
		i := (from + k) % len(w.groups)
		if g := &w.groups[i]; g.state == ready && g.mask&w.suspended() == 0 {
			w.park(ready, 0)
			w.take(i)
			return true
		}
	}
	return false
}

// releaseSoft lets groups go that wait at a BSYNC which need not reconverge. From sm_100 on, BSSY and BSYNC come in three kinds;
// the compiler uses the plain one around spin locks, where waiting for the other lanes would never end.
func (w *warp) releaseSoft() {
	for i := range w.groups {
		g := &w.groups[i]
		if g.state == parkSync && softBSYNC(w.m.code[g.pc-1].in) {
			w.leave(int(g.arg), g.mask)
			g.state = ready
		}
	}
}

func softBSYNC(in *sass.Inst) bool {
	const kind, width = 72, 2 // [73:72]: plain, .RELIABLE, .RECONVERGENT
	return in.Arch >= sass.SM100 && in.Enc.Bits(kind, width) == 0
}

func execYIELD(w *warp, o *inst) {
	if len(w.groups) > 1 {
		w.yield()
	}
}

// uniformMask returns the mask operand of BRA.DIV and BRA.CONV.
func (w *warp) uniformMask(o *inst) uint32 {
	a := o.in.Arg(sass.RoleMask)
	if a == nil || a.Kind != sass.KindUReg {
		return allLanes
	}
	var v uint32
	if a.Reg != sass.URZ {
		if !w.uknown[a.Reg] {
			return allLanes
		}
		v = w.uregs[a.Reg]
	}
	if a.Is(sass.FlagInv) {
		v = ^v
	}
	return v
}

func (w *warp) badTarget(o *inst, lane int) {
	t, _ := o.in.Target(uint64(o.index) * instSize)
	w.fault(BadBranch, o, lane, t, "an instruction of the kernel")
}

// execIndirect executes branches, calls and returns through a register: lanes with one target stay together.
func execIndirect(w *warp, o *inst) {
	base, _ := o.in.Target(uint64(o.index) * instSize)
	rest := w.act
	stay := w.mask &^ w.act
	src := o.indirectSource()
	type to struct {
		pc   int32
		mask uint32
	}
	var targets []to
	for set := rest; set != 0; set &= set - 1 {
		i := first(set)
		v, known := w.get(src, i)
		if !known {
			w.unknownIndirect(o, i)
			return
		}
		if !src.wide {
			v = uint64(uint32(v))
		}
		t := v + base
		if t%instSize != 0 || t/instSize >= uint64(len(w.m.code)) {
			w.fault(BadBranch, o, i, t, "an instruction of the kernel")
			return
		}
		pc, found := int32(t/instSize), false
		for k := range targets {
			if targets[k].pc == pc {
				targets[k].mask |= 1 << uint(i)
				found = true
			}
		}
		if !found {
			targets = append(targets, to{pc, 1 << uint(i)})
		}
	}
	if len(targets) == 1 && stay == 0 {
		w.pc = targets[0].pc
		return
	}
	if stay != 0 {
		targets = append(targets, to{w.pc, stay})
	}
	w.groups[w.cur] = group{pc: targets[0].pc, mask: targets[0].mask}
	for _, t := range targets[1:] {
		w.groups = append(w.groups, group{pc: t.pc, mask: t.mask})
	}
	w.cur = -1
	w.pick()
}

// indirectSource is the operand that holds an indirect target.
func (o *inst) indirectSource() *operand {
	for _, s := range []*operand{&o.a, &o.b, &o.c, &o.data} {
		if s.kind != fromNowhere {
			return s
		}
	}
	return &o.a
}

func execCALL(w *warp, o *inst) {
	if o.in.Arg(sass.RoleTarget) != nil && o.indirectSource().kind == fromNowhere {
		if o.target < 0 {
			externalCall(w, o)
			return
		}
		execBRA(w, o) // it comes back through a register, or not at all
		return
	}
	if src := o.indirectSource(); src.kind == fromUnknown || src.kind == fromFixed || src.kind == fromIndexed {
		externalCall(w, o)
		return
	}
	execIndirect(w, o)
}

// externalRegs are the registers that a call into the driver may change: arguments and results of the CUDA calling
// convention start at R4, and R0 to R15 are not preserved.
const externalRegs = 16

// externalCall steps over a call into code that the file does not hold (printf, malloc, assert): registers that are not preserved
// become unknown.
func externalCall(w *warp, o *inst) {
	w.block.unsupported[o.index]++
	why := because(whyOp, int(o.index))
	for r := 0; r < min(externalRegs, w.m.program.regs); r++ {
		if r == 1 {
			continue // the stack pointer
		}
		w.known[r] &^= w.act
		w.why[r] = why
	}
}

func execKILL(w *warp, o *inst) {
	if unsure := w.act & w.weak; unsure != 0 {
		w.suspect(unsure, w.guardWhy, true)
	}
	if sure := w.act &^ w.weak; sure != 0 {
		w.end(sure)
	}
}

// bptTrap is the mode of BPT that traps; others are for debuggers.
const bptTrap = 3

func execBPT(w *warp, o *inst) {
	if o.mod(sass.ModMode) != bptTrap && o.in.Op == sass.BPT {
		return
	}
	if sure := w.act &^ (w.weak | w.maybe); sure != 0 {
		w.fault(Trap, o, first(sure), 0, "")
		return
	}
	w.end(w.act)
}

// execWARPSYNC waits for the lanes of a mask. With .COLLECTIVE the hardware parts the lanes again behind the instructions up to
// ENDCOLLECTIVE; here they stay together.
func execWARPSYNC(w *warp, o *inst) {
	set := w.warpsyncMask(o)
	if set&w.live()&^w.mask == 0 {
		return
	}
	w.rest(parkWarp, set)
}

// warpsyncMask returns the lanes that a WARPSYNC waits for.
func (w *warp) warpsyncMask(o *inst) uint32 {
	if o.count.kind == fromNowhere {
		return allLanes
	}
	v, known := w.get(&o.count, first(w.act))
	if !known {
		return allLanes
	}
	return uint32(v)
}

var controlOps = map[string]semantics{
	"BRA":      {exec: execBRA},
	"JMP":      {exec: execBRA},
	"BRX":      {exec: execIndirect},
	"BRXU":     {exec: execIndirect},
	"JMX":      {exec: execIndirect},
	"JMXU":     {exec: execIndirect},
	"CALL":     {exec: execCALL},
	"RET":      {exec: execIndirect},
	"EXIT":     {exec: execEXIT},
	"BSSY":     {exec: execBSSY},
	"BSYNC":    {exec: execBSYNC},
	"BREAK":    {exec: execBREAK},
	"BMOV":     {exec: execBMOV},
	"YIELD":    {exec: execYIELD},
	"KILL":     {exec: execKILL},
	"BPT":      {exec: execBPT},
	"RTT":      {exec: execKILL},
	"WARPSYNC": {exec: execWARPSYNC},
	"BAR":      {exec: execBAR},
	"B2R":      {exec: execB2R},
}
