package bankmap_test

import (
	"fmt"
	"os"

	"shmoo/arch"
	"shmoo/bankmap"
	"shmoo/smem"
)

// The access that each thread of a warp makes to its own chunk of 64 halves, at two pads.
func ExampleText() {
	unit := arch.MustLookup("sm_90").Unit
	var panels []*bankmap.Panel
	for _, pad := range []int{4, 8} {
		r := smem.Request{Op: smem.Load, Width: 2, Active: unit.FullMask()}
		for lane := range unit.Lanes {
			r.Addr = append(r.Addr, uint32(lane*(64+pad)*2))
		}
		panel, err := bankmap.New(unit, &r, fmt.Sprintf("pad %d", pad))
		if err != nil {
			fmt.Println(err)
			return
		}
		panels = append(panels, panel)
	}
	bankmap.Text(os.Stdout, panels, bankmap.TextOptions{View: bankmap.CountView, ASCII: true})
	// Output:
	// bank   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
	// pad 4  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .  2  .
	// pad 8  4  .  .  .  4  .  .  .  4  .  .  .  4  .  .  .  4  .  .  .  4  .  .  .  4  .  .  .  4  .  .  .
	//
	// pad 4 2 wavefronts, ideal 1, 1 conflict, 2 ways
	// pad 8 4 wavefronts, ideal 1, 3 conflicts, 4 ways
}
