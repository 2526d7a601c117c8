package eval

import (
	"context"

	"shmoo"
	"shmoo/report/json"
)

// Report is the reply to "evaluate".
type Report struct {
	Report *json.Report `json:"report"` // what shmoo check --json writes
	Format string       `json:"format"` // of the source: "sketch", "pattern"
}

// evaluate analyses an input.
func evaluate(ctx context.Context, m *Model, q *Input) (*Report, error) {
	in, err := q.open(ctx, m)
	if err != nil {
		return nil, err
	}
	r, err := shmoo.Analyze(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Report{Report: json.From(r), Format: in.Format}, nil
}
