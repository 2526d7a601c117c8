package pad

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"shmoo/smem"
)

// A Form is how a report is written.
type Form uint8

// The forms.
const (
	Text     Form = iota // plain text, aligned
	Markdown             // tables as GitHub reads them
)

// Write writes the report, what it recommends first. A report of at most details cases goes on with every candidate of
// each; of more it gives a line per case.
func (r *Report) Write(w io.Writer, form Form, details int) error {
	p := printer{Writer: bufio.NewWriter(w), form: form, unit: r.Unit}
	if r.Basis != smem.Measured.String() {
		p.unit += " (" + r.Basis + ")"
	}
	switch {
	case r.Judgement != nil:
		p.judgement(r.Judgement)
	case len(r.Cases) == 1:
		p.one(&r.Cases[0], details > 0)
	default:
		p.summary(r.Cases)
		if len(r.Cases) <= details {
			for i := range r.Cases {
				p.gap()
				p.one(&r.Cases[i], true)
			}
		}
	}
	return p.Flush()
}

// printer writes a report. Its errors wait in the bufio.Writer.
type printer struct {
	*bufio.Writer
	form Form
	unit string
}

// line writes a sentence on a line of its own, in Markdown as a paragraph.
func (p *printer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.form == Markdown {
		text = strings.ReplaceAll(text, "*", `\*`) + "\n"
		if strings.HasPrefix(text, none) {
			text = `\` + text // not the start of a list
		}
	}
	fmt.Fprintln(p, text)
}

// gap separates two parts of plain text; Markdown has its paragraphs.
func (p *printer) gap() {
	if p.form == Text {
		fmt.Fprintln(p)
	}
}

// title writes what a table shows.
func (p *printer) title(format string, args ...any) {
	p.gap()
	if p.form == Markdown {
		format = "### " + format
	}
	p.line(format, args...)
}

func (p *printer) table(t *table) {
	if p.form == Markdown {
		t.writeMarkdown(p)
		fmt.Fprintln(p)
		return
	}
	t.writeText(p)
}

// one writes a case in full.
func (p *printer) one(c *Case, candidates bool) {
	p.line("%s", c.verdict(p.unit))
	if c.Policy != nil {
		p.line("%s", c.Policy.text())
	}
	if len(c.PerWidth) > 0 {
		p.title("best pad of each width")
		p.table(c.widthTable())
	}
	if candidates {
		p.title("ways of every candidate")
		p.table(c.candidateTable())
		p.gap()
		for _, line := range c.legend() {
			p.line("%s", line)
		}
	}
}

// verdict is the recommendation in one sentence.
func (c *Case) verdict(unit string) string {
	name := fmt.Sprintf("chunk %d of %s on %s", c.Chunk, c.DType, unit)
	best := c.Best
	if best == nil {
		return fmt.Sprintf("%s: no load is legal: %s", name, c.Candidates[0].widest().Why)
	}
	pad := fmt.Sprintf("pad %s (%d bytes)", count(best.Pad, "element"), best.PadBytes)
	if best.Pad == 0 {
		pad = "no pad needed"
		if best.Ways > 1 {
			pad = "no pad helps"
		}
	}
	text := fmt.Sprintf("%s: %s with %d-bit loads: S = %s words", name, pad, best.Bits, words(best.Words))
	if best.GCD > 0 {
		text += fmt.Sprintf(", gcd %d", best.GCD)
	}
	text += ", " + count(best.Ways, "way")
	if best.Unpadded > best.Ways {
		text += fmt.Sprintf(" instead of %d", best.Unpadded)
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func words(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) }

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// none stands for a figure that does not exist.
const none = "-"

func orNone(n int) string {
	if n == 0 {
		return none
	}
	return strconv.Itoa(n)
}

func (q *PolicyPick) text() string {
	if q.Why != "" {
		return fmt.Sprintf("policy %s does not apply: %s", q.Rule, q.Why)
	}
	text := fmt.Sprintf("policy %s: pad %s (%d bytes): S = %s words, gcd %d", q.Rule, count(q.Pad, "element"), q.PadBytes,
		words(q.Words), q.GCD)
	var counted, bits []string
	for _, n := range q.Counts {
		if n.Legal {
			counted, bits = append(counted, strconv.Itoa(n.Ways)), append(bits, strconv.Itoa(n.Bits))
		}
	}
	if len(counted) > 0 {
		text += fmt.Sprintf("; ways %s at %s bit", strings.Join(counted, "/"), strings.Join(bits, "/"))
	}
	return text
}

func (c *Case) widthTable() *table {
	t := &table{}
	t.head(false, "load[bit]", "pad[el]", "pad[B]", "S[words]", "gcd(S,32)", "ways", "formula", "ways unpadded", "align[B]",
		"wavefronts/run", "memory[+%]")
	for _, b := range c.PerWidth {
		t.row(strconv.Itoa(b.Bits), strconv.Itoa(b.Pad), strconv.Itoa(b.PadBytes), words(b.Words), orNone(b.GCD),
			strconv.Itoa(b.Ways), formulaText(&b.Count), orNone(b.Unpadded), strconv.Itoa(b.Align),
			strconv.Itoa(b.Total), percent(b.Extra))
	}
	return t
}

// formulaText is the formula's ways, or a word on why it has none.
func formulaText(n *Count) string {
	if n.NoFormula != "" {
		return "no: " + n.NoFormula
	}
	return strconv.Itoa(n.Formula)
}

func (c *Case) candidateTable() *table {
	t := &table{}
	t.head(false, "pad[el]", "pad[B]", "S[words]", "gcd(S,32)", "align[B]", "memory[+%]")
	for _, width := range c.widths {
		t.head(false, fmt.Sprintf("%d bit", 8*width))
	}
	for i := range c.Candidates {
		x := &c.Candidates[i]
		cells := []string{strconv.Itoa(x.Pad), strconv.Itoa(x.PadBytes), words(x.Words), orNone(x.GCD),
			strconv.Itoa(x.Align), percent(x.Extra)}
		for k := range x.Counts {
			cells = append(cells, x.Counts[k].cell())
		}
		t.row(cells...)
	}
	return t
}

// cell is the ways of a load: - when it is not legal, * when the formula does not apply, and the formula's ways in
// brackets where they are not the ones counted.
func (n *Count) cell() string {
	switch {
	case !n.Legal:
		return none
	case n.NoFormula != "":
		return fmt.Sprintf("%d*", n.Ways)
	case n.Formula != n.Ways:
		return fmt.Sprintf("%d (%d)", n.Ways, n.Formula)
	}
	return strconv.Itoa(n.Ways)
}

// legend explains the cells that the candidates have.
func (c *Case) legend() []string {
	var same, differ, illegal int
	reasons := []string{}
	for i := range c.Candidates {
		for _, n := range c.Candidates[i].Counts {
			switch {
			case !n.Legal:
				illegal++
			case n.NoFormula != "":
				if !slices.Contains(reasons, n.NoFormula) {
					reasons = append(reasons, n.NoFormula)
				}
			case n.Formula == n.Ways:
				same++
			default:
				differ++
			}
		}
	}
	var lines []string
	if same > 0 {
		lines = append(lines, fmt.Sprintf(
			"ways are counted lane by lane; max(1, gcd(S,32)/w) gives the same in %d of the %d cells where it applies",
			same, same+differ))
	}
	if differ > 0 {
		lines = append(lines, "(n) the formula's ways where they differ")
	}
	if len(reasons) > 0 {
		lines = append(lines, "*  the formula does not apply: "+strings.Join(reasons, "; "))
	}
	if illegal > 0 {
		lines = append(lines, "-  not legal: the stride or the run is not a multiple of the load's width, or the block is too small")
	}
	return lines
}

// summary writes a line per case.
func (p *printer) summary(cases []Case) {
	p.line("recommended pads on %s", p.unit)
	p.gap()
	var all []int
	policy := ""
	for i := range cases {
		for _, width := range cases[i].widths {
			if !slices.Contains(all, 8*width) {
				all = append(all, 8*width)
			}
		}
		if cases[i].Policy != nil {
			policy = cases[i].Policy.Rule
		}
	}
	slices.Sort(all)
	t := &table{}
	t.head(false, "chunk")
	t.head(true, "dtype")
	t.head(false, "pad[el]", "pad[B]", "load[bit]", "S[words]", "gcd(S,32)", "ways", "unpadded", "memory[+%]")
	for _, bits := range all {
		t.head(false, fmt.Sprintf("@%d[el]", bits))
	}
	if policy != "" {
		t.head(false, policy+"[el]", "gcd")
	}
	for i := range cases {
		t.row(cases[i].summaryRow(all, policy != "")...)
	}
	p.table(t)
	p.gap()
	p.line("@N: the best pad where the compiler loads N bits, with the ways left if there are any")
}

func (c *Case) summaryRow(all []int, policy bool) []string {
	row := []string{strconv.Itoa(c.Chunk), c.DType}
	if b := c.Best; b == nil {
		row = append(row, none, none, none, none, none, none, none, none)
	} else {
		row = append(row, strconv.Itoa(b.Pad), strconv.Itoa(b.PadBytes), strconv.Itoa(b.Bits), words(b.Words), orNone(b.GCD),
			strconv.Itoa(b.Ways), orNone(b.Unpadded), percent(b.Extra))
	}
	for _, bits := range all {
		cell := none
		for _, b := range c.PerWidth {
			if b.Bits == bits {
				cell = strconv.Itoa(b.Pad)
				if b.Ways > 1 {
					cell += fmt.Sprintf(" (%s)", count(b.Ways, "way"))
				}
			}
		}
		row = append(row, cell)
	}
	if policy && c.Policy != nil && c.Policy.Why == "" {
		return append(row, strconv.Itoa(c.Policy.Pad), strconv.Itoa(c.Policy.GCD))
	} else if policy {
		return append(row, none, none)
	}
	return row
}

func (p *printer) judgement(j *Judgement) {
	if j.Failed == 0 {
		p.line("%s: no conflicts at any of %d points of %s on %s", j.Rule, j.Points, j.Space, p.unit)
	} else {
		p.line("%s: fails at %d of %d points of %s on %s", j.Rule, j.Failed, j.Points, j.Space, p.unit)
	}
	if len(j.Counterexamples) > 0 {
		p.line("worst: %s", j.Counterexamples[0].text())
	}
	if j.Worse > 0 {
		p.line("%d of them would be free without a pad", j.Worse)
	}
	if j.Narrowed > 0 {
		p.line("the pad makes loads narrower at %d points", j.Narrowed)
	}
	if len(j.Counterexamples) == 0 {
		return
	}
	p.title("counterexamples, most ways first (%d of %d)", len(j.Counterexamples), j.Failed)
	t := &table{}
	t.head(false, "chunk")
	t.head(true, "dtype")
	t.head(false, "pad[el]", "pad[B]", "S[words]", "gcd(S,32)", "load[bit]", "ways", "unpadded", "better[el]", "@[bit]", "ways")
	t.head(true, "why")
	for i := range j.Counterexamples {
		e := &j.Counterexamples[i]
		row := []string{strconv.Itoa(e.Chunk), e.DType}
		if e.StrideBytes == 0 {
			row = append(row, none, none, none, none, none, none, none)
		} else {
			row = append(row, strconv.Itoa(e.Pad), strconv.Itoa(e.PadBytes), words(e.Words), orNone(e.GCD), strconv.Itoa(e.Bits),
				orNone(e.Ways), orNone(e.Unpadded))
		}
		if b := e.Remedy; b == nil {
			row = append(row, none, none, none)
		} else {
			row = append(row, strconv.Itoa(b.Pad), strconv.Itoa(b.Bits), strconv.Itoa(b.Ways))
		}
		t.row(append(row, e.Why)...)
	}
	p.table(t)
}

// text is the counterexample in one sentence.
func (e *Counterexample) text() string {
	name := fmt.Sprintf("chunk %d of %s: ", e.Chunk, e.DType)
	if e.Why != "" {
		return name + e.Why
	}
	name += fmt.Sprintf("S = %s words", words(e.Words))
	if e.GCD > 0 {
		name += fmt.Sprintf(", gcd %d", e.GCD)
	}
	return name + fmt.Sprintf(", %s at %d bit", count(e.Ways, "way"), e.Bits)
}
