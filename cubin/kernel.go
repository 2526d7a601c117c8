package cubin

// Kernel is one entry point of an image. Slices refer to the image's memory and are not to be changed.
type Kernel struct {
	Name  string // mangled, as the symbol table has it
	Image *Image // where it comes from: architecture, target, symbols, global data

	// Code is the machine code of the kernel's section, 16 bytes an instruction. A PC is an offset into it.
	// Device functions that were not inlined and that only this kernel calls lie behind the kernel in the same section.
	Code []byte
	// Entry is the PC of the first instruction, 0 in all files seen.
	Entry uint32
	// Size is the number of code bytes from Entry that belong to the kernel itself by its symbol. It may cover the
	// local functions too.
	Size uint32
	// Functions lists the local device functions in Code by ascending offset; the kernel itself is not among them.
	Functions []Function

	Registers int // registers a lane, 0 if the file does not say
	Barriers  int // hardware barriers of the block
	FrameSize int // bytes of stack a lane
	MinStack  int // bytes of stack a lane including callees, as far as the compiler knew

	Params     []Param // by ordinal
	ParamBase  int     // offset of the parameter block in constant bank 0
	ParamBytes int     // size of the parameter block

	// SharedStatic is the static shared memory of a block in bytes, without SharedReserved. The compiler rounds it up
	// to SharedAlign.
	SharedStatic int
	// SharedReserved is the first user byte's shared address: 1024 from sm_90 on, else 0.
	SharedReserved int
	// SharedAlign is the alignment of the kernel's shared section in bytes, 0 if it has none. Linked code does not
	// say whether a kernel uses extern shared memory; if it does, that begins at SharedDynamicStart.
	SharedAlign int

	MaxThreads [3]int // launch bound (x, y, z), zero if none
	ReqThreads [3]int // required block shape, zero if none
	Cluster    [3]int // required cluster shape, zero if none
	MaxCluster int    // largest cluster rank allowed, 0 if not said

	Exits         []uint32 // PCs of EXIT instructions as the compiler lists them
	Indirect      []IndirectBranch
	WarpWide      []uint32 // PCs of warp-collective instructions (SHFL, VOTE, WARPSYNC ...), may be incomplete
	ExternalCalls []uint32 // PCs of calls into the driver's routines (printf, malloc, assert)

	// Banks holds the constant banks that the kernel sees and the file fills or sizes: 0 (launch state and parameters,
	// zeros), 2 (compiler constants and jump tables), 3 (user constants), 4 (addresses of globals). Ascending by index.
	Banks []Bank
	// Relocs are the relocations of Code; linked code has none.
	Relocs []Reloc

	section int // of the code
}

// Function is a device function inside a kernel's code.
type Function struct {
	Name   string
	Offset uint32
	Size   uint32
}

// Param is one kernel parameter.
type Param struct {
	Ordinal int
	Offset  int // bytes from Kernel.ParamBase
	Size    int // bytes
	// Pointer tells that the compiler knew it for a pointer to global memory. Files below sm_100 never say so.
	Pointer bool
}

// Bank is a constant bank as the file has it. Data is nil if Size bytes are zero-filled at launch.
type Bank struct {
	Index  int
	Size   int
	Data   []byte
	Relocs []Reloc // words that the loader fills with addresses, ascending by offset
}

// Reloc is a place that the loader fills with the address of a symbol.
type Reloc struct {
	Offset uint32
	Type   uint32 // R_CUDA number: 1 and 2 are plain 32- and 64-bit addresses
	Symbol Symbol
	Addend int64
}

// Symbol is a named place of an image.
type Symbol struct {
	Name    string
	Section string // name of the section that holds it, "" if it is defined elsewhere
	Value   uint64 // offset in the section
	Size    uint64
}

// IndirectBranch lists where one BRX or BRXU may go.
type IndirectBranch struct {
	PC      uint32
	Targets []uint32
}

// Bank returns the constant bank with an index, or nil.
func (k *Kernel) Bank(index int) *Bank {
	for i := range k.Banks {
		if k.Banks[i].Index == index {
			return &k.Banks[i]
		}
	}
	return nil
}

// SharedDynamicStart returns the shared address of the first byte of extern shared memory: behind the static part,
// aligned as the shared section is.
func (k *Kernel) SharedDynamicStart() int {
	align := max(k.SharedAlign, 1)
	return k.SharedReserved + (k.SharedStatic+align-1)/align*align
}

// FunctionAt returns the local device function that holds a PC, or nil if it lies in the kernel itself.
func (k *Kernel) FunctionAt(pc uint32) *Function {
	for i := range k.Functions {
		if f := &k.Functions[i]; pc >= f.Offset && pc-f.Offset < f.Size {
			return f
		}
	}
	return nil
}
