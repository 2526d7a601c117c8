package compare

import (
	"fmt"
	"io"
	"strings"

	"shmoo/internal/table"
	"shmoo/report"
)

// Schema names the version of the JSON form. It changes when a field changes its meaning or goes away.
const Schema = "shmoo.diff/1"

// A Document is the JSON form of a Result.
type Document struct {
	Schema      string   `json:"schema"` // Schema
	Arch        string   `json:"arch"`
	Before      Side     `json:"before"`
	After       Side     `json:"after"`
	Notes       []string `json:"notes"`
	Regressions int      `json:"regressions"` // changes that fail a gate
	Changes     []Site   `json:"changes"`
}

// A Side is the totals of one report.
type Side struct {
	Kernel string `json:"kernel,omitempty"`
	Counts
}

// Counts are the numbers that are compared.
type Counts struct {
	Requests   int64 `json:"requests"`
	Wavefronts int64 `json:"wavefronts"`
	Ideal      int64 `json:"ideal"`
	Conflicts  int64 `json:"conflicts"`
	Unresolved int64 `json:"unresolved"`
	Faulted    int64 `json:"faulted"`
}

// A Site is one change.
type Site struct {
	Kind        Kind    `json:"kind"`
	Regression  bool    `json:"regression"`
	Fingerprint string  `json:"fingerprint"`
	Name        string  `json:"name"`
	Place       string  `json:"place"` // of the later site, or of the earlier one that is gone
	Why         string  `json:"why,omitempty"`
	Before      *Counts `json:"before,omitempty"`
	After       *Counts `json:"after,omitempty"`
}

// Document converts the result. Sites that stayed the same are part of it.
func (r *Result) Document() *Document {
	d := &Document{
		Schema: Schema, Arch: r.After.Arch, Before: side(r.Before), After: side(r.After),
		Notes: append([]string{}, r.Notes...), Regressions: len(r.Regressions()), Changes: []Site{},
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		s := Site{Kind: c.Kind, Regression: c.Regression(), Fingerprint: c.Key.Fingerprint(), Name: c.Key.String(),
			Place: c.Place(), Why: c.Why}
		if c.Before != nil {
			s.Before = counts(&c.Before.Tally)
		}
		if c.After != nil {
			s.After = counts(&c.After.Tally)
		}
		d.Changes = append(d.Changes, s)
	}
	return d
}

func side(r *report.Report) Side {
	totals := r.Totals()
	return Side{r.Kernel, *counts(&totals)}
}

func counts(t *report.Tally) *Counts {
	return &Counts{t.Requests, t.Wavefronts, t.Ideal, t.Conflicts(), t.UnresolvedRequests(), t.Faulted}
}

// Place says where the site is now, or was.
func (c *Change) Place() string {
	if c.After != nil {
		return c.After.Place()
	}
	return c.Before.Place()
}

// WriteText writes the changes for people: notes, a line per site that changed, and the totals.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if len(r.Changes) > r.Count(Same) {
		t := table.New("change", "site", "access", "wavefronts>", "now>", "conflicts>", "now>", "what")
		for i := range r.Changes {
			c := &r.Changes[i]
			if c.Kind != Same {
				t.Row(c.Kind, c.Place(), c.Key, wavefronts(c.Before), wavefronts(c.After), conflicts(c.Before), conflicts(c.After), c.Why)
			}
		}
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	before, after := r.Before.Totals(), r.After.Totals()
	var parts []string
	for _, k := range kinds {
		if n := r.Count(k); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k))
		}
	}
	if parts == nil {
		parts = []string{"none"}
	}
	fmt.Fprintf(&b, "sites: %s; wavefronts %d -> %d, conflicts %d -> %d\n", strings.Join(parts, ", "), before.Wavefronts,
		after.Wavefronts, before.Conflicts(), after.Conflicts())
	_, err := io.WriteString(w, b.String())
	return err
}

func wavefronts(s *report.Site) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprint(s.Tally.Wavefronts)
}

func conflicts(s *report.Site) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprint(s.Tally.Conflicts())
}
