package html

import (
	"fmt"
	"html/template"
	"strings"

	"shmoo/arch"
	"shmoo/bankmap"
	"shmoo/bankmap/draw"
	"shmoo/diag"
	"shmoo/explain"
	"shmoo/report"
	"shmoo/report/source"
	"shmoo/smem"
)

// The page as the template sees it: everything is text or a number ready to be shown.
type page struct {
	Title, Machine, Launch, Assumed string
	Style                           template.CSS
	Totals                          row
	Factor, Missing                 string
	Complete                        bool   // every request is resolved
	Bar, Hot                        bool   // there are wavefronts, and conflicts among them
	Verdict                         string // class of the figures: "good", "bad", or "" where too little is known
	IdealShare, ConflictShare       string
	Sites                           []row
	Top                             []row // the most expensive, where there are many
	Count                           int   // of sites
	MoreSites                       string
	Unresolved                      []unresolved
	Worst                           []worst
	MoreWorst                       string
	Files                           []file
	Diagnostics                     []message
	Basis                           string
}

// A row is the numbers of a site, or of all; "?" for what is not known.
type row struct {
	Name, Place, Op, Caveat, Detail              string
	Requests, Wavefronts, Ideal, Conflicts, Ways string
	Coverage, Heat, IdealShare, ConflictShare    string // shares in percent of the most expensive site
	Known                                        bool
}

// A table is rows with their total.
type table struct {
	Page *page
	Rows []row
}

// Table returns what the template of a table takes.
func (p *page) Table(rows []row) table { return table{p, rows} }

type unresolved struct {
	Requests int64
	Reason   string
}

type worst struct {
	ID, Name, Place, Count, Why, Caption, MoreSteps string
	Fixes, Notes                                    []string
	Light, Dark                                     template.HTML
	Steps                                           []explain.Step
}

type file struct {
	Name string
	Rows []line
}

type line struct {
	Line, Folded                       int
	Cost                               bool
	Wavefronts, Ideal, Conflicts, Heat string
	Parts                              []part
}

// A part is a stretch of a source line; marked where an access stands.
type part struct {
	Text string
	Mark bool
}

type message struct {
	Severity, Place, Message string
	Fixes                    []string
}

func (o *Options) page(r *report.Report) (*page, error) {
	totals := r.Totals()
	p := &page{
		Title: r.Kernel, Machine: r.Arch, Style: template.CSS(styleText), Totals: tally(&totals),
		Bar: totals.Wavefronts > 0, Hot: totals.Conflicts() > 0, Complete: totals.Coverage() == 1, Verdict: verdict(&totals), Factor: factor(&totals),
		IdealShare: percent(totals.Ideal, totals.Wavefronts), ConflictShare: percent(totals.Conflicts(), totals.Wavefronts),
		Basis: basis(&totals),
	}
	if p.Title == "" {
		p.Title = "Shared-memory accesses"
	}
	if a, err := arch.Lookup(r.Arch); err == nil {
		p.Machine += " " + a.Title
	}
	if r.Launch != nil {
		l := *r.Launch
		p.Assumed, l.Assumed = strings.TrimPrefix(l.Assumed, "ASSUMED: "), ""
		p.Launch = l.String()
	}
	p.Missing = missing(&totals)
	for _, reason := range totals.Reasons() {
		p.Unresolved = append(p.Unresolved, unresolved{totals.Unresolved[reason], reason})
	}
	if err := o.worst(p, r); err != nil {
		return nil, err
	}
	p.sites(r)
	p.files(r, o)
	p.messages(r)
	return p, nil
}

// sites fills the table. Heat and bars are relative to the most expensive site.
func (p *page) sites(r *report.Report) {
	most, hottest := int64(1), int64(1)
	for i := range r.Sites {
		most = max(most, r.Sites[i].Tally.Wavefronts)
		hottest = max(hottest, r.Sites[i].Tally.Conflicts())
	}
	for i := range r.Sites[:min(len(r.Sites), maxSites)] {
		s := &r.Sites[i]
		x := tally(&s.Tally)
		x.Name, x.Place, x.Op, x.Caveat = name(s), s.Place(), s.Instruction(), caveat(s)
		x.IdealShare, x.ConflictShare = percent(s.Tally.Ideal, most), percent(s.Tally.Conflicts(), most)
		x.Heat = heat(s.Tally.Conflicts(), hottest)
		for _, w := range p.Worst {
			if w.ID == siteID(i) {
				x.Detail = w.ID
			}
		}
		p.Sites = append(p.Sites, x)
	}
	p.Count = len(r.Sites)
	if p.Count > manySites {
		for _, i := range r.ByConflicts() {
			if len(p.Top) < topSites && i < len(p.Sites) {
				p.Top = append(p.Top, p.Sites[i])
			}
		}
	}
	if n := len(r.Sites) - maxSites; n > 0 {
		p.MoreSites = fmt.Sprintf("%d more sites are left out; the total has them.", n)
	}
}

func siteID(i int) string { return fmt.Sprintf("site-%d", i+1) }

// name names a site in a table.
func name(s *report.Site) string {
	switch {
	case s.Text != "":
		return s.Text
	case s.Array != "":
		return s.Array
	}
	return s.Instruction()
}

// worst explains the sites with the most conflicts, one of each line and instruction: an unrolled loop has many alike.
func (o *Options) worst(p *page, r *report.Report) error {
	type kind struct {
		at    diag.Span
		instr string
	}
	seen := map[kind]bool{}
	order := r.ByConflicts()
	for _, i := range order {
		s := &r.Sites[i]
		k := kind{s.Pos, s.Instruction()}
		if len(p.Worst) == maxWorst || s.Pos.IsValid() && seen[k] {
			continue
		}
		seen[k] = true
		w, err := o.explain(r, i)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Place(), err)
		}
		p.Worst = append(p.Worst, *w)
	}
	if n := len(order) - len(p.Worst); n > 0 {
		p.MoreWorst = fmt.Sprintf("%s more with conflicts; the table has all.", count(int64(n), "site"))
	}
	return nil
}

func (o *Options) explain(r *report.Report, i int) (*worst, error) {
	s := &r.Sites[i]
	w := &worst{
		ID: siteID(i), Name: name(s), Place: s.Place(),
		Count: fmt.Sprintf("%s, %d ways", count(s.Tally.Conflicts(), "conflict"), s.Tally.Ways),
	}
	for _, d := range r.Diagnostics {
		if d.Span != s.Pos || !strings.HasPrefix(d.ID, "smem/") {
			continue
		}
		w.Why = d.Message
		for _, f := range d.Fixes {
			w.Fixes = append(w.Fixes, f.Message)
		}
	}
	if w.Why == "" {
		w.Why = fmt.Sprintf("%s: %d wavefronts in %d requests, ideal %d", s.Phrase(), s.Tally.Wavefronts, s.Tally.Requests,
			s.Tally.Ideal)
	}
	if o.Unit == nil || s.Worst == nil {
		return w, nil
	}
	d, err := explain.New(o.Unit, &s.Worst.Request, explain.Options{Site: &s.Site, Block: s.Worst.Block, Warp: s.Worst.Warp})
	if err != nil || d.Picture == nil {
		return w, err
	}
	w.Why, w.Notes = fmt.Sprintf("%s: %s", s.Phrase(), d.Why), d.Notes
	for _, step := range d.Steps {
		if step.Pass > 0 && step.Stage != smem.Resolver.String() {
			continue // every pass goes the way of the first
		}
		w.Steps = append(w.Steps, step)
	}
	if len(d.Picture.Passes) > 1 {
		w.MoreSteps = "Banks, crossbar and write-back follow every pass as they follow the first."
	}
	d.Picture.Title = fmt.Sprintf("%s: %s", s.Place(), s.Phrase())
	w.Caption = fmt.Sprintf("Its worst request: block %d, warp %d. Rows of shared memory by banks; every cell names its lanes and "+
		"the pass that serves them.", s.Worst.Block, s.Worst.Warp)
	if w.Light, err = picture(d.Picture, false); err != nil {
		return nil, err
	}
	w.Dark, err = picture(d.Picture, true)
	return w, err
}

// picture draws a panel. The drawing escapes what it is given.
func picture(p *bankmap.Panel, dark bool) (template.HTML, error) {
	var b strings.Builder
	err := draw.SVG(&b, []*bankmap.Panel{p}, draw.Options{Dark: dark, Width: pictureWidth})
	return template.HTML(b.String()), err
}

func (p *page) files(r *report.Report, o *Options) {
	files := source.Files(r, o.Lines)
	hottest := int64(1)
	for _, l := range r.Lines() {
		hottest = max(hottest, l.Tally.Conflicts())
	}
	for _, f := range files {
		out := file{Name: f.Name}
		for i := range f.Rows {
			out.Rows = append(out.Rows, lineOf(r, &f.Rows[i], hottest))
		}
		p.Files = append(p.Files, out)
	}
}

func lineOf(r *report.Report, row *source.Row, hottest int64) line {
	l := line{Line: row.Line, Folded: row.Folded, Parts: []part{{Text: row.Text}}}
	if row.Cost == nil {
		return l
	}
	t := &row.Cost.Tally
	l.Cost, l.Parts, l.Heat = true, marked(r, row), heat(t.Conflicts(), hottest)
	l.Wavefronts, l.Ideal, l.Conflicts = grouped(t.Wavefronts), grouped(t.Ideal), grouped(t.Conflicts())
	switch {
	case t.Faulted > 0:
		l.Conflicts, l.Heat = "fault", "1"
	case len(t.Unresolved) > 0 && t.Requests == 0:
		l.Wavefronts, l.Ideal, l.Conflicts = "?", "?", "?"
	case len(t.Unresolved) > 0:
		l.Conflicts += " + ?"
	}
	return l
}

// marked splits a line where its accesses with conflicts or faults stand.
func marked(r *report.Report, row *source.Row) []part {
	hot := make([]bool, len(row.Text))
	for _, i := range row.Cost.Sites {
		s := &r.Sites[i]
		if s.Tally.Conflicts() == 0 && s.Tally.Faulted == 0 || s.Pos.Col == 0 {
			continue
		}
		for at := s.Pos.Col - 1; at < min(s.Pos.Col-1+s.Pos.Len, len(hot)); at++ {
			hot[at] = true
		}
	}
	var parts []part
	for start := 0; start < len(hot); {
		end := start
		for end < len(hot) && hot[end] == hot[start] {
			end++
		}
		parts = append(parts, part{row.Text[start:end], hot[start]})
		start = end
	}
	return parts
}

// messages lists the diagnostics that no explanation shows.
func (p *page) messages(r *report.Report) {
	shown := map[string]bool{}
	for _, w := range p.Worst {
		shown[w.Place] = true
	}
	for _, d := range r.Diagnostics {
		if d.ID == "smem/conflict" && shown[d.Span.Pos.String()] {
			continue
		}
		m := message{Severity: d.Severity.String(), Place: d.Span.Pos.String(), Message: d.Message}
		for _, f := range d.Fixes {
			m.Fixes = append(m.Fixes, f.Message)
		}
		p.Diagnostics = append(p.Diagnostics, m)
	}
}
