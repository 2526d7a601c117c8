package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"shmoo"
	"shmoo/access"
	"shmoo/report"
)

// pick returns the site that sel names and its worst request; without a name, the site with the most conflicts in one
// request. sel is LINE, LINE:COL or #N with N counted from 1.
func pick(ctx context.Context, in *shmoo.Input, sel string) (*report.Site, *report.Sample, error) {
	r, err := report.Collect(ctx, in.Source, in.Unit)
	if err != nil {
		return nil, nil, err
	}
	site, err := find(r, sel)
	if err != nil {
		return nil, nil, err
	}
	sample := site.Worst
	if site.Fault != nil {
		sample = site.Fault
	}
	if sample == nil {
		return nil, nil, fmt.Errorf("%s: no request of this site is resolved: %s", site.Pos.Pos, reasonsOf(site))
	}
	return site, sample, nil
}

func find(r *report.Report, sel string) (*report.Site, error) {
	var best *report.Site
	if sel == "" {
		for i := range r.Sites {
			s := &r.Sites[i]
			if s.Fault != nil {
				return s, nil
			}
			if s.Worst != nil && (best == nil || excess(s) > excess(best)) {
				best = s
			}
		}
		if best == nil {
			return nil, fmt.Errorf("no shared-memory access with known addresses found")
		}
		return best, nil
	}
	if number, ok := strings.CutPrefix(sel, "#"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(r.Sites) {
			return nil, usagef("--site %s: want #1 to #%d", sel, len(r.Sites))
		}
		return &r.Sites[n-1], nil
	}
	line, column, exact := strings.Cut(sel, ":")
	for i := range r.Sites {
		s := &r.Sites[i]
		if strconv.Itoa(s.Pos.Line) != line || exact && strconv.Itoa(s.Pos.Col) != column {
			continue
		}
		if best == nil || s.Worst != nil && (best.Worst == nil || excess(s) > excess(best)) {
			best = s
		}
	}
	if best == nil {
		return nil, usagef("--site %s: no access there; sites are at %s", sel, places(r.Sites))
	}
	return best, nil
}

func excess(s *report.Site) int { return s.Worst.Wavefronts - s.Worst.Ideal }

// places lists where the first sites are.
func places(sites []report.Site) string {
	const most = 10
	var list []string
	for i := range sites[:min(len(sites), most)] {
		list = append(list, fmt.Sprintf("%d:%d", sites[i].Pos.Line, sites[i].Pos.Col))
	}
	if len(sites) > most {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}

func reasonsOf(s *report.Site) string {
	for reason := range s.Tally.Unresolved {
		return reason
	}
	return "it never runs"
}

// arrayOf returns the array that a site accesses, or nil.
func arrayOf(arrays []access.Array, s *access.Site) *access.Array {
	for i := range arrays {
		if arrays[i].Name == s.Array {
			return &arrays[i]
		}
	}
	return nil
}
