package probe

import (
	"math/bits"

	"shmoo/smem"
)

// A grouping is a way to split a warp into groups of lanes that are served together.
type grouping struct {
	name   string
	groups []smem.Mask
}

// runs returns groups of n adjacent lanes, of the first count lanes.
func runs(n, count int) []smem.Mask {
	var groups []smem.Mask
	for at := 0; at < count; at += n {
		groups = append(groups, smem.Lanes(at, at+n))
	}
	return groups
}

// combs returns n groups of lanes whose numbers are equal modulo n.
func combs(n int) []smem.Mask {
	groups := make([]smem.Mask, n)
	for lane := range lanes {
		groups[lane%n] |= 1 << lane
	}
	return groups
}

// groupings are the hypotheses on the groups of ordinary accesses, coarsest first.
var groupings = []grouping{
	{"whole warp", runs(32, lanes)},
	{"halves", runs(16, lanes)},
	{"even and odd lanes", combs(2)},
	{"quarters", runs(8, lanes)},
	{"every fourth lane", combs(4)},
	{"eighths", runs(4, lanes)},
	{"every eighth lane", combs(8)},
	{"sixteenths", runs(2, lanes)},
}

// matrixGroupings are those of an operation on n matrices of 8 rows, whose addresses come from the first 8n lanes.
func matrixGroupings(n int) []grouping {
	g := []grouping{{"all matrices", runs(8*n, 8*n)}}
	if n > 2 {
		g = append(g, grouping{"two matrices", runs(16, 8*n)})
	}
	if n > 1 {
		g = append(g, grouping{"each matrix", runs(8, 8*n)})
	}
	return append(g, grouping{"half matrices", runs(4, 8*n)})
}

// A pairing is a hypothesis on when a load is served in larger groups: when for one of the distances every active lane has
// the address of its partner lane xor distance, where that is active.
type pairing struct {
	name      string
	distances uint32 // bit d for distance d
}

var pairings = []pairing{
	{"none", 0},
	{"lane xor 1", 1 << 1},
	{"lane xor 2", 1 << 2},
	{"lane xor 1 or xor 2", 1<<1 | 1<<2},
	{"lane xor 1, 2 or 3", 1<<1 | 1<<2 | 1<<3},
	{"lane xor 1, 2 or 4", 1<<1 | 1<<2 | 1<<4},
	{"lane xor 16", 1 << 16},
}

// sayable is the pairing that a unit's rule can express, besides none.
const sayable = "lane xor 1 or xor 2"

// banking is a hypothesis on the banks.
type banking struct{ banks, bankBytes int }

// bankings are tried in this order; the first that explains all samples is taken.
var bankings = []banking{{32, 4}, {16, 4}, {32, 8}, {64, 4}}

// facts is what the hypotheses about one sample are computed from.
type facts struct {
	active smem.Mask
	class  int     // of samples that share a constant
	cycles float64 // measured
	shared uint32  // bit d: all lanes agree with their partners at distance d
	column [lanes]uint8
	same   [lanes]uint32 // lower active lanes on the same cell
}

// newFacts prepares a sample for one banking. size is the bytes of an access.
func newFacts(active smem.Mask, addr []uint32, size int, b banking) facts {
	f := facts{active: active}
	span := uint32(max(size, b.bankBytes))
	columns := uint32(b.banks*b.bankBytes) / span
	for m := active; m != 0; m &= m - 1 {
		lane := m.Lowest()
		cell := addr[lane] / span
		f.column[lane] = uint8(cell % columns)
		for below := active & (1<<lane - 1); below != 0; below &= below - 1 {
			if other := below.Lowest(); addr[other]/span == cell {
				f.same[lane] |= 1 << other
			}
		}
	}
	for distance := 1; distance < lanes; distance++ {
		if agree(active, addr, distance) {
			f.shared |= 1 << distance
		}
	}
	return f
}

// agree reports whether every active lane has the address of its partner at a distance, where that is active.
func agree(active smem.Mask, addr []uint32, distance int) bool {
	for m := active; m != 0; m &= m - 1 {
		lane := m.Lowest()
		if partner := lane ^ distance; active.Has(partner) && addr[lane] != addr[partner] {
			return false
		}
	}
	return true
}

// passes returns how many passes the groups take in all. Lanes on one cell take one pass where they share it.
func (f *facts) passes(groups []smem.Mask, shares bool) int {
	total := 0
	for _, group := range groups {
		var load [64]uint8
		most := uint8(0)
		for m := uint32(group & f.active); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			if shares && f.same[lane]&uint32(group) != 0 {
				continue
			}
			load[f.column[lane]&63]++
			most = max(most, load[f.column[lane]&63])
		}
		total += int(most)
	}
	return total
}
