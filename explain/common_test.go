package explain_test

import (
	"pgregory.net/rapid"

	"shmoo/arch"
	"shmoo/smem"
)

// request returns a request of the lanes in active with the given addresses.
func request(op smem.Op, width int, active smem.Mask, addr func(lane int) int) *smem.Request {
	r := &smem.Request{Op: op, Width: width, Active: active}
	for lane := range 32 {
		r.Addr = append(r.Addr, uint32(addr(lane)))
	}
	return r
}

const full = smem.Mask(0xffffffff)

// keys returns the rules of a unit in a fixed order.
func keys(u *smem.Unit) []smem.Key {
	var keys []smem.Key
	for op := smem.Load; op <= smem.CopyAsyncCG; op++ {
		for _, width := range []int{1, 2, 4, 8, 16} {
			if _, ok := u.Rules[smem.Key{Op: op, Width: width}]; ok {
				keys = append(keys, smem.Key{Op: op, Width: width})
			}
		}
	}
	return keys
}

// drawRequest draws an aligned request on a unit of any generation: strides, tiles and scattered addresses, repeated by
// neighbours or not, of a whole warp or a part of it.
func drawRequest(t *rapid.T) (*smem.Unit, *smem.Request) {
	u := arch.MustLookup(rapid.SampledFrom(arch.Names()).Draw(t, "arch")).Unit
	key := rapid.SampledFrom(keys(u)).Draw(t, "rule")
	r := &smem.Request{Op: key.Op, Width: key.Width, Active: u.FullMask(), Addr: make([]uint32, u.Lanes)}
	switch rapid.IntRange(0, 3).Draw(t, "lanes") {
	case 0:
		r.Active &= smem.Mask(rapid.Uint64().Draw(t, "active"))
	case 1: // few lanes
		r.Active = 0
		for range rapid.IntRange(0, 4).Draw(t, "count") {
			r.Active |= 1 << rapid.IntRange(0, u.Lanes-1).Draw(t, "lane")
		}
	}
	size := r.Bytes()
	step := rapid.IntRange(0, 40).Draw(t, "step")
	runStep := rapid.SampledFrom([]int{0, 1, 3, 8, 32, 33}).Draw(t, "run step")
	run := rapid.SampledFrom([]int{2, 4, 8, 16}).Draw(t, "run")
	shape := rapid.SampledFrom([]string{"stride", "back", "tile", "scatter"}).Draw(t, "shape")
	span := rapid.SampledFrom([]int{1, 8, 32, 256}).Draw(t, "span")
	repeat := rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "repeat")
	for lane := range r.Addr {
		if lane&repeat != 0 {
			r.Addr[lane] = r.Addr[lane&^repeat]
			continue
		}
		index := 0
		switch shape {
		case "stride":
			index = lane * step
		case "back":
			index = (u.Lanes - 1 - lane) * step
		case "tile":
			index = lane%run*step + lane/run*runStep
		case "scatter":
			index = rapid.IntRange(0, span-1).Draw(t, "index")
		}
		r.Addr[lane] = uint32(index * size)
	}
	return u, r
}
