package main

import (
	"errors"
	"fmt"
	"math"

	"shmoo/predict"
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
	factLatency   = "latency floor seconds"
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
		factShared: p.Floors.Shared, factIssue: p.Floors.Issue, factLatency: p.Floors.Latency,
		factConflicts: p.Conflicts(), factBytes: p.Work.Bytes,
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

// options returns what the plan says to a sweep.
func (p *sweepPlan) options() sweep.Options {
	planned := map[string]*plannedPoint{}
	for i := range p.Points {
		planned[p.Points[i].Point] = &p.Points[i]
	}
	return sweep.Options{
		Skip: func(point sweep.Point) string { return planned[point.String()].Skip },
		Predict: func(point sweep.Point) (map[string]float64, error) {
			known := planned[point.String()]
			if known.Failure != "" {
				return nil, errors.New(known.Failure)
			}
			return known.Facts, nil
		},
	}
}
