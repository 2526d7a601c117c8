// Package explain tells one request in full: the rule that applies, the steps of the unit, where every lane lands, the
// picture, and in one sentence why it takes the wavefronts it takes.
//
//	a := arch.MustLookup("sm_90")
//	data, err := explain.New(a.Unit, &request, explain.Options{Provenance: a.Provenance})
//	if err != nil {
//		return err // the unit has no rule for the operation
//	}
//	err = explain.Text(os.Stdout, data, bankmap.TextOptions{Width: 100})
//
// [Why] gives the sentence alone: "lanes step 32 words (gcd with 32 banks: 32), so all 32 lanes meet in bank 0 on rows
// 0-31: 32 wavefronts instead of 1". Everything in it is counted on the request; a pattern is named only where all lanes
// follow it.
//
// An address that the hardware would refuse is explained as well, with what to do about it.
//
// Limits: one request at a time. What a profiler shows beside the hardware's count is known for some loads only; see
// package ncu.
package explain
