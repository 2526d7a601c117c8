package shmoo

import (
	"context"
	"fmt"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/fix"
	"shmoo/layout"
	"shmoo/report"
)

// padAdvice finds, for each array with conflicts, the pad that serves all its accesses best.
type padAdvice struct {
	ctx    context.Context
	in     *Input
	report *report.Report
	// problems is nil until the first site asks: reading the source a second time is only worth it when something conflicts.
	problems []*fix.Problem
	read     bool
	told     map[string]bool // the arrays whose pad has been told
}

func newPadAdvice(ctx context.Context, in *Input, r *report.Report) *padAdvice {
	return &padAdvice{ctx: ctx, in: in, report: r, told: map[string]bool{}}
}

// fix returns the best pad for the array of a site, once for each array. It reports false when no pad helps or none can be
// found.
func (p *padAdvice) fix(s *report.Site) (diag.Fix, bool) {
	if p.told[s.Array] {
		return diag.Fix{}, false
	}
	p.told[s.Array] = true
	if !p.read {
		p.read = true
		// An input whose addresses straddle arrays has no pad; check still stands without one.
		p.problems, _ = p.in.Problems(p.ctx)
	}
	for _, problem := range p.problems {
		if problem.Array.Name != s.Array {
			continue
		}
		result, err := fix.Search(p.ctx, problem, fix.Options{Allow: []fix.Family{fix.PadOf}})
		if err != nil || result.Best == nil {
			return diag.Fix{}, false
		}
		return diag.Fix{Message: padMessage(&problem.Array, result)}, true
	}
	return diag.Fix{}, false
}

// padMessage says what to pad in the terms of the declaration where the pad follows its rows.
func padMessage(a *access.Array, r *fix.Result) string {
	best := r.Best
	what, grows := fmt.Sprintf("pad %s: %s", a.Name, best.Transform), best.Bytes-r.Before.Bytes
	if pad, ok := best.Transform.(layout.Pad); ok && len(pad) == 1 && len(a.Dims) > 1 && a.ElemBytes > 0 {
		row := a.Dims[len(a.Dims)-1]
		elems := int(pad[0].Add) / a.ElemBytes
		if int(pad[0].Per) == row*a.ElemBytes && elems*a.ElemBytes == int(pad[0].Add) {
			what = fmt.Sprintf("pad each row of %s by %s (%d bytes), [%d] to [%d]", a.Name, count(elems, "element"),
				pad[0].Add, row, row+elems)
			grows = a.Size / int(pad[0].Per) * int(pad[0].Add)
		}
	}
	return fmt.Sprintf("%s: %d -> %d wavefronts over all its accesses, %+d bytes", what, r.Before.Wavefronts,
		best.Wavefronts, grows)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
