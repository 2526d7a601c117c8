package eval

import (
	"context"
	"errors"
	"fmt"

	"shmoo/report"
	"shmoo/space"
)

// MaxCells bounds the points of a space that one question evaluates.
const MaxCells = 2048

// SpaceQuestion asks for the cost of an input at every point of a space of one or two parameters.
type SpaceQuestion struct {
	Input
	Space string `json:"space"`           // "PAD=0..8,CHUNK=16..64:8": the first parameter is the column, the second the row
	Array string `json:"array,omitempty"` // count this array's sites only
}

// Space is the reply to "space".
type Space struct {
	Params []Param `json:"params"`
	// Points are in the order of the parameters, the last varying fastest. A space that takes too long ends early.
	Points  []Point `json:"points"`
	Stopped bool    `json:"stopped"`
}

// Param is a parameter with its values.
type Param struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Point is what one point of a space costs.
type Point struct {
	Ways       int    `json:"ways"` // of the worst request
	Wavefronts int64  `json:"wavefronts"`
	Ideal      int64  `json:"ideal"`
	Conflicts  int64  `json:"conflicts"`
	Unresolved int64  `json:"unresolved"`
	Error      string `json:"error,omitempty"` // why this point has no figures
}

func sweepSpace(ctx context.Context, m *Model, q *SpaceQuestion) (*Space, error) {
	s, err := space.Parse(q.Space)
	if err != nil {
		return nil, err
	}
	if n := len(s.Params); n < 1 || n > 2 {
		return nil, fmt.Errorf("space of %d parameters, want one or two", n)
	}
	if s.Size() > MaxCells {
		return nil, fmt.Errorf("space of %d points, want at most %d", s.Size(), MaxCells)
	}
	out := &Space{Points: []Point{}}
	for _, p := range s.Params {
		param := Param{Name: p.Name}
		for _, v := range p.Values {
			param.Values = append(param.Values, v.String())
		}
		out.Params = append(out.Params, param)
	}
	for values := range s.Points() {
		in := q.Input
		in.Defines = append([]string(nil), q.Defines...)
		for i, v := range values {
			in.Defines = append(in.Defines, s.Params[i].Name+"="+v.String())
		}
		point, err := costOf(ctx, m, &in, q.Array)
		if ctx.Err() != nil {
			if len(out.Points) == 0 {
				return nil, ctx.Err()
			}
			out.Stopped = true
			return out, nil
		}
		if err != nil {
			point = Point{Error: firstLine(err)}
		}
		out.Points = append(out.Points, point)
	}
	return out, nil
}

// costOf evaluates one point.
func costOf(ctx context.Context, m *Model, q *Input, array string) (Point, error) {
	in, err := q.open(ctx, m)
	if err != nil {
		return Point{}, err
	}
	r, err := report.Collect(ctx, in.Source, in.Unit)
	if err != nil {
		return Point{}, err
	}
	var p Point
	for i := range r.Sites {
		s := &r.Sites[i]
		if array != "" && s.Array != array {
			continue
		}
		if s.Fault != nil {
			return Point{}, errors.New(s.Fault.Fault.Error())
		}
		t := &s.Tally
		p.Ways = max(p.Ways, t.Ways)
		p.Wavefronts += t.Wavefronts
		p.Ideal += t.Ideal
		p.Unresolved += t.UnresolvedRequests()
	}
	p.Conflicts = p.Wavefronts - p.Ideal
	return p, nil
}

func firstLine(err error) string {
	text := err.Error()
	for i := range text {
		if text[i] == '\n' {
			return text[:i]
		}
	}
	return text
}
