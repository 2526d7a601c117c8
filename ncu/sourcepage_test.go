package ncu_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/ncu"
	"shmoo/smem"
)

// recorded is a load with two counters.
type recorded struct {
	line               int
	request            *smem.Request
	hardware, profiler int
}

// request returns a request of the lanes in active with the given addresses.
func request(op smem.Op, width int, active smem.Mask, addr func(lane int) int) *smem.Request {
	r := &smem.Request{Op: op, Width: width, Active: active}
	for lane := range 32 {
		r.Addr = append(r.Addr, uint32(addr(lane)))
	}
	return r
}

const full = smem.Mask(0xffffffff)

func readRecorded(t *testing.T) []recorded {
	t.Helper()
	f, err := os.Open("testdata/sourcepage.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recorded
	in := bufio.NewScanner(f)
	for line := 1; in.Scan(); line++ {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		fields := strings.Fields(in.Text())
		if len(fields) != 4+32 {
			t.Fatalf("line %d: %d fields, want 36", line, len(fields))
		}
		n := make([]int, len(fields))
		for i, field := range fields {
			base := 10
			if i == 1 {
				base = 16
			}
			v, err := strconv.ParseUint(field, base, 32)
			if err != nil {
				t.Fatalf("line %d: %v", line, err)
			}
			n[i] = int(v)
		}
		r := request(smem.Load, n[0], smem.Mask(n[1]), func(lane int) int { return n[4+lane] })
		all = append(all, recorded{line, r, n[2], n[3]})
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSourcePageOnRecordedLoads holds the rule for the Source page, and the claims in its comments, against an H200.
func TestSourcePageOnRecordedLoads(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	all, known, differ, explained := 0, 0, 0, 0
	for _, rec := range readRecorded(t) {
		all++
		var out smem.Outcome
		if err := u.Resolve(&out, rec.request); err != nil {
			t.Fatalf("line %d: %v", rec.line, err)
		}
		if out.Wavefronts != rec.hardware {
			t.Errorf("line %d: %d wavefronts, the hardware counted %d", rec.line, out.Wavefronts, rec.hardware)
		}
		if rec.hardware != rec.profiler {
			differ++
		}
		if !ncu.MayDiffer(u, rec.request) {
			t.Errorf("line %d: MayDiffer says that a wide load cannot differ", rec.line)
		}
		page, ok := ncu.SourcePage(u, rec.request, &out)
		if !ok {
			continue
		}
		known++
		if page != rec.profiler {
			t.Errorf("line %d: SourcePage gives %d, the page showed %d", rec.line, page, rec.profiler)
		}
		if rec.hardware != rec.profiler {
			explained++
		}
	}
	if all != 228 || known != 169 || differ != 30 || explained != 23 {
		t.Errorf("%d loads, %d known, %d differ, %d of them known; want 228, 169, 30, 23", all, known, differ, explained)
	}
}

func TestSourcePageElsewhere(t *testing.T) {
	pairs := func(lane int) int { return lane / 2 * 128 }
	tests := []struct {
		name             string
		arch             string
		r                *smem.Request
		mayDiffer, known bool
	}{
		{"32-bit load", "sm_90", request(smem.Load, 4, full, pairs), false, true},
		{"128-bit store", "sm_90", request(smem.Store, 16, full, pairs), false, true},
		{"128-bit load", "sm_90", request(smem.Load, 16, full, pairs), true, true},
		{"128-bit load of a part of the warp", "sm_90", request(smem.Load, 16, 0xffff, pairs), true, false},
		{"64-bit load of a part of the warp", "sm_90", request(smem.Load, 8, 0xffff, pairs), true, true},
		{"a generation that was not recorded", "sm_80", request(smem.Load, 16, full, pairs), true, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := arch.MustLookup(test.arch).Unit
			var out smem.Outcome
			if err := u.Resolve(&out, test.r); err != nil {
				t.Fatal(err)
			}
			page, known := ncu.SourcePage(u, test.r, &out)
			if mayDiffer := ncu.MayDiffer(u, test.r); mayDiffer != test.mayDiffer || known != test.known {
				t.Errorf("may differ %v, known %v; want %v, %v", mayDiffer, known, test.mayDiffer, test.known)
			}
			if !test.mayDiffer && page != out.Wavefronts {
				t.Errorf("%d wavefronts, want the %d that hardware counts", page, out.Wavefronts)
			}
		})
	}
}
