package emu

import "shmoo/sass"

// A warp is the state of 32 lanes. Registers are rows of one file: general registers, the zero row, sink rows, and behind them the
// lanes' local memory as it is touched, so that the whole state of a lane is copied with the rows.
type warp struct {
	m     *machine
	block *block
	id    int
	first uint32 // lanes that exist at the start

	rows  []lanes
	known []uint32
	why   []reason
	sink  int32

	preds   [numPreds]uint32
	pknown  [numPreds]uint32
	pwhy    [numPreds]reason
	uregs   [numUregs]uint32
	uknown  [numUregs]bool
	uwhy    [numUregs]reason
	upreds  [numPreds]bool
	upknown [numPreds]bool
	upwhy   [numPreds]reason

	// The running group's place and lanes.
	pc   int32
	mask uint32
	// The instruction's lanes: act are those that execute it, certainly or not; weak are those among them whose guard is not
	// known, for the reason guardWhy.
	act, weak uint32
	guardWhy  reason
	guard     predRef // the guard, where weak is not empty
	guardeds  []guarded
	// maybe are the lanes that run one side of a branch on unknown data, for the reason maybeWhy; ragged those among them where
	// lanes may have gone different ways.
	maybe, ragged uint32
	maybeWhy      reason

	groups []group
	cur    int
	joined [numBarReg][]convergence
	exited uint32
	frames []*frame
	spare  []*frame // closed frames, for reuse
	joinAt int32    // where the innermost open frame's sides meet; noJoin where there is none

	barValue, barKnown uint32 // predicates given to BAR.RED, and where they are known
	result             barResult
	barWhy             reason

	steps, spins int64
	state        warpState
	forks        int

	vals, trial            values // of the fold that runs: here, it needs no allocation
	bufA, bufB, bufC, bufD lanes
	bufE, bufF, bufG       lanes
	addr                   lanes
}

type warpState uint8

const (
	running warpState = iota
	blocked           // every group waits
	done
	stopped // an error ended the run
)

func newWarp(m *machine, b *block, id int) *warp {
	w := &warp{m: m, block: b, id: id, sink: m.sinkRow}
	w.rows = make([]lanes, m.rows)
	w.known = make([]uint32, m.rows)
	w.why = make([]reason, m.rows)
	w.reset(id)
	return w
}

// reset readies a warp for a new block.
func (w *warp) reset(id int) {
	m := w.m
	rows, known, why := w.rows[:m.rows], w.known[:m.rows], w.why[:m.rows]
	*w = warp{m: m, block: w.block, id: id, sink: m.sinkRow, rows: rows, known: known, why: why, groups: w.groups[:0],
		guardeds: w.guardeds[:0], frames: w.frames[:0], spare: w.spare, joinAt: noJoin}
	// Registers start as known zeros. Compilers do read registers never written, in places where the value does not matter
	// (the upper half of a 16-bit number, say); unknown ones would spread from there.
	for i := range rows {
		rows[i], known[i], why[i] = lanes{}, allLanes, 0
	}
	for p := range w.pknown {
		w.pknown[p], w.upknown[p] = allLanes, true
	}
	w.preds[sass.PT], w.upreds[sass.PT] = allLanes, true
	for r := range w.uknown {
		w.uknown[r] = true
	}
	w.first = allLanes
	if n := m.threads - id*warpLanes; n < warpLanes {
		w.first = 1<<uint(n) - 1
	}
	w.exited = ^w.first
	w.groups = append(w.groups, group{pc: int32(m.program.code.Entry / instSize), mask: w.first})
	w.cur = -1
}

// live returns the lanes that have not exited.
func (w *warp) live() uint32 { return ^w.exited }

// quantum is how many instructions a warp runs before another of its block gets a turn, so that warps that wait for each other
// through memory make progress.
const quantum = 20_000

// run executes the warp until it waits, ends, or has had its turn.
func (w *warp) run() {
	w.state = running
	if w.cur < 0 && !w.pick() {
		return
	}
	code := w.m.code
	limit := w.steps + quantum
	for w.state == running {
		if w.pc == w.joinAt && w.atJoin() {
			continue
		}
		if uint32(w.pc) >= uint32(len(code)) {
			w.fault(BadInstruction, nil, -1, uint64(w.pc)*instSize, "an instruction of the kernel")
			return
		}
		o := &code[w.pc]
		w.steps++
		act := w.mask
		if o.guarded {
			value, known := w.pred(o.guard)
			unsure := act &^ known
			act &= value | unsure
			w.weak = unsure
			if unsure != 0 {
				w.guard = o.guard
				w.guardWhy = w.predReason(o.guard)
			}
			if act == 0 {
				w.pc++
				if o.site >= 0 {
					w.block.skipped[o.site]++
				}
				continue
			}
		}
		w.act = act
		w.pc++
		o.exec(w, o)
		w.weak = 0
		if w.steps >= limit {
			w.park(ready, 0)
			if w.steps > w.m.limits.Steps {
				w.limit("steps", w.m.limits.Steps)
			}
			return
		}
	}
}

func (w *warp) stop(err error) {
	w.state = stopped
	w.block.fail(err)
}

func (w *warp) limit(what string, n int64) {
	w.stop(&LimitError{Kernel: w.m.program.code.Name, What: what, Limit: n, PC: uint64(w.pc) * instSize,
		Block: w.block.index, Warp: w.id})
}

// fault ends the run with a fault of the given instruction, or of the one that should follow.
func (w *warp) fault(kind FaultKind, o *inst, lane int, value uint64, want string) {
	f := &Fault{Kind: kind, Kernel: w.m.program.code.Name, PC: uint64(w.pc) * instSize, Block: w.block.index, Warp: w.id,
		Lane: lane, Value: value, Want: want}
	if o != nil {
		f.PC = uint64(o.index) * instSize
		f.Instr = o.in.String()
		f.Place = w.m.program.place(int(o.index))
	}
	w.stop(f)
}

// out returns where an elementwise instruction writes: the row itself when every lane takes part, else a buffer that commit
// merges.
func (w *warp) out(row int32) *lanes {
	if w.act == allLanes {
		return &w.rows[row]
	}
	return &w.bufD
}

// commit finishes what out began: the result is known in all active lanes.
func (w *warp) commit(row int32) {
	if len(w.guardeds) > 0 {
		w.dropRow(row)
	}
	if w.act == allLanes {
		w.known[row] = allLanes
		return
	}
	to := &w.rows[row]
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		to[i] = w.bufD[i]
	}
	w.known[row] |= w.act
}
