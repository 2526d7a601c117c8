// Package sass decodes NVIDIA machine code (SASS) of sm_70 to sm_121 and prints it in the usual disassembly style, without any vendor
// tool.
//
//	i, err := sass.Decode(sass.SM86, code[pc:])      // 16 bytes
//	fmt.Printf("%s", i.AppendText(nil, pc))          // LDS.128 R28, [R2+-0x80]
//	if a, ok := i.SharedAccess(); ok {
//		base := i.Arg(a.Addr)                        // base.Reg, base.Shift, base.UReg, base.Imm
//		fmt.Println(a.Bytes)                         // 16 bytes per lane
//	}
//
// An Inst is a flat value: operation, guard, typed modifiers, and every operand of the encoding at a fixed position with a role,
// also those that the text leaves out. Decoding and printing allocate nothing; decoding a whole library is a loop over 16-byte
// steps. What no table row describes is ErrUnknown, never a guess; the listing goes on with OpInvalid.
//
// # Coverage
//
// Complete: everything that can affect an address, a predicate or control flow, all memory, synchronisation and asynchronous
// instructions. Float, matrix and tensor-memory instructions have operands, modifiers and the exact number of destination registers;
// textures and surfaces have mnemonic, operands and destination registers. Graphics-only instructions are not decoded.
//
// In a public CUDA library of 159 MB (ggml; sm_86, 89, 120 and 121, 22.8 million instructions) nothing is unknown, and every
// instruction has all its operands; the text equals that of nvdisasm 13.5 on all of 1.2 million distinct encodings sampled from it.
// sm_75, 80, 90, 100, 103, 110 are compared on the kernels of testdata/src. No disassembler for sm_70 and sm_72 was at hand: their rows
// are those of sm_75 without uniform registers, checked by TestKernels only.
// The number of table rows that no vector reaches is kept in TestRowCoverage.
//
// # The table
//
// The folder table holds the instruction set as text, in two kinds of lines; "go generate" turns it into zops.go and zrows.go.
//
//	enum NAME MOD WIDTH VALUE...
//
// names the values of a modifier field, in order or as N=VALUE. A value is its text, "-" for none; VALUE/M gives the number M that Mods
// stores (default: the raw value), so one generation's 4, 5, 6 and another's 0, 1, 2 become the same Width. MOD is the Mod, or "-"
// for modifiers that only the text needs. Values that are not listed make the instruction unknown.
// "count NAME WIDTH N..." does the same for the number of registers of an operand.
//
//	OPCODES | FAMILIES | OP[=PRINTED] .ENUM@FIELD... | OPERAND... | OPTION... | SOURCE
//
// describes one operation. Opcodes are bits [11:0] with bit 91 on top, in hex. Families are 70, 75, 80, 90, 100, 120 or ranges
// (75-90, 100+); generations of one family share everything except rows with the option since=NN. A FIELD is LO, LO:WIDTH or LO:WIDTH+LO:WIDTH (more significant part
// first). Modifiers print in the order of the row; .ENUM=N is a fixed one. Options: N=V requires field N to be V (of several rows for an opcode the
// first that matches wins), guard=u says that the guard is a uniform predicate, alias=NAME names a printing rule of alias.go. Sources are letters:
//
//	M  Mesa's open compiler backend (MIT)      C  vectors of CuAssembler (MIT)     T, H  published notes and tables, restated
//	V  checked here against disassembled code  N  public documentation             I     inferred
//
// Operands print in the order of the row. KIND@FIELD with a ROLE= in front where the kind does not imply one:
//
//	D A UD UA            destination and first source, general or uniform     R@N U@N   register at bit N (R>@N: destination)
//	B C UB UC            second and third source: what they are and where follows from the form bits [11:9] of the opcode
//	Pu Pv Pp Pq Pr       predicates written and read (UPu ... uniform)         P@N UP@N  predicate; PI UPI: number stored inverted
//	I@FIELD  K  SR@N     immediate, constant bank, special register            BB SB     convergence barrier, scoreboard
//	T@FIELD  TA@FIELD    code address, relative or absolute, in words          M(...)    address; CL CU CX (...): constant address
//
// The parts of M are a letter with a field: r base register, u uniform register, o offset, x shift of the base, b bank; and properties
// that are always there without a field: e 64-bit base (q: the same, not printed), d u is a descriptor, k 64-bit base next to u.
// Attributes follow with commas: -N &N ~N !N sign bits (^ negates, or complements with .X; without N the usual bit of the slot), *N or *COUNT@FIELD
// registers, s u f h b d styles of immediates (signed, hex, float, halves, bfloats, double), pt rz z ... when to leave the operand out.
//
// # Adding an architecture
//
// If it belongs to a family, give it a constant and a case of family in arch.go: nothing else. A new family gets a constant there, a number
// in gen's list of families, and rows: first widen the ranges of all rows (75+ already includes it), then compile testdata/src for it, run the
// comparison below and give each operation that differs a row of its own. Opcode numbers are reused between generations, and fields above
// a uniform register move when its width changes. Add a vector file. To check against a disassembler of your own:
//
//	SHMOO_NVDISASM=/path/to/nvdisasm go test ./sass -run Live -v
//
// # Tests
//
// testdata/vectors has "LO HI [@PC] | TEXT" lines, chosen to reach the rows of the table; TestRowCoverage counts them. testdata/kernels has
// whole kernels with what the compiler recorded about them. allowedDifference (live_test.go) lists where this package prints
// something else on purpose.
package sass
