package main

import (
	"fmt"
	"math"

	"shmoo/predict"
	"shmoo/space"
	"shmoo/sweep"
)

// A sweepPlan is what is known of the points before they are measured. Supervised processes read it as JSON.
type sweepPlan struct {
	Points      []plannedPoint        `json:"points"`
	predictions []*predict.Prediction // nil where there is none
}

// A plannedPoint is a point of a plan.
type plannedPoint struct {
	Point   string             `json:"point"`
	Facts   map[string]float64 `json:"facts,omitempty"`
	Skip    string             `json:"skip,omitempty"`    // why it is not measured
	Failure string             `json:"failure,omitempty"` // why there is no prediction
}

// Names of the facts that a prediction adds to a row.
const (
	factWays      = "predicted ways"
	factSeconds   = "predicted seconds"
	factIdeal     = "predicted seconds without conflicts"
	factMemory    = "memory floor seconds"
	factShared    = "shared floor seconds"
	factIssue     = "issue floor seconds"
	factConflicts = "predicted conflicts"
	factBytes     = "bytes"
	factWarps     = "resident warps"
)

// facts returns what a row says of a prediction.
func facts(p *predict.Prediction) map[string]float64 {
	if p == nil {
		return nil
	}
	return map[string]float64{
		factWays: float64(p.Ways), factSeconds: p.Seconds, factIdeal: p.WithoutConflicts, factMemory: p.Floors.Memory,
		factShared: p.Floors.Shared, factIssue: p.Floors.Issue, factConflicts: p.Conflicts(), factBytes: p.Work.Bytes,
		factWarps: float64(p.Warps), "registers": float64(p.Registers), "shared bytes": float64(p.Shared),
	}
}

// skip leaves out the points that cannot win.
func (p *sweepPlan) skip() {
	best := math.Inf(1)
	for _, x := range p.predictions {
		if x != nil {
			best = min(best, x.Seconds)
		}
	}
	for i, beaten := range predict.Beaten(p.predictions) {
		if beaten {
			p.Points[i].Skip = fmt.Sprintf("predicted %.2f times as slow as the best", p.predictions[i].Seconds/best)
		}
	}
}

// unmeasured returns a result of predictions alone.
func (p *sweepPlan) unmeasured(s *space.Space) *sweep.Result {
	r := &sweep.Result{Schema: sweep.Schema, Space: s.String(), Params: s.Params}
	for i, point := range points(s) {
		row := sweep.Row{Point: point, Name: point.String(), Verdict: sweep.Skipped, Skip: "not measured"}
		if failure := p.Points[i].Failure; failure != "" {
			row.Verdict, row.Skip, row.Failure = sweep.Failed, "", failure
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// complete adds the facts to the rows of a result.
func (p *sweepPlan) complete(r *sweep.Result) {
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Facts == nil {
			row.Facts = map[string]float64{}
		}
		for name, v := range p.Points[i].Facts {
			row.Facts[name] = v
		}
	}
}
