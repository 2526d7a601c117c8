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

// findings returns the diagnostics of the report and one more for every place with conflicts or unresolved requests that
// they do not cover, errors first, then by conflicts.
func findings(r *report.Report) []finding {
	keys := r.Keys()
	at := map[diag.Span]int{} // the first site at a span
	for i := range r.Sites {
		if _, ok := at[r.Sites[i].Pos]; !ok {
			at[r.Sites[i].Pos] = i
		}
	}
	type covered struct {
		id   string
		span diag.Span
	}
	done := map[covered]bool{}
	nth := map[string]int{}
	var list []finding
	for _, d := range r.Diagnostics {
		f := finding{d: d}
		about := d.Message
		// Only the unit's diagnostics are about accesses.
		if i, ok := at[d.Span]; ok && strings.HasPrefix(d.ID, "smem/") {
			f.site, about = &r.Sites[i], keys[i].Fingerprint()
		}
		f.print = fingerprint(d.ID, about, nth)
		done[covered{d.ID, d.Span}] = d.Span.IsValid()
		list = append(list, f)
	}
	for _, p := range places(r) {
		for _, d := range p.diagnostics() {
			if !done[covered{d.ID, d.Span}] {
				list = append(list, finding{d, &p.site, fingerprint(d.ID, keys[p.first].Fingerprint(), nth)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.d.Severity, b.d.Severity), cmp.Compare(b.conflicts(), a.conflicts()))
	})
	return list
}

// A place is the sites that a reviewer sees as one: an unrolled loop has many instructions on a line.
type place struct {
	first, count int         // index of the first site, and how many there are
	site         report.Site // the first, with the sums of all
}

// places groups the sites by span and instruction, in the order of the report. Sites without a line stand alone.
func places(r *report.Report) []*place {
	type kind struct {
		span        diag.Span
		instr, text string
	}
	known := map[kind]*place{}
	var list []*place
	for i := range r.Sites {
		s := &r.Sites[i]
		k := kind{s.Pos, s.Instruction(), s.Text}
		if p := known[k]; p != nil && s.Pos.IsValid() {
			p.count++
			p.site.Tally.Add(&s.Tally)
			continue
		}
		p := &place{first: i, count: 1, site: report.Site{Site: s.Site}}
		p.site.Tally.Add(&s.Tally)
		known[k] = p
		list = append(list, p)
	}
	return list
}

func (f *finding) conflicts() int64 {
	if f.site == nil {
		return 0
	}
	return f.site.Tally.Conflicts()
}

// diagnostics says in short what the tally of a place says.
func (p *place) diagnostics() diag.List {
	var list diag.List
	s, t := &p.site, &p.site.Tally
	name := s.Phrase()
	if p.count > 1 {
		plural := "s"
		if p.count == 2 {
			plural = ""
		}
		name = fmt.Sprintf("%s and %d more instruction%s of this line", name, p.count-1, plural)
	}
	if t.Conflicts() > 0 {
		list = append(list, diag.Warningf(conflictID, s.Pos, "%s: %d wavefronts in %d requests, ideal %d: %d conflicts, up to %d ways",
			name, t.Wavefronts, t.Requests, t.Ideal, t.Conflicts(), t.Ways))
	}
	if n := t.UnresolvedRequests(); n > 0 {
		d := diag.Warningf(unresolvedID, s.Pos, "%s: %d requests could not be resolved: %s", name, n, strings.Join(t.Reasons(), "; "))
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
