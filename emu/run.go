package emu

import (
	"context"
	"errors"
	"slices"

	"shmoo/smem"
)

// errStopped ends a run because whoever receives the events wants no more.
var errStopped = errors.New("emu: stopped")

// Options of a run. The zero value runs with the default limits, on one core.
type Options struct {
	Limits Limits
	// Unit resolves the bounds of accesses that are not exact; without one there are no bounds.
	Unit *smem.Unit
	// Parallel runs this many blocks at the same time; 0 and 1 run one by one.
	Parallel int
}

// A Result is what a run found besides its accesses. Counts add up all blocks.
type Result struct {
	Blocks       int   // blocks run to their end
	Instructions int64 // warp instructions executed
	// Unsupported lists operations without semantics that were executed, most frequent first.
	Unsupported []OpCount
	// Branches lists branches on unknown data, by PC, with how often they were met.
	Branches []BranchCount
	// Sites tells how far the accesses of every site are known, in the order of Program.Sites.
	Sites []SiteCoverage
	// UnknownBytes is how many bytes of each argument's buffer are no longer known: the kernel stored unknown data there. It
	// has one entry per argument.
	UnknownBytes []int
	// AssumedWaits counts waits on memory barriers that were taken to succeed; AssumedAliases global stores to unknown
	// addresses that were taken not to hit given buffers; Outside lanes' accesses to known global addresses outside all
	// given buffers; Remote lanes' accesses to the shared memory of another block of the cluster.
	AssumedWaits   int64
	AssumedAliases int64
	Outside        int64
	Remote         int64
	// Irregular counts waits at a warp-wide synchronisation for lanes that waited elsewhere: undefined in CUDA, and let go.
	Irregular int64
}

// OpCount is an operation and how often it was executed, at the first PC where it stands.
type OpCount struct {
	Op    string
	PC    uint64
	Count int64
}

// BranchCount is a branch on unknown data.
type BranchCount struct {
	PC    uint64
	Count int64
}

// SiteCoverage says how much of a site's execution is known.
type SiteCoverage struct {
	Requests int64 // exact ones
	// Skipped counts executions by warps in which the guard held for no lane: the unit sees nothing of them. Profilers
	// count Requests + Unresolved + Skipped as executed.
	Skipped int64
	// Unresolved counts requests with lanes or addresses that depend on unknown data, for the reason Why (that of the
	// first one). Low and High bound their wavefronts, resolved by Options.Unit.
	// Maybe counts those among them whose addresses are all known: only whether every lane makes the access is not.
	Unresolved int64
	Maybe      int64
	Why        string
	Low, High  int64
	// Unbounded marks a site in a loop whose trip count depends on unknown data: neither count is complete.
	Unbounded bool
}

// Exact returns the share of requests that are exact, 1 where none was made.
func (r *Result) Exact() float64 {
	var exact, all int64
	for i := range r.Sites {
		exact += r.Sites[i].Requests
		all += r.Sites[i].Requests + r.Sites[i].Unresolved
	}
	if all == 0 {
		return 1
	}
	return float64(exact) / float64(all)
}

// Run executes the blocks of a launch and hands every shared-memory access to emit, block by block in the order of launch.Blocks. The
// event is valid until emit returns; emit may be nil, and ends the run by returning false. On an error, such as a *Fault or
// a *LimitError, Result holds what was found until then.
func Run(ctx context.Context, p *Program, launch Launch, opts Options, emit func(*Event) bool) (*Result, error) {
	m, err := newMachine(p, launch, opts.Limits)
	if err != nil {
		return nil, err
	}
	blocks := m.blocks()
	t := newTotals(p, opts.Unit)
	if opts.Parallel > 1 && len(blocks) > 1 {
		return t.result, t.parallel(ctx, m, blocks, opts.Parallel, emit)
	}
	b := newBlock(m, func(e *Event) bool {
		t.count(e)
		return emit == nil || emit(e)
	})
	for _, index := range blocks {
		err = b.run(ctx, index)
		t.add(b)
		if err != nil {
			break
		}
		t.result.Blocks++
	}
	t.finish(m)
	if errors.Is(err, errStopped) {
		err = nil
	}
	return t.result, err
}

// blocks returns the linear indices of the blocks to run.
func (m *machine) blocks() []int {
	if len(m.launch.Blocks) == 0 {
		return []int{0}
	}
	n := m.launch.Grid[0] * m.launch.Grid[1] * m.launch.Grid[2]
	list := slices.Clone(m.launch.Blocks)
	for i, b := range list {
		if b < 0 {
			list[i] = n + b
		}
	}
	return list
}

// totals gathers a Result.
type totals struct {
	p           *Program
	unit        *smem.Unit
	result      *Result
	unsupported []int64
	branches    []int64
	counts      counts

	req smem.Request
	out smem.Outcome
}

func newTotals(p *Program, unit *smem.Unit) *totals {
	return &totals{p: p, unit: unit, result: &Result{Sites: make([]SiteCoverage, len(p.sites))},
		unsupported: make([]int64, len(p.insts)), branches: make([]int64, len(p.insts))}
}

// count adds an event to its site's coverage.
func (t *totals) count(e *Event) {
	s := &t.result.Sites[e.Site]
	if e.Exact() {
		s.Requests++
		return
	}
	s.Unresolved++
	if e.Known == e.Active {
		s.Maybe++
	}
	if s.Why == "" {
		s.Why = e.Why
	}
	if t.unit != nil {
		low, high := t.bounds(e)
		s.Low += low
		s.High += high
	}
}

// bounds returns the least and most wavefronts of an access that is not exact. With all addresses known they are those of the
// sure lanes and of all lanes; without, anything between one and a wavefront per word of every lane is possible.
func (t *totals) bounds(e *Event) (low, high int64) {
	site := &t.p.sites[e.Site]
	resolve := func(set uint32) (int64, bool) {
		t.req = smem.Request{Op: site.Op, Width: site.Width, Active: smem.Mask(set), Addr: e.Addr[:]}
		if t.unit.Resolve(&t.out, &t.req) != nil {
			return 0, false
		}
		return int64(t.out.Wavefronts), true
	}
	most := int64(popcount(e.Active)) * int64(max(1, site.Width/t.unit.BankBytes))
	if e.Sure != 0 {
		low = 1
	}
	if e.Known == e.Active {
		if e.Sure != 0 {
			if n, ok := resolve(e.Sure); ok {
				low = n
			}
		}
		if n, ok := resolve(e.Active); ok {
			return min(low, n), max(n, low)
		}
	}
	return low, most
}

func (t *totals) add(b *block) {
	for i := range b.unsupported {
		t.unsupported[i] += b.unsupported[i]
		t.branches[i] += b.unknownBranches[i]
		b.unsupported[i], b.unknownBranches[i] = 0, 0
	}
	for i, n := range b.skipped {
		t.result.Sites[i].Skipped += n
		b.skipped[i] = 0
	}
	for i, u := range b.unbounded {
		t.result.Sites[i].Unbounded = t.result.Sites[i].Unbounded || u
	}
	t.counts.add(&b.counts)
	b.counts = counts{}
}

// finish fills the lists of the result.
func (t *totals) finish(m *machine) {
	r := t.result
	r.UnknownBytes = make([]int, len(m.launch.Args))
	for i := range r.UnknownBytes {
		if m.launch.Args[i].kind == argBuffer {
			r.UnknownBytes[i] = m.memory.lost(m.argAddr[i])
		}
	}
	r.Instructions = t.counts.instructions
	r.AssumedWaits, r.AssumedAliases = t.counts.assumedWaits, t.counts.assumedAliases
	r.Outside, r.Remote = t.counts.outside, t.counts.remote
	r.Irregular = t.counts.irregular
	at := map[string]int{}
	for i, n := range t.unsupported {
		if n == 0 {
			continue
		}
		name := t.p.insts[i].Op.String()
		k, ok := at[name]
		if !ok {
			k = len(r.Unsupported)
			at[name] = k
			r.Unsupported = append(r.Unsupported, OpCount{Op: name, PC: uint64(i) * instSize})
		}
		r.Unsupported[k].Count += n
	}
	slices.SortStableFunc(r.Unsupported, func(a, b OpCount) int { return int(b.Count - a.Count) })
	for i, n := range t.branches {
		if n > 0 {
			r.Branches = append(r.Branches, BranchCount{PC: uint64(i) * instSize, Count: n})
		}
	}
}
