package sarif

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"shmoo/diag"
	"shmoo/report"
)

// A finding is a diagnostic with the site it is about, if any, and its fingerprint.
type finding struct {
	d     *diag.Diagnostic
	site  *report.Site
	print string
}

// Ids of the findings that are made here because the report has no diagnostic for them.
const (
	conflictID   = "smem/conflict"
	unresolvedID = "smem/unresolved"
)

// findings returns the diagnostics of the report and one more for every site with conflicts or unresolved requests that
// they do not cover, errors first, then by conflicts.
func findings(r *report.Report) []finding {
	keys := r.Keys()
	type covered struct {
		id string
		at diag.Pos
	}
	done := map[covered]bool{}
	nth := map[string]int{}
	var list []finding
	for _, d := range r.Diagnostics {
		f := finding{d: d}
		about := ""
		if i := siteAt(r, d); i >= 0 {
			f.site, about = &r.Sites[i], keys[i].Fingerprint()
		} else {
			about = d.Message
		}
		f.print = fingerprint(d.ID, about, nth)
		done[covered{d.ID, d.Span.Pos}] = true
		list = append(list, f)
	}
	for i := range r.Sites {
		s := &r.Sites[i]
		for _, d := range siteDiagnostics(s) {
			if !done[covered{d.ID, d.Span.Pos}] {
				list = append(list, finding{d, s, fingerprint(d.ID, keys[i].Fingerprint(), nth)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.d.Severity, b.d.Severity), cmp.Compare(b.conflicts(), a.conflicts()))
	})
	return list
}

func (f *finding) conflicts() int64 {
	if f.site == nil {
		return 0
	}
	return f.site.Tally.Conflicts()
}

// siteAt returns the index of the site that a diagnostic of the unit is about, or -1. Only those are about accesses.
func siteAt(r *report.Report, d *diag.Diagnostic) int {
	if !strings.HasPrefix(d.ID, "smem/") {
		return -1
	}
	return slices.IndexFunc(r.Sites, func(s report.Site) bool { return s.Pos == d.Span })
}

// siteDiagnostics says in short what a site's tally says.
func siteDiagnostics(s *report.Site) diag.List {
	var list diag.List
	t := &s.Tally
	if t.Conflicts() > 0 {
		list = append(list, diag.Warningf(conflictID, s.Pos, "%s: %d wavefronts in %d requests, ideal %d: %d conflicts, up to %d ways",
			s.Phrase(), t.Wavefronts, t.Requests, t.Ideal, t.Conflicts(), t.Ways))
	}
	if n := t.UnresolvedRequests(); n > 0 {
		d := diag.Warningf(unresolvedID, s.Pos, "%s: %d requests could not be resolved: %s", s.Phrase(), n,
			strings.Join(t.Reasons(), "; "))
		d.Severity = diag.Note
		list = append(list, d)
	}
	return list
}

// fingerprint returns a hash of the rule and of what the finding is about; nth counts the findings that are alike.
func fingerprint(id, about string, nth map[string]int) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q", id, about) // a hash does not fail
	print := fmt.Sprintf("%016x", h.Sum64())
	nth[print]++
	return fmt.Sprintf("%s:%d", print, nth[print])
}

// limit keeps what review tools show and says what was dropped.
func limit(list []finding) ([]finding, []notification) {
	if len(list) <= maxResults {
		return list, nil
	}
	return list[:maxResults], []notification{{
		Level:   "warning",
		Message: text{fmt.Sprintf("%d of %d findings are left out: the most expensive %d are kept", len(list)-maxResults, len(list), maxResults)},
	}}
}
