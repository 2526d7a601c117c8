package emu

import (
	"context"
	"math/bits"

	"shmoo/sass"
)

// numBarriers is how many named barriers a block has (PTX ISA, bar.sync).
const numBarriers = 16

// A block runs the warps of one block in turns.
type block struct {
	m      *machine
	index  int    // linear
	at     [3]int // block index in x, y, z
	warps  []*warp
	shared sharedMemory
	early  [numBarriers]int // threads that arrived with BAR.ARV
	stuck  bool             // no warp can run: sides of unknown branches end at barriers
	err    error
	emit   func(*Event) bool // false ends the run
	event  Event
	addr   [warpLanes]uint32 // backs event.Addr

	// What Result adds up, by instruction.
	unsupported     []int64
	unknownBranches []int64
	unbounded       []bool  // by site
	skipped         []int64 // by site
	counts          counts
	steps           int64
}

// counts are plain totals of a run.
type counts struct {
	instructions   int64 // executed by warps
	assumedWaits   int64 // waits on memory barriers taken to succeed
	assumedAliases int64 // global stores to unknown addresses taken not to hit given buffers
	outside        int64 // lanes' global accesses to known addresses outside all buffers
	irregular      int64 // waits at WARPSYNC for lanes that wait elsewhere
	remote         int64 // lanes' accesses to another block's shared memory
}

func (c *counts) add(d *counts) {
	c.instructions += d.instructions
	c.assumedWaits += d.assumedWaits
	c.assumedAliases += d.assumedAliases
	c.outside += d.outside
	c.remote += d.remote
	c.irregular += d.irregular
}

func newBlock(m *machine, emit func(*Event) bool) *block {
	b := &block{m: m, emit: emit}
	b.unsupported = make([]int64, len(m.code))
	b.unknownBranches = make([]int64, len(m.code))
	b.unbounded = make([]bool, len(m.program.sites))
	b.skipped = make([]int64, len(m.program.sites))
	b.shared.init(m.sharedSize)
	for id := range m.warps {
		b.warps = append(b.warps, newWarp(m, b, id))
	}
	return b
}

func (b *block) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// run executes the block with a linear index.
func (b *block) run(ctx context.Context, index int) error {
	g := b.m.launch.Grid
	b.index = index
	b.at = [3]int{index % g[0], index / g[0] % g[1], index / g[0] / g[1]}
	b.shared.clear(because(whyInit, 0))
	b.early = [numBarriers]int{}
	b.stuck, b.err, b.steps = false, nil, 0
	for id, w := range b.warps {
		w.reset(id)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		alive, moved := false, false
		for _, w := range b.warps {
			if w.state == done {
				continue
			}
			alive = true
			before := w.steps
			w.run()
			b.steps += w.steps - before
			b.counts.instructions += w.steps - before
			moved = moved || w.steps != before
			if b.err != nil {
				return b.err
			}
			if b.steps > b.m.limits.Steps {
				w.limit("steps", b.m.limits.Steps)
				return b.err
			}
		}
		if !alive {
			return nil
		}
		if b.releaseBarriers() {
			moved = true
		}
		if moved {
			b.stuck = false
			continue
		}
		if b.stuck || !b.hasFrames() {
			if b.releaseWarpsyncs() {
				continue
			}
			b.deadlock()
			return b.err
		}
		b.stuck = true
	}
}

// releaseWarpsyncs lets lanes go that wait at a WARPSYNC for lanes which wait elsewhere. What that does is undefined in CUDA; with
// made-up arguments it happens, and going on finds more than stopping.
func (b *block) releaseWarpsyncs() bool {
	released := false
	for _, w := range b.warps {
		at := func(g *group) bool { return g.state == parkWarp }
		for i := range w.groups {
			if at(&w.groups[i]) {
				b.counts.irregular++
				w.merge(at)
				w.state = running
				released = true
				break
			}
		}
	}
	return released
}

func (b *block) hasFrames() bool {
	for _, w := range b.warps {
		if len(w.frames) > 0 {
			return true
		}
	}
	return false
}

func (b *block) deadlock() {
	for _, w := range b.warps {
		if len(w.groups) > 0 {
			w.pc = max(w.groups[0].pc-1, 0)
			w.fault(Deadlock, &w.m.code[w.pc], first(w.groups[0].mask), 0, "")
			return
		}
	}
}

// barrier operands of BAR: which barrier, and how many threads (0: all).
func (w *warp) barrierOperands(o *inst) (id int, threads int, ok bool) {
	lane := first(w.act)
	get := func(src *operand) (int, bool) {
		v, known := w.get(src, lane)
		return int(uint32(v)), known
	}
	id, ok = get(&o.barrier)
	if !ok {
		return 0, 0, false
	}
	threads, ok = get(&o.count)
	return id % numBarriers, threads, ok
}

func execBAR(w *warp, o *inst) {
	id, threads, ok := w.barrierOperands(o)
	if !ok {
		return // an unknown barrier: taken to be open
	}
	switch sass.BarMode(o.mod(sass.ModBar)) {
	case sass.BarArrive:
		w.block.early[id] += w.threadsOf(w.act)
		return
	case sass.BarRed:
		value, known := w.pred(o.pp)
		w.barValue = w.barValue&^w.act | value&w.act
		w.barKnown = w.barKnown&^w.act | known&w.act
		if known&w.act != w.act {
			w.barWhy = w.predReason(o.pp)
		}
	}
	w.rest(parkBlock, barrierArg(id, threads, o))
}

// The arg of a group at a barrier packs the barrier, the count of threads, and the reduction (3: none).
func barrierArg(id, threads int, o *inst) uint32 {
	red := uint32(3)
	if sass.BarMode(o.mod(sass.ModBar)) == sass.BarRed {
		red = uint32(o.mod(sass.ModBarRed))
	}
	return uint32(id) | uint32(threads&0xfff)<<4 | red<<16
}

// threadsOf returns how many threads a set of lanes counts as at a barrier: the whole warp where no live lane is missing.
func (w *warp) threadsOf(set uint32) int {
	if w.live()&^set == 0 {
		return warpLanes
	}
	return bits.OnesCount32(set)
}

// releaseBarriers opens every barrier that has its threads.
func (b *block) releaseBarriers() bool {
	opened := false
	for id := range numBarriers {
		var waiting, want, missing int
		red := uint32(3)
		for _, w := range b.warps {
			var here uint32
			for _, g := range w.groups {
				if g.state == parkBlock && int(g.arg&15) == id {
					here |= g.mask
					want = max(want, int(g.arg>>4&0xfff))
					red = min(red, g.arg>>16)
				}
			}
			if here != 0 {
				waiting += w.threadsOf(here)
			}
			missing += bits.OnesCount32(w.live() &^ here)
		}
		if waiting == 0 {
			continue
		}
		if want == 0 && missing > 0 && !(b.early[id] > 0 && waiting+b.early[id] >= b.m.warps*warpLanes) {
			continue
		}
		if want > 0 && waiting+b.early[id] < want {
			continue
		}
		b.early[id] = max(0, b.early[id]-max(want-waiting, 0))
		b.open(id, red)
		opened = true
	}
	return opened
}

// open lets the groups at a barrier go and delivers the reduction's result to their warps.
func (b *block) open(id int, red uint32) {
	var count, unknown int
	all, anyTrue := true, false
	var why reason
	at := func(g *group) bool { return g.state == parkBlock && int(g.arg&15) == id }
	for _, w := range b.warps {
		var here uint32
		for i := range w.groups {
			if at(&w.groups[i]) {
				here |= w.groups[i].mask
			}
		}
		known := w.barKnown & here
		if known != here || w.maybe&here != 0 {
			unknown += bits.OnesCount32(here)
			if why = w.barWhy; known == here {
				why = w.maybeWhy
			}
			known &^= w.maybe
		}
		trues := w.barValue & known
		count += bits.OnesCount32(trues)
		anyTrue = anyTrue || trues != 0
		all = all && trues == known
	}
	r := barResult{known: unknown == 0, why: why}
	switch red {
	case 0:
		r.value = uint32(count)
	case 1:
		r.value = ones32(all)
		r.known = r.known || !all
	case 2:
		r.value = ones32(anyTrue)
		r.known = r.known || anyTrue
	}
	for _, w := range b.warps {
		touched := false
		for i := range w.groups {
			touched = touched || at(&w.groups[i])
		}
		if !touched {
			continue
		}
		if red != 3 {
			w.result = r
		}
		w.merge(at)
		w.state = running
	}
}

// barResult is what BAR.RED leaves for B2R.RESULT.
type barResult struct {
	value uint32
	known bool
	why   reason
}

func ones32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// b2rResult is the mode of B2R that fetches the result of BAR.RED.
const b2rResult = 1

func execB2R(w *warp, o *inst) {
	if o.mod(sass.ModMode) != b2rResult {
		w.block.unsupported[o.index]++
		w.poison(o, because(whyOp, int(o.index)))
		return
	}
	r := w.result
	for set := w.act; set != 0; set &= set - 1 {
		w.put(o.dst, o.words, first(set), uint64(r.value), r.known, r.why)
	}
	w.putPred(o.pu, -ones32(r.value != 0), spread(r.known), r.why)
}

func popcount(v uint32) int { return bits.OnesCount32(v) }
