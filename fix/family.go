package fix

import (
	"math/bits"

	"shmoo/layout"
)

// Family names a set of candidates.
type Family string

// The families, in the order of search.
const (
	None    Family = "none" // the array as it is
	PadOf   Family = "pad"
	XOR     Family = "swizzle"
	LinearF Family = "linear"
)

// Families returns all that can be searched.
func Families() []Family { return []Family{PadOf, XOR, LinearF} }

// PadSpace describes the pads of a search: after every Pitches[i] bytes, multiples of Step up to Max bytes.
type PadSpace struct {
	Pitches []uint32 `json:"pitches"`
	Step    uint32   `json:"step"`
	Max     uint32   `json:"max"`
	// Declared: the pitches are those of the declaration. Then two of them may be padded at once, and the pad after the
	// last row takes memory too, as it does in a declaration with longer rows.
	Declared bool `json:"declared"`
}

func (s PadSpace) each(f func(layout.Pad)) {
	for i, inner := range s.Pitches {
		for add := s.Step; add <= s.Max; add += s.Step {
			f(layout.Pad{{Add: add, Per: inner}})
			if !s.Declared {
				continue
			}
			for _, outer := range s.Pitches[i+1:] {
				for more := s.Step; more <= s.Max; more += s.Step {
					f(layout.Pad{{Add: add, Per: inner}, {Add: more, Per: outer}})
				}
			}
		}
	}
}

// SwizzleSpace describes the swizzles of a search: all Swizzle<B,M,S> on bytes with M at least LowBit whose source and
// target bits lie below Bits.
type SwizzleSpace struct {
	LowBit int `json:"low_bit"`
	Bits   int `json:"bits"`
}

func (s SwizzleSpace) each(f func(layout.Swizzle)) {
	for b := 1; b <= s.Bits; b++ {
		for m := s.LowBit; m+b+b <= s.Bits; m++ {
			for d := b; m+d+b <= s.Bits; d++ {
				f(layout.Swizzle{B: b, M: m, S: d})
				f(layout.Swizzle{B: b, M: m, S: -d})
			}
		}
	}
}

// LinearSpace describes the linear maps of a search: each address bit from First to Bits-1 is XORed onto any of the
// bank bits from LowBit to First-1.
type LinearSpace struct {
	LowBit int `json:"low_bit"`
	First  int `json:"first"`
	Bits   int `json:"bits"`
	// General: every other linear map of the address bits from LowBit to Bits-1 was accounted for too.
	General bool `json:"general"`
}

// spaces returns the parameters of the families for a problem whose layouts keep granules of the given size.
func spaces(p *Problem, granule uint32) (PadSpace, SwizzleSpace, LinearSpace) {
	pitches, declared := p.pitches()
	row := uint32(p.Arch.Unit.RowBytes())
	pads := PadSpace{Pitches: pitches, Step: padStep(p, granule), Max: row, Declared: declared}
	low := bits.TrailingZeros32(granule)
	n := bits.Len32(uint32(p.Array.Size) - 1)
	first := bits.TrailingZeros32(row)
	word := bits.TrailingZeros32(uint32(p.Arch.Unit.BankBytes))
	return pads, SwizzleSpace{low, n}, LinearSpace{LowBit: max(low, word), First: first, Bits: max(n, first)}
}

// padStep is the element, or the granule where no element is known or the element is not a part of the row of banks.
func padStep(p *Problem, granule uint32) uint32 {
	row := uint32(p.Arch.Unit.RowBytes())
	if e := uint32(p.Array.ElemBytes); p.Array.ElemBytes > 0 && e <= row {
		return e
	}
	return granule
}
