// Package pad finds the pad that makes lanes read their own runs of shared memory without conflicts.
//
// The access is the one of a staged row: an array in shared memory holds a run of chunk elements per lane, each followed
// by a pad, and in every step the 32 lanes of a warp read the same part of their runs. Neighbours are the stride
// S = (chunk + pad) * bytes / 4 words apart and a load takes w words, so, where S is a whole number of words and no lanes
// overlap (S >= w), it takes max(1, gcd(S, 32) / w) times its ideal: the ways. A pad changes gcd(S, 32); a pad that is not
// a multiple of the load's width makes the load illegal.
//
//	r, err := pad.Analyze([]int{64}, []pad.DType{f16}, pad.Options{Unit: arch.MustLookup("sm_90").Unit})
//	best := r.Cases[0].Best() // 8 elements (16 bytes) with 128-bit loads: S = 36, gcd 4, 1 way
//
// Every figure is counted lane by lane with the unit. The formula stands beside it where it applies, and where it does not
// the report says so: half words (an odd run of 16-bit elements), lanes that overlap, another unit than 32 lanes on 32
// banks.
//
// [Policy] is the TileOPs rule, which picks a pad per chunk, and [Judge] tells whether one rule serves a whole space:
// a fixed pad of 16 bytes, for example, does not at chunk 56 of 2-byte elements, where S becomes 32.
//
// Limits: one warp, loads, runs that start at an address all widths are aligned to. The compiler chooses the width of a
// load; read it from the machine code.
package pad
