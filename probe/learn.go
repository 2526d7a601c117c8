package probe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"shmoo/arch"
	"shmoo/gpu"
	"shmoo/pattern"
	"shmoo/smem"
	"shmoo/unitfile"
)

// LessonSchema names the JSON form of a Lesson.
const LessonSchema = "shmoo.lesson/1"

// A Lesson is what a recording teaches about a unit.
type Lesson struct {
	Schema    string    `json:"schema"`
	Name      string    `json:"unit"`
	Samples   int       `json:"samples"`
	Banks     int       `json:"banks"`
	BankBytes int       `json:"bank_bytes"`
	Size      int       `json:"size"`
	Rules     []Learned `json:"rules"`
	// Loops lists ops that are loops in software: their cost depends on contention and says nothing about a rule.
	Loops []string `json:"loops,omitempty"`

	origin unitfile.Origin
}

// A Learned rule is the hypothesis that explains all samples of an operation and width.
type Learned struct {
	Op      string   `json:"op"`
	Width   int      `json:"width"`
	Ops     []string `json:"ops"` // instructions whose samples were used
	Samples int      `json:"samples"`
	// Exceptions is the number of samples that the hypothesis does not explain: 0, or the least that any leaves.
	Exceptions int `json:"exceptions"`
	// First is the first exception, as a line of text; "" without any.
	First  string            `json:"first_exception,omitempty"`
	Choice map[string]string `json:"choice"` // by aspect
	// Undecided lists the aspects of which several values explain all samples, with those values; Choice has one of them.
	Undecided map[string][]string `json:"undecided,omitempty"`
	// Explaining is how many hypotheses explain all samples.
	Explaining int `json:"explaining"`

	key  smem.Key
	rule smem.Rule
}

// The aspects of a hypothesis, in the order in which they are printed.
const (
	aspectGroups      = "groups"
	aspectPairing     = "pairing"
	aspectPaired      = "paired groups"
	aspectSharing     = "lanes on one word"
	aspectPerPass     = "wavefronts per pass"
	aspectFloor       = "floor"
	aspectPairedFloor = "paired floor"
)

var aspects = []string{aspectGroups, aspectPairing, aspectPaired, aspectSharing, aspectPerPass, aspectFloor, aspectPairedFloor}

// A hypothesis is one way in which a unit may serve an operation. Groupings are indices into those of the learner.
type hypothesis struct {
	plain, paired int
	pairing       *pairing
	shares        bool
	perPass       int
	floor         int // cycles: 0, or one per group
	pairedFloor   int
}

// Learn picks, per operation and width, among stated hypotheses on banks, groups, pairing, sharing and floors those that
// explain every sample of the recording. A sample is explained when its cycles are the hypothesis's to within half a cycle;
// where the meter has a constant, when all samples of one instruction with full or with partial warps are off by the same to
// within a cycle.
//
// It returns an error when the recording has no sample to learn from. That nothing explains the samples, or several
// hypotheses do, is a result.
func Learn(ctx context.Context, r *gpu.Recording) (*Lesson, error) {
	l := &Lesson{Schema: LessonSchema, Name: cmp.Or(r.Info.Arch, "learned"), Samples: len(r.Samples), Size: sharedSize(r)}
	l.origin = unitfile.Origin{Device: r.Info.Name, Driver: r.Info.Driver, Date: r.Date, Samples: len(r.Samples),
		Source: r.File}
	byKey, keys, err := l.sort(r)
	if err != nil {
		return nil, err
	}
	least := math.MaxInt
	for _, b := range bankings {
		rules := make([]Learned, 0, len(keys))
		exceptions := 0
		for _, key := range keys {
			learned, err := newLearner(key, byKey[key], r.Constant, b).learn(ctx)
			if err != nil {
				return nil, err
			}
			exceptions += learned.Exceptions
			rules = append(rules, learned)
		}
		if exceptions < least {
			least = exceptions
			l.Banks, l.BankBytes, l.Rules = b.banks, b.bankBytes, rules
		}
		if least == 0 {
			break
		}
	}
	return l, nil
}

// sort groups the samples by operation and width, in the order of pattern.Ops.
func (l *Lesson) sort(r *gpu.Recording) (map[smem.Key][]*gpu.Sample, []smem.Key, error) {
	known := map[string]*pattern.Op{}
	order := map[smem.Key]int{}
	ops := pattern.Ops()
	for i := range ops {
		known[ops[i].Name] = &ops[i]
		key := smem.Key{Op: ops[i].Op, Width: ops[i].Width}
		if _, ok := order[key]; !ok {
			order[key] = i
		}
	}
	byKey := map[smem.Key][]*gpu.Sample{}
	for i := range r.Samples {
		s := &r.Samples[i]
		op := known[s.Op]
		switch {
		case op == nil:
			return nil, nil, fmt.Errorf("learn: sample %d has op %q, want one of package pattern's", i, s.Op)
		case len(s.Addr) != lanes || s.Active>>lanes != 0:
			return nil, nil, fmt.Errorf("learn: sample %d has %d addresses and mask %x, want %d lanes",
				i, len(s.Addr), uint64(s.Active), lanes)
		case op.Loop:
			if !slices.Contains(l.Loops, op.Name) {
				l.Loops = append(l.Loops, op.Name)
			}
		default:
			key := smem.Key{Op: op.Op, Width: op.Width}
			byKey[key] = append(byKey[key], s)
		}
	}
	if len(byKey) == 0 {
		return nil, nil, fmt.Errorf("learn: recording has no sample of an instruction, want at least one")
	}
	keys := slices.SortedFunc(maps.Keys(byKey), func(a, b smem.Key) int { return cmp.Compare(order[a], order[b]) })
	return byKey, keys, nil
}

// defaultSize is the shared memory that every block has without opting in, in bytes.
const defaultSize = 48 << 10

// sharedSize returns the size of shared memory: what the device says, or its generation, or as much as the samples reach.
func sharedSize(r *gpu.Recording) int {
	if r.Info.SharedPerBlock > 0 {
		return r.Info.SharedPerBlock
	}
	if a, err := arch.Lookup(r.Info.Arch); err == nil {
		return a.Unit.Size
	}
	size := defaultSize
	for i := range r.Samples {
		for _, a := range r.Samples[i].Addr {
			size = max(size, int(a)+rowBytes)
		}
	}
	return size
}

// A learner tries hypotheses on the samples of one operation and width.
type learner struct {
	key       smem.Key
	samples   []*gpu.Sample
	constant  bool
	ops       []string
	groupings []grouping
	facts     []facts
	passes    [][]uint8 // per grouping and sharing, per sample
	offsets   []offsets // per class
}

// offsets is the range of measured less predicted cycles, of a class of samples with the same constant.
type offsets struct {
	low, high float64
	seen      bool
}

func newLearner(key smem.Key, samples []*gpu.Sample, constant bool, b banking) *learner {
	l := &learner{key: key, samples: samples, constant: constant, groupings: groupings}
	if key.Op.IsMatrix() {
		l.groupings = matrixGroupings(key.Width / 4)
	}
	l.facts = make([]facts, len(samples))
	for i, s := range samples {
		op := slices.Index(l.ops, s.Op)
		if op < 0 {
			op = len(l.ops)
			l.ops = append(l.ops, s.Op)
		}
		r := smem.Request{Op: key.Op, Width: key.Width, Active: s.Active, Addr: s.Addr}
		l.facts[i] = newFacts(r.Addressing(), s.Addr, r.Bytes(), b)
		l.facts[i].cycles = s.Cycles
		l.facts[i].class = classes * op
		if s.Active != smem.Lanes(0, lanes) {
			l.facts[i].class += classPartial
		}
	}
	l.offsets = make([]offsets, classes*len(l.ops))
	for _, g := range l.groupings {
		for _, shares := range []bool{true, false} {
			passes := make([]uint8, len(samples))
			for i := range l.facts {
				passes[i] = uint8(l.facts[i].passes(g.groups, shares))
			}
			l.passes = append(l.passes, passes)
		}
	}
	return l
}

// Classes of samples that a meter's constant may differ for, per instruction: full warps, partial ones, and such that take
// the floor.
const (
	classPartial = 1
	classFloored = 2
	classes      = 3
)

// hypotheses returns all hypotheses, simple ones first.
func (l *learner) hypotheses() []hypothesis {
	var all []hypothesis
	for plain, g := range l.groupings {
		for _, shares := range []bool{true, false} {
			for _, perPass := range []int{1, 2} {
				for _, floor := range l.floors(g, perPass) {
					h := hypothesis{plain: plain, paired: plain, pairing: &pairings[0], shares: shares, perPass: perPass,
						floor: floor}
					all = append(append(all, h), l.paired(h)...)
				}
			}
		}
	}
	return all
}

// paired returns the ways in which accesses may pair into fewer groups than h has. Matrices do not: their addresses are rows.
func (l *learner) paired(h hypothesis) []hypothesis {
	var all []hypothesis
	if l.key.Op.IsMatrix() {
		return nil
	}
	for paired, g := range l.groupings {
		if len(g.groups) >= len(l.groupings[h.plain].groups) {
			continue
		}
		for i := range pairings[1:] {
			for _, floor := range l.floors(g, h.perPass) {
				h.paired, h.pairing, h.pairedFloor = paired, &pairings[1+i], floor
				all = append(all, h)
			}
		}
	}
	return all
}

// floors returns the hypotheses on the fewest cycles of an access: none, or a cycle for every group. With one group they
// are the same, and so they are for matrices, of which none can be without lanes.
func (l *learner) floors(g grouping, perPass int) []int {
	if len(g.groups) == 1 || l.key.Op.IsMatrix() {
		return []int{0}
	}
	return []int{0, len(g.groups) * perPass}
}

// predict returns the cycles of sample i, and whether they are the floor rather than the wavefronts.
func (l *learner) predict(h *hypothesis, i int) (cycles int, floored bool) {
	grouping, floor := h.plain, h.floor
	if l.facts[i].shared&h.pairing.distances != 0 {
		grouping, floor = h.paired, h.pairedFloor
	}
	column := 2 * grouping
	if !h.shares {
		column++
	}
	cycles = int(l.passes[column][i]) * h.perPass
	if cycles == 0 {
		return 0, false
	}
	return max(cycles, floor), cycles < floor
}

// Bounds on what a meter may be off.
const (
	exact        = 0.5  // cycles either way, without a constant
	spread       = 1.0  // of a constant, within a class
	leastOffset  = -0.1 // of a constant
	worthNothing = -1
)

// explains returns how far the samples are from the hypothesis, or worthNothing when it does not explain one of them.
func (l *learner) explains(h *hypothesis) float64 {
	clear(l.offsets)
	for i := range l.facts {
		if !l.fits(h, i) {
			return worthNothing
		}
	}
	worst := 0.0
	for _, o := range l.offsets {
		if l.constant {
			worst = max(worst, o.high-o.low)
		} else {
			worst = max(worst, o.high, -o.low)
		}
	}
	return worst
}

// fits reports whether the hypothesis can explain sample i along with those before it.
func (l *learner) fits(h *hypothesis, i int) bool {
	cycles, floored := l.predict(h, i)
	offset := l.facts[i].cycles - float64(cycles)
	if !l.constant {
		o := &l.offsets[0]
		o.low, o.high = min(o.low, offset), max(o.high, offset)
		return math.Abs(offset) < exact
	}
	if offset < leastOffset || offset > gpu.MaxConstant {
		return false
	}
	class := l.facts[i].class
	if floored {
		class = class/classes*classes + classFloored
	}
	o := &l.offsets[class]
	if !o.seen {
		*o = offsets{offset, offset, true}
	}
	o.low, o.high = min(o.low, offset), max(o.high, offset)
	return o.high-o.low < spread
}

// exceptions counts the samples that the hypothesis does not explain, and returns the first.
func (l *learner) exceptions(h *hypothesis) (n, first int) {
	low, high := -exact, exact
	if l.constant {
		low, high = leastOffset, gpu.MaxConstant
	}
	first = -1
	for i := range l.facts {
		cycles, _ := l.predict(h, i)
		if offset := l.facts[i].cycles - float64(cycles); offset < low || offset > high {
			if n++; first < 0 {
				first = i
			}
		}
	}
	return n, first
}

// learn tries all hypotheses. Of those that explain the samples it takes the nearest, and of equally near ones the simplest;
// if none does, the one with the fewest exceptions.
func (l *learner) learn(ctx context.Context) (Learned, error) {
	const near = 0.05 // cycles that make no difference between hypotheses
	all := l.hypotheses()
	out := Learned{Op: l.key.Op.String(), Width: l.key.Width, Ops: l.ops, Samples: len(l.samples), key: l.key}
	values := map[string][]string{}
	best, distance := -1, math.Inf(1)
	for i := range all {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		d := l.explains(&all[i])
		if d == worthNothing {
			continue
		}
		out.Explaining++
		for aspect, value := range l.choice(&all[i]) {
			if !slices.Contains(values[aspect], value) {
				values[aspect] = append(values[aspect], value)
			}
		}
		if d < distance-near {
			best, distance = i, d
		}
	}
	if best < 0 {
		best = l.fewestExceptions(all, &out)
	}
	for _, aspect := range aspects {
		if len(values[aspect]) > 1 {
			if out.Undecided == nil {
				out.Undecided = map[string][]string{}
			}
			out.Undecided[aspect] = values[aspect]
		}
	}
	h := &all[best]
	out.Choice = l.choice(h)
	out.rule = l.rule(h, &out)
	return out, nil
}

// fewestExceptions returns the hypothesis with the fewest exceptions and notes them.
func (l *learner) fewestExceptions(all []hypothesis, out *Learned) int {
	best := 0
	out.Exceptions = math.MaxInt
	for i := range all {
		n, first := l.exceptions(&all[i])
		// A constant meter's samples can be off by less than its greatest constant and still not agree with each other.
		n = max(n, 1)
		if n >= out.Exceptions {
			continue
		}
		best, out.Exceptions, out.First = i, n, ""
		if first >= 0 {
			s := l.samples[first]
			cycles, _ := l.predict(&all[i], first)
			out.First = fmt.Sprintf("%s mask %08x addresses %v: %.3f cycles, want %d", s.Op, uint64(s.Active), s.Addr, s.Cycles,
				cycles)
		}
	}
	return best
}

// choice names the values of a hypothesis. What does not apply is left out.
func (l *learner) choice(h *hypothesis) map[string]string {
	c := map[string]string{
		aspectGroups:  l.groupings[h.plain].name,
		aspectSharing: "share a pass",
		aspectPerPass: strconv.Itoa(h.perPass),
		aspectFloor:   floorName(h.floor),
		aspectPairing: h.pairing.name,
	}
	if !h.shares {
		c[aspectSharing] = "take a pass each"
	}
	if h.pairing.distances != 0 {
		c[aspectPaired] = l.groupings[h.paired].name
		c[aspectPairedFloor] = floorName(h.pairedFloor)
	}
	return c
}

func floorName(cycles int) string {
	if cycles == 0 {
		return "none"
	}
	return fmt.Sprintf("%d cycles", cycles)
}

// rule returns the hypothesis as a unit's rule. It is measured when it explains all samples and nothing is left open that
// bears on wavefronts, else estimated; so is one whose pairing a rule cannot say.
func (l *learner) rule(h *hypothesis, out *Learned) smem.Rule {
	r := smem.Rule{Groups: l.groupings[h.plain].groups, Shares: h.shares, PerPass: h.perPass, Floor: float32(h.floor)}
	if h.pairing.distances != 0 {
		r.Paired, r.PairedFloor = l.groupings[h.paired].groups, float32(h.pairedFloor)
	}
	for _, aspect := range []string{aspectGroups, aspectPairing, aspectPaired, aspectSharing, aspectPerPass} {
		if out.Undecided[aspect] != nil {
			r.Basis = smem.Estimated
		}
	}
	if out.Exceptions > 0 || h.pairing.distances != 0 && h.pairing.name != sayable {
		r.Basis = smem.Estimated
	}
	return r
}

// Unit returns the learned unit as a file, which the caller may change. What is undecided is said there too.
func (l *Lesson) Unit() (*unitfile.File, error) {
	rules := map[smem.Key]smem.Rule{}
	evidence := map[smem.Key]unitfile.Evidence{}
	for i := range l.Rules {
		r := &l.Rules[i]
		rules[r.key] = r.rule
		e := unitfile.Evidence{Samples: r.Samples}
		for _, aspect := range aspects {
			if r.Undecided[aspect] != nil {
				e.Undecided = append(e.Undecided, aspect)
			}
		}
		evidence[r.key] = e
	}
	unit, err := smem.NewUnit(l.Name, lanes, l.Banks, l.BankBytes, l.Size, rules)
	if err != nil {
		return nil, fmt.Errorf("learned unit: %w", err)
	}
	return &unitfile.File{Unit: unit, Origin: l.origin, Evidence: evidence}, nil
}

// Decided reports whether every rule explains all its samples and nothing is undecided.
func (l *Lesson) Decided() bool {
	for i := range l.Rules {
		if l.Rules[i].Exceptions > 0 || len(l.Rules[i].Undecided) > 0 {
			return false
		}
	}
	return true
}
