package bankmap_test

import (
	"testing"

	"pgregory.net/rapid"

	"shmoo/arch"
	"shmoo/bankmap"
	"shmoo/smem"
)

func unit() *smem.Unit { return arch.MustLookup("sm_90").Unit }

// request returns a request of a full warp with the given addresses.
func request(op smem.Op, width int, addr func(lane int) int) *smem.Request {
	r := &smem.Request{Op: op, Width: width, Active: smem.Lanes(0, 32)}
	for lane := range 32 {
		r.Addr = append(r.Addr, uint32(addr(lane)))
	}
	return r
}

func panel(t *testing.T, title string, r *smem.Request) *bankmap.Panel {
	t.Helper()
	p, err := bankmap.New(unit(), r, title)
	if err != nil {
		t.Fatalf("New(%s): %v", title, err)
	}
	return p
}

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

// drawRequest draws an aligned request on a unit of any generation. Lanes often share addresses, rows and partners.
func drawRequest(t *rapid.T) (*smem.Unit, *smem.Request) {
	u := arch.MustLookup(rapid.SampledFrom(arch.Names()).Draw(t, "arch")).Unit
	key := rapid.SampledFrom(keys(u)).Draw(t, "rule")
	r := &smem.Request{Op: key.Op, Width: key.Width, Active: u.FullMask(), Addr: make([]uint32, u.Lanes)}
	if rapid.Bool().Draw(t, "partial") {
		r.Active &= smem.Mask(rapid.Uint64().Draw(t, "active"))
	}
	size := uint32(r.Bytes())
	span := rapid.SampledFrom([]uint32{1, 8, 32, 256, 2048}).Draw(t, "span") // in accesses
	repeat := rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "repeat")
	for lane := range r.Addr {
		if lane&repeat != 0 {
			r.Addr[lane] = r.Addr[lane&^repeat]
			continue
		}
		r.Addr[lane] = rapid.Uint32Range(0, span-1).Draw(t, "index") * size
	}
	return u, r
}
