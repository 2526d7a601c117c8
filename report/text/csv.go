package text

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"shmoo/report"
)

// csvColumns are the columns of the CSV form, a row per site.
var csvColumns = []string{
	"kernel", "arch", "file", "line", "col", "pc", "array", "access", "op", "instr", "width_bytes", "requests", "wavefronts",
	"ideal", "conflicts", "ways", "cycles", "unresolved", "faulted", "basis", "fingerprint",
}

// CSV writes a row per site under a header line, as RFC 4180 has it. Texts stand as they are: a spreadsheet must not be
// told to run them as formulas.
func CSV(w io.Writer, r *report.Report) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvColumns); err != nil {
		return err
	}
	keys := r.Keys()
	for i := range r.Sites {
		s := &r.Sites[i]
		t := &s.Tally
		row := []string{r.Kernel, r.Arch, s.Pos.File}
		for _, v := range []any{
			s.Pos.Line, s.Pos.Col, s.PC, s.Array, s.Text, s.Op, s.Instr, s.Width, t.Requests, t.Wavefronts, t.Ideal,
			t.Conflicts(), t.Ways, number(t.Cycles), t.UnresolvedRequests(), t.Faulted, t.Basis, keys[i].Fingerprint(),
		} {
			row = append(row, fmt.Sprint(v))
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// Markdown writes the report for a pull request: a title, a table of sites, and the diagnostics as a list.
func Markdown(w io.Writer, r *report.Report) error {
	var b strings.Builder
	totals := r.Totals()
	fmt.Fprintf(&b, "**%s**: %d wavefronts, ideal %d, %d conflicts\n\n", markdownText(title(r)), totals.Wavefronts, totals.Ideal,
		totals.Conflicts())
	b.WriteString("| site | access | op | requests | wavefronts | ideal | conflicts | ways | resolved |\n")
	b.WriteString("|---|---|---|--:|--:|--:|--:|--:|--:|\n")
	for i := range r.Sites {
		s := &r.Sites[i]
		t := &s.Tally
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %s | %d | %s |\n", markdownText(s.Place()), markdownCode(s.Text),
			markdownText(s.Instruction()), t.Requests, t.Wavefronts, t.Ideal, bold(t.Conflicts()), t.Ways, percent(t.Coverage()))
	}
	if len(r.Diagnostics) > 0 {
		b.WriteByte('\n')
	}
	for _, d := range r.Diagnostics {
		fmt.Fprintf(&b, "- %s\n", markdownText(d.Error()))
		for _, f := range d.Fixes {
			fmt.Fprintf(&b, "  - fix: %s\n", markdownText(f.Message))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func bold(n int64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("**%d**", n)
}

// markdownEscaper keeps a text from being read as markup.
var markdownEscaper = strings.NewReplacer(
	"&", "&amp;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "~", `\~`,
	"@", "&#64;", "\n", " ", "\r", " ",
)

func markdownText(s string) string { return markdownEscaper.Replace(s) }

// markdownCode sets a text as code in a cell of a table: a bar would end the cell, a backtick the code.
func markdownCode(s string) string {
	if s == "" {
		return ""
	}
	return "<code>" + markdownText(s) + "</code>"
}
