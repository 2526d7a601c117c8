package emu

import (
	"encoding/binary"
	"math"

	"shmoo/diag"
)

// Code is a kernel's machine code and what its file says about it. A caller fills it from a cubin.
type Code struct {
	Name string // for diagnostics; usually demangled
	Arch int    // generation as in sm_NN: 80, 90, 120
	// Text is the code of the kernel's section: 16 bytes an instruction; PCs are offsets into it.
	Text  []byte
	Entry uint32 // PC of the first instruction
	// Params are the kernel's parameters by ordinal. ParamBase is where they start in constant bank 0; 0 means the
	// generation's usual place.
	Params    []Param
	ParamBase int
	// Constants holds the contents of the constant banks other than 0, by index.
	Constants map[int][]byte
	// Data is global memory whose initial contents the file fixes, such as __device__ tables.
	Data []Segment
	// SharedStatic is the size in bytes of the statically declared shared memory. SharedDynamicStart is the offset of
	// extern shared memory from the first user byte; 0 means right behind the static part, aligned to 16 bytes.
	SharedStatic       int
	SharedDynamicStart int
	// MaxThreads is the launch bound (threads in x, y, z; x*y*z counts) and ReqThreads the required block shape; zero
	// where the file has none.
	MaxThreads [3]int
	ReqThreads [3]int
	// Indirect lists where indirect branches may go, as far as the file says (jump tables). A branch whose target is unknown
	// is followed to all of them.
	Indirect []IndirectBranch
	// Pos returns the source position of a PC and the calls it was inlined through, innermost first. It may be nil.
	Pos func(pc uint64) (diag.Span, []diag.Pos)
}

// IndirectBranch is a branch through a register and the PCs it may go to.
type IndirectBranch struct {
	PC      uint32
	Targets []uint32
}

// Param is a kernel parameter: its offset from the parameter base and its size in bytes.
type Param struct {
	Offset int
	Size   int
}

// GlobalBase is where a caller may place the global memory that a module brings along (Code.Data): far from the addresses of
// arguments and of the shared and local windows.
const GlobalBase = 0x0000_7d00_0000_0000

// Segment is a piece of global memory with known contents.
type Segment struct {
	Addr uint64
	Data []byte
}

// Launch says how a kernel is launched. The zero value of Blocks means block 0 alone.
type Launch struct {
	Grid          [3]int
	Block         [3]int
	DynamicShared int   // bytes
	Args          []Arg // by ordinal; missing ones are unknown
	Blocks        []int // linear indices of the blocks to run; negative ones count from the end of the grid
}

// argKind says what an argument is.
type argKind uint8

const (
	argUnknown argKind = iota
	argBytes
	argBuffer
	argPointer
)

// An Arg is the value of a kernel parameter. The zero Arg is an unknown value. It is made by Bytes, Int32, Int64,
// Float32, Buffer, Pointer or Null.
type Arg struct {
	kind argKind
	data []byte
}

// Bytes returns a parameter with the given bytes, such as a struct passed by value. The slice is not copied.
func Bytes(b []byte) Arg { return Arg{kind: argBytes, data: b} }

// Int32 returns a 32-bit integer argument, signed or not.
func Int32(v int32) Arg { return Bytes(binary.LittleEndian.AppendUint32(nil, uint32(v))) }

// Int64 returns a 64-bit integer argument, signed or not.
func Int64(v int64) Arg { return Bytes(binary.LittleEndian.AppendUint64(nil, uint64(v))) }

// Float32 returns a 32-bit floating-point argument.
func Float32(v float32) Arg { return Int32(int32(math.Float32bits(v))) }

// Buffer returns a pointer to global memory with the given contents. Kernels write into the slice itself.
func Buffer(data []byte) Arg { return Arg{kind: argBuffer, data: data} }

// Pointer returns a valid pointer to memory whose contents are unknown: loads through it give unknown values.
func Pointer() Arg { return Arg{kind: argPointer} }

// Null returns a null pointer.
func Null() Arg { return Int64(0) }

// Limits bound an execution; zero fields take the defaults named. Exceeding one ends the run with a LimitError and
// what was found until then.
type Limits struct {
	Steps      int64 // warp instructions per block; default 200 million
	LocalBytes int   // local memory per lane; default 64 KiB
	Forks      int   // unknown branches followed on both sides, per warp; default 4096
}

func (l Limits) withDefaults() Limits {
	if l.Steps == 0 {
		l.Steps = 200_000_000
	}
	if l.LocalBytes == 0 {
		l.LocalBytes = 64 << 10
	}
	if l.Forks == 0 {
		l.Forks = 4096
	}
	return l
}
