package pad

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"shmoo/space"
)

// granule is the unit of a Policy's pads: the alignment of the widest load, so that every pad keeps it legal.
const granule = 16

// A Rule says which pad to use for a chunk.
type Rule interface {
	// padBytes returns the pad, or why the rule has none.
	padBytes(chunk int, d DType) (bytes int, why string)
	String() string
}

// Fixed is the rule that pads every run by the same number of bytes.
type Fixed int

// String returns "fixed pad of N bytes".
func (f Fixed) String() string { return fmt.Sprintf("fixed pad of %d bytes", int(f)) }

func (f Fixed) padBytes(_ int, d DType) (int, string) {
	if int(f)%d.Bytes != 0 {
		return 0, fmt.Sprintf("%d bytes are not whole elements of %d", int(f), d.Bytes)
	}
	return int(f), ""
}

// A Policy is the TileOPs rule: of a few pads that are multiples of 16 bytes, the one with the smallest gcd(S, 32), the
// first of them when several are equal. It holds for runs that are a multiple of 16 bytes, whose loads of every width
// then stay legal; with k = 1 and 2 one of the two always has gcd 4, which is what a 128-bit load needs (TileOPs,
// page on shared memory: S = 4 (q + k) for a run of 16 q bytes, and one of q + 1, q + 2 is odd).
type Policy struct {
	K []int // pads in units of 16 bytes
}

// ParsePolicy reads a rule such as "k=1|2".
func ParsePolicy(text string) (*Policy, error) {
	list, ok := strings.CutPrefix(text, "k=")
	p := &Policy{}
	for field := range strings.SplitSeq(list, "|") {
		k, err := strconv.Atoi(field)
		if !ok || err != nil || k < 1 || k > maxPadBytes/granule || len(p.K) == maxPadBytes/granule {
			return nil, fmt.Errorf("policy: got %q, want k= and the units of %d bytes to choose from, such as k=1|2", text, granule)
		}
		p.K = append(p.K, k)
	}
	return p, nil
}

// String returns the rule as ParsePolicy reads it.
func (p *Policy) String() string {
	fields := make([]string, len(p.K))
	for i, k := range p.K {
		fields[i] = strconv.Itoa(k)
	}
	return "k=" + strings.Join(fields, "|")
}

// Pick returns the pad in elements that the rule chooses, or an error that says why the rule does not hold.
func (p *Policy) Pick(chunk int, d DType) (int, error) {
	bytes, why := p.padBytes(chunk, d)
	if why != "" {
		return 0, fmt.Errorf("policy %s, chunk %d of %s: %s", p, chunk, d.Name, why)
	}
	return bytes / d.Bytes, nil
}

func (p *Policy) padBytes(chunk int, d DType) (int, string) {
	if granule%d.Bytes != 0 {
		return 0, fmt.Sprintf("%d bytes are not whole elements of %d", granule, d.Bytes)
	}
	run := chunk * d.Bytes
	if run%granule != 0 {
		return 0, fmt.Sprintf("a run of %d bytes is not a multiple of %d", run, granule)
	}
	best, least := 0, math.MaxInt
	for _, k := range p.K {
		if g := gcd((run+k*granule)/wordBytes, formulaBanks); g < least {
			best, least = k*granule, g
		}
	}
	return best, ""
}

// A PolicyPick is what a rule chooses for one case.
type PolicyPick struct {
	Rule string `json:"rule"`
	Why  string `json:"why,omitempty"` // why the rule does not hold; the rest is then empty
	Candidate
}

func (a *analysis) pick(rule Rule, chunk int, d DType, widths []int) (*PolicyPick, error) {
	pick := &PolicyPick{Rule: rule.String()}
	var bytes int
	if bytes, pick.Why = rule.padBytes(chunk, d); pick.Why != "" {
		return pick, nil
	}
	pick.Place = a.place(chunk, bytes, d)
	for _, width := range widths {
		count, err := a.counter.count(chunk*d.Bytes, pick.StrideBytes, width)
		if err != nil {
			return nil, err
		}
		pick.Counts = append(pick.Counts, count)
	}
	return pick, nil
}

// MaxCounterexamples is how many counterexamples a Judgement keeps; it counts all.
const MaxCounterexamples = 20

// A Judgement says whether a rule serves every point of a space. At each point it takes the widest of the widths that is
// legal with the rule's pad: the load that a compiler can use. A point fails when that load conflicts, when no load is
// legal, or when the rule has no pad.
type Judgement struct {
	Rule   string `json:"rule"`
	Space  string `json:"space"`
	Points int    `json:"points"`
	Failed int    `json:"failed"`
	// Worse counts the points that fail and would not without any pad; Narrowed those whose widest legal load is
	// narrower than without a pad, whether they fail or not.
	Worse    int `json:"worse_than_none"`
	Narrowed int `json:"narrowed"`
	// Counterexamples are the worst points that fail, those of most ways first, then by chunk.
	Counterexamples []Counterexample `json:"counterexamples"`
}

// A Counterexample is a point at which a rule fails.
type Counterexample struct {
	Chunk int    `json:"chunk"`
	DType string `json:"dtype"`
	// Why says why the rule has no pad or no load is legal; the ways are then 0.
	Why string `json:"why,omitempty"`
	Choice
	Remedy *Choice `json:"remedy,omitempty"` // the best pad of the case
	// order keeps points of one chunk in the order of the space.
	order int
}

// Judge tries a rule on every point of a space with the parameters chunk (integers) and dtype (names of element types).
//
// An error says which parameter or option cannot be used; a rule that fails is a result.
func Judge(s *space.Space, rule Rule, o Options) (*Report, error) {
	a, err := newAnalysis(o)
	if err != nil {
		return nil, err
	}
	if f, ok := rule.(Fixed); ok && (f < 0 || f > maxPadBytes) {
		return nil, fmt.Errorf("fixed pad: got %d bytes, want 0 to %d", int(f), maxPadBytes)
	}
	chunks, dtypes, err := axes(s)
	if err != nil {
		return nil, err
	}
	j := &Judgement{Rule: rule.String(), Space: s.String(), Points: len(chunks) * len(dtypes), Counterexamples: []Counterexample{}}
	for i, chunk := range chunks {
		for k, d := range dtypes {
			if err := a.judge(j, rule, chunk, d, i*len(dtypes)+k); err != nil {
				return nil, err
			}
		}
	}
	j.trim()
	for i := range j.Counterexamples {
		e := &j.Counterexamples[i]
		d, err := LookupDType(e.DType)
		if err != nil {
			return nil, err
		}
		c, err := a.analyze(e.Chunk, d)
		if err != nil {
			return nil, err
		}
		e.Remedy = c.Best
	}
	return &Report{Schema: Schema, Unit: o.Unit.Name, Basis: a.counter.worst.String(), Judgement: j}, nil
}

// axes returns the chunks and element types of a space.
func axes(s *space.Space) (chunks []int, dtypes []DType, err error) {
	for _, p := range s.Params {
		switch p.Name {
		case "chunk":
			chunks, err = chunksOf(p.Values)
		case "dtype":
			dtypes, err = dtypesOf(p.Values)
		default:
			err = fmt.Errorf("got parameter %s, want chunk and dtype only", p.Name)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("space: %w", err)
		}
	}
	if len(chunks) == 0 || len(dtypes) == 0 {
		return nil, nil, fmt.Errorf("space: got %s, want both chunk and dtype", s)
	}
	if n := s.Size(); n > maxPoints {
		return nil, nil, fmt.Errorf("space: got %d points, want at most %d", n, maxPoints)
	}
	return chunks, dtypes, nil
}

// judge adds one point.
func (a *analysis) judge(j *Judgement, rule Rule, chunk int, d DType, order int) error {
	widths := a.widthsFor(d)
	pick, err := a.pick(rule, chunk, d, widths)
	if err != nil {
		return err
	}
	none, err := a.pick(Fixed(0), chunk, d, widths)
	if err != nil {
		return err
	}
	e := Counterexample{Chunk: chunk, DType: d.Name, Why: pick.Why, order: order}
	before := none.widest()
	if pick.Why == "" {
		load := pick.widest()
		if load.Legal && before.Bits > load.Bits && before.Legal {
			j.Narrowed++
		}
		if load.Free() {
			return nil
		}
		e.Choice = Choice{pick.Place, *load, none.at(load.Bits).Ways}
		e.Why = load.Why
	}
	j.Failed++
	if before.Free() {
		j.Worse++
	}
	j.Counterexamples = append(j.Counterexamples, e)
	if len(j.Counterexamples) >= 8*MaxCounterexamples {
		j.trim()
	}
	return nil
}

// trim keeps the worst counterexamples.
func (j *Judgement) trim() {
	slices.SortFunc(j.Counterexamples, func(x, y Counterexample) int {
		return cmp.Or(-cmp.Compare(x.Ways, y.Ways), cmp.Compare(x.Chunk, y.Chunk), cmp.Compare(x.order, y.order))
	})
	j.Counterexamples = j.Counterexamples[:min(len(j.Counterexamples), MaxCounterexamples)]
}

// widest returns the widest legal load, or the widest there is when none is legal.
func (c *Candidate) widest() *Count {
	for i := len(c.Counts) - 1; i >= 0; i-- {
		if c.Counts[i].Legal {
			return &c.Counts[i]
		}
	}
	return &c.Counts[len(c.Counts)-1]
}

// at returns the count of the given width.
func (c *Candidate) at(bits int) *Count {
	return &c.Counts[slices.IndexFunc(c.Counts, func(n Count) bool { return n.Bits == bits })]
}
