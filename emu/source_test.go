package emu

import (
	"bytes"
	"context"
	"testing"

	"shmoo/access"
)

var _ access.Source = (*Source)(nil)

// TestParallel runs blocks one by one and several at a time: the accesses come in the same order, with the same result and memory.
func TestParallel(t *testing.T) {
	p := programOf(t, readCubin(t, "testdata/kernels.sm_90.cubin.gz"), "transpose")
	run := func(workers int) ([]Event, []byte, *Result) {
		const w, h = 128, 128
		out := make([]byte, 4*w*h)
		l := Launch{Grid: [3]int{4, 4, 1}, Block: [3]int{32, 8, 1}, Args: []Arg{Buffer(random(w*h, 1)), Buffer(out), Int32(w), Int32(h)}}
		for b := range 16 {
			l.Blocks = append(l.Blocks, 15-b)
		}
		var events []Event
		result, err := Run(context.Background(), p, l, Options{Parallel: workers}, func(e *Event) bool {
			addr := *e.Addr
			events = append(events, *e)
			events[len(events)-1].Addr = &addr
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return events, out, result
	}
	one, oneMemory, oneResult := run(1)
	many, manyMemory, manyResult := run(4)
	if len(one) == 0 || len(one) != len(many) {
		t.Fatalf("%d events one by one, %d in parallel", len(one), len(many))
	}
	for i := range one {
		a, b := one[i], many[i]
		if *a.Addr != *b.Addr || a.Block != b.Block || a.Warp != b.Warp || a.Site != b.Site || a.Active != b.Active {
			t.Fatalf("event %d: %+v one by one, %+v in parallel", i, a, b)
		}
	}
	if !bytes.Equal(oneMemory, manyMemory) {
		t.Error("memory differs")
	}
	if oneResult.Instructions != manyResult.Instructions || oneResult.Blocks != 16 || manyResult.Blocks != 16 {
		t.Errorf("results %+v and %+v", oneResult, manyResult)
	}
}

func TestSource(t *testing.T) {
	p := programOf(t, readCubin(t, "testdata/kernels.sm_90.cubin.gz"), "dependent")
	for _, workers := range []int{1, 2} {
		l := line(2, 256, Pointer(), Pointer(), Int32(256))
		s, err := NewSource(p, l, Options{Parallel: workers})
		if err != nil {
			t.Fatal(err)
		}
		if s.Result() != nil {
			t.Error("a result before the first run")
		}
		var exact, unresolved int64
		for a, err := range s.Accesses(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if site := s.Sites()[a.Site]; a.Request.Op != site.Op || a.Request.Width != site.Width || a.Count != 1 {
				t.Fatalf("access %+v at site %+v", a, site)
			}
			if a.Unresolved == "" {
				exact++
			} else {
				unresolved++
			}
		}
		r := s.Result()
		var wantExact, wantUnresolved int64
		for _, c := range r.Sites {
			wantExact += c.Requests
			wantUnresolved += c.Unresolved
		}
		if exact == 0 || unresolved == 0 || exact != wantExact || unresolved != wantUnresolved {
			t.Errorf("%d exact and %d unresolved accesses, the result says %d and %d", exact, unresolved, wantExact, wantUnresolved)
		}
		n := 0
		for range s.Accesses(context.Background()) {
			if n++; n == 10 {
				break
			}
		}
		if n != 10 {
			t.Errorf("stopped after %d accesses, want 10", n)
		}
	}
}

// TestSites checks what a site says of its instruction.
func TestSites(t *testing.T) {
	img := readCubin(t, "testdata/kernels.sm_80.cubin.gz")
	for _, c := range []struct {
		kernel string
		want   map[string]int // instruction names and widths
	}{
		{"matrices", map[string]int{"LDSM.x4": 16, "LDSM.x2.trans": 8, "STS": 4}},
		{"asynccopy", map[string]int{"LDGSTS.BYPASS.128": 16, "LDGSTS.64": 8, "LDS.64": 8}},
		{"locks", map[string]int{"ATOMS.CAS": 4, "ATOMS.EXCH": 4, "LDS": 4}},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			got := map[string]int{}
			for _, s := range programOf(t, img, c.kernel).Sites() {
				got[s.Instr] = s.Width
			}
			for name, width := range c.want {
				if got[name] != width {
					t.Errorf("%s: width %d, want %d; sites %v", name, got[name], width, got)
				}
			}
		})
	}
}
