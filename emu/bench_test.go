package emu

import (
	"context"
	"testing"
)

// BenchmarkInteger runs integer kernels and reports warp instructions per second.
func BenchmarkInteger(b *testing.B) {
	img := readCubin(b, "testdata/kernels.sm_90.cubin")
	for _, c := range []struct {
		name   string
		launch Launch
	}{
		{"hash", line(1, 256, Buffer(make([]byte, 1024)), Int32(2000))},
		{"matmul", line(1, 256, Buffer(make([]byte, 4*64*64)), Buffer(make([]byte, 4*64*64)), Buffer(make([]byte, 4*64*64)), Int32(64))},
		{"bitonic", line(1, 256, Buffer(make([]byte, 2048)))},
		{"control", line(1, 256, Buffer(random(256, 1)), Buffer(make([]byte, 1024)))},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.name == "matmul" {
				c.launch.Block = [3]int{16, 16, 1}
			}
			p := programOf(b, img, c.name)
			m, err := newMachine(p, c.launch, Limits{})
			if err != nil {
				b.Fatal(err)
			}
			block := newBlock(m, func(*Event) bool { return true })
			b.ReportAllocs()
			var n int64
			for b.Loop() {
				if err := block.run(context.Background(), 0); err != nil {
					b.Fatal(err)
				}
				n += block.counts.instructions
				block.counts = counts{}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minstr/s")
		})
	}
}
