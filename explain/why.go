package explain

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"shmoo/bankmap"
	"shmoo/smem"
)

// A Pattern is how the addresses of a request follow from the lane number.
type Pattern struct {
	Kind PatternKind `json:"kind"`
	// Step is the distance from one lane to the next in bytes; it may be negative. In a Tile it holds within a run of
	// lanes.
	Step int `json:"step"`
	// Run is the length of a run of lanes and RunStep the distance in bytes from run to run. Only a Tile has them.
	Run     int `json:"run,omitempty"`
	RunStep int `json:"runstep,omitempty"`
}

// PatternKind names a pattern.
type PatternKind string

// The patterns, simplest first.
const (
	Empty     PatternKind = "empty"     // no lane takes part
	Single    PatternKind = "single"    // one lane
	Broadcast PatternKind = "broadcast" // every lane has the same address
	Stride    PatternKind = "stride"    // lane * Step
	Tile      PatternKind = "tile"      // lane%Run * Step + lane/Run * RunStep
	Irregular PatternKind = "irregular"
)

// A Reason says why a request takes the wavefronts it takes. All of it was counted on the request itself.
type Reason struct {
	Pattern    Pattern `json:"pattern"`
	Wavefronts int     `json:"wavefronts"`
	Ideal      int     `json:"ideal"`
	Ways       int     `json:"ways"`
	Groups     int     `json:"groups"` // groups with active lanes
	Paired     bool    `json:"paired"`
	// Meeting is the busiest bank of the group that needs the most passes, the first where several do.
	Meeting *Meeting `json:"meeting,omitempty"`

	op        smem.Op
	width     int
	bankBytes int
	banks     int
	lanes     smem.Mask
	perPass   int
	shares    bool
	even      bool // every group needs the same number of passes
	alike     int  // banks of the meeting's group that need as many passes as its bank
	groupSize int  // lanes of the meeting's group
	disjoint  bool // no two lanes touch one word
}

// A Meeting is a bank in which lanes of one group get in each other's way.
type Meeting struct {
	Group int           `json:"group"` // index in the rule
	Bank  int           `json:"bank"`
	Words int           `json:"words"` // adjacent banks that one access covers; the meeting is the same in each
	Lanes bankmap.Lanes `json:"lanes"` // one lane per pass: the lowest that it serves in this bank
	Rows  []int         `json:"rows"`  // the row of each of those lanes, in the order of Lanes
}

// Analyze finds the reason for what unit u does with request r.
//
// Errors are those of smem.Unit.Resolve.
func Analyze(u *smem.Unit, r *smem.Request) (*Reason, error) {
	var out smem.Outcome
	if err := u.Resolve(&out, r); err != nil {
		return nil, err
	}
	rule := u.Rules[smem.Key{Op: r.Op, Width: r.Width}]
	why := &Reason{
		Pattern: patternOf(r), Wavefronts: out.Wavefronts, Ideal: out.Ideal, Ways: out.Ways, Paired: out.Paired,
		op: r.Op, width: r.Width, bankBytes: u.BankBytes, banks: u.Banks,
		lanes: r.Addressing(), perPass: rule.PerPass, shares: rule.Shares, even: true,
	}
	worst, most := -1, 0
	for g := range out.Groups {
		passes := out.Passes(g)
		if passes == 0 {
			continue
		}
		if why.Groups > 0 && passes != most {
			why.even = false
		}
		why.Groups++
		if passes > most {
			worst, most = g, passes
		}
	}
	why.disjoint = disjoint(u, r, why.lanes)
	if most > 1 {
		why.meet(u, r, &out, worst, most)
	}
	return why, nil
}

// meet fills in the meeting of the worst group: the first bank that is busy in each of its passes.
func (why *Reason) meet(u *smem.Unit, r *smem.Request, out *smem.Outcome, group, passes int) {
	words := max(1, r.Bytes()/u.BankBytes)
	var busy [smem.MaxLanes]uint64               // per bank the passes that need it
	var first [smem.MaxLanes][smem.MaxLanes]int8 // per bank and pass the lowest lane
	for m := why.lanes; m != 0; m &= m - 1 {
		lane := m.Lowest()
		if int(out.Group[lane]) != group {
			continue
		}
		why.groupSize++
		pass := out.Pass[lane]
		bank := int(r.Addr[lane]) / u.BankBytes % u.Banks
		if busy[bank]>>uint(pass)&1 == 0 {
			busy[bank] |= 1 << uint(pass)
			first[bank][pass] = int8(lane)
		}
	}
	at := -1
	for bank := range u.Banks {
		if bits.OnesCount64(busy[bank]) != passes {
			continue
		}
		why.alike++
		if at < 0 {
			at = bank
		}
	}
	meeting := &Meeting{Group: group, Bank: at, Words: words}
	for pass := range passes {
		meeting.Lanes |= 1 << uint(first[at][pass])
	}
	for _, lane := range meeting.Lanes.List() {
		meeting.Rows = append(meeting.Rows, int(r.Addr[lane])/u.RowBytes())
	}
	why.Meeting = meeting
}

// disjoint reports whether no two lanes touch one word.
func disjoint(u *smem.Unit, r *smem.Request, lanes smem.Mask) bool {
	var words []int
	for m := lanes; m != 0; m &= m - 1 {
		words = append(words, int(r.Addr[m.Lowest()])/max(u.BankBytes, r.Bytes()))
	}
	slices.Sort(words)
	return len(slices.Compact(words)) == lanes.Count()
}

// patternOf finds the simplest pattern that all lanes follow.
func patternOf(r *smem.Request) Pattern {
	lanes := bankmap.Lanes(r.Addressing()).List()
	switch len(lanes) {
	case 0:
		return Pattern{Kind: Empty}
	case 1:
		return Pattern{Kind: Single}
	}
	first := lanes[0]
	distance := int(r.Addr[lanes[1]]) - int(r.Addr[first])
	if gap := lanes[1] - first; distance%gap == 0 {
		p := Pattern{Kind: Stride, Step: distance / gap}
		if p.fits(r, lanes) {
			if p.Step == 0 {
				p.Kind = Broadcast
			}
			return p
		}
	}
	for run := 2; run < smem.MaxLanes; run *= 2 {
		if p, ok := tile(r, lanes, run); ok {
			return p
		}
	}
	return Pattern{Kind: Irregular}
}

// tile fits lanes that form rows of the given length. Both steps must show in the lanes that take part.
func tile(r *smem.Request, lanes []int, run int) (Pattern, bool) {
	p := Pattern{Kind: Tile, Run: run}
	in, across := false, false
	for i := 1; i < len(lanes) && !(in && across); i++ {
		for _, from := range lanes[:i] {
			lane := lanes[i]
			distance := int(r.Addr[lane]) - int(r.Addr[from])
			columns, rows := lane%run-from%run, lane/run-from/run
			if !in && rows == 0 && distance%columns == 0 {
				p.Step, in = distance/columns, true
			}
			if !across && columns == 0 && distance%rows == 0 {
				p.RunStep, across = distance/rows, true
			}
		}
	}
	return p, in && across && p.fits(r, lanes)
}

// fits reports whether all lanes follow the pattern.
func (p Pattern) fits(r *smem.Request, lanes []int) bool {
	base := int(r.Addr[lanes[0]]) - p.at(lanes[0])
	for _, lane := range lanes {
		if int(r.Addr[lane]) != base+p.at(lane) {
			return false
		}
	}
	return true
}

// at returns the offset of a lane from lane 0.
func (p Pattern) at(lane int) int {
	if p.Kind == Tile {
		return lane%p.Run*p.Step + lane/p.Run*p.RunStep
	}
	return lane * p.Step
}

// Why says in one sentence why the unit takes the wavefronts it takes for r, or why it refuses r.
func Why(u *smem.Unit, r *smem.Request) string {
	why, err := Analyze(u, r)
	if err != nil {
		if fault, ok := errors.AsType[*smem.Fault](err); ok {
			return fault.Error()
		}
		return err.Error()
	}
	return why.String()
}

// String is the reason as a sentence without a full stop.
func (why *Reason) String() string {
	if why.Pattern.Kind == Empty {
		return "no lane takes part, so there is nothing to serve"
	}
	if why.Meeting == nil {
		return why.free()
	}
	s := why.pattern()
	if s != "" {
		s += ", so "
	}
	return s + why.meeting() + ": " + why.cost()
}

// free explains a request without conflicts.
func (why *Reason) free() string {
	if why.Groups > 1 {
		return why.freeGroups()
	}
	switch {
	case why.Pattern.Kind == Single:
		return fmt.Sprintf("only lane %d takes part: %s", why.lanes.Lowest(), why.ideal())
	case why.Pattern.Kind == Broadcast && why.width < why.bankBytes && !why.op.IsMatrix():
		return fmt.Sprintf("all %d lanes have one address, and lanes on one word share it: %s", why.lanes.Count(), why.ideal())
	case why.Pattern.Kind == Broadcast:
		return fmt.Sprintf("all %d lanes have one address and share what it holds: %s", why.lanes.Count(), why.ideal())
	}
	s := why.pattern()
	if s != "" {
		s += ", so "
	}
	if why.disjoint {
		return s + "each bank serves at most one word: " + why.ideal()
	}
	return s + "lanes that meet in a bank are on one word and share it: " + why.ideal()
}

func (why *Reason) freeGroups() string {
	each := "one wavefront each"
	if why.perPass > 1 {
		each = fmt.Sprintf("one pass of %d wavefronts each", why.perPass)
	}
	if why.op.IsMatrix() {
		return fmt.Sprintf("the row addresses of the %d matrices fall in banks of their own or share a row's "+
			"words, %s: %s", why.Groups, each, why.ideal())
	}
	s := fmt.Sprintf("%d groups of lanes, %s, no bank serves two words in one group: %s", why.Groups, each, why.ideal())
	if why.Paired {
		s = "the lanes pair, which leaves " + s
	}
	return s
}

// ideal names the cost of a request without conflicts.
func (why *Reason) ideal() string {
	size := fmt.Sprintf("%d-bit %s", 8*why.width, why.op)
	if why.op.IsMatrix() {
		size = fmt.Sprintf("%s.x%d", why.op, why.width/4)
	}
	return fmt.Sprintf("%s, the ideal for this %s", count(why.Wavefronts, "wavefront"), size)
}

// pattern says how the lanes step, or "" when they follow no pattern worth naming.
func (why *Reason) pattern() string {
	p := why.Pattern
	switch p.Kind {
	case Stride:
		s := "lanes step " + why.distance(p.Step)
		if words, ok := why.words(p.Step); ok && words > 1 {
			s += fmt.Sprintf(" (gcd with %d banks: %d)", why.banks, gcd(words, why.banks))
		}
		return s
	case Tile:
		return why.tilePattern()
	case Broadcast:
		return fmt.Sprintf("all %d lanes have one address", why.lanes.Count())
	}
	return ""
}

func (why *Reason) tilePattern() string {
	p := why.Pattern
	switch {
	case p.Step == 0:
		return fmt.Sprintf("lanes in runs of %d have one address and step %s from run to run", p.Run,
			why.distance(p.RunStep))
	case p.RunStep == 0:
		return fmt.Sprintf("lanes step %s in runs of %d that repeat one another's addresses", why.distance(p.Step), p.Run)
	}
	return fmt.Sprintf("lanes step %s in runs of %d and %s from run to run", why.distance(p.Step), p.Run,
		why.distance(p.RunStep))
}

// words returns a distance in whole words, its sign dropped.
func (why *Reason) words(distance int) (int, bool) {
	n := max(distance, -distance)
	return n / why.bankBytes, n%why.bankBytes == 0
}

// distance spells a distance in words, or in bytes where it is not a whole number of them.
func (why *Reason) distance(bytes int) string {
	sign := ""
	if bytes < 0 {
		sign = "-"
	}
	if n, ok := why.words(bytes); ok {
		return sign + count(n, "word")
	}
	return count(bytes, "byte")
}

// meeting says which lanes meet where.
func (why *Reason) meeting() string {
	m := why.Meeting
	lanes := m.Lanes.List()
	var b strings.Builder
	switch all := len(lanes) == why.lanes.Count(); {
	case all && why.Pattern.Kind == Broadcast:
		b.WriteString("they all")
	case all:
		fmt.Fprintf(&b, "all %d lanes", len(lanes))
	case len(lanes) == why.groupSize:
		fmt.Fprintf(&b, "lanes %s (all of %s)", progression(lanes), groupName(why.op, m.Group))
	default:
		fmt.Fprintf(&b, "lanes %s", progression(lanes))
	}
	if m.Words == 1 {
		fmt.Fprintf(&b, " meet in bank %d", m.Bank)
	} else {
		fmt.Fprintf(&b, " meet in banks %d-%d", m.Bank, m.Bank+m.Words-1)
	}
	rows := slices.Clone(m.Rows)
	slices.Sort(rows)
	if rows = slices.Compact(rows); len(rows) == 1 {
		fmt.Fprintf(&b, " on row %d", rows[0])
	} else {
		fmt.Fprintf(&b, " on rows %s", progression(rows))
	}
	if why.alike > 1 {
		place := "bank"
		if m.Words > 1 {
			place = fmt.Sprintf("set of %d banks", m.Words)
			if why.alike > 2 {
				place = fmt.Sprintf("sets of %d banks", m.Words)
			}
		} else if why.alike > 2 {
			place = "banks"
		}
		fmt.Fprintf(&b, " (and as many in %d more %s)", why.alike-1, place)
	}
	return b.String()
}

// cost ends the sentence.
func (why *Reason) cost() string {
	s := fmt.Sprintf("%s instead of %d", count(why.Wavefronts, "wavefront"), why.Ideal)
	var details []string
	if why.Groups > 1 {
		groups, most := "groups", "at most "
		if why.op.IsMatrix() {
			groups = "matrices"
		}
		if why.even {
			most = ""
		}
		details = append(details, fmt.Sprintf("%d %s, %s%s each", why.Groups, groups, most, passes(why.Ways)))
	}
	if !why.shares {
		details = append(details, "this operation serves one lane per bank and pass, even on one word")
	}
	if why.perPass > 1 {
		details = append(details, fmt.Sprintf("each pass takes %d", why.perPass))
	}
	if len(details) > 0 {
		s += " (" + strings.Join(details, "; ") + ")"
	}
	return s
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return strconv.Itoa(n) + " passes"
}

func count(n int, noun string) string {
	if n == 1 || n == -1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// progression lists ascending numbers: "0-7", "0, 4, ..., 28", or one by one where they follow no rule.
func progression(n []int) string {
	if len(n) == 0 {
		return "none"
	}
	if len(n) >= 3 {
		step := n[1] - n[0]
		even := true
		for i := 1; i < len(n); i++ {
			even = even && n[i]-n[i-1] == step
		}
		if even && step == 1 {
			return fmt.Sprintf("%d-%d", n[0], n[len(n)-1])
		}
		if even && len(n) > 4 {
			return fmt.Sprintf("%d, %d, ..., %d", n[0], n[1], n[len(n)-1])
		}
	}
	var b strings.Builder
	for i, v := range n {
		switch {
		case i > 0 && i == len(n)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(v))
	}
	return b.String()
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
