package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"shmoo/gpu"
	"shmoo/space"
)

// A Point is a point of a space: a value per parameter.
type Point struct {
	Params []space.Param // of the space; do not modify
	Values []space.Value
}

// String returns the point as "CHUNK=16,PAD=2".
func (p Point) String() string {
	parts := make([]string, len(p.Values))
	for i, v := range p.Values {
		parts[i] = p.Params[i].Name + "=" + v.String()
	}
	return strings.Join(parts, ",")
}

// A Bench makes the points of a space ready to be measured.
type Bench interface {
	// Prepare makes a point ready. An error is the point's failure, unless it is the context's.
	Prepare(ctx context.Context, p Point) (Case, error)
}

// A Case is a point that is ready.
type Case interface {
	// Sample runs the point once and returns how long it took.
	Sample(ctx context.Context) (time.Duration, error)
	// Facts are figures about the point to show beside its time, such as registers or predicted ways; nil for none.
	Facts() map[string]float64
	// Close frees what the case holds.
	Close()
}

// A LostError is a failure that leaves the device unusable for every case until the process ends, such as a kernel that
// faults or hangs. A Bench wraps the cause in it.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }

func (e *LostError) Unwrap() error { return e.Err }

// Options say how a sweep is run. The zero value is good.
type Options struct {
	Least, Most int     // samples per point; 0 for 20 and 100
	Width       float64 // half the interval relative to the median at which a point has enough samples; 0 for 0.01
	Warmup      int     // samples that are thrown away first; 0 for 3, negative for none
	Alpha       float64 // significance of a difference; 0 for 0.05
	Effect      float64 // relative difference that matters; 0 for 0.005
	Seed        uint64  // of the order in a round

	// Skip returns why a point is not measured, "" for one that is; nil to measure all.
	Skip func(p Point) string

	// Predict returns figures about a point that need no device, such as predicted ways. They join the facts of its row. An
	// error is noted there and stops nothing. nil for no figures.
	Predict func(p Point) (map[string]float64, error)

	Log *Log // where samples go, and what of them is there already; nil for none
	// State reads the device's state, before every round; nil when it cannot be read. A round that began or ended with a
	// lowered clock or beside other processes is thrown away.
	State func() (gpu.State, error)
	// Progress is called after every sample with how many of the samples that may be needed are taken; nil for none.
	Progress func(taken, atMost int)
}

func (o Options) withDefaults() Options {
	o.Least, o.Most = cmp.Or(o.Least, 20), cmp.Or(o.Most, 100)
	o.Most = max(o.Most, o.Least)
	o.Width, o.Alpha, o.Effect = cmp.Or(o.Width, 0.01), cmp.Or(o.Alpha, 0.05), cmp.Or(o.Effect, 0.005)
	o.Warmup = cmp.Or(o.Warmup, 3)
	return o
}

// A Row is what is known about a point.
type Row struct {
	Point   Point              `json:"-"`
	Name    string             `json:"point"`
	Samples []float64          `json:"samples,omitempty"` // seconds, in the order in which they were taken
	Summary Summary            `json:"summary"`
	Facts   map[string]float64 `json:"facts,omitempty"`
	// Unpredicted says why the point's figures could not be predicted; "" when they were, or were not asked for.
	Unpredicted string  `json:"unpredicted,omitempty"`
	Verdict     Verdict `json:"verdict"`
	Delta       float64 `json:"delta,omitempty"` // median over the best's, less 1
	P           float64 `json:"p,omitempty"`     // of the test against the best, not corrected
	Failure     string  `json:"failure,omitempty"`
	Skip        string  `json:"skip,omitempty"` // why the point was left out
}

// maxDisturbed is how many rounds are thrown away before disturbed ones are kept.
const maxDisturbed = 10

// Run measures every point of a space; with a nil bench it only predicts. That points fail is no error; errors are the
// context's, the log's, and a *LostError when a point has made the device unusable. With a log, what was measured before an
// error is kept there, and so is the failure of the point that lost the device: another process goes on behind it (see
// Supervise).
func Run(ctx context.Context, s *space.Space, bench Bench, o Options) (*Result, error) {
	r := &run{ctx: ctx, bench: bench, options: o.withDefaults()}
	for values := range s.Points() {
		p := Point{s.Params, slices.Clone(values)}
		row := Row{Point: p, Name: p.String()}
		row.predict(o.Predict)
		if o.Skip != nil {
			row.Skip = o.Skip(p)
		}
		if o.Log != nil && row.Skip == "" {
			row.Samples, row.Failure = o.Log.known(row.Name)
		}
		r.rows = append(r.rows, row)
	}
	r.cases = make([]Case, len(r.rows))
	defer r.close()
	if bench != nil {
		if err := r.measure(); err != nil {
			return nil, err
		}
	}
	result := &Result{Schema: Schema, Space: s.String(), Params: s.Params, Rows: r.rows, Disturbances: r.disturbances}
	for i := range r.rows {
		if r.rows[i].Failure == "" && len(r.rows[i].Samples) > 0 {
			r.rows[i].Summary = summarize(r.rows[i].Samples)
		}
	}
	decide(r.rows, r.options.Alpha, r.options.Effect)
	return result, nil
}

// predict fills in the facts that need no device.
func (row *Row) predict(by func(Point) (map[string]float64, error)) {
	if by == nil {
		return
	}
	facts, err := by(row.Point)
	if err != nil {
		row.Unpredicted = err.Error()
	}
	row.Facts = maps.Clone(facts)
}

// run is a sweep under way.
type run struct {
	ctx          context.Context
	bench        Bench
	options      Options
	rows         []Row
	cases        []Case // per row; nil when not ready
	clock        int    // MHz at the first reading
	discarded    int    // rounds
	disturbances []string
}

func (r *run) close() {
	for i, c := range r.cases {
		if c != nil {
			c.Close()
			r.cases[i] = nil
		}
	}
}

// wants reports whether a row needs more samples.
func (r *run) wants(row *Row) bool {
	n := len(row.Samples)
	if row.Failure != "" || row.Skip != "" || n >= r.options.Most {
		return false
	}
	if n < r.options.Least {
		return true
	}
	s := summarize(row.Samples)
	return !s.tight(r.options.Width)
}

// measure takes rounds until no row wants more samples.
func (r *run) measure() error {
	order := rand.New(rand.NewPCG(r.options.Seed, 1))
	for {
		var open []int
		for i := range r.rows {
			if r.wants(&r.rows[i]) {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return nil
		}
		order.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		before := r.disturbed()
		taken := map[int]float64{}
		for _, i := range open {
			seconds, ok, err := r.sample(i)
			if err != nil {
				return err
			}
			if ok {
				taken[i] = seconds
			}
		}
		if why := cmp.Or(before, r.disturbed()); why != "" {
			r.note(why)
			if r.discarded++; r.discarded <= maxDisturbed {
				continue
			}
		}
		for _, i := range open {
			if seconds, ok := taken[i]; ok {
				if err := r.keep(i, seconds); err != nil {
					return err
				}
			}
		}
	}
}

// sample takes one sample of a row, whose failure it notes.
func (r *run) sample(i int) (seconds float64, ok bool, err error) {
	row := &r.rows[i]
	took, err := r.try(i)
	switch {
	case r.ctx.Err() != nil:
		return 0, false, context.Cause(r.ctx)
	case err == nil && took > 0:
		return took.Seconds(), true, nil
	case err == nil:
		err = fmt.Errorf("took %v, want more than nothing", took)
	}
	row.Failure = err.Error()
	if c := r.cases[i]; c != nil {
		c.Close()
		r.cases[i] = nil
	}
	if r.options.Log != nil {
		if err := r.options.Log.fail(row.Name, row.Failure); err != nil {
			return 0, false, err
		}
	}
	if lost := (*LostError)(nil); errors.As(err, &lost) {
		return 0, false, fmt.Errorf("point %s: %w", row.Name, lost)
	}
	return 0, false, nil
}

// try makes a row ready where it is not, and runs it.
func (r *run) try(i int) (time.Duration, error) {
	if r.cases[i] == nil {
		c, err := r.bench.Prepare(r.ctx, r.rows[i].Point)
		if err != nil {
			return 0, err
		}
		r.cases[i] = c
		if row := &r.rows[i]; row.Facts == nil {
			row.Facts = c.Facts()
		} else {
			maps.Copy(row.Facts, c.Facts())
		}
		for range r.options.Warmup {
			if _, err := c.Sample(r.ctx); err != nil {
				return 0, err
			}
		}
	}
	return r.cases[i].Sample(r.ctx)
}

// keep adds a sample to a row, and to the log.
func (r *run) keep(i int, seconds float64) error {
	row := &r.rows[i]
	row.Samples = append(row.Samples, seconds)
	if r.options.Log != nil {
		if err := r.options.Log.sample(row.Name, seconds); err != nil {
			return err
		}
	}
	if r.options.Progress != nil {
		taken, most := 0, 0
		for j := range r.rows {
			taken += len(r.rows[j].Samples)
			if r.rows[j].Failure == "" {
				most += max(r.options.Most, len(r.rows[j].Samples))
			} else {
				most += len(r.rows[j].Samples)
			}
		}
		r.options.Progress(taken, most)
	}
	return nil
}

// clockTolerance is how far the clock may stray from the first reading, relatively.
const clockTolerance = 0.02

// disturbed says what disturbs the device at the moment, or "".
func (r *run) disturbed() string {
	if r.options.State == nil {
		return ""
	}
	s, err := r.options.State()
	switch {
	case err != nil:
		return "" // a state that cannot be read says nothing
	case len(s.Others) > 0:
		return fmt.Sprintf("other processes use the device: %v", s.Others)
	case len(s.Limits) > 0:
		return "the clock is lowered: " + strings.Join(s.Limits, ", ")
	}
	if r.clock == 0 {
		r.clock = s.ClockMHz
	}
	if d := float64(s.ClockMHz - r.clock); d*d > clockTolerance*clockTolerance*float64(r.clock)*float64(r.clock) {
		return fmt.Sprintf("the clock changed from %d to %d MHz", r.clock, s.ClockMHz)
	}
	return ""
}

// note keeps a disturbance once.
func (r *run) note(why string) {
	if !slices.Contains(r.disturbances, why) {
		r.disturbances = append(r.disturbances, why)
	}
}
