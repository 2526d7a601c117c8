// Package emu executes the machine code of a CUDA kernel for some of its blocks, so that the address of every lane of every
// shared-memory instruction is known without a GPU.
//
// Each warp runs with 32 concrete lanes. Every register value is either known or carries the reason why it is not:
//
//	program, err := emu.NewProgram(code)                        // code: emu.Code, filled from a cubin
//	launch := emu.Launch{
//		Grid: [3]int{64, 1, 1}, Block: [3]int{256, 1, 1},
//		Args: []emu.Arg{emu.Buffer(input), emu.Pointer(), emu.Int32(4096)},
//	}
//	source, err := emu.NewSource(program, launch, emu.Options{}) // an access.Source
//	for a, err := range source.Accesses(ctx) { ... }
//	result := source.Result()
//
// What is exact: integer, predicate, conversion, shuffle, vote, match, funnel and bit instructions, shared and local memory,
// divergence and barriers. 32-, 64- and 16-bit floating point follows IEEE 754 with one rounding; the special function
// unit (MUFU) is the correctly rounded function, which differs from hardware in the last places.
//
// What is not known stays marked: a load from memory whose contents were not given, the result of a tensor instruction or of
// an instruction without semantics. Where a branch depends on such a value, both sides run (see fork.go); accesses made there are
// reported as unresolved with the instruction that the value came from, and Result holds bounds for them.
//
// Limits: blocks run one by one or in parallel but do not wait for each other, so kernels that synchronise across the grid
// see only their own block. Asynchronous copies complete at once. Waits on memory barriers succeed at once, and tiles that
// the tensor memory accelerator brings are unknown data. Textures and surfaces return unknown data.
package emu
