package sweep

import (
	"context"
	"errors"
	"time"
)

// Recorded is a Bench that plays a log: each point's samples in the order in which they were taken, over and over.
type Recorded struct{ Log *Log }

// Prepare returns the recorded point, or its recorded failure.
func (r Recorded) Prepare(_ context.Context, p Point) (Case, error) {
	samples, failure := r.Log.known(p.String())
	switch {
	case failure != "":
		return nil, errors.New(failure)
	case len(samples) == 0:
		return nil, errors.New("got no samples in the log, want at least one")
	}
	return &recordedCase{samples: samples}, nil
}

type recordedCase struct {
	samples []float64
	next    int
}

func (c *recordedCase) Sample(context.Context) (time.Duration, error) {
	seconds := c.samples[c.next%len(c.samples)]
	c.next++
	return time.Duration(seconds * float64(time.Second)), nil
}

func (c *recordedCase) Facts() map[string]float64 { return nil }

func (c *recordedCase) Close() {}
