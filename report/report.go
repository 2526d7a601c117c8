// Package report holds what an analysis found: tallies by site, totals, and how much of the input they cover.
//
//	r, err := report.Collect(ctx, source, arch.MustLookup("sm_90").Unit)
//	for _, s := range r.Sites {
//		fmt.Println(s.Pos, s.Tally.Wavefronts, s.Tally.Ideal, s.Tally.Conflicts())
//	}
//
// A report is data: writers live in packages of their own. Merge is associative, so parts can be computed anywhere.
//
// Limits: a tally keeps one worst request per site as evidence, not the whole distribution.
package report

import (
	"context"
	"errors"
	"fmt"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/ncu"
	"shmoo/smem"
)

// Schema names the version of the JSON form. It changes when a field changes its meaning or goes away.
const Schema = "shmoo.report/1"

// A Tally sums the requests of a site, or of many.
type Tally struct {
	Requests   int64 // resolved requests
	Wavefronts int64
	Ideal      int64
	Ways       int // largest number of passes of one group in any request
	Cycles     float64
	Unresolved map[string]int64 // requests whose addresses are not known, by reason
	Faulted    int64            // requests that the hardware would refuse
	Basis      smem.Basis       // the weakest basis among the rules used
	// SourcePage is the wavefronts that Nsight Compute's Source page shows for the resolved requests, which misjudges loads
	// that pair; SourcePageUnknown counts requests for which its figure is not known.
	SourcePage        int64
	SourcePageUnknown int64
}

// Conflicts returns the wavefronts above the ideal.
func (t *Tally) Conflicts() int64 { return t.Wavefronts - t.Ideal }

// UnresolvedRequests returns the number of requests whose addresses are not known.
func (t *Tally) UnresolvedRequests() int64 {
	n := int64(0)
	for _, c := range t.Unresolved {
		n += c
	}
	return n
}

// Coverage returns the share of requests that were resolved, from 0 to 1; it is 1 when there were none.
func (t *Tally) Coverage() float64 {
	all := t.Requests + t.UnresolvedRequests() + t.Faulted
	if all == 0 {
		return 1
	}
	return float64(t.Requests) / float64(all)
}

// Add adds the sums of o to t. It keeps nothing of o.
func (t *Tally) Add(o *Tally) {
	t.Requests += o.Requests
	t.Wavefronts += o.Wavefronts
	t.Ideal += o.Ideal
	t.Ways = max(t.Ways, o.Ways)
	t.Cycles += o.Cycles
	t.Faulted += o.Faulted
	t.Basis = max(t.Basis, o.Basis)
	t.SourcePage += o.SourcePage
	t.SourcePageUnknown += o.SourcePageUnknown
	for reason, n := range o.Unresolved {
		t.unresolved(reason, n)
	}
}

func (t *Tally) unresolved(reason string, n int64) {
	if t.Unresolved == nil {
		t.Unresolved = map[string]int64{}
	}
	t.Unresolved[reason] += n
}

// A Sample is one request kept as evidence.
type Sample struct {
	Block, Warp int
	Request     smem.Request // owns its addresses
	Wavefronts  int
	Ideal       int
	Fault       *smem.Fault // why the hardware would refuse it; nil for a resolved request
}

func newSample(a *access.Access) *Sample {
	s := &Sample{Block: a.Block, Warp: a.Warp, Request: a.Request}
	s.Request.Addr = append([]uint32(nil), a.Request.Addr...)
	return s
}

// Bounds hold the wavefronts of requests whose lanes or addresses are not all known.
type Bounds struct {
	Low, High int64
	// Open says that the site lies in a loop whose trip count is not known: neither bound is complete.
	Open bool
}

// A Site is a site with what its requests cost.
type Site struct {
	access.Site
	Tally Tally
	// Bounds are those of the unresolved requests' wavefronts, where the source knows some.
	Bounds *Bounds
	Worst  *Sample // the first request with the most conflicts, or nil without requests
	Fault  *Sample // the first request that faulted, or nil
}

// A Launch is the shape a kernel was run with.
type Launch struct {
	Block, Grid   [3]int
	Blocks        int    // how many blocks of the grid were run; 0 for all
	DynamicShared int    // bytes
	Assumed       string // what was assumed because nothing was given, such as "block 32: nothing given"; "" for nothing
}

// Scale returns the number by which sums grow from the blocks that were run to the whole launch, if all blocks are alike.
func (l *Launch) Scale() float64 {
	if l.Blocks == 0 {
		return 1
	}
	return float64(l.Grid[0]) * float64(l.Grid[1]) * float64(l.Grid[2]) / float64(l.Blocks)
}

// A Report is the outcome of an analysis.
type Report struct {
	Arch        string // name of the unit
	Kernel      string
	Launch      *Launch // nil for an input without a launch, such as a pattern file
	Sites       []Site
	Arrays      []access.Array
	Diagnostics diag.List
}

// Totals sums the tallies of all sites.
func (r *Report) Totals() Tally {
	var t Tally
	for i := range r.Sites {
		t.Add(&r.Sites[i].Tally)
	}
	return t
}

// Clean reports whether the input ran to its end, every request was resolved, and none has conflicts.
func (r *Report) Clean() bool {
	t := r.Totals()
	return t.Conflicts() == 0 && t.Faulted == 0 && len(t.Unresolved) == 0 && r.Diagnostics.Err() == nil
}

// Collect resolves every access of source on unit u and tallies it by site. A fault of a request is tallied and
// kept as evidence; an error of the source or of the unit ends the collection and is returned with what was found until
// then.
func Collect(ctx context.Context, source access.Source, u *smem.Unit) (*Report, error) {
	sites := source.Sites()
	r := &Report{Arch: u.Name, Sites: make([]Site, len(sites)), Arrays: source.Arrays()}
	for i := range sites {
		r.Sites[i].Site = sites[i]
	}
	var out smem.Outcome
	for access, err := range source.Accesses(ctx) {
		if err != nil {
			return r, err
		}
		if err := r.Sites[access.Site].add(u, &out, access); err != nil {
			return r, fmt.Errorf("%s: %w", r.Sites[access.Site].Pos.Pos, err)
		}
	}
	return r, nil
}

func (s *Site) add(unit *smem.Unit, out *smem.Outcome, a *access.Access) error {
	n := max(1, a.Count)
	if a.Unresolved != "" {
		s.Tally.unresolved(a.Unresolved, n)
		return nil
	}
	if err := unit.Resolve(out, &a.Request); err != nil {
		fault, ok := errors.AsType[*smem.Fault](err)
		if !ok {
			return err
		}
		s.Tally.Faulted += n
		if s.Fault == nil {
			s.Fault = newSample(a)
			s.Fault.Fault = fault
		}
		return nil
	}
	t := &s.Tally
	t.Requests += n
	t.Wavefronts += n * int64(out.Wavefronts)
	t.Ideal += n * int64(out.Ideal)
	t.Ways = max(t.Ways, out.Ways)
	t.Cycles += float64(n) * float64(out.Cycles)
	t.Basis = max(t.Basis, out.Basis)
	if page, known := ncu.SourcePage(unit, &a.Request, out); known {
		t.SourcePage += n * int64(page)
	} else {
		t.SourcePageUnknown += n
	}
	if s.Worst == nil || out.Conflicts() > s.Worst.Wavefronts-s.Worst.Ideal {
		s.Worst = newSample(a)
		s.Worst.Wavefronts, s.Worst.Ideal = out.Wavefronts, out.Ideal
	}
	return nil
}

// Merge adds the tallies of o, a report on the same sites of the same kernel on the same architecture, to r. It is
// associative; the evidence kept is the worst of both, r's where they tie.
func (r *Report) Merge(o *Report) error {
	if r.Arch != o.Arch || r.Kernel != o.Kernel || len(r.Sites) != len(o.Sites) {
		return fmt.Errorf("cannot merge a report on %s (%s, %d sites) into one on %s (%s, %d sites)",
			o.Kernel, o.Arch, len(o.Sites), r.Kernel, r.Arch, len(r.Sites))
	}
	for i := range r.Sites {
		s, from := &r.Sites[i], &o.Sites[i]
		s.Tally.Add(&from.Tally)
		if b := from.Bounds; b != nil {
			sum := *b
			if s.Bounds != nil {
				sum = Bounds{Low: s.Bounds.Low + b.Low, High: s.Bounds.High + b.High, Open: s.Bounds.Open || b.Open}
			}
			s.Bounds = &sum
		}
		if s.Worst == nil || from.Worst != nil &&
			from.Worst.Wavefronts-from.Worst.Ideal > s.Worst.Wavefronts-s.Worst.Ideal {
			s.Worst = from.Worst
		}
		if s.Fault == nil {
			s.Fault = from.Fault
		}
	}
	r.Diagnostics = append(r.Diagnostics, o.Diagnostics...)
	return nil
}
