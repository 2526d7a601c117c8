package layout

import (
	"fmt"
	"strings"
)

// PadStep inserts Add bytes after every Per bytes of the original.
type PadStep struct{ Add, Per uint32 }

// Pad inserts unused bytes: one step per padded dimension. All steps count original offsets, so an array [A][B][C] of
// 4-byte elements with one element added to each row and four to each plane is {4, 4*C} and {16, 4*B*C}.
type Pad []PadStep

// NewPad checks the steps: Per at least 1, sizes below MaxOffset.
func NewPad(steps ...PadStep) (Pad, error) {
	for i, s := range steps {
		if s.Per == 0 || s.Per >= MaxOffset || s.Add >= MaxOffset {
			return nil, errorf("pad step %d: got +%d per %d, want sizes in 1..%d", i, s.Add, s.Per, MaxOffset-1)
		}
	}
	return Pad(steps), nil
}

// Map moves addr behind all pads that precede it.
func (p Pad) Map(addr uint32) uint32 {
	out := addr
	for _, s := range p {
		out += addr / s.Per * s.Add
	}
	return out
}

// Extent counts the bytes up to the last original byte, without the pad after the last row.
func (p Pad) Extent(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	out := n
	for _, s := range p {
		out += (n - 1) / uint64(s.Per) * uint64(s.Add)
	}
	return out
}

// Granule returns the largest power of two that divides every pad and every distance between pads.
func (p Pad) Granule() uint32 {
	g := uint32(maxGranule)
	for _, s := range p {
		if s.Add != 0 {
			g = min(g, lowBit(s.Add), lowBit(s.Per))
		}
	}
	return g
}

// Cost is zero folded into a constant pitch. From a flat offset a step is shift and IMAD, one more where the
// distance is no power of two (division by a constant).
func (p Pad) Cost() Cost {
	var c Cost
	for _, s := range p {
		if s.Add == 0 {
			continue
		}
		c.Flat += 2
		if !isPow2(s.Per) {
			c.Flat++
		}
	}
	return c
}

func (p Pad) String() string { return p.text(" bytes") }

func (p Pad) text(unit string) string {
	if len(p) == 0 {
		return Identity{}.String()
	}
	steps := make([]string, len(p))
	for i, s := range p {
		steps[i] = fmt.Sprintf("+%d per %d", s.Add, s.Per)
	}
	return "pad(" + strings.Join(steps, ", ") + unit + ")"
}

// unitless returns the text of a transform whose unit is given by its surroundings.
func unitless(t Transform) string {
	switch t := t.(type) {
	case Pad:
		return t.text("")
	case Chain:
		return t.text(unitless)
	}
	return t.String()
}
