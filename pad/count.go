package pad

import (
	"errors"
	"fmt"
	"math/bits"

	"shmoo/smem"
)

// A Count is what a warp pays for reading the runs of its lanes at one stride with one width.
type Count struct {
	Bits  int  `json:"width_bits"` // width of the load per lane
	Legal bool `json:"legal"`
	// Why says why the load is not legal; the rest but Formula is then 0.
	Why string `json:"why,omitempty"`
	// Wavefronts, Ideal and Ways are those of one load. Where they depend on the place in the run (half words), they are
	// of the worst.
	Wavefronts int `json:"wavefronts"`
	Ideal      int `json:"ideal"`
	Ways       int `json:"ways"`
	// Total is the wavefronts of all loads of the run.
	Total int `json:"total_wavefronts"`
	// Formula is max(1, gcd(S, 32) / w), 0 where it does not apply for the reason in NoFormula.
	Formula   int    `json:"formula"`
	NoFormula string `json:"no_formula,omitempty"`
}

// Free reports whether the load is legal and without conflicts.
func (c *Count) Free() bool { return c.Legal && c.Wavefronts == c.Ideal }

const wordBytes = 4

// Formula returns the ways of lanes that read widthBytes each at a stride of strideBytes, as max(1, gcd(S, 32) / w) for 32
// banks: S is the stride and w the width in words, and anything narrower than a word counts as one. It returns 0 and the
// reason where one of its two preconditions fails: S must be a whole number of words, and no two lanes may want the same
// word (S >= w).
func Formula(strideBytes, widthBytes int) (ways int, why string) {
	if strideBytes%wordBytes != 0 {
		return 0, reasonHalfWords
	}
	s, w := strideBytes/wordBytes, max(1, widthBytes/wordBytes)
	if s < w {
		return 0, reasonOverlap
	}
	return max(1, gcd(s, formulaBanks)/w), ""
}

const (
	reasonHalfWords = "S is not whole words"
	reasonOverlap   = "lanes overlap (S < w)"
	reasonUnit      = "the unit is not 32 lanes on 32 banks"
	formulaBanks    = 32
)

// gcd returns the greatest common divisor of two numbers, the other one when one is 0.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// load names what a counter remembers.
type load struct{ strideBytes, widthBytes, shiftBytes int }

// verdict is the unit's answer to a load: why is "" for a legal one.
type verdict struct {
	wavefronts, ideal, ways int
	why                     string
}

// A counter counts loads with a unit and remembers what it has seen: cases share strides.
type counter struct {
	unit  *smem.Unit
	seen  map[load]verdict
	worst smem.Basis // of the rules that gave a count
	addr  []uint32
	out   smem.Outcome
	// Why a load is not legal, by the base-2 logarithm of its width.
	brokenRun, brokenStride [8]string
}

func newCounter(unit *smem.Unit) *counter {
	c := &counter{unit: unit, seen: map[load]verdict{}, addr: make([]uint32, unit.Lanes)}
	for i := range c.brokenRun {
		c.brokenRun[i] = fmt.Sprintf("the run does not hold whole loads of %d bytes", 1<<i)
		c.brokenStride[i] = fmt.Sprintf("the stride is not a multiple of %d bytes", 1<<i)
	}
	return c
}

// count returns what it costs to read a run of runBytes per lane at the given stride with loads of widthBytes.
func (c *counter) count(runBytes, strideBytes, widthBytes int) (Count, error) {
	n := Count{Bits: 8 * widthBytes}
	if c.unit.Lanes == formulaBanks && c.unit.Banks == formulaBanks {
		n.Formula, n.NoFormula = Formula(strideBytes, widthBytes)
	} else {
		n.NoFormula = reasonUnit
	}
	if runBytes%widthBytes != 0 {
		n.Why = c.brokenRun[bits.TrailingZeros(uint(widthBytes))]
		return n, nil
	}
	if strideBytes%widthBytes != 0 {
		n.Why = c.brokenStride[bits.TrailingZeros(uint(widthBytes))]
		return n, nil
	}
	if span := (c.unit.Lanes-1)*strideBytes + runBytes; span > c.unit.Size {
		n.Why = fmt.Sprintf("%d lanes take %d bytes, a block has %d", c.unit.Lanes, span, c.unit.Size)
		return n, nil
	}
	// All lanes move along their runs together. A move by a word turns the banks and changes nothing, so narrow loads
	// have as many different places as fit into a word, and each place comes up as often as the run has it.
	loads := runBytes / widthBytes
	places := max(1, min(loads, wordBytes/widthBytes))
	n.Legal = true
	for place := range places {
		v, err := c.resolve(load{strideBytes, widthBytes, place * widthBytes})
		if err != nil {
			return n, err
		}
		if v.why != "" {
			n.Legal, n.Why = false, v.why
			return n, nil
		}
		if v.wavefronts > n.Wavefronts {
			n.Wavefronts, n.Ideal = v.wavefronts, v.ideal
		}
		n.Ways = max(n.Ways, v.ways)
		n.Total += v.wavefronts * ((loads - place + places - 1) / places)
	}
	return n, nil
}

// resolve asks the unit.
func (c *counter) resolve(l load) (verdict, error) {
	if v, ok := c.seen[l]; ok {
		return v, nil
	}
	for lane := range c.addr {
		c.addr[lane] = uint32(lane*l.strideBytes + l.shiftBytes)
	}
	request := smem.Request{Op: smem.Load, Width: l.widthBytes, Active: c.unit.FullMask(), Addr: c.addr}
	var v verdict
	var fault *smem.Fault
	switch err := c.unit.Resolve(&c.out, &request); {
	case errors.As(err, &fault):
		v.why = fault.Error()
	case err != nil:
		return v, err
	default:
		v = verdict{wavefronts: c.out.Wavefronts, ideal: c.out.Ideal, ways: c.out.Ways}
		c.worst = max(c.worst, c.out.Basis)
	}
	c.seen[l] = v
	return v, nil
}
