//go:build !js

package shmoo

import (
	"fmt"
	"io"
	"math"
	"strings"

	"shmoo/internal/table"
	"shmoo/launch"
	"shmoo/report"
	"shmoo/smem"
)

// A Comparison lays what was predicted beside what Nsight Compute recorded.
type Comparison struct {
	Rows []ComparisonRow
	// Agree counts the rows that are equal; Explained those whose difference has a known cause.
	Agree, Explained, Differ int
}

// A ComparisonRow is one instruction, or one counter of the kernel.
type ComparisonRow struct {
	What                string
	Predicted, Recorded int64
	Verdict             Verdict
}

// Verdict says how a prediction and a record relate.
type Verdict string

// The verdicts.
const (
	Equal       Verdict = "equal"
	Pairing     Verdict = "ncu misjudges pairing; the hardware counts the prediction"
	Arbitration Verdict = "arbitration residue"
	NotModelled Verdict = "not modelled exactly"
	WrongLaunch Verdict = "executed another number of times: is it the same launch?"
	Unresolved  Verdict = "not all addresses are known"
	Differs     Verdict = "differs"
)

// residueShare is the share of wavefronts that arbitration with other traffic can add to a hardware counter (docs/model.md).
const residueShare = 0.02

// CompareProfile compares a report on the machine code of a kernel with what ncu recorded of a launch of it: the source page
// instruction by instruction, the hardware counters by operation. Sums are scaled to the whole launch.
func CompareProfile(r *report.Report, p *launch.Profile) *Comparison {
	c := &Comparison{}
	scale := 1.0
	if r.Launch != nil {
		scale = r.Launch.Scale()
	}
	bySite := map[uint64]*launch.SourceRow{}
	for i := range p.Source {
		bySite[p.Source[i].PC] = &p.Source[i]
	}
	for i := range r.Sites {
		s := &r.Sites[i]
		if row, ok := bySite[s.PC]; ok && (row.Executed > 0 || s.Tally.Requests > 0) {
			c.add(compareSite(s, row, scale))
		}
	}
	for _, counter := range hardwareCounters {
		if recorded, ok := p.Metrics[counter.metric]; ok {
			c.add(counter.compare(r, recorded, scale))
		}
	}
	return c
}

func (c *Comparison) add(row ComparisonRow) {
	c.Rows = append(c.Rows, row)
	switch row.Verdict {
	case Equal:
		c.Agree++
	case Pairing, Arbitration, NotModelled, Unresolved:
		c.Explained++
	default:
		c.Differ++
	}
}

func compareSite(s *report.Site, row *launch.SourceRow, scale float64) ComparisonRow {
	t := &s.Tally
	out := ComparisonRow{
		What:      fmt.Sprintf("0x%04x %s", s.PC, row.Instruction),
		Predicted: scaled(t.Wavefronts, scale),
		Recorded:  row.Wavefronts,
	}
	switch {
	case out.Predicted == out.Recorded:
		out.Verdict = Equal
	case t.UnresolvedRequests() > 0:
		out.Verdict = Unresolved
	case t.Basis == smem.Estimated:
		out.Verdict = NotModelled
	case t.SourcePageUnknown > 0, scaled(t.SourcePage, scale) == out.Recorded:
		out.Verdict = Pairing
	case scaled(t.Requests, scale) > row.Executed:
		out.Verdict = WrongLaunch
	default:
		out.Verdict = Differs
	}
	return out
}

func scaled(n int64, scale float64) int64 { return int64(math.Round(float64(n) * scale)) }

// A hardwareCounter is a counter of the whole kernel.
type hardwareCounter struct {
	metric string
	what   string
	value  func(t *report.Tally) int64
	counts func(s *report.Site) bool
}

const wavefrontCounter = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum"

func wavefrontsOf(t *report.Tally) int64 { return t.Wavefronts }

var hardwareCounters = []hardwareCounter{
	{fmt.Sprintf(wavefrontCounter, "ld"), "wavefronts of loads", wavefrontsOf,
		func(s *report.Site) bool { return s.Op == smem.Load || s.Op == smem.LoadMatrix }},
	{fmt.Sprintf(wavefrontCounter, "st"), "wavefronts of stores", wavefrontsOf,
		func(s *report.Site) bool { return s.Op == smem.Store || s.Op == smem.StoreMatrix }},
	{fmt.Sprintf(wavefrontCounter, "atom"), "wavefronts of atomics", wavefrontsOf, func(s *report.Site) bool {
		return s.Op == smem.Atomic || s.Op == smem.Reduce || s.Op == smem.CompareSwap
	}},
}

func (h *hardwareCounter) compare(r *report.Report, recorded, scale float64) ComparisonRow {
	var sum int64
	unresolved := false
	for i := range r.Sites {
		if s := &r.Sites[i]; h.counts(s) {
			sum += h.value(&s.Tally)
			unresolved = unresolved || s.Tally.UnresolvedRequests() > 0
		}
	}
	out := ComparisonRow{What: "hardware: " + h.what, Predicted: scaled(sum, scale), Recorded: int64(recorded)}
	residue := float64(out.Recorded - out.Predicted)
	switch {
	case residue == 0:
		out.Verdict = Equal
	case unresolved:
		out.Verdict = Unresolved
	case residue > 0 && residue <= max(4, residueShare*recorded):
		out.Verdict = Arbitration
	default:
		out.Verdict = Differs
	}
	return out
}

// WriteText prints the comparison, leaving out the rows that agree unless all is set.
func (c *Comparison) WriteText(w io.Writer, all bool) error {
	if _, err := fmt.Fprintf(w, "against ncu: %d of %d agree, %d differ for a known reason, %d differ\n", c.Agree,
		len(c.Rows), c.Explained, c.Differ); err != nil {
		return err
	}
	t := table.New("what", "predicted>", "recorded>", "verdict")
	shown := 0
	for _, row := range c.Rows {
		if all || row.Verdict != Equal || strings.HasPrefix(row.What, "hardware") {
			t.Row(row.What, row.Predicted, row.Recorded, row.Verdict)
			shown++
		}
	}
	if shown == 0 {
		return nil
	}
	return t.Write(w)
}
