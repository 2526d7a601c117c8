package gpu

import (
	"context"
	"time"
)

// Info describes a device.
type Info struct {
	Name   string // "NVIDIA H200"
	Arch   string // the name that package arch knows, such as "sm_90"
	Driver string // version of the driver, such as "580.159.04"
	UUID   string // "" when unknown

	Multiprocessors int
	WarpLanes       int
	ClockMHz        int   // highest clock of the multiprocessors
	MemoryBytes     int64 // device memory
	L2Bytes         int
	SharedPerBlock  int // most shared memory of a block, after opting in
	SharedPerSM     int
}

// A Device runs kernels on one GPU.
type Device interface {
	// Info returns what the device is.
	Info() Info
	// Load makes a module of PTX text, which the driver compiles for the device, or of a cubin. The name appears in errors.
	// A refused image gives a *CompileError with the driver's log.
	Load(ctx context.Context, name string, image []byte) (Module, error)
	// Alloc reserves device memory of size bytes; its content is undefined. The caller frees it.
	Alloc(size int) (Memory, error)
	// State reads the device's clocks and load. It returns errors.ErrUnsupported where the platform cannot tell.
	State() (State, error)
	// Close ends the use of the device and frees everything made from it. Closing twice is harmless.
	Close() error
}

// An Assembler is a Device that can show the machine code it makes of PTX.
type Assembler interface {
	// Assemble returns the cubin that the driver makes of PTX text for this device. Errors are those of Device.Load.
	Assemble(ctx context.Context, name string, ptx []byte) ([]byte, error)
}

// A Module is loaded code.
type Module interface {
	// Kernel returns the kernel with the given (mangled) name. It lives as long as its module.
	Kernel(name string) (Kernel, error)
	// Unload frees the module.
	Unload() error
}

// A Kernel is a function of a module that runs on the device.
type Kernel interface {
	// Attributes returns what the kernel needs of a multiprocessor.
	Attributes() (Attributes, error)
	// Launch runs the kernel and waits until it has finished. When ctx ends first it returns a *HungError, and the device
	// is of no further use. A kernel that faults gives a *CallError whose Fault method reports true, likewise the last use
	// of the device.
	//
	// Each argument is a Memory, an int32, uint32, int64, uint64, float32 or float64, in the order of the kernel's
	// parameters. The driver does not check their number or sizes: too few are undefined behaviour.
	Launch(ctx context.Context, l Launch, args ...any) (time.Duration, error)
}

// Attributes is what a kernel needs of a multiprocessor.
type Attributes struct {
	Registers       int // per thread
	StaticShared    int // bytes per block
	LocalBytes      int // per thread; more than 0 means spills or indexed arrays
	ThreadsPerBlock int // most that a block may have
}

// A Dim is the extent of a grid or a block. Zero components count as 1.
type Dim struct{ X, Y, Z int }

// Count returns the number of elements of the extent.
func (d Dim) Count() int { return max(d.X, 1) * max(d.Y, 1) * max(d.Z, 1) }

// A Launch is the shape of one run of a kernel.
type Launch struct {
	Grid, Block Dim
	Shared      int // bytes of dynamic shared memory
	// Repeat is how many times the kernel runs back to back. The duration that Launch returns is the whole run divided by
	// it, on the device's clock. 0 counts as 1.
	Repeat int
}

// A Memory is a range of device memory. It is an argument of kernels.
type Memory interface {
	// Size returns the number of bytes.
	Size() int
	// Write copies p to the memory, starting at offset; Read copies to p from there. Both return when the copy is done and
	// refuse ranges outside the memory.
	Write(offset int, p []byte) error
	Read(offset int, p []byte) error
	// Fill sets every byte to b.
	Fill(b byte) error
	// Free gives the memory back.
	Free() error
}

// State is what a device is doing at one moment.
type State struct {
	ClockMHz    int      // of the multiprocessors, now
	MemoryMHz   int      // of device memory, now
	Temperature int      // degrees Celsius
	Milliwatts  int      // power drawn; 0 when unknown
	Limits      []string // why the clock is below its highest, such as "thermal" or "power"; idle does not count
	// Others holds the process ids that use the device for computing, without this process.
	Others []int
}

// A Compiler makes machine code of CUDA C++.
type Compiler interface {
	// Version returns the compiler's name and version, such as "nvrtc 13.0".
	Version() string
	// Compile returns a cubin. A refused source gives a *CompileError with the compiler's log.
	Compile(ctx context.Context, s Source) ([]byte, error)
}

// A Source is CUDA C++ to compile.
type Source struct {
	Name    string // file name, for messages and line tables
	Text    string
	Arch    string            // "sm_90"
	Options []string          // as for nvcc, such as "-DPAD=4" or "-std=c++17"
	Headers map[string]string // text of headers by the name that includes them
}
