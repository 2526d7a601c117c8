package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"shmoo"
	"shmoo/cubin"
	"shmoo/diag"
	"shmoo/inspect"
	"shmoo/launch"
	"shmoo/report"
	"shmoo/smem"
)

// A Point is a compiled kernel and its launch.
type Point struct {
	Name   string // of the cubin, for messages
	Cubin  []byte
	Kernel string // name, as the cubin has it or demangled
	Launch launch.Launch
	Bytes  int64      // that the launch moves between chip and device memory
	Unit   *smem.Unit // instead of the generation's own; nil for that
	Steps  int64      // most warp instructions of a block; 0 for the emulator's default
}

// A Prediction is what is known of a point without running it on a GPU.
type Prediction struct {
	// Accesses is the shared-memory instructions and their widths in the machine code, such as "LDS.16 x32, STS x17".
	Accesses string

	Wavefronts, Ideal float64 // of the whole grid, from the blocks that were run
	Ways              int     // most passes of one group in any request
	Worst             string  // instruction with the most conflicts, such as "LDS.U16"; "" without conflicts
	Unresolved        int64   // requests of the blocks that were run whose addresses depend on unknown data
	Basis             smem.Basis

	Registers int     // per thread
	Shared    int     // bytes of a block
	Resident  int     // blocks that a multiprocessor holds at once
	Warps     int     // of them
	Waves     float64 // how often the blocks that fit the machine at once make the grid

	Work    Work
	Floors  Floors
	Seconds float64 // predicted time
	Limit   string  // which floor is the largest: "memory", "shared", "issue" or "latency"
	// WithoutConflicts is the time predicted for the same kernel if no request had a conflict, in seconds.
	WithoutConflicts float64
}

// Conflicts returns the wavefronts of the grid above the ideal.
func (p *Prediction) Conflicts() float64 { return p.Wavefronts - p.Ideal }

// MattersFrom is the share of the time from which conflicts matter.
const MattersFrom = 0.02

// Cost returns the share by which conflicts lengthen the predicted time: 0.5 for half as long again.
func (p *Prediction) Cost() float64 { return p.Seconds/p.WithoutConflicts - 1 }

// Matters reports whether the conflicts cost at least MattersFrom.
func (p *Prediction) Matters() bool { return p.Cost() >= MattersFrom }

// Run predicts a point: it reads the machine code, emulates the first, the middle and the last block, and puts the counts into
// the model. A kernel that faults in the emulator gives its *diag.Diagnostic as an error.
func Run(ctx context.Context, m *Machine, p Point) (*Prediction, error) {
	kernel, err := find(ctx, p.Name, p.Cubin, p.Kernel)
	if err != nil {
		return nil, err
	}
	accesses, err := inspect.Sites(kernel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	grid := count(p.Launch.Grid)
	blocks := sampleBlocks(grid)
	in, err := shmoo.Open(ctx, p.Name, bytes.NewReader(p.Cubin), shmoo.Options{
		Kernel: kernel.Name, Grid: p.Launch.Grid, Block: p.Launch.Block, DynamicShared: p.Launch.DynamicShared,
		Args: p.Launch.Args, Blocks: blocks, Unit: p.Unit, Steps: p.Steps,
	})
	if err != nil {
		return nil, err
	}
	r, err := shmoo.Analyze(ctx, in)
	if err != nil {
		return nil, err
	}
	for _, d := range r.Diagnostics {
		if d.Severity == diag.Error {
			return nil, d
		}
	}
	out := &Prediction{
		Accesses: widths(accesses), Registers: kernel.Registers, Shared: kernel.SharedStatic + p.Launch.DynamicShared,
	}
	threads := count(p.Launch.Block)
	out.Resident = m.Resident(threads, out.Shared, out.Registers)
	if out.Resident == 0 {
		return nil, fmt.Errorf("a block of %d threads with %d bytes of shared memory and %d registers a thread does not fit a "+
			"multiprocessor of %s", threads, out.Shared, out.Registers, m.Name)
	}
	out.Warps = out.Resident * ((threads + m.Arch.Unit.Lanes - 1) / m.Arch.Unit.Lanes)
	scale := float64(grid) / float64(len(blocks))
	out.tally(r, scale)
	out.Waves = m.waves(grid, out.Resident)
	out.Work = Work{Blocks: grid, Bytes: float64(p.Bytes), Wavefronts: out.Wavefronts}
	if emulated := in.Emulated(); emulated != nil {
		out.Work.Instructions = float64(emulated.Instructions) * scale
	}
	out.Floors = m.floors(out.Work, out.Resident)
	out.Seconds, out.Limit = out.Floors.time(out.Waves), out.Floors.limit()
	ideal := out.Work
	ideal.Wavefronts = out.Ideal
	out.WithoutConflicts = m.floors(ideal, out.Resident).time(out.Waves)
	return out, nil
}

// tally adds up the sites of a report.
func (p *Prediction) tally(r *report.Report, scale float64) {
	worst := int64(0)
	for i := range r.Sites {
		s := &r.Sites[i]
		t := &s.Tally
		p.Wavefronts += float64(t.Wavefronts) * scale
		p.Ideal += float64(t.Ideal) * scale
		p.Ways = max(p.Ways, t.Ways)
		p.Basis = max(p.Basis, t.Basis)
		p.Unresolved += t.UnresolvedRequests()
		if t.Conflicts() > worst {
			worst, p.Worst = t.Conflicts(), s.Instr
		}
	}
}

func count(extent [3]int) int { return max(1, extent[0]) * max(1, extent[1]) * max(1, extent[2]) }

// sampleBlocks returns the blocks of a grid that stand for it.
func sampleBlocks(grid int) []int {
	return slices.Compact([]int{0, grid / 2, grid - 1})
}

// errFound ends the search for a kernel.
var errFound = errors.New("found")

// find returns the kernel of a name. Its image stays in memory, since the cubin is.
func find(ctx context.Context, file string, data []byte, name string) (*cubin.Kernel, error) {
	f, err := cubin.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer f.Close()
	var entry *cubin.Entry
	var found string
	var names []string
	err = f.Each(ctx, cubin.EachOptions{Workers: 1}, func(_ int, img *cubin.Image) error {
		for _, k := range img.Kernels {
			if k.Name == name || k.Demangled() == name || strings.HasPrefix(k.Demangled(), name+"(") {
				entry, found = img.Entry, strings.Clone(k.Name)
				return errFound
			}
			names = append(names, strings.Clone(k.Demangled()))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if entry == nil {
		return nil, fmt.Errorf("%s: no kernel %q, it has %q", file, name, names)
	}
	img, err := entry.Load()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return img.Kernel(found), nil
}

// widths lists instructions with their counts, in the order of their first appearance.
func widths(a *inspect.Accesses) string {
	var order []string
	counts := map[string]int{}
	for i := range a.Sites {
		name := a.Sites[i].Instr
		if counts[name]++; counts[name] == 1 {
			order = append(order, name)
		}
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%s x%d", name, counts[name])
	}
	return strings.Join(order, ", ")
}

// Margin is how much slower than the best a point may be predicted and still be worth measuring. Where predictions are within
// 15 % of what is measured (docs/tables.md has 115 points, of which one is not), one that is (1 + 0.15) / (1 - 0.15) times as
// slow cannot turn out the fastest.
const Margin = 1.15 / 0.85

// Beaten returns the points that cannot be the fastest. Missing predictions are nil and stay.
func Beaten(points []*Prediction) []bool {
	best := math.Inf(1)
	for _, p := range points {
		if p != nil {
			best = min(best, p.Seconds)
		}
	}
	beaten := make([]bool, len(points))
	for i, p := range points {
		beaten[i] = p != nil && p.Seconds > best*Margin
	}
	return beaten
}
