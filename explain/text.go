package explain

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"shmoo/bankmap"
	"shmoo/smem"
)

// textWriter builds the text form.
type textWriter struct {
	bytes.Buffer
	d *Data
	o bankmap.TextOptions
}

// Text writes the explanation for a terminal. View in the options has no effect.
func Text(w io.Writer, d *Data, o bankmap.TextOptions) error {
	o.View = bankmap.LaneView
	t := &textWriter{d: d, o: o}
	if d.Title != "" {
		t.para("", bankmap.Printable(d.Title))
	}
	t.para("", d.Why+".")
	if d.Fault != nil {
		t.para("what to do: ", d.Fault.Advice+".")
	}
	for _, note := range d.Notes {
		t.para("note: ", note+".")
	}
	t.rule()
	if d.Picture != nil {
		t.section("picture")
		if err := bankmap.Text(t, []*bankmap.Panel{d.Picture}, o); err != nil {
			return err
		}
		t.lanes()
	}
	t.steps()
	_, err := w.Write(t.Bytes())
	return err
}

func (t *textWriter) section(name string) { fmt.Fprintf(t, "\n%s\n", strings.ToUpper(name)) }

// para writes a paragraph behind a lead, wrapped at the width with the lead's indent.
func (t *textWriter) para(lead, s string) {
	width := 0
	if t.o.Width > 0 {
		width = max(20, t.o.Width-len(lead))
	}
	for i, line := range bankmap.Wrap(s, width, 0) {
		if i > 0 {
			lead = strings.Repeat(" ", len(lead))
		}
		t.WriteString(lead + line + "\n")
	}
}

func (t *textWriter) rule() {
	d := t.d
	t.section("rule")
	served := " served at once"
	if len(d.Rule.Groups) > 1 {
		served = " served one after the other"
	}
	t.para("groups      ", listGroups(d.Rule.Groups)+served)
	if d.Pairing.Possible {
		t.para("pairing     ", d.Pairing.text(d.Rule.Paired))
	}
	if d.Rule.Shares {
		t.para("sharing     ", "lanes on one word share a pass")
	} else {
		t.para("sharing     ", "none: a bank serves one lane per pass, even when several are on one word")
	}
	t.para("cost        ", costText(&d.Rule))
	t.para("basis       ", basisText(d))
}

// listGroups writes the groups of a rule: "4 groups (lanes 0-7; 8-15; 16-23; 24-31)".
func listGroups(groups []bankmap.Lanes) string {
	parts := make([]string, len(groups))
	for i, g := range groups {
		parts[i] = g.String()
	}
	return fmt.Sprintf("%s (lanes %s)", count(len(groups), "group"), strings.Join(parts, "; "))
}

func (p *Pairing) text(paired []bankmap.Lanes) string {
	if p.Pairs {
		return fmt.Sprintf("yes: every active lane has the address of its neighbour lane^%d, so the load has %s",
			p.Distance, listGroups(paired))
	}
	a, b := p.Breaks[0], p.Breaks[1]
	return fmt.Sprintf("no: lanes %d and %d differ, and so do lanes %d and %d; a load pairs only when every active lane has "+
		"the address of its neighbour lane^1, or every one that of lane^2", a[0], a[1], b[0], b[1])
}

func costText(r *Rule) string {
	s := "each pass takes " + count(r.PerPass, "wavefront")
	if r.Floor > 0 {
		s += fmt.Sprintf("; never fewer than %g cycles", r.Floor)
		if len(r.Paired) > 0 {
			s += " unless it pairs"
		}
	}
	if r.Extra > 0 {
		s += fmt.Sprintf("; %g cycles on top", r.Extra)
	}
	return s
}

func basisText(d *Data) string {
	if d.Rule.Basis == smem.Estimated.String() {
		return d.Rule.Basis + ": the exact rule is not known, the nearest one stands in"
	}
	if d.Rule.Provenance == "" {
		return d.Rule.Basis
	}
	return fmt.Sprintf("%s (%s: %s)", d.Rule.Basis, d.Arch, d.Rule.Provenance)
}

// lanes writes the table of lanes.
func (t *textWriter) lanes() {
	p := t.d.Picture
	if len(p.Accesses) == 0 {
		return
	}
	t.section("lanes")
	fmt.Fprintf(t, "%4s %9s %7s %7s %6s %6s %5s\n", "lane", "address", "word", "bank", "row", "group", "pass")
	for _, a := range p.Accesses {
		bank, word := fmt.Sprint(a.Bank), fmt.Sprint(a.Word)
		if a.Words > 1 {
			bank = fmt.Sprintf("%d-%d", a.Bank, a.Bank+a.Words-1)
		}
		fmt.Fprintf(t, "%4d %#9x %7s %7s %6d %6d %5s\n", a.Lane, a.Address, word, bank, a.Row, p.Groups[a.Group].Index,
			p.Passes[a.Pass].Name)
	}
}

// steps writes the steps in order. Only the first pass is told stage by stage; the others go the same way.
func (t *textWriter) steps() {
	t.section("steps")
	for _, s := range t.d.Steps {
		if s.Pass > 0 && s.Stage != smem.Resolver.String() {
			continue
		}
		t.para(fmt.Sprintf("%-12s", s.Stage), s.Text)
	}
	if t.d.Picture != nil && len(t.d.Picture.Passes) > 1 {
		t.para("", "Banks, crossbar and write-back follow every pass as they follow the first.")
	}
}
