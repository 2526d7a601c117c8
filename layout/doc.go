// Package layout describes where data lies in shared memory, in the notations kernels are written in, and decides
// questions about such descriptions exactly.
//
// There are two kinds of map. A [Transform] takes a byte offset to a byte offset: a pad, an XOR swizzle, a linear map
// of address bits, or a chain of them. It can be applied to the addresses of any kernel, whatever they came from. A
// [Layout] takes an index (a coordinate, counted with the first mode fastest as in CuTe) to an offset.
//
// # A worked example
//
// Eight rows of eight elements, row-major, in CuTe notation:
//
//	(8,8):(8,1)
//
// The index i stands for row i%8, column i/8; its offset is 8*row + column. A column walk, indices 0..7, gives offsets
// 0 8 16 ... 56. Composed with a swizzle,
//
//	Swizzle<3,0,3> o (8,8):(8,1)
//
// bits 3..5 of the offset are XORed onto bits 0..2, so the same walk gives 0 9 18 27 36 45 54 63: all different modulo
// eight. The map is still one-to-one, which [Injective] proves by rank over F2, and it equals Triton's
//
//	#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 8, order = [1, 0]}> on 8x8
//
// which [Compare] proves, again by algebra. [ToShared] finds that form.
//
// # Notations
//
//	(2,(4,8)):(1,(2,16))               CuTe shape:stride; a shape alone is compact, first mode fastest; _2 and Int<2> are read as 2
//	Swizzle<B,M,S>                     CuTe: 2^B rows of XOR, lowest M bits kept, source S bits above (S < 0: below) the target
//	Swizzle<B,M,@P>                    the same with P the absolute position of the lowest source bit: S = P - M
//	pad(+16 per 128 bytes)             16 bytes inserted after every 128; several steps count the original offsets
//	linear(0x1, 0x2, 0x84)             images of address bits 0, 1, 2, XORed; higher bits stay
//	Swizzle<3,3,3> on 2-byte elements  a transform of element numbers, used on bytes
//	f o g                              g first, then f; an integer between two o is an offset added
//	smem_ptr[16b](unset)               in a composition: element numbers become byte offsets, as CuTe prints
//	#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> on 64x64
//	#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>
//	#ttg.shared_linear<{offset = [[0, 1], [1, 0]], block = []}>     offset bits to coordinates; as a Layout it is inverted
//	#ttg.linear<{register = [[0, 1]], lane = [[1, 0]]}>             inputs to coordinates
//
// What is printed is read back as the same value. The unit of a bare transform is the byte; the unit of a swizzle or
// pad inside a layout is that of the layout's offsets, usually elements. Swizzle<3,4,3> on bytes is Swizzle<3,3,3> on
// 2-byte elements ([Swizzle.Recast]).
//
// # How questions are decided
//
// Where a map is linear over F2 (sizes are powers of two and no addition carries) injectivity, bijection and equality
// are decided by rank, whatever the size. Strided layouts whose strides nest are decided by comparing strides. All else
// is decided by looking at every index, up to [MaxExhaustive] of them; beyond that the answer is [ErrUndecided], never
// a guess.
//
// # Limits
//
// Sizes and offsets stay below 2^31, nesting below 32 levels, a text below 64 KiB. Negative strides are not read.
// Triton encodings of several blocks (non-empty block bases), and NVIDIA's own MMA encodings, are not read.
package layout
