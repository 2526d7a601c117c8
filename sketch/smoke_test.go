package sketch

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"shmoo/arch"
	"shmoo/report"
)

func TestSmoke(t *testing.T) {
	name := os.Getenv("SK")
	if name == "" {
		t.Skip()
	}
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var defs []Define
	for _, d := range strings.Fields(os.Getenv("SKD")) {
		n, v, _ := strings.Cut(d, "=")
		defs = append(defs, Define{n, v})
	}
	var l Launch
	fmt.Sscanf(os.Getenv("SKB"), "%d,%d,%d", &l.Block[0], &l.Block[1], &l.Block[2])
	l.Kernel = os.Getenv("SKK")
	start := time.Now()
	p, err := Parse("k.cu", src, Options{Defines: defs})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Source(l)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Collect(context.Background(), s, arch.MustLookup("sm_90").Unit)
	if err != nil {
		t.Fatal(err)
	}
	for i, s2 := range r.Sites {
		fmt.Println(s2.Pos.Pos, s2.Array, s2.Op, s2.Instr, s2.Text, s2.Tally, s.IndexSpans(i))
	}
	fmt.Println(s.Arrays(), s.Warnings(), time.Since(start), p.Kernels(), s.Block())
}
