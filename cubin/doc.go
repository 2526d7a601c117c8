// Package cubin reads the GPU code that CUDA programs carry: executables and shared libraries, object files, static
// archives, stand-alone fatbins, cubins and PTX text. No NVIDIA tool takes part.
//
// A [File] is the carrier. It lists one [Entry] for each piece of GPU code (one architecture of one module); reading
// the list touches headers only. An entry loads to an [Image], a parsed cubin, whose [Kernel] values hold the machine
// code, the parameters, the register and shared-memory needs and, if the build kept them, the source lines.
//
//	f, err := cubin.Open("libggml-cuda.so")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	for _, e := range f.Entries() {
//		if e.Kind != cubin.KindELF || e.Arch != 86 {
//			continue
//		}
//		img, err := e.Load()
//		if err != nil {
//			return err
//		}
//		for _, k := range img.Kernels {
//			fmt.Println(k.Demangled(), k.Registers, k.SharedStatic, len(k.Code))
//		}
//	}
//
// [File.Each] does the same over several goroutines within a memory budget.
//
// # Limits
//
// Targets from sm_70 on are read; older ones are listed but their code is of another encoding. Little-endian 64-bit
// ELF and Windows PE only. PTX text is recognised and handed out, not interpreted. LTO intermediate code is listed and
// not read. Line programs of DWARF 2 to 4 are read, which is what NVIDIA's tools write.
// Names of shared arrays do not survive linking, so they are never reported. Everything that a file claims about
// itself is checked against the bytes that are there and against [Limits]; what does not fit is an error that names
// the entry, the section and the offset.
//
// # Sources
//
// Layouts were established from the public ELF constants of LLVM, the line-map reader of elfutils, and experiments on
// cubins of CUDA 11.1 to 13.5; each table row in this package names its own.
package cubin
