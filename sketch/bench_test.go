package sketch

import (
	"context"
	"os"
	"testing"

	"shmoo/arch"
	"shmoo/report"
)

// A 128x128x32 GEMM tile, 256 threads, K = 4096: parse, compile, run and resolve everything. The whole must stay under a
// second on one core.
func BenchmarkCheckGEMM(b *testing.B) {
	src, err := os.ReadFile("testdata/gemm.cu")
	if err != nil {
		b.Fatal(err)
	}
	a := arch.MustLookup("sm_90")
	b.ReportAllocs()
	requests := int64(0)
	for b.Loop() {
		p, err := Parse("gemm.cu", src, Options{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := p.Source(Launch{})
		if err != nil {
			b.Fatal(err)
		}
		r, err := report.Collect(context.Background(), s, a.Unit)
		if err != nil {
			b.Fatal(err)
		}
		totals := r.Totals()
		requests += totals.Requests
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
}

// Running alone: the cost of an access without its resolution.
func BenchmarkRunGEMM(b *testing.B) {
	src, err := os.ReadFile("testdata/gemm.cu")
	if err != nil {
		b.Fatal(err)
	}
	p, err := Parse("gemm.cu", src, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := p.Source(Launch{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	requests := 0
	for b.Loop() {
		for _, err := range s.Accesses(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
			requests++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
}

// Parsing and compiling alone.
func BenchmarkCompileGEMM(b *testing.B) {
	src, err := os.ReadFile("testdata/gemm.cu")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p, err := Parse("gemm.cu", src, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Source(Launch{}); err != nil {
			b.Fatal(err)
		}
	}
}
