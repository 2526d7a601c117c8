// Package pattern reads recorded access patterns, the form in which a probe writes down what a GPU did, and compares them
// with a unit.
//
// A pattern file is CSV, plain or gzipped, with a header that names its columns:
//
//	op,mask,addresses,cycles,wavefronts,conflicts
//	ld32,ffffffff,0 128 256 384 … 3968,32.91,32,31
//	st64,0000ffff,0 8 16 24 … 248,2.19,,
//
// op is a name of [Ops], mask the active lanes in hex, addresses one byte offset per lane (also of inactive lanes).
// cycles is what a clock probe measured per instruction, with the probe's constant; unit_cycles what a meter measured that
// takes the time of the saturated unit alone (package probe). wavefronts and conflicts are what the hardware counters
// counted per instruction, ncu_sass_wavefronts what Nsight Compute's source page showed. Columns may come in any order,
// unknown ones are passed over, all but op, mask and addresses may be missing, and a figure may be left empty in any row.
// [Writer] writes such a file.
//
//	r, err := pattern.NewReader(file, "h200.csv.gz")
//	result, err := pattern.Replay(ctx, r, arch.MustLookup("sm_90").Unit)
//	// result.Patterns == result.Agree + result.Disagree when the unit has a rule for every op
//
// [Source] makes the same file an input for reports.
//
// Limits: one instruction per row; a row is at most 64 KiB; shared f32 and u64 additions are loops in software and only
// held against a lower bound.
package pattern
