// Package ncu knows where Nsight Compute's figures differ from the hardware's.
//
//	wavefronts, known := ncu.SourcePage(unit, &request, &outcome)
//
// Limits: the per-instruction counters of the Source page, as recorded on an H200.
package ncu

import "shmoo/smem"

// MayDiffer reports whether the Source page can show another number of wavefronts for r than the hardware counts. It can
// only for loads that may pair.
func MayDiffer(u *smem.Unit, r *smem.Request) bool {
	return r.Op == smem.Load && r.Width >= 8 && u.Rules[smem.Key{Op: r.Op, Width: r.Width}].Paired != nil
}

// SourcePage returns the wavefronts that Nsight Compute's Source page shows for r, of which u makes out. It reports false
// where that is not known: the page may then show another number than the hardware's counter, out.Wavefronts.
//
// The page's per-instruction counter (smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared) judges pairing on its own:
// per paired group rather than over the whole warp, and only where the larger group then takes a single pass; any other
// group is counted by its unpaired parts. This was found by comparing both counters on an H200 over 228 wide loads, of
// which they disagree on 30; sourcePageKnown says where it is exact.
func SourcePage(u *smem.Unit, r *smem.Request, out *smem.Outcome) (wavefronts int, known bool) {
	if !MayDiffer(u, r) {
		return out.Wavefronts, true
	}
	rule := u.Rules[smem.Key{Op: r.Op, Width: r.Width}]
	if !sourcePageKnown(u, r, &rule) {
		return 0, false
	}
	for _, group := range rule.Paired {
		wavefronts += sourcePageGroup(u, r, &rule, group)
	}
	return wavefronts, true
}

// sourcePageKnown reports whether the rule was exact on the recorded loads of this kind (H200, both counters read):
// 116 of 116 64-bit loads of any mask, and 53 of 53 128-bit loads of a full warp. Of 59 128-bit loads of a part of the
// warp it misses 6. Other generations were not recorded.
func sourcePageKnown(u *smem.Unit, r *smem.Request, rule *smem.Rule) bool {
	return rule.Basis == smem.Measured && (r.Width == 8 || r.Active == u.FullMask())
}

// sourcePageGroup counts the lanes of one paired group.
func sourcePageGroup(u *smem.Unit, r *smem.Request, rule *smem.Rule, group smem.Mask) int {
	lanes := r.Addressing() & group
	if lanes == 0 {
		return 0
	}
	if agree(r, lanes, 1) || agree(r, lanes, 2) {
		if n := words(u, r, lanes); n == 1 {
			return n
		}
	}
	n := 0
	for _, part := range rule.Groups {
		n += words(u, r, lanes&part)
	}
	return n
}

// agree reports whether every lane whose neighbour at the distance takes part has its address.
func agree(r *smem.Request, lanes smem.Mask, distance int) bool {
	for m := lanes; m != 0; m &= m - 1 {
		lane := m.Lowest()
		if lanes.Has(lane^distance) && r.Addr[lane] != r.Addr[lane^distance] {
			return false
		}
	}
	return true
}

// words returns the largest number of distinct words that the lanes touch in one bank.
func words(u *smem.Unit, r *smem.Request, lanes smem.Mask) int {
	seen := map[uint32]bool{}
	var perBank [smem.MaxLanes]int
	most := 0
	for m := lanes; m != 0; m &= m - 1 {
		first := r.Addr[m.Lowest()] / uint32(u.BankBytes)
		if seen[first] {
			continue // aligned accesses of one width overlap wholly or not at all
		}
		seen[first] = true
		bank := first % uint32(u.Banks)
		perBank[bank]++
		most = max(most, perBank[bank])
	}
	return most
}
