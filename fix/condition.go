package fix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shmoo/space"
)

// Condition says at which points a rule is used: a test of one quantity, or a list of points.
type Condition struct {
	// Name is a parameter, or RowBytes or ElemBytes of the array.
	Name string
	Op   ConditionOp
	// Modulus and Value are for a remainder: Name % Modulus == Value; Value alone for a comparison.
	Modulus, Value int64
	Values         []space.Value // for OneOf
	Points         [][]space.Value
}

// ConditionOp is the kind of a condition.
type ConditionOp string

// The kinds.
const (
	Remainder ConditionOp = "%"
	AtLeast   ConditionOp = ">="
	AtMost    ConditionOp = "<="
	OneOf     ConditionOp = "in"
	Listed    ConditionOp = "points"
)

// RowBytes and ElemBytes name quantities of the array at a point, beside the parameters of the space.
const (
	RowBytes  = "row_bytes"
	ElemBytes = "elem_bytes"
)

// weight orders conditions from simple to involved.
func (c *Condition) weight() int {
	w := map[ConditionOp]int{Remainder: 1, AtLeast: 2, AtMost: 2, OneOf: 100, Listed: 10000}[c.Op]
	return w + len(c.Values) + len(c.Points)
}

func (c *Condition) String() string {
	switch c.Op {
	case Remainder:
		return fmt.Sprintf("%s %% %d == %d", c.Name, c.Modulus, c.Value)
	case AtLeast, AtMost:
		return fmt.Sprintf("%s %s %d", c.Name, c.Op, c.Value)
	case OneOf:
		if len(c.Values) == 1 {
			return fmt.Sprintf("%s == %s", c.Name, python(c.Values[0]))
		}
		parts := make([]string, len(c.Values))
		for i, v := range c.Values {
			parts[i] = python(v)
		}
		return fmt.Sprintf("%s in (%s)", c.Name, strings.Join(parts, ", "))
	}
	parts := make([]string, len(c.Points))
	for i, p := range c.Points {
		values := make([]string, len(p))
		for k, v := range p {
			values[k] = python(v)
		}
		parts[i] = "(" + strings.Join(values, ", ") + ",)"
	}
	return fmt.Sprintf("(%s,) in (%s,)", c.Name, strings.Join(parts, ", "))
}

// python writes a value as a Python literal.
func python(v space.Value) string {
	if v.IsInt() {
		return v.String()
	}
	return fmt.Sprintf("%q", v.Word)
}

// quantity returns a named integer at a point.
func quantity(r *SpaceResult, p *SpacePoint, name string) (int64, bool) {
	switch name {
	case RowBytes:
		return int64(p.RowBytes), true
	case ElemBytes:
		return int64(p.ElemBytes), true
	}
	k := r.Space.Index(name)
	if k < 0 || !p.Values[k].IsInt() {
		return 0, false
	}
	return p.Values[k].Int, true
}

func (c *Condition) holds(r *SpaceResult, p *SpacePoint) bool {
	switch c.Op {
	case OneOf:
		return slices.Contains(c.Values, p.Values[r.Space.Index(c.Name)])
	case Listed:
		return slices.ContainsFunc(c.Points, func(v []space.Value) bool { return slices.Equal(v, p.Values) })
	}
	v, _ := quantity(r, p, c.Name)
	switch c.Op {
	case Remainder:
		return v%c.Modulus == c.Value
	case AtLeast:
		return v >= c.Value
	}
	return v <= c.Value
}

// separate returns the simplest condition that holds at every point of must and at no point outside may.
func separate(r *SpaceResult, points []int, may, must map[int]bool) *Condition {
	fits := func(c *Condition) bool {
		some := false
		for _, i := range points {
			holds := c.holds(r, &r.Points[i])
			some = some || holds
			if holds && !may[i] || !holds && must[i] {
				return false
			}
		}
		return some
	}
	names := []string{RowBytes}
	for _, p := range r.Space.Params {
		names = append(names, p.Name)
	}
	names = append(names, ElemBytes)
	var best *Condition
	consider := func(c Condition) {
		if (best == nil || c.weight() < best.weight()) && fits(&c) {
			best = &c
		}
	}
	for _, name := range names {
		values := map[int64]bool{}
		for _, i := range points {
			v, ok := quantity(r, &r.Points[i], name)
			if !ok {
				values = nil
				break
			}
			values[v] = true
		}
		distinct := keys(values)
		for m := int64(2); m <= 512; m *= 2 {
			remainders := map[int64]bool{}
			for _, v := range distinct {
				remainders[v%m] = true
			}
			for _, v := range keys(remainders) {
				consider(Condition{Name: name, Op: Remainder, Modulus: m, Value: v})
			}
		}
		for _, v := range distinct {
			consider(Condition{Name: name, Op: AtLeast, Value: v})
			consider(Condition{Name: name, Op: AtMost, Value: v})
		}
	}
	for k, p := range r.Space.Params {
		// All values at whose points the rule may be used.
		var in []space.Value
		for _, v := range p.Values {
			ok, some := true, false
			for _, i := range points {
				if r.Points[i].Values[k] == v {
					ok, some = ok && may[i], true
				}
			}
			if ok && some {
				in = append(in, v)
			}
		}
		if len(in) > 0 {
			consider(Condition{Name: p.Name, Op: OneOf, Values: in})
		}
	}
	if best != nil {
		return best
	}
	parts := make([]string, len(r.Space.Params))
	for k, p := range r.Space.Params {
		parts[k] = p.Name
	}
	list := &Condition{Name: strings.Join(parts, ", "), Op: Listed}
	for _, i := range points {
		if must[i] {
			list.Points = append(list.Points, r.Points[i].Values)
		}
	}
	if len(list.Points) == 0 { // nothing needs the rule: let it serve what it can
		for _, i := range points {
			if may[i] {
				list.Points = append(list.Points, r.Points[i].Values)
			}
		}
	}
	return list
}

func keys(m map[int64]bool) []int64 {
	out := make([]int64, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, cmp.Compare[int64])
	return out
}
