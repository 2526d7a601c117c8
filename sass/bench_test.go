package sass

import "testing"

// benchWords are the instructions of the kernels in testdata, so the mix is that of real code.
func benchWords(b *testing.B) []vector {
	var out []vector
	for _, k := range readKernels(b) {
		for n, w := range k.code {
			out = append(out, vector{arch: k.arch, pc: uint64(n * Size), word: w})
		}
	}
	return out
}

func BenchmarkDecode(b *testing.B) {
	words := benchWords(b)
	var i Inst
	b.ReportAllocs()
	b.SetBytes(Size)
	for n := 0; b.Loop(); n++ {
		v := &words[n%len(words)]
		if err := DecodeWord(&i, v.arch, v.word); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	words := benchWords(b)
	var i Inst
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	b.SetBytes(Size)
	for n := 0; b.Loop(); n++ {
		v := &words[n%len(words)]
		if err := DecodeWord(&i, v.arch, v.word); err != nil {
			b.Fatal(err)
		}
		buf = i.AppendText(buf[:0], v.pc)
	}
}
