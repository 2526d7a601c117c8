package gpu

import (
	"context"

	"shmoo/smem"
)

// A Sample is one access pattern and what it cost.
type Sample struct {
	Op     string // instruction, as pattern files name it: "ld64", "atomadd"
	Active smem.Mask
	Addr   []uint32 // byte offset per lane into shared memory, also of inactive lanes
	// Cycles is the cost of one instruction in clock cycles when 32 warps of a block run it back to back.
	Cycles float64
}

// A Meter times access patterns.
type Meter interface {
	// Info describes the device that is, or was, measured.
	Info() Info
	// Ops returns the instructions that the meter can time.
	Ops() []string
	// Measure fills in Cycles of every sample. It keeps nothing of them.
	Measure(ctx context.Context, samples []Sample) error
}

// A Recording is what a meter measured.
type Recording struct {
	File    string // "" for a device
	Info    Info
	Date    string // "2026-11-30"; "" when unknown
	Samples []Sample
	// Constant says that the meter adds a constant to the unit's cycles, up to MaxConstant and not the same for all
	// instructions. Otherwise Cycles are those of the saturated unit.
	Constant bool
}

// MaxConstant bounds the constant of a meter, in cycles.
const MaxConstant = 1.65
