package fix

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"shmoo/layout"
)

// Schema names the version of the result's JSON form.
const Schema = "shmoo.fix/1"

// WriteText writes a result for people: the Pareto table with wavefronts by site, the recommendation and what is
// proved.
func WriteText(w io.Writer, r *Result) error {
	p := r.Problem
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d bytes, %d sites, %s (%s rules)\n\n", p.Array.Name, r.Before.Bytes, len(p.Sites), p.Arch.Name, r.Basis)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "layout\twavefronts\tbytes\tinstructions\tblocks/SM")
	for i := range p.Sites {
		fmt.Fprintf(t, "\tsite %d", i+1)
	}
	fmt.Fprintln(t)
	rows := r.Pareto
	if !slices.ContainsFunc(rows, func(c Candidate) bool { return c.Family == None }) {
		rows = append(append([]Candidate(nil), rows...), r.Before)
	}
	for i := range rows {
		c := &rows[i]
		mark := "  "
		if r.Best != nil && c.Transform.String() == r.Best.Transform.String() {
			mark = "* "
		}
		fmt.Fprintf(t, "%s%s\t%d\t%d\t%d\t%d", mark, r.layoutText(c), c.Wavefronts, c.Bytes, c.Instructions, c.Blocks)
		for _, n := range c.Sites {
			fmt.Fprintf(t, "\t%d", n)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(t, "  lower bound\t%d\t\t\t", r.Bound.Wavefronts)
	for _, n := range r.Bound.Sites {
		fmt.Fprintf(t, "\t%d", n)
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	b.WriteByte('\n')
	for i := range p.Sites {
		s := &p.Sites[i]
		fmt.Fprintf(&b, "site %d: %s: %s, %d bytes a lane, ideal %d\n", i+1, siteName(s), s.Op, s.Width, r.Ideal[i])
	}
	if p.Unresolved > 0 {
		fmt.Fprintf(&b, "%d accesses without known addresses are left out\n", p.Unresolved)
	}
	if s := p.Present; s != nil {
		fmt.Fprintf(&b, "rows have %d bytes that no access touches: taken for a pad, and free to change\n", s[0].Add)
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", r.headline(), r.proof())
	_, err := io.WriteString(w, b.String())
	return err
}

// layoutText names a candidate: the present array, or its transform, stated on elements too where that is exact.
func (r *Result) layoutText(c *Candidate) string {
	text := c.Transform.String()
	switch {
	case c.Family == None && r.Problem.Present != nil:
		return "as it is, " + text
	case c.Family == None:
		return "as it is"
	case text == layout.Identity{}.String():
		return "no pad"
	}
	if e, ok := r.onElements(c); ok && c.Family != LinearF && e.Size > 1 {
		text += " = " + e.String()
	}
	if len(c.Narrowed) > 0 {
		text += " (narrower accesses)"
	}
	return text
}

func (r *Result) headline() string {
	if r.Best == nil {
		return r.Reason
	}
	return fmt.Sprintf("use %s: %s", r.layoutText(r.Best), r.Reason)
}

// proof says how far the fewest wavefronts found are known to be the fewest.
func (r *Result) proof() string {
	var parts []string
	for _, s := range r.Searched {
		switch {
		case s.Note == notAllowed:
			parts = append(parts, fmt.Sprintf("%s: not allowed", s.Family))
		case s.Note == notNeeded:
			parts = append(parts, fmt.Sprintf("%s: not needed", s.Family))
		case s.Exhausted && s.Note != "":
			parts = append(parts, fmt.Sprintf("%s: every XOR of row bits onto bank bits, %s", s.Family, s.Note))
		case s.Note != "":
			parts = append(parts, fmt.Sprintf("%s: %d tried, %s", s.Family, s.Tried, s.Note))
		case s.Family == LinearF:
			parts = append(parts, "linear: every XOR of row bits onto bank bits")
		default:
			parts = append(parts, fmt.Sprintf("%s: all %d legal candidates (%d dropped for alignment or memory)", s.Family, s.Tried, s.Illegal))
		}
	}
	searched := strings.Join(parts, "; ")
	switch {
	case r.OptimalInGeneral:
		return fmt.Sprintf("proved: %d is the least of any layout that keeps %d bytes together. searched %s",
			r.Bound.Wavefronts, r.Bound.Granule, searched)
	case r.OptimalInFamily:
		return fmt.Sprintf("proved: %d is the least in the families searched; no layout goes below %d. searched %s",
			r.Pareto[0].Wavefronts, r.Bound.Wavefronts, searched)
	}
	return fmt.Sprintf("not proved: no layout goes below %d, the best found has %d. searched %s", r.Bound.Wavefronts, r.Pareto[0].Wavefronts, searched)
}

type jsonCandidate struct {
	Family       Family  `json:"family"`
	Transform    string  `json:"transform"`
	OnElements   string  `json:"on_elements,omitempty"`
	Wavefronts   int64   `json:"wavefronts"`
	Sites        []int64 `json:"sites"`
	Bytes        int     `json:"bytes"`
	Instructions int     `json:"instructions"`
	BlocksPerSM  int     `json:"blocks_per_sm"`
	Narrowed     []int   `json:"narrowed,omitempty"`
}

type jsonSite struct {
	Site  string `json:"site"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
	Op    string `json:"op"`
	Width int    `json:"width"`
	Ideal int64  `json:"ideal"`
	Bound int64  `json:"bound"`
}

type jsonResult struct {
	Schema           string          `json:"schema"`
	Arch             string          `json:"arch"`
	Basis            string          `json:"basis"`
	Array            string          `json:"array"`
	Bytes            int             `json:"bytes"`
	Sites            []jsonSite      `json:"sites"`
	Unresolved       int64           `json:"unresolved"`
	Before           jsonCandidate   `json:"before"`
	Pareto           []jsonCandidate `json:"pareto"`
	Best             *jsonCandidate  `json:"best"`
	Reason           string          `json:"reason"`
	Bound            int64           `json:"bound"`
	Granule          int             `json:"granule"`
	OptimalInFamily  bool            `json:"optimal_in_family"`
	OptimalInGeneral bool            `json:"optimal_in_general"`
	Searched         []jsonSearched  `json:"searched"`
}

type jsonSearched struct {
	Family    Family `json:"family"`
	Tried     int    `json:"tried"`
	Illegal   int    `json:"illegal"`
	Exhausted bool   `json:"exhausted"`
	Note      string `json:"note,omitempty"`
}

// MarshalJSON writes the result in the form that Schema names.
func (r *Result) MarshalJSON() ([]byte, error) {
	p := r.Problem
	out := jsonResult{
		Schema: Schema, Arch: p.Arch.Name, Basis: r.Basis.String(), Array: p.Array.Name, Bytes: r.Before.Bytes, Unresolved: p.Unresolved,
		Before: r.jsonCandidate(&r.Before), Reason: r.Reason, Bound: r.Bound.Wavefronts, Granule: r.Bound.Granule,
		OptimalInFamily: r.OptimalInFamily, OptimalInGeneral: r.OptimalInGeneral,
	}
	for i := range p.Sites {
		s := &p.Sites[i]
		out.Sites = append(out.Sites, jsonSite{siteName(s), s.Pos.File, s.Pos.Line, s.Pos.Col, s.Op.String(), s.Width, r.Ideal[i], r.Bound.Sites[i]})
	}
	for i := range r.Pareto {
		out.Pareto = append(out.Pareto, r.jsonCandidate(&r.Pareto[i]))
	}
	if r.Best != nil {
		c := r.jsonCandidate(r.Best)
		out.Best = &c
	}
	for _, s := range r.Searched {
		out.Searched = append(out.Searched, jsonSearched(s))
	}
	return json.Marshal(out)
}

func (r *Result) jsonCandidate(c *Candidate) jsonCandidate {
	out := jsonCandidate{
		Family: c.Family, Transform: c.Transform.String(), Wavefronts: c.Wavefronts, Sites: c.Sites, Bytes: c.Bytes,
		Instructions: c.Instructions, BlocksPerSM: c.Blocks, Narrowed: c.Narrowed,
	}
	if e, ok := r.onElements(c); ok {
		out.OnElements = e.String()
	}
	return out
}
