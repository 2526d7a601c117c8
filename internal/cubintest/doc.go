// Package cubintest builds small CUDA binaries for tests: cubins of the old and the new ABI, fatbins, host ELF files and
// archives. What it writes has the layout that NVIDIA's tools write, as far as readers look at it, and nothing else.
//
//	data := cubintest.Cubin{Arch: 90, Kernels: []cubintest.Kernel{{
//		Name: "_Z1kPf", Code: cubintest.Words(0x000000000000794d, 0x000fea0003800000),
//		Registers: 16, Params: []cubintest.Param{{Offset: 0, Size: 8}}, Shared: 512,
//	}}}.Bytes()
//
// Inputs are trusted: sizes and offsets are written as given, so that a test can also write a file that lies. It is no
// assembler; code is given as words.
package cubintest

import "encoding/binary"

// Words returns machine code from instruction words, each as low and high half.
func Words(halves ...uint64) []byte {
	out := make([]byte, 0, 8*len(halves))
	for _, h := range halves {
		out = binary.LittleEndian.AppendUint64(out, h)
	}
	return out
}
