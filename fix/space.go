package fix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"shmoo/layout"
	"shmoo/space"
)

// SpacePoint is the verdict on one point of a parameter space.
type SpacePoint struct {
	Values []space.Value
	// RowBytes is the distance between rows without any pad and ElemBytes the element.
	RowBytes, ElemBytes int
	// Before are the wavefronts of the present code, Best the fewest found, Bound the least possible.
	Before, Best, Bound int64
	Proved              bool // Best is the least in the families searched, or in general
	Rule                int  // index into SpaceResult.Rules
	Transform           layout.Transform
	Bytes               int
	// Err says why there is no verdict; the other fields but Values mean nothing then.
	Err error
}

// SpaceResult is the outcome of a search over a parameter space.
type SpaceResult struct {
	Space  *space.Space
	Array  string
	Points []SpacePoint
	// Rules is the smallest set of rules found that gives every point its fewest wavefronts, in the order in which
	// their conditions are asked. The last one has no condition.
	Rules []Rule
	// Smallest reports that no smaller set of the rules considered would do.
	Smallest bool
}

// Counterexamples returns the points where the present code has more wavefronts than need be.
func (r *SpaceResult) Counterexamples() []*SpacePoint {
	var out []*SpacePoint
	for i := range r.Points {
		if p := &r.Points[i]; p.Err == nil && p.Before > p.Best {
			out = append(out, p)
		}
	}
	return out
}

// Rule is a layout stated so that it means something at every point.
type Rule struct {
	// Add is the pad after each row, in units of Unit; 0 for none.
	Add  int
	Unit Unit
	// Transform is the layout of a rule that is no pad; nil for pads.
	Transform layout.Transform
	When      *Condition // nil: otherwise, or always
}

// Unit is what a pad is counted in.
type Unit string

// The units.
const (
	Bytes    Unit = "bytes"
	Elements Unit = "elements"
)

// String says what the rule does, without its condition.
func (r *Rule) String() string {
	switch {
	case r.Transform != nil:
		return r.Transform.String()
	case r.Add == 0:
		return "no pad"
	}
	return fmt.Sprintf("pad each row by %d %s", r.Add, r.Unit)
}

// at returns the rule's layout for a problem, and whether it has one there.
func (r *Rule) at(p *Problem) (layout.Transform, bool) {
	if r.Transform != nil {
		return r.Transform, true
	}
	if r.Add == 0 {
		return layout.Identity{}, true
	}
	pitch := rowBytes(p)
	add := r.Add
	if r.Unit == Elements {
		add *= p.Array.ElemBytes
	}
	if pitch == 0 || add == 0 || p.Array.ElemBytes > 0 && add%p.Array.ElemBytes != 0 {
		return nil, false
	}
	return layout.Pad{{Add: uint32(add), Per: uint32(pitch)}}, true
}

// rowBytes returns the innermost pitch, or 0 for an array without rows.
func rowBytes(p *Problem) int {
	pitches, _ := p.pitches()
	if len(pitches) == 0 {
		return 0
	}
	return int(pitches[0])
}

// maxPoints bounds the points of a search.
const maxPoints = 1 << 14

// SearchSpace searches every point of a space. make returns the problem at a point, or an error that becomes the
// point's verdict. It then looks for the fewest rules that give every point its fewest wavefronts, and for the simplest
// conditions that tell where to use which.
func SearchSpace(ctx context.Context, s *space.Space, make func([]space.Value) (*Problem, error), o Options) (*SpaceResult, error) {
	if n := s.Size(); n > maxPoints {
		return nil, &LimitError{fmt.Sprintf("got a space of %d points, want at most %d", n, maxPoints)}
	}
	if o.Narrow {
		return nil, &LimitError{"accesses are not broken up over a space: each point would need code of its own"}
	}
	out := &SpaceResult{Space: s}
	c := cover{o: o}
	for values := range s.Points() {
		point := SpacePoint{Values: slices.Clone(values)}
		p, err := make(point.Values)
		if err == nil {
			err = c.point(ctx, p, &point)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			point.Err = err
			out.Points = append(out.Points, point)
			continue
		}
		out.Array = p.Array.Name
		c.index = append(c.index, len(out.Points))
		out.Points = append(out.Points, point)
	}
	if len(c.problems) == 0 {
		if len(out.Points) > 0 {
			return nil, fmt.Errorf("fix: no point has a verdict; at the first: %w", out.Points[0].Err)
		}
		return nil, errors.New("fix: got an empty space")
	}
	if err := c.rules(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// cover finds rules that serve all points.
type cover struct {
	o        Options
	problems []*Problem
	results  []*Result
	index    []int // of the problem's point
	tests    []tested
}

// tested is a rule with the points it serves.
type tested struct {
	rule  Rule
	serve []uint64 // bit set over problems
}

func (c *cover) point(ctx context.Context, p *Problem, point *SpacePoint) error {
	r, err := Search(ctx, p, c.o)
	if err != nil {
		return err
	}
	p = r.Problem
	point.RowBytes, point.ElemBytes = rowBytes(p), p.Array.ElemBytes
	point.Before, point.Best, point.Bound = r.Before.Wavefronts, r.Pareto[0].Wavefronts, r.Bound.Wavefronts
	point.Proved = r.OptimalInFamily || r.OptimalInGeneral
	c.problems = append(c.problems, p)
	c.results = append(c.results, r)
	return nil
}

// rules tests every rule on every point, picks the fewest that serve all, and gives them conditions.
func (c *cover) rules(ctx context.Context, out *SpaceResult) error {
	for _, r := range c.considered() {
		t := tested{r, make([]uint64, (len(c.problems)+63)/64)}
		any := false
		for i, p := range c.problems {
			if c.serves(&r, p, c.results[i]) {
				t.serve[i/64] |= 1 << (i % 64)
				any = true
			}
		}
		if any {
			c.tests = append(c.tests, t)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	chosen, smallest := c.choose()
	if chosen == nil {
		return errors.New("fix: the rules considered do not serve every point")
	}
	out.Smallest = smallest
	c.assign(chosen, out)
	return nil
}

// considered lists the rules in order of preference: no change, pads from small to large, swizzles, and whatever single
// points found best.
func (c *cover) considered() []Rule {
	rules := []Rule{{Unit: Bytes}}
	allow := c.o.Allow
	if allow == nil {
		allow = Families()
	}
	row := c.problems[0].Arch.Unit.RowBytes()
	steps := map[int]bool{}
	wide := 0
	for i, p := range c.problems {
		steps[max(1, p.Array.ElemBytes)] = true
		wide = max(wide, c.results[i].swizzles.Bits)
	}
	if slices.Contains(allow, PadOf) {
		for b := 1; b <= row; b++ {
			for s := range steps {
				if b%s == 0 {
					rules = append(rules, Rule{Add: b, Unit: Bytes})
					break
				}
			}
		}
		for n := 1; len(steps) > 1 && n <= row; n++ {
			rules = append(rules, Rule{Add: n, Unit: Elements})
		}
	}
	if slices.Contains(allow, XOR) {
		SwizzleSpace{0, min(wide, maxRuleBits)}.each(func(s layout.Swizzle) { rules = append(rules, Rule{Transform: s}) })
	}
	seen := map[string]bool{}
	for _, r := range c.results {
		if t := r.Pareto[0].Transform; !seen[t.String()] && t.String() != (layout.Identity{}).String() {
			seen[t.String()] = true
			rules = append(rules, Rule{Transform: t})
		}
	}
	return rules
}

// maxRuleBits bounds the address bits of the swizzles tried as rules for all points.
const maxRuleBits = 14

func (c *cover) serves(rule *Rule, p *Problem, r *Result) bool {
	t, ok := rule.at(p)
	if !ok || t.Granule() < p.granule() {
		return false
	}
	s := r.searcher
	if s.extent(t) > uint64(s.limit) {
		return false
	}
	cl, err := s.merged()
	sum := int64(0)
	for i := range cl {
		if sum+cl[i].rest > r.Pareto[0].Wavefronts {
			return false
		}
		n, err := s.cost(t, &cl[i].Request)
		if err != nil {
			return false
		}
		sum += n * cl[i].total
	}
	return err == nil && sum <= r.Pareto[0].Wavefronts
}

// choose returns the indices of the fewest tests that serve all points, nil if all together do not, and whether fewer
// are impossible. One, two and
// three rules are tried in full; beyond that each step takes the rule that serves most of what is left.
func (c *cover) choose() (chosen []int, smallest bool) {
	all := make([]uint64, (len(c.problems)+63)/64)
	for i := range c.problems {
		all[i/64] |= 1 << (i % 64)
	}
	missing := func(have []uint64, more ...int) int {
		n := 0
		for w := range all {
			m := all[w] &^ have[w]
			for _, k := range more {
				m &^= c.tests[k].serve[w]
			}
			n += bits.OnesCount64(m)
		}
		return n
	}
	none := make([]uint64, len(all))
	for i := range c.tests {
		if missing(none, i) == 0 {
			return []int{i}, true
		}
	}
	for i := range c.tests {
		for j := i + 1; j < len(c.tests); j++ {
			if missing(none, i, j) == 0 {
				return []int{i, j}, true
			}
		}
	}
	have := slices.Clone(none)
	for missing(have) > 0 {
		best, left := -1, missing(have)
		for i := range c.tests {
			if n := missing(have, i); n < left {
				best, left = i, n
			}
		}
		if best < 0 {
			return nil, false
		}
		chosen = append(chosen, best)
		for w := range have {
			have[w] |= c.tests[best].serve[w]
		}
	}
	// Greedy rules may have made an earlier one idle.
	for i := 0; i < len(chosen); i++ {
		rest := slices.Delete(slices.Clone(chosen), i, i+1)
		if missing(none, rest...) == 0 {
			chosen = rest
			i--
		}
	}
	// Sets of one and two were ruled out above.
	return chosen, len(chosen) <= 3
}

// assign orders the chosen rules, finds their conditions and gives each point its rule.
func (c *cover) assign(chosen []int, out *SpaceResult) {
	left := make([]int, len(c.problems))
	for i := range left {
		left[i] = i
	}
	served := func(k, i int) bool { return c.tests[k].serve[i/64]>>(i%64)&1 == 1 }
	by := map[int]int{} // problem -> rule
	for len(chosen) > 1 {
		pick, when := c.nextRule(chosen, left, out, served)
		rule := c.tests[chosen[pick]].rule
		rule.When = when
		var rest []int
		for _, i := range left {
			if when.holds(out, &out.Points[c.index[i]]) {
				by[i] = len(out.Rules)
			} else {
				rest = append(rest, i)
			}
		}
		out.Rules = append(out.Rules, rule)
		left = rest
		chosen = slices.Delete(slices.Clone(chosen), pick, pick+1)
	}
	for _, i := range left {
		by[i] = len(out.Rules)
	}
	out.Rules = append(out.Rules, c.tests[chosen[0]].rule)
	for i, p := range c.problems {
		point := &out.Points[c.index[i]]
		point.Rule = by[i]
		point.Transform, _ = out.Rules[point.Rule].at(p)
		point.Bytes = int(c.results[i].searcher.extent(point.Transform))
	}
}

// nextRule returns the rule whose condition is simplest: true only where the rule serves, false only where another
// does. Among equals "no pad" waits to be the answer otherwise.
func (c *cover) nextRule(chosen, left []int, out *SpaceResult, served func(k, i int) bool) (int, *Condition) {
	type option struct {
		pick int
		when *Condition
	}
	var options []option
	for pick, k := range chosen {
		may, must := map[int]bool{}, map[int]bool{}
		for _, i := range left {
			point := c.index[i]
			may[point] = served(k, i)
			must[point] = !slices.ContainsFunc(chosen, func(o int) bool { return o != k && served(o, i) })
		}
		points := make([]int, len(left))
		for j, i := range left {
			points[j] = c.index[i]
		}
		options = append(options, option{pick, separate(out, points, may, must)})
	}
	idle := func(o option) int {
		if r := &c.tests[chosen[o.pick]].rule; r.Transform == nil && r.Add == 0 {
			return 1
		}
		return 0
	}
	best := slices.MinFunc(options, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.when.weight(), b.when.weight()), cmp.Compare(idle(a), idle(b)))
	})
	return best.pick, best.when
}
