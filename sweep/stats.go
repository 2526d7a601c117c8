package sweep

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Confidence is the level of the intervals.
const Confidence = 0.95

// A Summary is the median of samples with its confidence interval, in seconds.
type Summary struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`
	// Warnings say why the interval should not be trusted, such as too few samples.
	Warnings []string `json:"warnings,omitempty"`
}

// summarize returns the summary of samples, of which there is at least one.
func summarize(samples []float64) Summary {
	t := benchmath.DefaultThresholds
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(samples), &t), Confidence)
	out := Summary{Median: s.Center, Low: s.Lo, High: s.Hi, N: len(samples)}
	for _, w := range s.Warnings {
		out.Warnings = append(out.Warnings, w.Error())
	}
	return out
}

// tight reports whether the interval is at most width of the median wide, to either side.
func (s *Summary) tight(width float64) bool {
	return s.Median > 0 && !math.IsInf(s.High, 0) && max(s.High-s.Median, s.Median-s.Low) <= width*s.Median
}

// A Verdict says how a point compares with the best.
type Verdict string

// The verdicts.
const (
	Best    Verdict = "best"    // the least median
	Tie     Verdict = "tie"     // no difference from the best can be told
	Slower  Verdict = "slower"  // slower than the best
	Failed  Verdict = "failed"  // not measured: the row has the reason
	Unknown Verdict = "unknown" // too few samples to say
	Skipped Verdict = "skipped" // left out: the row has the reason
)

// leastSamples is how many samples a point needs for a verdict: with fewer, no outcome of the test is significant.
const leastSamples = 4

// decide fills in the verdicts of the rows against the one with the least median.
func decide(rows []Row, alpha, effect float64) {
	best := -1
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Skip != "":
			r.Verdict = Skipped
		case r.Failure != "":
			r.Verdict = Failed
		case len(r.Samples) < leastSamples:
			r.Verdict = Unknown
		case best < 0 || r.Summary.Median < rows[best].Summary.Median:
			best = i
		}
	}
	if best < 0 {
		return
	}
	t := benchmath.DefaultThresholds
	reference := benchmath.NewSample(slices.Clone(rows[best].Samples), &t)
	var others []*Row
	for i := range rows {
		if r := &rows[i]; i != best && r.Verdict != Failed && r.Verdict != Unknown && r.Verdict != Skipped {
			r.Delta = r.Summary.Median/rows[best].Summary.Median - 1
			r.P = benchmath.AssumeNothing.Compare(reference, benchmath.NewSample(slices.Clone(r.Samples), &t)).P
			others = append(others, r)
		}
	}
	rows[best].Verdict = Best
	// Holm: of m comparisons the smallest p must be below alpha/m, the next below alpha/(m-1), and so on until one is not. The
	// best point was not named beforehand but picked for its median, so all pairs of points count as compared.
	slices.SortStableFunc(others, func(a, b *Row) int { return cmp.Compare(a.P, b.P) })
	pairs := len(others) * (len(others) + 1) / 2
	different := true
	for i, r := range others {
		different = different && r.P < alpha/float64(pairs-i)
		r.Verdict = Tie
		if different && r.Delta > effect {
			r.Verdict = Slower
		}
	}
}
