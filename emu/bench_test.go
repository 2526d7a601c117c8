package emu

import (
	"context"
	"testing"
)

// BenchmarkInteger runs integer kernels and reports warp instructions per second.
func BenchmarkInteger(b *testing.B) {
	img := readCubin(b, "testdata/kernels.sm_90.cubin.gz")
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

// BenchmarkGEMM runs one block of a register-tiled matrix multiplication with K = 4096, its data not given.
func BenchmarkGEMM(b *testing.B) {
	p := programOf(b, readCubin(b, "testdata/h200/kernels.cubin.gz"), "gemm_f4_p4")
	launch := Launch{Grid: [3]int{64, 64, 1}, Block: [3]int{256, 1, 1}, Args: []Arg{Pointer(), Pointer(), Pointer(), Int32(4096)}}
	var n int64
	for b.Loop() {
		result, err := Run(context.Background(), p, launch, Options{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if result.Exact() != 1 {
			b.Fatal("accesses are not all exact")
		}
		n += result.Instructions
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minstr/s")
}
