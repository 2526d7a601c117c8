package eval

import (
	"context"
	"errors"
	"strings"

	"shmoo"
	"shmoo/fix"
)

// FixQuestion asks for the layouts that serve the arrays of an input better.
type FixQuestion struct {
	Input
	Array string `json:"array,omitempty"` // this array only
}

// Fixes is the reply to "fix".
type Fixes struct {
	Arrays []ArrayFix `json:"arrays"`
}

// ArrayFix is what the search found for one array.
type ArrayFix struct {
	Array  string      `json:"array"`
	Result *fix.Result `json:"result,omitempty"` // an element of what shmoo fix --json writes
	Error  string      `json:"error,omitempty"`  // why there is no result
	// Options has an entry for each candidate of Result.Pareto, in the same order.
	Options []Option `json:"options"`
}

// Option is a candidate ready to be used.
type Option struct {
	Forms []Form `json:"forms"`
	// Source is the sketch with the candidate in it, run and found to do what was promised; Shared is the dynamic shared
	// memory it then needs, 0 where that stays. Refused says why there is no such sketch.
	Source  string `json:"source,omitempty"`
	Shared  int    `json:"dynamic_shared,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// Form is a candidate in a notation, or the reason why the notation has no words for it.
type Form struct {
	Form  fix.Form `json:"form"`
	Text  string   `json:"text,omitempty"`
	Error string   `json:"error,omitempty"`
}

func findFixes(ctx context.Context, m *Model, q *FixQuestion) (*Fixes, error) {
	in, err := q.open(ctx, m)
	if err != nil {
		return nil, err
	}
	problems, err := in.Problems(ctx)
	if err != nil {
		return nil, err
	}
	out := &Fixes{Arrays: []ArrayFix{}}
	for _, p := range problems {
		if q.Array != "" && p.Array.Name != q.Array {
			continue
		}
		a := ArrayFix{Array: p.Array.Name, Options: []Option{}}
		result, err := fix.Search(ctx, p, fix.Options{})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			a.Error = err.Error()
		default:
			a.Result = result
			if a.Options, err = options(ctx, in, result); err != nil {
				return nil, err
			}
		}
		out.Arrays = append(out.Arrays, a)
	}
	return out, nil
}

// options writes every candidate of a result in every form.
func options(ctx context.Context, in *shmoo.Input, r *fix.Result) ([]Option, error) {
	list := make([]Option, len(r.Pareto))
	for i := range r.Pareto {
		c, o := &r.Pareto[i], &list[i]
		for _, form := range fix.Forms() {
			var text strings.Builder
			f := Form{Form: form}
			if err := fix.Emit(&text, r, c, form); err != nil {
				f.Error = err.Error()
			} else {
				f.Text = text.String()
			}
			o.Forms = append(o.Forms, f)
		}
		if err := o.patch(ctx, in, r, c); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// patch writes the candidate into the sketch. Only a lack of time is an error.
func (o *Option) patch(ctx context.Context, in *shmoo.Input, r *fix.Result, c *fix.Candidate) error {
	if in.Sketch == nil {
		o.Refused = "only a sketch can be rewritten"
		return nil
	}
	if c.Family == fix.None {
		o.Source = string(in.Sketch.Text)
		return nil
	}
	p, err := fix.PatchSketch(ctx, *in.Sketch, r, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if form, ok := errors.AsType[*fix.FormError](err); ok {
		o.Refused = form.Msg
		return nil
	}
	if err != nil {
		o.Refused = err.Error()
		return nil
	}
	o.Source, o.Shared = string(p.Text), p.Dynamic
	return nil
}
