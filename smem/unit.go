package smem

import (
	"fmt"
	"math/bits"
)

// Basis says how a rule is known. A number is only as good as the rule behind it, so reports carry it.
type Basis uint8

// The bases, best first.
const (
	Measured   Basis = iota // checked against hardware counters and a clock probe on a device of this generation
	Documented              // stated by the vendor for this generation
	Assumed                 // taken over from a neighbouring generation
	Estimated               // known not to be exact; the nearest rule stands in
)

var basisNames = [...]string{"measured", "documented", "assumed", "estimated"}

// String returns the name used in reports.
func (b Basis) String() string {
	if int(b) < len(basisNames) {
		return basisNames[b]
	}
	return fmt.Sprintf("basis(%d)", uint8(b))
}

// ParseBasis returns the basis that String names s.
func ParseBasis(s string) (Basis, bool) {
	for i, name := range basisNames {
		if name == s {
			return Basis(i), true
		}
	}
	return 0, false
}

// Key names a rule: an operation at a width in bytes per lane.
type Key struct {
	Op    Op
	Width int
}

// A Rule says how the unit serves one operation of one width.
type Rule struct {
	Groups []Mask // lanes served together, in order; a lane in none of them has no address
	Paired []Mask // groups of a load whose lanes pair (see Unit.Resolve); nil where loads do not pair
	Shares bool   // lanes on one word share a pass; false: every lane takes a pass of its own in its bank
	// PerPass is the number of wavefronts one pass takes: 2 for compare and swap, 1 for the rest.
	PerPass int
	// Floor is the fewest cycles of an unpaired request, whatever its wavefronts, and PairedFloor that of a paired one; Extra
	// is added to every request.
	Floor, PairedFloor, Extra float32
	Basis                     Basis
}

// A Unit is the shared-memory unit of one GPU generation. Make one with NewUnit. It is read-only and safe for concurrent
// use.
type Unit struct {
	Name      string
	Lanes     int // lanes of a warp: 32, or 64
	Banks     int // a power of two, at most 64
	BankBytes int // bytes a bank delivers per wavefront: 4
	Size      int // bytes of shared memory a block can address
	Rules     map[Key]Rule

	plans [opCount][widthCount]*plan // Rules, prepared for Resolve
}

// widthCount is the number of widths from 1 to 16 bytes.
const widthCount = 5

// NewUnit returns the unit with the given geometry and rules. It returns an error for a rule that Resolve could not
// apply: a width that is no power of two up to 16, groups that overlap, or more groups than the unit tracks.
func NewUnit(name string, lanes, banks, bankBytes, size int, rules map[Key]Rule) (*Unit, error) {
	u := &Unit{Name: name, Lanes: lanes, Banks: banks, BankBytes: bankBytes, Size: size, Rules: rules}
	if lanes < 1 || lanes > MaxLanes || !powerOfTwo(banks) || banks > MaxLanes || !powerOfTwo(bankBytes) || size < 0 {
		return nil, fmt.Errorf("unit %s: %d lanes, %d banks of %d bytes and %d bytes in all: want at most %d lanes, and "+
			"at most %d banks, powers of two", name, lanes, banks, bankBytes, size, MaxLanes, MaxLanes)
	}
	for key, rule := range rules {
		p, err := u.plan(key, rule)
		if err != nil {
			return nil, fmt.Errorf("unit %s: rule for %s of %d bytes: %w", name, key.Op, key.Width, err)
		}
		u.plans[key.Op][bits.TrailingZeros(uint(key.Width))] = p
	}
	return u, nil
}

// WithSize returns the unit with another size of shared memory: that of one block, which may use less than the largest.
func (u *Unit) WithSize(bytes int) *Unit {
	sized := *u
	sized.Size = bytes
	return &sized
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// FullMask returns the mask of all lanes of a warp.
func (u *Unit) FullMask() Mask { return Lanes(0, u.Lanes) }

// RowBytes returns the number of bytes that one row of banks holds.
func (u *Unit) RowBytes() int { return u.Banks * u.BankBytes }

// lookup returns the plan for an operation of a width.
func (u *Unit) lookup(op Op, width int) (*plan, error) {
	if op < opCount && powerOfTwo(width) && width < 1<<widthCount {
		if p := u.plans[op][bits.TrailingZeros(uint(width))]; p != nil {
			return p, nil
		}
	}
	return nil, &UnsupportedError{u.Name, op, width}
}

// An Outcome is what the unit does with one request.
type Outcome struct {
	Wavefronts int     // passes of the data stage
	Ideal      int     // wavefronts of a request of this mask without conflicts
	Ways       int     // largest number of passes that one group needs; 0 for a request without lanes
	Cycles     float32 // issue-to-issue cycles when the unit is saturated: wavefronts, or the rule's floor
	Paired     bool    // the load paired: lanes that share an address are served in larger groups
	Basis      Basis
	Groups     []Mask // the groups of the rule that applied (of the rule: do not modify)
	// Group and Pass give, per lane, the index of its group and the pass of that group that served it; the pass counts
	// from 0 in each group. Both are -1 for lanes that are not served.
	Group, Pass [MaxLanes]int8

	cells   [MaxLanes]uint32 // per column, the cell that free met
	columns [MaxLanes]column
}

// Conflicts returns the wavefronts above the ideal.
func (o *Outcome) Conflicts() int { return o.Wavefronts - o.Ideal }

// Served returns the lanes that group g serves in pass p.
func (o *Outcome) Served(g, p int) Mask {
	var m Mask
	for lane := range o.Group {
		if int(o.Group[lane]) == g && int(o.Pass[lane]) == p {
			m |= 1 << uint(lane)
		}
	}
	return m
}

// Passes returns the number of passes that group g needs.
func (o *Outcome) Passes(g int) int {
	n := 0
	for lane := range o.Group {
		if int(o.Group[lane]) == g {
			n = max(n, int(o.Pass[lane])+1)
		}
	}
	return n
}
