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
	"path"
	"path/filepath"
	"slices"
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
	if l := r.Launch; l != nil {
		fmt.Fprintf(&b, "block %s", shape(l.Block))
		if l.Grid != [3]int{1, 1, 1} {
			fmt.Fprintf(&b, ", grid %s", shape(l.Grid))
			if l.Scale() != 1 {
				fmt.Fprintf(&b, " (%d of %d blocks run)", l.Blocks, l.Grid[0]*l.Grid[1]*l.Grid[2])
			}
		}
		if l.DynamicShared > 0 {
			fmt.Fprintf(&b, ", %d bytes of dynamic shared memory", l.DynamicShared)
		}
		if l.Assumed != "" {
			fmt.Fprintf(&b, " (%s)", l.Assumed)
		}
		b.WriteString(", ")
	}
	b.WriteString(r.Arch)
	if a, err := arch.Lookup(r.Arch); err == nil {
		b.WriteString(" " + a.Title)
	}
	return b.String()
}

// shape prints a launch shape without its trailing ones: "32x8".
func shape(d [3]int) string {
	switch {
	case d[2] > 1:
		return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2])
	case d[1] > 1:
		return fmt.Sprintf("%dx%d", d[0], d[1])
	}
	return fmt.Sprint(d[0])
}

func sites(w io.Writer, r *report.Report, totals *report.Tally) error {
	t := table.New("site", "array", "access", "op", "bytes>", "requests>", "wavefronts>", "ideal>", "conflicts>",
		"ways>", "cycles>", "resolved>", "basis")
	for i := range r.Sites {
		s := &r.Sites[i]
		t.Row(place(s), s.Array, clip(s.Text, 36), opName(s), s.Width, s.Tally.Requests, s.Tally.Wavefronts, s.Tally.Ideal,
			s.Tally.Conflicts(), s.Tally.Ways, number(s.Tally.Cycles), percent(s.Tally.Coverage()), basis(&s.Tally))
	}
	total := "total"
	if l := r.Launch; l != nil && l.Scale() != 1 {
		total = fmt.Sprintf("total (x%g for the launch)", l.Scale())
	}
	t.Row(total, "", "", "", "", totals.Requests, totals.Wavefronts, totals.Ideal, totals.Conflicts(), totals.Ways,
		number(totals.Cycles), percent(totals.Coverage()), basis(totals))
	return t.Write(w)
}

// place names a site by its source position, and an instruction by its address and the file's base name: paths in line
// tables are long.
func place(s *report.Site) string {
	switch {
	case s.Text != "" || s.PC == 0 && s.Pos.IsValid():
		return s.Pos.Pos.String()
	case s.Pos.IsValid():
		return fmt.Sprintf("0x%04x %s:%d", s.PC, path.Base(filepath.ToSlash(s.Pos.File)), s.Pos.Line)
	}
	return fmt.Sprintf("0x%04x", s.PC)
}

func opName(s *report.Site) string {
	if s.Instr != "" {
		return s.Instr
	}
	return s.Op.String()
}

// basis leaves the usual case out, so that what is not measured stands out.
func basis(t *report.Tally) string {
	if t.Requests == 0 || t.Basis == smem.Measured {
		return ""
	}
	return t.Basis.String()
}

func clip(s string, n int) string {
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

// percent rounds down, so that only full coverage reads 100 %.
func percent(share float64) string { return fmt.Sprintf("%d %%", int(share*100)) }

// reasons lists why requests are unresolved, most frequent first.
func reasons(w io.Writer, t *report.Tally) error {
	keys := make([]string, 0, len(t.Unresolved))
	for reason := range t.Unresolved {
		keys = append(keys, reason)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if t.Unresolved[a] != t.Unresolved[b] {
			return int(t.Unresolved[b] - t.Unresolved[a])
		}
		return strings.Compare(a, b)
	})
	for _, reason := range keys {
		if _, err := fmt.Fprintf(w, "unresolved: %d requests: %s\n", t.Unresolved[reason], reason); err != nil {
			return err
		}
	}
	return nil
}
