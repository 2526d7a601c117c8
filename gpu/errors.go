package gpu

import (
	"fmt"
	"strings"
	"time"
)

// A NoDriverError says that no GPU can be used here: the driver is missing, too old, or has no device, or this program was
// built without it. Trying again on another machine can help (exit code 4).
type NoDriverError struct {
	Reason string
	Err    error // the cause, or nil
}

func (e *NoDriverError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("no usable GPU: %s: %v", e.Reason, e.Err)
	}
	return "no usable GPU: " + e.Reason
}

func (e *NoDriverError) Unwrap() error { return e.Err }

// A CallError is a failed call of the driver, or of a library beside it.
type CallError struct {
	Call string // "cuLaunchKernel"
	Code int
	Name string // "CUDA_ERROR_ILLEGAL_ADDRESS"; "" when the library gives none
	Text string // what the library says about it
}

func (e *CallError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.Call)
	if e.Text != "" {
		b.WriteString(e.Text + " ")
	}
	if e.Name != "" {
		fmt.Fprintf(&b, "(%s, status %d)", e.Name, e.Code)
	} else {
		fmt.Fprintf(&b, "(status %d)", e.Code)
	}
	return b.String()
}

// Fault reports whether a kernel caused the error by what it did (a bad address, a trap, a failed assertion, a hardware
// exception). The device is of no further use to this process.
func (e *CallError) Fault() bool {
	// CUDA driver API, enum CUresult: 700 illegal address, 702 launch timeout, 710 assert, 714 to 719 stack error, illegal
	// instruction, misaligned address, invalid address space, invalid pc, launch failed.
	return e.Code == 700 || e.Code == 702 || e.Code == 710 || e.Code >= 714 && e.Code <= 719
}

// A CompileError is code that a compiler refused.
type CompileError struct {
	Name string // of the source
	Log  string // what the compiler printed
}

func (e *CompileError) Error() string {
	log := strings.TrimSpace(e.Log)
	if log == "" {
		log = "refused by the compiler without a message"
	}
	return fmt.Sprintf("%s: %s", e.Name, log)
}

// A HungError is a kernel that did not finish in time. It may still be running: the device is of no further use to this
// process.
type HungError struct {
	After time.Duration // how long it had run
}

func (e *HungError) Error() string {
	return fmt.Sprintf("kernel still running after %v, gave up waiting", e.After.Round(time.Millisecond))
}

// A NotRecordedError is a pattern that a recording does not hold.
type NotRecordedError struct {
	File   string
	Sample Sample
}

func (e *NotRecordedError) Error() string {
	return fmt.Sprintf("%s: no sample of %s with mask %08x and these addresses", e.File, e.Sample.Op, uint64(e.Sample.Active))
}
