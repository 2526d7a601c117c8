// Package inspect looks at the machine code of CUDA binaries: which kernels a file has and how they use shared memory,
// the code itself with source lines, and the shared-memory sites of one kernel with the width that the compiler chose.
//
//	f, err := cubin.Open("libggml-cuda.so")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	list, err := inspect.Kernels(ctx, f, inspect.Options{Arch: 86})
//	if err != nil {
//		return err
//	}
//	return list.WriteText(os.Stdout)
//
// [Disassemble] writes code, [Sites] lists the accesses of one kernel, and [Sites.Runs] tells where neighbouring narrow
// accesses could have been one wide access and what kept the compiler from it.
//
// Files are read entry by entry over several goroutines within a memory budget, so that a library of any size can be
// listed.
//
// # Limits
//
// Only the code is looked at; nothing runs. Engines that move shared memory without addresses of lanes (TMA, tensor
// memory, warpgroup MMA) and generic accesses that happen to hit shared memory are not sites.
package inspect
