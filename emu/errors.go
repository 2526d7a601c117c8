package emu

import "fmt"

// FaultKind says what a kernel did that the hardware refuses.
type FaultKind uint8

// The faults.
const (
	Misaligned      FaultKind = iota // address not a multiple of the access size
	SharedBounds                     // shared address past the block's shared memory
	LocalBounds                      // local address outside the lane's local memory
	Trap                             // trap, assertion or break point
	BadInstruction                   // an encoding that the decoder does not know, or code that ends
	BadBranch                        // branch to an address outside the code or inside an instruction
	Deadlock                         // every warp waits and none can be released
	UnknownBranches                  // the target of an indirect branch is not known
)

var faultNames = [...]string{
	Misaligned:      "misaligned address",
	SharedBounds:    "shared address out of bounds",
	LocalBounds:     "local address out of bounds",
	Trap:            "trap",
	BadInstruction:  "invalid instruction",
	BadBranch:       "branch to an invalid address",
	Deadlock:        "deadlock: no warp can proceed",
	UnknownBranches: "indirect branch to an unknown address",
}

// String returns the fault in words.
func (k FaultKind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// A Fault is an error of the kernel: where it happened, and the value at fault.
type Fault struct {
	Kind   FaultKind
	Kernel string
	PC     uint64
	Instr  string // the instruction's text
	Place  string // source position "file:line:col", "" where the code has none
	Block  int    // linear index of the block
	Warp   int    // index of the warp in its block
	Lane   int    // first lane at fault; -1 where none is
	Value  uint64 // address or target at fault
	Want   string // what was wanted of the value; "" where there is nothing to say
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("emu: %s: %s at pc 0x%x", f.Kernel, f.Kind, f.PC)
	if f.Place != "" {
		s += " (" + f.Place + ")"
	}
	s += fmt.Sprintf(", %q, block %d, warp %d", f.Instr, f.Block, f.Warp)
	if f.Lane >= 0 {
		s += fmt.Sprintf(", lane %d", f.Lane)
	}
	if f.Want != "" {
		s += fmt.Sprintf(": got 0x%x, want %s", f.Value, f.Want)
	}
	return s
}

// A LimitError says that a limit ended the run before the kernel did.
type LimitError struct {
	Kernel string
	What   string // "steps" or "local memory"
	Limit  int64
	PC     uint64
	Block  int
	Warp   int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("emu: %s: limit of %d %s reached at pc 0x%x, block %d, warp %d",
		e.Kernel, e.Limit, e.What, e.PC, e.Block, e.Warp)
}

// A LaunchError says that a launch cannot be made.
type LaunchError struct {
	Kernel string
	Reason string
}

func (e *LaunchError) Error() string { return "emu: launch of " + e.Kernel + ": " + e.Reason }
