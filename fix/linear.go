package fix

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"shmoo/gf2"
	"shmoo/layout"
	"shmoo/smem"
)

// maxWork bounds the branch and bound over linear maps, in groups looked at: some tens of milliseconds.
const maxWork = 1 << 22

// maxBankBits bounds the bits of a bank number: 64 banks.
const maxBankBits = 6

// linear looks for a linear map with fewer wavefronts than all candidates so far. A group of lanes whose words form a
// coset of a space V takes 2^(dim V - rank of the bank map on V) passes, so the search assigns to one row bit after the
// other the bank bits it is XORed onto, keeps the rank on every V as it goes, and turns back where the sum already
// shows no gain.
func (s *searcher) linear(r *Result) (Searched, error) {
	best := s.pareto[0].Wavefronts
	if best == r.Bound.Wavefronts {
		return Searched{Family: LinearF, Note: notNeeded}, nil
	}
	d := descent{s: s, space: r.linear, best: best, floor: r.Bound.Wavefronts}
	cl := classes(s.p.Requests, modXor(max(s.granule, 4)))
	if err := d.prepare(cl); err != nil {
		return Searched{}, err
	}
	d.down(0)
	done := Searched{Family: LinearF, Tried: d.leaves, Exhausted: !d.gaveUp || d.best == d.floor}
	if d.gaveUp {
		done.Note = fmt.Sprintf("given up after %d partial maps", d.nodes)
	}
	if d.err != nil || d.found == nil {
		return done, d.err
	}
	t, err := d.transform()
	if err != nil {
		return done, err
	}
	if legal, err := s.try(LinearF, t, cl); err != nil || !legal {
		done.Exhausted = false
		done.Note = "the best map found does not fit the budget"
		return done, err
	}
	return done, nil
}

// coset is a set of groups whose words form cosets of one space.
type coset struct {
	weight int64
	// byLead[i] is the basis vector whose highest bit is row bit i, or 0.
	byLead []uint32
	within []uint32 // basis vectors inside a row of banks
}

// scattered is a group whose words form no coset: its cost is counted at each leaf.
type scattered struct {
	weight int64
	words  []uint32
	bound  int64
	shares bool
}

// rank is an echelon of bank numbers by highest bit, and how many vectors vanished.
type rank struct {
	pivot  [maxBankBits]uint8
	kernel uint8
}

func (k *rank) add(v uint8) {
	for v != 0 {
		b := bits.Len8(v) - 1
		if k.pivot[b] == 0 {
			k.pivot[b] = v
			return
		}
		v ^= k.pivot[b]
	}
	k.kernel++
}

type descent struct {
	s     *searcher
	space LinearSpace
	banks int // bits of a bank number
	low   int // lowest bank bit that may be a target

	cosets    []coset
	scattered []scattered
	fixed     int64 // bound of the scattered groups

	rows    []int     // row bits, counted from the first, that any group depends on
	choices [][]uint8 // by depth: bank masks in the order tried
	column  []uint8   // by row bit: the bank bits it is XORed onto
	ranks   [][]rank  // by depth and coset

	best, floor   int64
	found         []uint8
	work          int
	nodes, leaves int
	gaveUp        bool
	err           error
}

func (d *descent) prepare(cl []class) error {
	u := &d.s.unit
	d.banks = bits.TrailingZeros(uint(u.Banks))
	word := bits.TrailingZeros(uint(u.BankBytes))
	d.low = d.space.LowBit - word
	n := d.space.Bits - d.space.First
	d.column = make([]uint8, n)
	merged := map[string]int{}
	used := uint32(0)
	for i := range cl {
		r := &cl[i].Request
		if err := u.Resolve(&d.s.out, r); err != nil {
			return err
		}
		rule := u.Rules[smem.Key{Op: r.Op, Width: r.Width}]
		for _, g := range d.s.out.Groups {
			words := groupWords(nil, u, r, g&r.Addressing())
			if len(words) == 0 {
				continue
			}
			weight := cl[i].total * int64(rule.PerPass)
			for _, w := range words {
				used |= (w ^ words[0]) >> d.banks
			}
			v, ok := span(words)
			if !rule.Shares || !ok {
				b := groupBound(u, words, rule.Shares, d.s.granule)
				d.scattered = append(d.scattered, scattered{weight, words, b, rule.Shares})
				d.fixed += weight * b
				continue
			}
			key := fmt.Sprint(v.Basis())
			k, ok := merged[key]
			if !ok {
				k = len(d.cosets)
				merged[key] = k
				d.cosets = append(d.cosets, d.coset(v, n))
			}
			d.cosets[k].weight += weight
		}
	}
	for i := range n {
		if used>>i&1 == 1 {
			d.rows = append(d.rows, i)
			d.choices = append(d.choices, d.order(i))
		}
	}
	d.ranks = make([][]rank, len(d.rows)+1)
	for i := range d.ranks {
		d.ranks[i] = make([]rank, len(d.cosets))
	}
	for i := range d.cosets {
		for _, v := range d.cosets[i].within {
			d.ranks[0][i].add(uint8(v))
		}
	}
	return nil
}

// span returns the space of which the words are a coset, and whether they are one.
func span(words []uint32) (gf2.Space, bool) {
	distinct := slices.Compact(slices.Clone(words))
	var diff []uint64
	for _, w := range distinct[1:] {
		diff = append(diff, uint64(w^distinct[0]))
	}
	v := gf2.Span(diff...)
	return v, len(distinct) == 1<<v.Dim()
}

func (d *descent) coset(v gf2.Space, rows int) coset {
	c := coset{byLead: make([]uint32, rows)}
	for _, b := range v.Basis() {
		if lead := bits.Len64(b) - 1; lead >= d.banks {
			c.byLead[lead-d.banks] = uint32(b)
		} else {
			c.within = append(c.within, uint32(b))
		}
	}
	return c
}

// order lists the bank masks for a row bit: none, then the bit that a plain swizzle would take, then few bits before
// many.
func (d *descent) order(row int) []uint8 {
	width := d.banks - d.low
	var out []uint8
	for m := range 1 << max(0, width) {
		out = append(out, uint8(m<<d.low))
	}
	if width <= 0 {
		return out
	}
	diagonal := uint8(1) << (d.low + row%width)
	slices.SortStableFunc(out, func(a, b uint8) int {
		if (a == diagonal) != (b == diagonal) && a != 0 && b != 0 {
			if a == diagonal {
				return -1
			}
			return 1
		}
		return cmp.Compare(bits.OnesCount8(a), bits.OnesCount8(b))
	})
	return out
}

// down assigns the row bits from depth on.
func (d *descent) down(depth int) {
	if depth == len(d.rows) {
		d.leaf()
		return
	}
	row := d.rows[depth]
	for _, c := range d.choices[depth] {
		if d.gaveUp || d.best == d.floor {
			return
		}
		d.nodes++
		if d.work += 1 + len(d.cosets); d.work > maxWork {
			d.gaveUp = true
			return
		}
		if d.nodes%1024 == 0 {
			if d.err = d.s.ctx.Err(); d.err != nil {
				d.gaveUp = true
				return
			}
		}
		d.column[row] = c
		sum := d.fixed
		from, to := d.ranks[depth], d.ranks[depth+1]
		for i := range d.cosets {
			to[i] = from[i]
			if v := d.cosets[i].byLead[row]; v != 0 {
				to[i].add(d.bank(v))
			}
			sum += d.cosets[i].weight << to[i].kernel
		}
		if sum += d.scatteredCost(row, sum) - d.fixed; sum < d.best {
			d.down(depth + 1)
		}
	}
	d.column[row] = 0
}

// scatteredCost returns what the groups without structure cost at least once row bits up to row are assigned: words
// that agree above it keep their distance in banks. It stops early once sum, which holds the bound of these groups,
// shows no gain.
func (d *descent) scatteredCost(row int, sum int64) int64 {
	total := int64(0)
	sum -= d.fixed
	for i := range d.scattered {
		if sum+total >= d.best {
			break
		}
		g := &d.scattered[i]
		d.work += 8
		var count [1 << maxBankBits]int64
		most := g.bound
		shift := d.banks + row + 1
		for j, w := range g.words {
			if j > 0 && w>>shift != g.words[j-1]>>shift {
				count = [1 << maxBankBits]int64{}
			} else if g.shares && j > 0 && w == g.words[j-1] {
				continue
			}
			b := d.bank(w)
			count[b]++
			most = max(most, count[b])
		}
		total += most * g.weight
	}
	return total
}

// bank returns the bank of a word under the columns assigned so far.
func (d *descent) bank(word uint32) uint8 {
	out := uint8(word & (1<<d.banks - 1))
	for w := word >> d.banks; w != 0; w &= w - 1 {
		if i := bits.TrailingZeros32(w); i < len(d.column) {
			out ^= d.column[i]
		}
	}
	return out
}

func (d *descent) leaf() {
	d.leaves++
	sum := int64(0)
	for i, k := range d.ranks[len(d.rows)] {
		sum += d.cosets[i].weight << k.kernel
	}
	if sum += d.scatteredCost(len(d.column), sum+d.fixed); sum < d.best {
		d.best = sum
		d.found = slices.Clone(d.column)
	}
}

// transform returns the best map found, on bytes.
func (d *descent) transform() (layout.Linear, error) {
	word := d.space.First - d.banks
	images := make([]uint32, d.space.Bits)
	for i := range images {
		images[i] = 1 << i
		if i >= d.space.First {
			images[i] |= uint32(d.found[i-d.space.First]) << word
		}
	}
	return layout.NewLinear(images...)
}
