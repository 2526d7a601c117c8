package pad

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"shmoo/smem"
)

// Schema names the JSON form of a Report.
const Schema = "shmoo.pad/1"

// DefaultMax is the largest pad tried, in bytes, when Options does not say: one row of banks.
const DefaultMax = 128

// Limits of one call.
const (
	maxChunk      = 1 << 20 // elements
	maxPadBytes   = 64 << 10
	maxCandidates = 1 << 18 // over all cases
	maxPoints     = 1 << 20 // of a space under judgement
)

// widths are the loads that auto tries, in bytes, besides the element's own.
var widths = []int{4, 8, 16}

// Options say what to try.
type Options struct {
	Unit   *smem.Unit
	Widths []int   // of loads, in bits: 8, 16, 32, 64 or 128; nil: the element's own and every wider one from 32 up
	Step   int     // candidates are multiples of Step bytes that are whole elements; 0: the element
	Max    int     // largest pad in bytes; 0: DefaultMax
	Policy *Policy // also say what this rule picks; may be nil
}

// A Report is the result of Analyze, which fills Cases, or of Judge, which fills Judgement.
type Report struct {
	Schema    string     `json:"schema"`
	Unit      string     `json:"unit"`
	Basis     string     `json:"basis"` // how the unit's rules are known, the weakest of those used
	Cases     []Case     `json:"cases,omitempty"`
	Judgement *Judgement `json:"judgement,omitempty"`
}

// A Case is one chunk of one element type with all its candidates.
type Case struct {
	Chunk      int         `json:"chunk"` // elements of a run
	DType      string      `json:"dtype"`
	ElemBytes  int         `json:"elem_bytes"`
	RunBytes   int         `json:"run_bytes"`
	StepBytes  int         `json:"step_bytes"`
	Best       *Choice     `json:"best"`      // over all widths; nil when no load is legal
	PerWidth   []Choice    `json:"per_width"` // the best pad of each width that has one, narrowest first
	Policy     *PolicyPick `json:"policy,omitempty"`
	Candidates []Candidate `json:"candidates"` // by size of the pad, none first
	widths     []int       // in bytes
}

// A Place is what a pad does to the layout, whatever the width of the load.
type Place struct {
	Pad         int     `json:"pad"` // elements
	PadBytes    int     `json:"pad_bytes"`
	StrideBytes int     `json:"stride_bytes"`
	Words       float64 `json:"s_words"` // S; a multiple of 1/4
	GCD         int     `json:"gcd"`     // gcd(S, 32); 0 where S is not whole words
	Align       int     `json:"align_bytes"`
	Extra       float64 `json:"extra_percent"` // shared memory on top of the runs, to two decimals
}

// A Candidate is a pad and what it makes of each width.
type Candidate struct {
	Place
	Counts []Count `json:"widths"`
}

// A Choice is a pad together with a width.
type Choice struct {
	Place
	Count
	Unpadded int `json:"ways_unpadded"` // ways of the same width without a pad; 0 where that is not legal
}

// Analyze works out every candidate pad for every chunk (elements of a run) and element type.
//
// An error says which argument cannot be used.
func Analyze(chunks []int, dtypes []DType, o Options) (*Report, error) {
	a, err := newAnalysis(o)
	if err != nil {
		return nil, err
	}
	r := &Report{Schema: Schema, Unit: o.Unit.Name, Cases: make([]Case, 0, len(chunks)*len(dtypes))}
	total := 0
	for _, chunk := range chunks {
		for _, d := range dtypes {
			total += a.max/a.step(d) + 1
			if total > maxCandidates {
				return nil, fmt.Errorf("pads: got more than %d candidates over all chunks and dtypes, want at most that: "+
					"raise the unit or lower the largest pad", maxCandidates)
			}
			c, err := a.analyze(chunk, d)
			if err != nil {
				return nil, err
			}
			r.Cases = append(r.Cases, c)
		}
	}
	r.Basis = a.counter.worst.String()
	return r, nil
}

// analysis is the work of one call.
type analysis struct {
	Options
	counter *counter
	max     int
}

func newAnalysis(o Options) (*analysis, error) {
	a := &analysis{Options: o, counter: newCounter(o.Unit), max: cmp.Or(o.Max, DefaultMax)}
	if a.max < 0 || a.max > maxPadBytes {
		return nil, fmt.Errorf("largest pad: got %d bytes, want 1 to %d", o.Max, maxPadBytes)
	}
	if o.Step < 0 || o.Step > maxPadBytes {
		return nil, fmt.Errorf("unit of pads: got %d bytes, want 1 to %d", o.Step, maxPadBytes)
	}
	for _, width := range o.Widths {
		if _, ok := o.Unit.Rules[smem.Key{Op: smem.Load, Width: width / 8}]; width%8 != 0 || !ok {
			return nil, fmt.Errorf("width: got %d bits, want one of 8, 16, 32, 64, 128", width)
		}
	}
	return a, nil
}

// step returns the distance of candidates in bytes: the least multiple of Step that is whole elements.
func (a *analysis) step(d DType) int {
	step := cmp.Or(a.Step, d.Bytes)
	return step / gcd(step, d.Bytes) * d.Bytes
}

// widthsFor returns the widths to try for an element type, in bytes, narrowest first.
func (a *analysis) widthsFor(d DType) []int {
	var in []int
	if a.Widths != nil {
		for _, width := range a.Widths {
			in = append(in, width/8)
		}
		slices.Sort(in)
		return slices.Compact(in)
	}
	own := alignment(d.Bytes)
	in = append(in, own)
	for _, width := range widths {
		if width > own {
			in = append(in, width)
		}
	}
	return in
}

// maxAlign is the alignment that the widest load needs; more is of no use.
const maxAlign = 16

// alignment returns the largest power of two that divides n bytes, maxAlign at most.
func alignment(n int) int { return min(maxAlign, 1<<bits.TrailingZeros(uint(n))) }

func (a *analysis) place(chunk, padBytes int, d DType) Place {
	run := chunk * d.Bytes
	p := Place{Pad: padBytes / d.Bytes, PadBytes: padBytes, StrideBytes: run + padBytes}
	p.Words = float64(p.StrideBytes) / wordBytes
	if p.StrideBytes%wordBytes == 0 {
		p.GCD = gcd(p.StrideBytes/wordBytes, formulaBanks)
	}
	p.Align = alignment(p.StrideBytes)
	p.Extra = math.Round(float64(padBytes)/float64(run)*1e4) / 100
	return p
}

func (a *analysis) analyze(chunk int, d DType) (Case, error) {
	if err := checkChunk(int64(chunk)); err != nil {
		return Case{}, err
	}
	run := chunk * d.Bytes
	c := Case{Chunk: chunk, DType: d.Name, ElemBytes: d.Bytes, RunBytes: run, StepBytes: a.step(d), widths: a.widthsFor(d)}
	n := a.max/c.StepBytes + 1
	c.Candidates = make([]Candidate, n)
	counts := make([]Count, 0, n*len(c.widths))
	for i := range c.Candidates {
		p := a.place(chunk, i*c.StepBytes, d)
		first := len(counts)
		for _, width := range c.widths {
			count, err := a.counter.count(run, p.StrideBytes, width)
			if err != nil {
				return Case{}, err
			}
			counts = append(counts, count)
		}
		c.Candidates[i] = Candidate{p, counts[first:len(counts):len(counts)]}
	}
	c.choose()
	if a.Policy != nil {
		pick, err := a.pick(a.Policy, chunk, d, c.widths)
		if err != nil {
			return Case{}, err
		}
		c.Policy = pick
	}
	return c, nil
}

// choose finds the best pad of each width and of all. Fewest wavefronts for the run come first; among equals the smallest
// pad, and over all widths the widest load, which takes the fewest instructions.
func (c *Case) choose() {
	for i := range c.widths {
		var best *Candidate
		for j := range c.Candidates {
			candidate := &c.Candidates[j]
			if candidate.Counts[i].Legal && (best == nil || candidate.Counts[i].Total < best.Counts[i].Total) {
				best = candidate
			}
		}
		if best != nil {
			c.PerWidth = append(c.PerWidth, Choice{best.Place, best.Counts[i], c.Candidates[0].Counts[i].Ways})
		}
	}
	for i := range c.PerWidth {
		if c.Best == nil || c.PerWidth[i].Total <= c.Best.Total {
			c.Best = &c.PerWidth[i]
		}
	}
}
