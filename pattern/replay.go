package pattern

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"shmoo/diag"
	"shmoo/smem"
)

// Schema names the JSON form of a Result.
const Schema = "shmoo.replay/1"

// MaxDisagreements is how many disagreements a Result keeps; it counts all.
const MaxDisagreements = 20

// A Result says how well a unit explains recorded patterns.
type Result struct {
	Schema string `json:"schema"`
	Unit   string `json:"unit"`
	File   string `json:"file"`
	Tally
	Ops           []OpResult     `json:"ops"`           // in the order in which the file names them
	Disagreements []Disagreement `json:"disagreements"` // the first MaxDisagreements
}

// A Tally counts patterns. Each agrees, disagrees, is unsupported, or is unmeasured.
type Tally struct {
	Patterns int `json:"patterns"`
	Agree    int `json:"agree"`
	Disagree int `json:"disagree"`
	Bounded  int `json:"bounded"` // of those that agree or disagree: only held against a lower bound on cycles
	Counted  int `json:"counted"` // of those that agree or disagree: with wavefronts or conflicts counted by hardware
	// Unsupported patterns use an op that the unit has no rule for; unmeasured ones have no figure to compare.
	Unsupported int `json:"unsupported"`
	Unmeasured  int `json:"unmeasured"`
	// NcuDiffers counts rows where Nsight Compute's source page shows other wavefronts than the hardware counter.
	NcuDiffers int `json:"ncu_differs"`
}

// An OpResult is the tally of one op.
type OpResult struct {
	Op    string `json:"op"`
	Instr string `json:"instr"`
	Tally
	// Offset is the range of recorded minus predicted cycles seen, which is the probe's constant where all agree. It is
	// nil when no pattern was compared in cycles.
	Offset *Range `json:"offset,omitempty"`
}

// A Range holds the least and the largest value seen.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Figures are what was recorded or predicted for one pattern; -1 stands for none.
type Figures struct {
	Cycles     float64 `json:"cycles"`
	UnitCycles float64 `json:"unit_cycles"`
	Wavefronts int     `json:"wavefronts"`
	Conflicts  int     `json:"conflicts"`
}

// A Disagreement is a pattern that the unit does not explain.
type Disagreement struct {
	Line      int      `json:"line"`
	Op        string   `json:"op"`
	Mask      string   `json:"mask"`
	Addresses []uint32 `json:"addresses"`
	In        []string `json:"in"` // which of cycles, unit_cycles, wavefronts and conflicts differ; addresses when the unit refuses them
	Recorded  Figures  `json:"recorded"`
	Predicted Figures  `json:"predicted"`       // cycles without the probe's constant
	Fault     string   `json:"fault,omitempty"` // why the unit refuses the addresses
}

// Replay reads all patterns of r and compares each with what the unit makes of it: cycles, which must exceed the unit's by
// the constant of the clock probe, unit_cycles, which must equal them to within half a cycle, and where the hardware counted
// them, wavefronts and conflicts.
//
// A loop in software passes when it took at least the cycles of one round, in which every lane succeeds at once: such
// patterns are Bounded. Disagreement is a result. Errors are those of Reader.Read, the context's, and a *diag.Diagnostic
// for a file without patterns.
func Replay(ctx context.Context, r *Reader, unit *smem.Unit) (*Result, error) {
	c := comparison{unit: unit, result: &Result{Schema: Schema, Unit: unit.Name, File: r.Name(),
		Ops: []OpResult{}, Disagreements: []Disagreement{}}}
	c.index = slices.Repeat([]int{-1}, len(opTable))
	var broken error
	err := r.each(ctx, func(p *Pattern) bool {
		broken = c.add(p)
		return broken == nil
	})
	if err != nil || broken != nil {
		return nil, errors.Join(err, broken)
	}
	if len(c.result.Ops) == 0 {
		return nil, diag.Errorf("pattern/empty", diag.Span{Pos: diag.Pos{File: r.Name(), Line: r.line}},
			"got a header without rows, want at least one pattern")
	}
	for _, op := range c.result.Ops {
		c.result.Tally.add(op.Tally)
	}
	return c.result, nil
}

func (t *Tally) add(o Tally) {
	t.Patterns += o.Patterns
	t.Agree += o.Agree
	t.Disagree += o.Disagree
	t.Bounded += o.Bounded
	t.Counted += o.Counted
	t.Unsupported += o.Unsupported
	t.Unmeasured += o.Unmeasured
	t.NcuDiffers += o.NcuDiffers
}

// comparison is a replay under way.
type comparison struct {
	unit   *smem.Unit
	result *Result
	index  []int // per entry of opTable the entry of result.Ops, or -1
	out    smem.Outcome
}

// add compares one pattern.
func (c *comparison) add(p *Pattern) error {
	op := c.op(p)
	op.Patterns++
	if p.Wavefronts >= 0 && p.NcuWavefronts >= 0 && p.Wavefronts != p.NcuWavefronts {
		op.NcuDiffers++
	}
	compare := c.exact
	if p.Op.Loop {
		compare = c.bound
	}
	request := p.Request()
	d := Disagreement{Recorded: Figures{p.Cycles, p.UnitCycles, p.Wavefronts, p.Conflicts},
		Predicted: Figures{-1, -1, -1, -1}}
	err := compare(op, p, &request, &d)
	var fault *smem.Fault
	var unsupported *smem.UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		op.Unsupported++
		return nil
	case errors.As(err, &fault):
		d.In, d.Fault = []string{"addresses"}, fault.Error()
	case err != nil: // the row asks for more lanes than the unit has
		return diag.Errorf("pattern/lanes", diag.Span{Pos: diag.Pos{File: c.result.File, Line: p.Line}},
			"column mask: got %#x, want lanes of a warp of %d", uint64(p.Mask), c.unit.Lanes)
	case p.Cycles < 0 && p.UnitCycles < 0 && (p.Op.Loop || p.Wavefronts < 0 && p.Conflicts < 0):
		op.Unmeasured++
		return nil
	}
	if p.Op.Loop {
		op.Bounded++
	} else if p.Wavefronts >= 0 || p.Conflicts >= 0 {
		op.Counted++
	}
	if len(d.In) == 0 {
		op.Agree++
		return nil
	}
	op.Disagree++
	if kept := &c.result.Disagreements; len(*kept) < MaxDisagreements {
		d.Line, d.Op, d.Mask = p.Line, p.Op.Name, fmt.Sprintf("%08x", uint64(p.Mask))
		d.Addresses = slices.Clone(p.Addr)
		*kept = append(*kept, d)
	}
	return nil
}

// op returns the result of the pattern's op.
func (c *comparison) op(p *Pattern) *OpResult {
	i := &c.index[p.opIndex]
	if *i < 0 {
		*i = len(c.result.Ops)
		c.result.Ops = append(c.result.Ops, OpResult{Op: p.Op.Name, Instr: p.Op.Instr})
	}
	return &c.result.Ops[*i]
}

// exact compares an op that the unit has, and notes in d what differs.
func (c *comparison) exact(op *OpResult, p *Pattern, r *smem.Request, d *Disagreement) error {
	if err := c.unit.Resolve(&c.out, r); err != nil {
		return err
	}
	// The hardware counts a conflict once per pass, also where a pass takes two wavefronts (all 21
	// counted atomcas patterns of an H200 have conflicts = wavefronts/2 - 1).
	perPass := c.unit.Rules[smem.Key{Op: r.Op, Width: r.Width}].PerPass
	cycles := float64(c.out.Cycles)
	d.Predicted = Figures{cycles, cycles, c.out.Wavefronts, c.out.Conflicts() / perPass}
	if p.Cycles >= 0 {
		offset := p.Cycles - d.Predicted.Cycles
		op.see(offset)
		if !p.Op.probe.window(p.Mask == c.unit.FullMask(), d.Predicted.Cycles > float64(c.out.Wavefronts)).holds(offset) {
			d.In = append(d.In, "cycles")
		}
	}
	if p.UnitCycles >= 0 {
		offset := p.UnitCycles - d.Predicted.UnitCycles
		op.see(offset)
		if !saturated.holds(offset) {
			d.In = append(d.In, "unit_cycles")
		}
	}
	if p.Wavefronts >= 0 && p.Wavefronts != d.Predicted.Wavefronts {
		d.In = append(d.In, "wavefronts")
	}
	if p.Conflicts >= 0 && p.Conflicts != d.Predicted.Conflicts {
		d.In = append(d.In, "conflicts")
	}
	return nil
}

// bound holds a loop in software against the least it can take: one compare and swap per lane, of its first word.
func (c *comparison) bound(_ *OpResult, p *Pattern, r *smem.Request, d *Disagreement) error {
	if width := uint32(r.Width); width > 4 {
		for m := r.Active; m != 0; m &= m - 1 {
			if lane := m.Lowest(); r.Addr[lane]%width != 0 {
				return &smem.Fault{Kind: smem.Misaligned, Lane: lane, Addr: r.Addr[lane], Bytes: r.Width}
			}
		}
	}
	r.Op, r.Width = smem.CompareSwap, 4
	if err := c.unit.Resolve(&c.out, r); err != nil {
		return err
	}
	least := float64(c.out.Cycles)
	d.Predicted.Cycles, d.Predicted.UnitCycles = least, least
	if p.Cycles >= 0 && p.Cycles < least {
		d.In = append(d.In, "cycles")
	}
	if p.UnitCycles >= 0 && p.UnitCycles < least+saturated.low {
		d.In = append(d.In, "unit_cycles")
	}
	return nil
}

// see widens the range of offsets seen. Recordings have three decimals.
func (op *OpResult) see(offset float64) {
	offset = math.Round(offset*1000) / 1000
	if op.Offset == nil {
		op.Offset = &Range{offset, offset}
	}
	op.Offset.Min, op.Offset.Max = min(op.Offset.Min, offset), max(op.Offset.Max, offset)
}
