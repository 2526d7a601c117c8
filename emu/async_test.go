package emu

import (
	"context"
	"testing"

	"shmoo/smem"
)

// TestBulkCopy runs a kernel that waits for a bulk copy at a memory barrier: the wait ends, what arrives is unknown, and addresses that do not
// depend on it stay exact.
func TestBulkCopy(t *testing.T) {
	p := programOf(t, readCubin(t, "testdata/async.sm_90.cubin.gz"), "bulkcopy")
	result, err := Run(context.Background(), p, line(1, 256, Pointer(), Pointer()), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result.AssumedWaits != 8 {
		t.Errorf("%d waits taken to succeed, want one per warp, 8", result.AssumedWaits)
	}
	var exact, unknown int
	for i, s := range result.Sites {
		switch {
		case s.Requests == 8 && s.Unresolved == 0:
			exact++
		case s.Unresolved == 8 && s.Maybe == 0 && p.Sites()[i].Op == smem.Store:
			unknown++
		default:
			t.Errorf("pc 0x%x: %+v", p.Sites()[i].PC, s)
		}
	}
	if exact != 4 || unknown != 1 {
		t.Errorf("%d sites exact and %d unknown, want 4 and 1", exact, unknown)
	}
	if len(result.Unsupported) > 0 {
		t.Errorf("without semantics: %v", result.Unsupported)
	}
}
