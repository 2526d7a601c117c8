// Package shmoo finds the shared-memory bank conflicts of GPU kernels without a GPU. It is the front for programs that use
// the library; the command line is built on it.
//
//	in, err := shmoo.OpenFile(ctx, "transpose.cu", shmoo.Options{Block: [3]int{32, 8, 1}})
//	r, err := shmoo.Analyze(ctx, in)
//	for _, s := range r.Sites {
//		fmt.Println(s.Pos, s.Tally.Wavefronts, s.Tally.Ideal)
//	}
//
// Limits: those of the packages behind it, above all sketch and smem.
package shmoo

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"shmoo/diag"
	"shmoo/explain"
	"shmoo/report"
)

// Analyze runs an input, tallies its requests by site, and adds a diagnostic for every site at fault and for the worst
// ones with conflicts, which say why and what would help. A kernel that faults or reaches a limit gives a report of what ran
// until then, with a diagnostic of severity Error.
func Analyze(ctx context.Context, in *Input) (*report.Report, error) {
	r, err := report.Collect(ctx, in.Source, in.Unit)
	runner, ok := in.Source.(runner)
	var stopped *diag.Diagnostic
	if err != nil && ok {
		stopped = runner.stopped(err)
	}
	if err != nil && stopped == nil {
		return nil, err
	}
	r.Kernel, r.Launch = in.Kernel, in.Launch
	r.Diagnostics = append(r.Diagnostics, in.Notes...)
	if stopped != nil {
		r.Diagnostics = append(r.Diagnostics, stopped)
	}
	if ok {
		runner.annotate(r)
	}
	r.Diagnostics = append(r.Diagnostics, faults(r)...)
	r.Diagnostics = append(r.Diagnostics, conflicts(ctx, in, r)...)
	r.Diagnostics = append(r.Diagnostics, sourcePage(r)...)
	return r, nil
}

// A runner is a source that executes a kernel, and knows more than its accesses say.
type runner interface {
	// stopped returns what to say about a run that ended early with err, or nil if there is nothing to report of it.
	stopped(err error) *diag.Diagnostic
	// annotate adds bounds and notes to the report of the last run.
	annotate(r *report.Report)
}

// sourcePage says where Nsight Compute's Source page will show another number than the hardware counts.
func sourcePage(r *report.Report) diag.List {
	var list diag.List
	for i := range r.Sites {
		s := &r.Sites[i]
		if t := &s.Tally; t.SourcePageUnknown == 0 && t.SourcePage != t.Wavefronts {
			list = append(list, &diag.Diagnostic{ID: "ncu/source-page", Severity: diag.Note, Span: s.Pos,
				Message: fmt.Sprintf("%s: ncu's Source page will show %d wavefronts, the hardware counts %d (lanes pair)",
					s.Phrase(), t.SourcePage, t.Wavefronts)})
		}
	}
	return list
}

// faults reports the sites whose addresses the hardware would refuse.
func faults(r *report.Report) diag.List {
	var list diag.List
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Fault == nil {
			continue
		}
		list = append(list, diag.Errorf("smem/fault", s.Pos, "%s: block %d, warp %d: %v", s.Phrase(),
			s.Fault.Block, s.Fault.Warp, s.Fault.Fault))
	}
	return list
}

// worstSites is how many sites with conflicts are explained.
const worstSites = 3

// conflicts explains the sites with the most conflicts.
func conflicts(ctx context.Context, in *Input, r *report.Report) diag.List {
	var worst []*report.Site
	for i := range r.Sites {
		if r.Sites[i].Tally.Conflicts() > 0 {
			worst = append(worst, &r.Sites[i])
		}
	}
	slices.SortStableFunc(worst, func(a, b *report.Site) int { return cmp.Compare(b.Tally.Conflicts(), a.Tally.Conflicts()) })
	pads := newPadAdvice(ctx, in, r)
	var list diag.List
	for _, s := range worst[:min(len(worst), worstSites)] {
		d := diag.Warningf("smem/conflict", s.Pos, "%s: %s", s.Phrase(), explain.Why(in.Unit, &s.Worst.Request))
		if fix, ok := pads.fix(s); ok { // a pad serves all accesses of an array, so its first site carries it
			d.Fixes = append(d.Fixes, fix)
		}
		list = append(list, d)
	}
	return list
}
