package probe

import (
	"math/rand/v2"
	"slices"

	"shmoo/gpu"
	"shmoo/pattern"
	"shmoo/smem"
)

// Options says what Generate makes.
type Options struct {
	Patterns int    // in all, about; 0 for DefaultPatterns
	Seed     uint64 // equal seeds give equal patterns
}

// DefaultPatterns is how many patterns are made when no number is given: enough to tell every hypothesis of Learn from
// every other on an H200.
const DefaultPatterns = 40000

// rangeBytes is the shared memory that patterns reach into. Every GPU has as much, and no rule is known to look at higher
// address bits than those of the row.
const rangeBytes = 32 << 10

// rowBytes is the size of a row of 32 banks of 4 bytes, which the families of patterns aim at.
const rowBytes = 128

// Generate returns patterns for the named ops (of pattern.Ops; others are passed over), those of an op next to each other,
// with Cycles 0. Wide accesses, which have more to learn, get twice as many as others, matrices and atomics half.
func Generate(ops []string, o Options) []gpu.Sample {
	if o.Patterns <= 0 {
		o.Patterns = DefaultPatterns
	}
	var chosen []pattern.Op
	total := 0
	for _, op := range pattern.Ops() {
		if slices.Contains(ops, op.Name) {
			chosen = append(chosen, op)
			total += weight(&op)
		}
	}
	var samples []gpu.Sample
	for _, op := range chosen {
		g := newGenerator(&op, o.Seed)
		for range max(1, o.Patterns*weight(&op)/total) {
			samples = append(samples, g.sample())
		}
	}
	return samples
}

// weight is the share of an op in the patterns.
func weight(op *pattern.Op) int {
	switch {
	case op.Op == smem.Load && op.Width >= 8, op.Op == smem.Store && op.Width >= 8:
		return 4
	case op.Op == smem.Load, op.Op == smem.Store:
		return 2
	}
	return 1
}

// A generator makes patterns of one op. Families think in cells: aligned pieces of memory as large as one access.
type generator struct {
	*rand.Rand
	op    *pattern.Op
	bytes int // of a cell
	cells int // in reach: a power of two
	row   int // cells of a row of banks: a power of two
}

func newGenerator(op *pattern.Op, seed uint64) *generator {
	r := smem.Request{Op: op.Op, Width: op.Width}
	bytes := r.Bytes()
	hash := uint64(14695981039346656037) // so that ops get different patterns (FNV-1a)
	for _, c := range []byte(op.Name) {
		hash = (hash ^ uint64(c)) * 1099511628211
	}
	return &generator{Rand: rand.New(rand.NewPCG(seed, hash)), op: op, bytes: bytes, cells: rangeBytes / bytes,
		row: rowBytes / bytes}
}

// sample returns the next pattern: a family for the addresses, and a choice of lanes.
func (g *generator) sample() gpu.Sample {
	var cell [lanes]int
	families[g.IntN(len(families))].fill(g, &cell)
	s := gpu.Sample{Op: g.op.Name, Active: smem.Lanes(0, lanes), Addr: make([]uint32, lanes)}
	for lane := range cell {
		s.Addr[lane] = uint32((cell[lane] & (g.cells - 1)) * g.bytes)
	}
	if !g.op.Op.IsMatrix() && g.IntN(2) == 0 {
		s.Active = masks[g.IntN(len(masks))](g)
	}
	return s
}

// A family fills in a cell per lane; cells past the reach wrap around.
type family struct {
	name string
	fill func(g *generator, cell *[lanes]int)
}

var families = []family{
	{"stride", func(g *generator, cell *[lanes]int) {
		base, stride := g.IntN(4*g.row), g.IntN(2*g.row+2)
		for lane := range cell {
			cell[lane] = base + lane*stride
		}
	}},
	{"tile", func(g *generator, cell *[lanes]int) {
		wide, x, y := 1<<g.IntN(6), g.IntN(2*g.row+2), g.IntN(2*g.row+2)
		for lane := range cell {
			cell[lane] = lane%wide*x + lane/wide*y
		}
	}},
	{"permutation", func(g *generator, cell *[lanes]int) {
		base := g.IntN(g.cells/lanes) * lanes
		for lane, to := range g.Perm(lanes) {
			cell[lane] = base + to
		}
	}},
	{"swizzle", func(g *generator, cell *[lanes]int) {
		wide, flip := 1<<g.IntN(6), g.IntN(lanes)
		for lane := range cell {
			row := lane / wide
			cell[lane] = row*g.row + lane%wide ^ row*flip&(g.row-1)
		}
	}},
	{"neighbours share", func(g *generator, cell *[lanes]int) {
		g.share(cell, 1<<g.IntN(5))
	}},
	{"neighbours share, but for some", func(g *generator, cell *[lanes]int) {
		g.share(cell, 1<<g.IntN(3))
		for range 1 + g.IntN(3) {
			cell[g.IntN(lanes)] = g.IntN(g.cells)
		}
	}},
	{"opposite lanes share", func(g *generator, cell *[lanes]int) {
		flip := 1 + g.IntN(lanes-1)
		if g.IntN(2) == 0 {
			flip = 1 + g.IntN(7) // near lanes are likelier to matter
		}
		for lane := range cell {
			if partner := lane ^ flip; partner < lane {
				cell[lane] = cell[partner]
			} else {
				cell[lane] = g.IntN(g.cells)
			}
		}
	}},
	{"few cells", func(g *generator, cell *[lanes]int) {
		var some [8]int
		for i := range some {
			some[i] = g.IntN(g.cells)
		}
		n := 1 + g.IntN(len(some))
		for lane := range cell {
			cell[lane] = some[g.IntN(n)]
		}
	}},
	{"rows of a few columns", func(g *generator, cell *[lanes]int) {
		column, columns, rows := g.IntN(g.row), 1+g.IntN(4), 1+g.IntN(lanes)
		for lane := range cell {
			cell[lane] = g.IntN(rows)*g.row + (column+g.IntN(columns))&(g.row-1)
		}
	}},
	{"a column per lane, random rows", func(g *generator, cell *[lanes]int) {
		for lane := range cell {
			cell[lane] = g.IntN(g.cells/g.row)*g.row + lane&(g.row-1)
		}
	}},
	{"linear map", func(g *generator, cell *[lanes]int) {
		var image [5]int
		for bit := range image {
			image[bit] = g.IntN(g.cells)
		}
		base := g.IntN(g.cells)
		for lane := range cell {
			cell[lane] = base
			for bit := range image {
				if lane>>bit&1 != 0 {
					cell[lane] ^= image[bit]
				}
			}
		}
	}},
	{"random", func(g *generator, cell *[lanes]int) {
		for lane := range cell {
			cell[lane] = g.IntN(g.cells)
		}
	}},
}

// share fills in random cells that lanes at a distance have in common.
func (g *generator) share(cell *[lanes]int, distance int) {
	for lane := range cell {
		if lane&distance != 0 {
			cell[lane] = cell[lane-distance]
		} else {
			cell[lane] = g.IntN(g.cells)
		}
	}
}

// masks are ways to leave lanes out. Each leaves at least one in.
var masks = []func(g *generator) smem.Mask{
	func(g *generator) smem.Mask { return 1 << g.IntN(lanes) },
	func(g *generator) smem.Mask { // an aligned half, quarter, eighth or sixteenth
		n := 2 << g.IntN(4)
		at := g.IntN(lanes/n) * n
		return smem.Lanes(at, at+n)
	},
	func(g *generator) smem.Mask { // neighbours
		from := g.IntN(lanes)
		return smem.Lanes(from, from+1+g.IntN(lanes-from))
	},
	func(g *generator) smem.Mask { // every second, fourth ...
		step := 2 << g.IntN(4)
		m := smem.Mask(0)
		for lane := g.IntN(step); lane < lanes; lane += step {
			m |= 1 << lane
		}
		return m
	},
	func(g *generator) smem.Mask { return smem.Mask(g.Uint32()) | 1<<g.IntN(lanes) },
	func(g *generator) smem.Mask { // few
		return smem.Mask(g.Uint32()&g.Uint32()&g.Uint32()) | 1<<g.IntN(lanes)
	},
	func(g *generator) smem.Mask { return smem.Mask(g.Uint32() | g.Uint32() | 1) }, // most
}
