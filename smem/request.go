package smem

import (
	"fmt"
	"math/bits"
)

// MaxLanes is the largest number of lanes of a warp in any unit (a wave of 64 on AMD).
const MaxLanes = 64

// Mask is a set of lanes: bit i is lane i.
type Mask uint64

// Has reports whether lane is in the set.
func (m Mask) Has(lane int) bool { return m>>uint(lane)&1 != 0 }

// Count returns the number of lanes in the set.
func (m Mask) Count() int { return bits.OnesCount64(uint64(m)) }

// Lowest returns the lowest lane of the set, or MaxLanes when it is empty.
func (m Mask) Lowest() int { return bits.TrailingZeros64(uint64(m)) }

// Lanes returns the mask of lanes lo to hi-1.
func Lanes(lo, hi int) Mask {
	return Mask(^uint64(0)>>uint(64-hi)) &^ (1<<uint(lo) - 1)
}

// Op is what a request does to shared memory.
type Op uint8

// The operations of the unit. SASS names are in parentheses.
const (
	Load        Op = iota // read per lane (LDS)
	Store                 // write per lane (STS)
	LoadMatrix            // ldmatrix, transposed or not (LDSM); the width gives the count of matrices
	StoreMatrix           // stmatrix, transposed or not (STSM)
	Atomic                // read-modify-write that returns the old value (ATOMS)
	Reduce                // read-modify-write without a result (ATOMS to RZ, red.shared)
	CompareSwap           // compare and swap (ATOMS.CAS)
	CopyAsync             // cp.async.ca, through L1 (LDGSTS)
	CopyAsyncCG           // cp.async.cg, past L1 (LDGSTS.BYPASS)
	opCount     = iota
)

var opNames = [opCount]string{
	"load", "store", "ldmatrix", "stmatrix", "atomic", "red", "cas", "cp.async.ca", "cp.async.cg",
}

// String returns the name used in reports and on the command line, such as "load" or "ldmatrix".
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// ParseOp returns the operation that String names s.
func ParseOp(s string) (Op, bool) {
	for i, name := range opNames {
		if name == s {
			return Op(i), true
		}
	}
	return 0, false
}

// IsMatrix reports whether the addresses of a request are rows of 8x8 matrices rather than one per lane.
func (o Op) IsMatrix() bool { return o == LoadMatrix || o == StoreMatrix }

// Writes reports whether the operation writes shared memory.
func (o Op) Writes() bool { return o != Load && o != LoadMatrix }

// matrixRowBytes is the size of a row of an 8x8 matrix of 16-bit elements: what one lane's address stands for in
// ldmatrix and stmatrix (PTX ISA, ldmatrix).
const matrixRowBytes = 16

// A Request is one warp-wide execution of a shared-memory instruction.
type Request struct {
	Op     Op
	Width  int  // bytes per lane: 1, 2, 4, 8 or 16; for matrices 4 per matrix (x1 4, x2 8, x4 16)
	Active Mask // lanes that take part
	// Addr holds a byte offset into shared memory per lane. For matrices lane 8i+j addresses row j of matrix i and the
	// lanes past the last matrix are ignored. Addresses of inactive lanes are ignored.
	Addr []uint32
}

// Bytes returns the number of bytes that one address of the request covers.
func (r *Request) Bytes() int {
	if r.Op.IsMatrix() {
		return matrixRowBytes
	}
	return r.Width
}

// Addressing returns the active lanes whose addresses count: all of them, or the row-address lanes of a matrix
// operation.
func (r *Request) Addressing() Mask {
	if r.Op.IsMatrix() {
		return r.Active & Lanes(0, 8*min(r.Width/4, 8))
	}
	return r.Active
}

// FaultKind says why the unit refuses a lane's address.
type FaultKind uint8

// The faults of the unit.
const (
	OutOfBounds FaultKind = iota // the access ends past the shared memory of the block
	Misaligned                   // the address is not a multiple of the access's size
)

// A Fault is an address that the hardware would refuse with an exception. It names the first lane at fault.
type Fault struct {
	Kind  FaultKind
	Lane  int
	Addr  uint32
	Bytes int // size of the access at Addr
	Limit int // bytes of shared memory; meaningful for OutOfBounds
}

func (f *Fault) Error() string {
	if f.Kind == Misaligned {
		return fmt.Sprintf("lane %d: address %#x is misaligned, want a multiple of %d bytes", f.Lane, f.Addr, f.Bytes)
	}
	return fmt.Sprintf("lane %d: address %#x is out of bounds: %d bytes end at %#x, shared memory ends at %#x",
		f.Lane, f.Addr, f.Bytes, uint64(f.Addr)+uint64(f.Bytes), f.Limit)
}

// An UnsupportedError says that the unit has no rule for an operation of a width.
type UnsupportedError struct {
	Unit  string
	Op    Op
	Width int
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("unit %s has no rule for %s of %d bytes per lane", e.Unit, e.Op, e.Width)
}
