package emu

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"shmoo/smem"
)

// requestKey is a request as the source code fixes it: instruction selection may not change it, except that a compiler may merge
// neighbouring accesses into a wider one.
type requestKey struct {
	op     smem.Op
	width  int
	active uint32
	addr   [warpLanes]uint32
}

func keyOf(p *Program, e *Event) requestKey {
	site := &p.Sites()[e.Site]
	k := requestKey{op: site.Op, width: site.Width, active: e.Active}
	for i := range warpLanes {
		if e.Active>>uint(i)&1 != 0 {
			k.addr[i] = e.Addr[i]
		}
	}
	return k
}

// requests runs a launch and returns how often it makes each request.
func requests(t *testing.T, p *Program, launch Launch) map[requestKey]int {
	t.Helper()
	set := map[requestKey]int{}
	_, err := Run(context.Background(), p, launch, Options{}, func(e *Event) bool {
		set[keyOf(p, e)]++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// selection names kernels whose code differs between targets in which accesses there are, and why.
var selection = map[string]string{
	"locks": "lanes take the lock in the order in which the scheduler runs them",
}

// TestTargetsAgree compares the requests of one source compiled for several targets: other instructions, registers, uniform
// datapath and convergence code must not change them.
func TestTargetsAgree(t *testing.T) {
	for _, c := range ownCases {
		t.Run(c.kernel, func(t *testing.T) {
			if why := selection[c.kernel]; why != "" {
				t.Skip(why)
			}
			var want map[requestKey]int
			for _, target := range targets {
				if target < c.since {
					continue
				}
				img := readCubin(t, fmt.Sprintf("testdata/kernels.sm_%d.cubin.gz", target))
				launch, _, _ := c.launch()
				got := requests(t, programOf(t, img, c.kernel), launch)
				if want == nil {
					want = got
				}
				if !maps.Equal(got, want) {
					more, less := 0, 0
					for k, n := range got {
						more += max(n-want[k], 0)
					}
					for k, n := range want {
						less += max(n-got[k], 0)
					}
					t.Errorf("sm_%d: %d requests that the first target does not make, %d of its %d missing", target, more, less, len(want))
				}
			}
		})
	}
}
