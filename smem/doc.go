// Package smem is the shared-memory unit of a GPU: it resolves one warp-wide access into wavefronts.
//
// A warp sends the unit a [Request]: an operation, a width, the active lanes and one byte address per lane. The unit
// drops inactive lanes, splits the rest into groups that the hardware serves together, and gives each bank one word per
// wavefront until every lane is served. Which lanes form a group, whether a load pairs, whether lanes on one word share
// it, and the fewest cycles an instruction takes are data: a [Unit] holds one [Rule] per operation and width, and each
// rule says how it is known ([Basis]).
//
// A column of a 32x32 float tile puts all lanes in one bank; a pad of one word spreads them out:
//
//	u := arch.MustLookup("sm_90").Unit
//	addr := make([]uint32, 32)
//	for lane := range addr {
//		addr[lane] = uint32(lane * 32 * 4) // tile[lane][0], pitch 32 floats
//	}
//	var out smem.Outcome
//	err := u.Resolve(&out, &smem.Request{Op: smem.Load, Width: 4, Active: u.FullMask(), Addr: addr})
//	// out.Wavefronts == 32, out.Ideal == 1, out.Conflicts() == 31
//
// [Unit.Resolve] is the fast form and allocates nothing. [Unit.Walk] is the literal form: it goes through the pipeline
// that Greg of NVIDIA described on the CUDA forum (drop, convert, bounds, bank, row, resolver, banks, crossbar,
// write-back, retire) step by step and records each one. They are compared by property tests and fuzzing.
//
// Limits: the unit sees one request at a time. It does not model arbitration with global traffic, latency, or software
// loops such as an atomic add on shared floats, whose count depends on contention.
package smem
