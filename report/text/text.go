// Package text writes reports for a terminal: a line per site, totals, and the diagnostics.
//
//	text.Write(os.Stdout, r, text.Options{Lines: lines})
//
// n-way, wavefronts, conflicts and cycles are different things and have columns of their own.
//
// Limits: columns are as wide as their content; nothing is wrapped.
package text

import (
	"fmt"
	"io"
	"strings"

	"shmoo/arch"
	"shmoo/diag"
	"shmoo/internal/table"
	"shmoo/report"
	"shmoo/smem"
)

// Options says how to print.
type Options struct {
	// Lines returns a line of a source, to quote under a diagnostic; nil quotes nothing.
	Lines func(diag.Pos) (string, bool)
	// Quiet leaves the table out when there is nothing to report.
	Quiet bool
}

// Write prints the report.
func Write(w io.Writer, r *report.Report, o Options) error {
	totals := r.Totals()
	if o.Quiet && r.Clean() && len(r.Diagnostics) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w, title(r)); err != nil {
		return err
	}
	if len(r.Sites) == 0 {
		_, err := fmt.Fprintln(w, "no shared-memory access found")
		return err
	}
	if err := sites(w, r, &totals); err != nil {
		return err
	}
	if err := reasons(w, &totals); err != nil {
		return err
	}
	if err := bounds(w, r); err != nil {
		return err
	}
	for _, d := range r.Diagnostics {
		if err := d.Write(w, o.Lines); err != nil {
			return err
		}
	}
	return nil
}

// title names what was run and on what basis.
func title(r *report.Report) string {
	var b strings.Builder
	if r.Kernel != "" {
		fmt.Fprintf(&b, "%s, ", r.Kernel)
	}
	if r.Launch != nil {
		fmt.Fprintf(&b, "%s, ", r.Launch)
	}
	b.WriteString(r.Arch)
	if a, err := arch.Lookup(r.Arch); err == nil {
		b.WriteString(" " + a.Title)
	}
	return b.String()
}

func sites(w io.Writer, r *report.Report, totals *report.Tally) error {
	t := table.New("site", "array", "access", "op", "bytes>", "requests>", "wavefronts>", "ideal>", "conflicts>",
		"ways>", "cycles>", "time>", "resolved>", "basis")
	for i := range r.Sites {
		s := &r.Sites[i]
		t.Row(s.Place(), s.Array, clip(s.Text, 36), s.Instruction(), s.Width, s.Tally.Requests, s.Tally.Wavefronts, s.Tally.Ideal,
			s.Tally.Conflicts(), s.Tally.Ways, number(s.Tally.Cycles),
			share(s.Tally.Cycles, totals.Cycles), percent(s.Tally.Coverage()), basis(&s.Tally))
	}
	total := "total"
	if l := r.Launch; l != nil && l.Scale() != 1 {
		total = fmt.Sprintf("total (x%g for the launch)", l.Scale())
	}
	t.Row(total, "", "", "", "", totals.Requests, totals.Wavefronts, totals.Ideal, totals.Conflicts(), totals.Ways,
		number(totals.Cycles), "", percent(totals.Coverage()), basis(totals))
	return t.Write(w)
}

// basis leaves the usual case out, so that what is not measured stands out.
func basis(t *report.Tally) string {
	if t.Requests == 0 || t.Basis == smem.Measured {
		return ""
	}
	return t.Basis.String()
}

// clip puts a text on one line of n characters at most.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-3]) + "..."
	}
	return s
}

func number(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprint(int64(v))
	}
	return fmt.Sprintf("%.1f", v)
}

// share is a site's part of the cycles that shared memory takes.
func share(part, whole float64) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*part/whole)
}

// percent rounds down, so that only full coverage reads 100 %.
func percent(share float64) string { return fmt.Sprintf("%d %%", int(share*100)) }

// reasons lists why requests are unresolved, most frequent first.
func reasons(w io.Writer, t *report.Tally) error {
	for _, reason := range t.Reasons() {
		if _, err := fmt.Fprintf(w, "unresolved: %d requests: %s\n", t.Unresolved[reason], reason); err != nil {
			return err
		}
	}
	return nil
}

// bounds prints what is known about the wavefronts of unresolved requests.
func bounds(w io.Writer, r *report.Report) error {
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Bounds == nil {
			continue
		}
		more := ""
		if s.Bounds.Open {
			more = " for each trip of a loop whose count is not known"
		}
		if _, err := fmt.Fprintf(w, "bounds: %s: %d unresolved requests take %d to %d wavefronts%s\n", s.Place(),
			s.Tally.UnresolvedRequests(), s.Bounds.Low, s.Bounds.High, more); err != nil {
			return err
		}
	}
	return nil
}
