package arch

import (
	"maps"

	"shmoo/smem"
)

// Groups of a warp of 32. NVIDIA serves wide accesses by halves (64 bit) and quarters (128 bit); a load whose lanes pair
// is served in groups twice as large.
var (
	whole    = []smem.Mask{smem.Lanes(0, 32)}
	halves   = []smem.Mask{smem.Lanes(0, 16), smem.Lanes(16, 32)}
	quarters = []smem.Mask{smem.Lanes(0, 8), smem.Lanes(8, 16), smem.Lanes(16, 24), smem.Lanes(24, 32)}
)

// hopper is the rule table measured on an H200: 49,588 patterns timed with a clock probe, 879 of them counted by the
// hardware's wavefront and conflict counters, without exception. docs/model.md gives the evidence rule by rule; the other
// generations start from it.
func hopper() map[smem.Key]smem.Rule {
	rules := map[smem.Key]smem.Rule{
		// A wide access takes a cycle for each of its groups, also for a group without lanes.
		{Op: smem.Load, Width: 8}:   {Groups: halves, Paired: whole, Shares: true, Floor: 2},
		{Op: smem.Load, Width: 16}:  {Groups: quarters, Paired: halves, Shares: true, Floor: 4, PairedFloor: 2},
		{Op: smem.Store, Width: 8}:  {Groups: halves, Shares: true, Floor: 2},
		{Op: smem.Store, Width: 16}: {Groups: quarters, Shares: true, Floor: 4},

		{Op: smem.Atomic, Width: 4}:      {Groups: whole},
		{Op: smem.Reduce, Width: 4}:      {Groups: whole},
		{Op: smem.CompareSwap, Width: 4}: {Groups: whole, PerPass: 2},

		// Only exchange and compare-and-swap exist natively at 64 bit.
		{Op: smem.Atomic, Width: 8}:      {Groups: halves, Floor: 2},
		{Op: smem.CompareSwap, Width: 8}: {Groups: halves, PerPass: 2, Floor: 4},

		// cp.async through L1 has the groups of a store, but lanes that write one word do not merge. One wavefront takes 2 to
		// 3 cycles, two take 3. That is with global addresses in a row; others can take longer, on the side of global memory.
		{Op: smem.CopyAsync, Width: 4}:  {Groups: whole, Floor: 3},
		{Op: smem.CopyAsync, Width: 8}:  {Groups: halves, Floor: 3},
		{Op: smem.CopyAsync, Width: 16}: {Groups: quarters, Floor: 3},
		// Past L1 another rule holds, which is not known; the store's stands in.
		{Op: smem.CopyAsyncCG, Width: 16}: {Groups: quarters, Shares: true, Floor: 4, Basis: smem.Estimated},
	}
	for _, width := range []int{1, 2, 4} {
		rules[smem.Key{Op: smem.Load, Width: width}] = smem.Rule{Groups: whole, Shares: true}
		rules[smem.Key{Op: smem.Store, Width: width}] = smem.Rule{Groups: whole, Shares: true}
	}
	for _, matrices := range []int{1, 2, 4} {
		rule := smem.Rule{Groups: quarters[:matrices], Shares: true}
		rules[smem.Key{Op: smem.LoadMatrix, Width: 4 * matrices}] = rule
		rules[smem.Key{Op: smem.StoreMatrix, Width: 4 * matrices}] = rule
	}
	for key, rule := range rules {
		rule.PerPass = max(1, rule.PerPass)
		rules[key] = rule
	}
	return rules
}

// Operations that a generation does not have (PTX ISA, target notes of ldmatrix, stmatrix and cp.async).
var (
	beforeTuring = []smem.Op{smem.LoadMatrix, smem.StoreMatrix, smem.CopyAsync, smem.CopyAsyncCG}
	beforeAmpere = beforeTuring[1:]
	beforeHopper = []smem.Op{smem.StoreMatrix}
)

// neighbour returns Hopper's rules as the assumption for another generation, without the operations it lacks. Where
// pairing is documented for the generation, the rules of wide loads carry that basis.
func neighbour(lacks []smem.Op, pairingDocumented bool) map[smem.Key]smem.Rule {
	rules := hopper()
	for key, rule := range rules {
		rule.Basis = max(rule.Basis, smem.Assumed)
		if pairingDocumented && rule.Paired != nil {
			rule.Basis = smem.Documented
		}
		rules[key] = rule
	}
	maps.DeleteFunc(rules, func(key smem.Key, _ smem.Rule) bool {
		for _, op := range lacks {
			if key.Op == op {
				return true
			}
		}
		return false
	})
	return rules
}

// lanes returns the mask of the inclusive lane ranges that bounds lists in pairs.
func lanes(bounds ...int) smem.Mask {
	var m smem.Mask
	for i := 0; i < len(bounds); i += 2 {
		m |= smem.Lanes(bounds[i], bounds[i+1]+1)
	}
	return m
}

// runs returns the groups of n adjacent lanes of a wave of 64.
func runs(n int) []smem.Mask {
	var groups []smem.Mask
	for lo := 0; lo < smem.MaxLanes; lo += n {
		groups = append(groups, smem.Lanes(lo, lo+n))
	}
	return groups
}

// cdna returns the rules of an AMD CDNA unit, whose 128-bit reads have groups of their own. Plain loads and stores only.
// The groups of 128-bit reads are documented; basis says how the others are known.
func cdna(read32, read64, read128, write128 []smem.Mask, basis smem.Basis) map[smem.Key]smem.Rule {
	rules := map[smem.Key]smem.Rule{}
	for _, width := range []int{1, 2, 4} {
		rules[smem.Key{Op: smem.Load, Width: width}] = smem.Rule{Groups: read32}
		rules[smem.Key{Op: smem.Store, Width: width}] = smem.Rule{Groups: read32}
	}
	for _, op := range []smem.Op{smem.Load, smem.Store} {
		rules[smem.Key{Op: op, Width: 8}] = smem.Rule{Groups: read64}
	}
	rules[smem.Key{Op: smem.Load, Width: 16}] = smem.Rule{Groups: read128}
	rules[smem.Key{Op: smem.Store, Width: 16}] = smem.Rule{Groups: write128}
	for key, rule := range rules {
		rule.Shares, rule.PerPass, rule.Basis = true, 1, basis
		if key == (smem.Key{Op: smem.Load, Width: 16}) {
			rule.Basis = smem.Documented
		}
		rules[key] = rule
	}
	return rules
}

// The groups of 128-bit LDS reads (AMD shark-ai kernel optimization guide, LDS phase tables).
var (
	mi300Read128 = []smem.Mask{
		lanes(0, 3, 20, 23), lanes(32, 35, 52, 55), lanes(4, 7, 16, 19), lanes(36, 39, 48, 51),
		lanes(8, 11, 28, 31), lanes(40, 43, 60, 63), lanes(12, 15, 24, 27), lanes(44, 47, 56, 59),
	}
	mi350Read128 = []smem.Mask{
		lanes(0, 3, 12, 15, 20, 27), lanes(32, 35, 44, 47, 52, 59),
		lanes(4, 11, 16, 19, 28, 31), lanes(36, 43, 48, 51, 60, 63),
	}
)
