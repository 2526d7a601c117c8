package fix

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// SpaceSchema names the version of the space's JSON form.
const SpaceSchema = "shmoo.fix-space/1"

// WriteMarkdown writes the rules, the counterexamples and a table with the verdict on every point.
func WriteMarkdown(w io.Writer, r *SpaceResult) error {
	var b strings.Builder
	verdicts, proved := 0, 0
	for i := range r.Points {
		if p := &r.Points[i]; p.Err == nil {
			verdicts++
			if p.Proved {
				proved++
			}
		}
	}
	fmt.Fprintf(&b, "## %s over %s\n\n", r.Array, r.Space)
	switch {
	case len(r.Rules) == 1:
		fmt.Fprintf(&b, "One rule serves all %d points: **%s**.\n", verdicts, &r.Rules[0])
	case r.Smallest:
		fmt.Fprintf(&b, "No single rule serves all %d points; the fewest that do are %d:\n\n", verdicts, len(r.Rules))
	default:
		fmt.Fprintf(&b, "No two rules serve all %d points; these %d do (perhaps not the fewest):\n\n", verdicts, len(r.Rules))
	}
	if len(r.Rules) > 1 {
		for i := range r.Rules {
			when := "otherwise"
			if c := r.Rules[i].When; c != nil {
				when = "if `" + c.String() + "`"
			}
			fmt.Fprintf(&b, "%d. %s: **%s**\n", i+1, when, &r.Rules[i])
		}
	}
	fmt.Fprintf(&b, "\nProved least wavefronts at %d of %d points.\n", proved, verdicts)
	if bad := r.Counterexamples(); len(bad) == 0 {
		b.WriteString("The present code is at its best everywhere.\n")
	} else {
		fmt.Fprintf(&b, "The present code falls short at %d points; the worst is %s with %d wavefronts instead of %d.\n",
			len(bad), r.pointName(worst(bad)), worst(bad).Before, worst(bad).Best)
	}
	b.WriteString("\n|")
	for _, p := range r.Space.Params {
		fmt.Fprintf(&b, " %s |", p.Name)
	}
	b.WriteString(" present | best | bound | verdict | layout | bytes |\n|")
	b.WriteString(strings.Repeat("---|", len(r.Space.Params)) + "---:|---:|---:|---|---|---:|\n")
	for i := range r.Points {
		p := &r.Points[i]
		b.WriteByte('|')
		for _, v := range p.Values {
			fmt.Fprintf(&b, " %s |", v)
		}
		if p.Err != nil {
			fmt.Fprintf(&b, " | | | no verdict: %s | | |\n", strings.ReplaceAll(p.Err.Error(), "|", "\\|"))
			continue
		}
		fmt.Fprintf(&b, " %d | %d | %d | %s | %s | %d |\n", p.Before, p.Best, p.Bound, p.verdict(), p.Transform, p.Bytes)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *SpacePoint) verdict() string {
	if p.Before == p.Best {
		return "ok"
	}
	return fmt.Sprintf("%.2fx", float64(p.Before)/float64(max(1, p.Best)))
}

func worst(points []*SpacePoint) *SpacePoint {
	out := points[0]
	for _, p := range points {
		if p.Before*out.Best > out.Before*p.Best {
			out = p
		}
	}
	return out
}

func (r *SpaceResult) pointName(p *SpacePoint) string {
	parts := make([]string, len(p.Values))
	for k, v := range p.Values {
		parts[k] = r.Space.Params[k].Name + "=" + v.String()
	}
	return strings.Join(parts, " ")
}

type jsonPoint struct {
	Point     map[string]any `json:"point"`
	RowBytes  int            `json:"row_bytes,omitempty"`
	Before    int64          `json:"before"`
	Best      int64          `json:"best"`
	Bound     int64          `json:"bound"`
	Proved    bool           `json:"proved"`
	Rule      int            `json:"rule"`
	Transform string         `json:"transform,omitempty"`
	Bytes     int            `json:"bytes,omitempty"`
	Error     string         `json:"error,omitempty"`
}

type jsonRule struct {
	Rule string `json:"rule"`
	When string `json:"when,omitempty"`
}

// MarshalJSON writes the result in the form that SpaceSchema names.
func (r *SpaceResult) MarshalJSON() ([]byte, error) {
	out := struct {
		Schema          string      `json:"schema"`
		Array           string      `json:"array"`
		Space           string      `json:"space"`
		Rules           []jsonRule  `json:"rules"`
		Smallest        bool        `json:"smallest"`
		Counterexamples int         `json:"counterexamples"`
		Points          []jsonPoint `json:"points"`
	}{Schema: SpaceSchema, Array: r.Array, Space: r.Space.String(), Smallest: r.Smallest, Counterexamples: len(r.Counterexamples())}
	for i := range r.Rules {
		j := jsonRule{Rule: r.Rules[i].String()}
		if c := r.Rules[i].When; c != nil {
			j.When = c.String()
		}
		out.Rules = append(out.Rules, j)
	}
	for i := range r.Points {
		p := &r.Points[i]
		j := jsonPoint{Point: map[string]any{}}
		for k, v := range p.Values {
			j.Point[r.Space.Params[k].Name] = v.Int
			if !v.IsInt() {
				j.Point[r.Space.Params[k].Name] = v.Word
			}
		}
		if p.Err != nil {
			j.Error = p.Err.Error()
		} else {
			j.RowBytes, j.Before, j.Best, j.Bound, j.Proved = p.RowBytes, p.Before, p.Best, p.Bound, p.Proved
			j.Rule, j.Transform, j.Bytes = p.Rule, p.Transform.String(), p.Bytes
		}
		out.Points = append(out.Points, j)
	}
	return json.Marshal(out)
}

// EmitPick writes the rules as a Python function of the quantities that their conditions name: pick_pad, which returns
// bytes to add to each row, or pick_layout, which returns the layout's text, where a rule is no pad. It is executed by
// TileLang and other Python front ends at the time a kernel is built.
func EmitPick(w io.Writer, r *SpaceResult) error {
	pads := true
	var args []string
	add := func(names string) {
		for _, n := range strings.Split(names, ", ") {
			if n = identifier(n); !slices.Contains(args, n) {
				args = append(args, n)
			}
		}
	}
	for i := range r.Rules {
		pads = pads && r.Rules[i].Transform == nil
	}
	for i := range r.Rules {
		if c := r.Rules[i].When; c != nil {
			add(c.Name)
		}
		if pads && r.Rules[i].Unit == Elements {
			add(ElemBytes)
		}
	}
	value := func(rule *Rule) string {
		switch {
		case !pads:
			return fmt.Sprintf("%q", rule.String())
		case rule.Unit == Elements:
			return fmt.Sprintf("%d * %s", rule.Add, ElemBytes)
		}
		return fmt.Sprint(rule.Add)
	}
	name, what := "pick_pad", "Bytes to add to each row of "+r.Array
	if !pads {
		name, what = "pick_layout", "Layout of "+r.Array
	}
	var b strings.Builder
	fmt.Fprintf(&b, "def %s(%s):\n    \"\"\"%s, checked for %s.\"\"\"\n", name, strings.Join(args, ", "), what, r.Space)
	for i := range r.Rules {
		rule := &r.Rules[i]
		if rule.When == nil {
			fmt.Fprintf(&b, "    return %s\n", value(rule))
			continue
		}
		fmt.Fprintf(&b, "    if %s:\n        return %s\n", rule.When.expression(), value(rule))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// expression is String with every name turned into an identifier.
func (c *Condition) expression() string {
	own := *c
	names := strings.Split(c.Name, ", ")
	for i, n := range names {
		names[i] = identifier(n)
	}
	own.Name = strings.Join(names, ", ")
	return own.String()
}
