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
	// Cycles is the cost of one instruction in clock cycles when 32 warps of a block run it back to back, with the meter's
	// constant.
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
