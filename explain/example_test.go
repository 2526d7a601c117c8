package explain_test

import (
	"fmt"

	"shmoo/arch"
	"shmoo/explain"
	"shmoo/smem"
)

// A column of a 32 x 32 tile of floats, without a pad and with one word of it.
func ExampleWhy() {
	unit := arch.MustLookup("sm_90").Unit
	for _, pitch := range []int{32, 33} {
		r := smem.Request{Op: smem.Load, Width: 4, Active: unit.FullMask()}
		for lane := range unit.Lanes {
			r.Addr = append(r.Addr, uint32(lane*pitch*4))
		}
		fmt.Println(explain.Why(unit, &r))
	}
	// Output:
	// lanes step 32 words (gcd with 32 banks: 32), so all 32 lanes meet in bank 0 on rows 0-31: 32 wavefronts instead of 1
	// lanes step 33 words (gcd with 32 banks: 1), so each bank serves at most one word: 1 wavefront, the ideal for this 32-bit load
}
