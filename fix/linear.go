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

// maxWork bounds each branch and bound over linear maps, in groups looked at: some tens of milliseconds.
const maxWork = 1 << 20

// linear looks for a linear map with fewer wavefronts than all candidates so far. A group of lanes whose words form a
// coset of a space V takes 2^(dim V - rank of the bank map on V) passes, so the search assigns a bank to one address
// bit after the other, keeps the rank on every V as it goes, and turns back where the sum already shows no gain.
//
// It goes twice: over the maps that XOR row bits onto bank bits, which need no memory and few instructions; then, if
// those do not reach the bound, over all bank maps whatever. Banks can be renamed without a change in cost, so of these
// only one of each kind is tried: a bit gets a sum of the banks used so far, or the next new one.
func (s *searcher) linear(r *Result) (Searched, error) {
	done := Searched{Family: LinearF, Exhausted: true}
	if s.pareto[0].Wavefronts == r.Bound.Wavefronts {
		return Searched{Family: LinearF, Note: notNeeded}, nil
	}
	cl, err := s.classes(modXor(max(s.granule, 4)))
	if err != nil {
		return done, err
	}
	for _, general := range []bool{false, true} {
		d := descent{s: s, space: r.linear, general: general, best: s.pareto[0].Wavefronts, floor: r.Bound.Wavefronts}
		if err := d.prepare(cl); err != nil {
			return done, err
		}
		d.down(0)
		done.Tried += d.leaves
		if d.err != nil {
			return done, d.err
		}
		complete := !d.gaveUp || d.best == d.floor
		if general {
			r.linear.General = complete
			done.Note = "and every other map of addresses to banks"
			if !complete {
				done.Note = fmt.Sprintf("other maps of addresses to banks given up after %d partial ones", d.nodes)
			}
		} else if done.Exhausted = complete; !complete {
			done.Note = fmt.Sprintf("given up after %d partial maps", d.nodes)
			return done, s.tryFound(&d, cl, &done)
		}
		if err := s.tryFound(&d, cl, &done); err != nil {
			return done, err
		}
		if !general {
			r.afterRows = s.pareto[0].Wavefronts
		}
		if s.pareto[0].Wavefronts == r.Bound.Wavefronts {
			break
		}
	}
	return done, nil
}

// tryFound evaluates the best map of a descent, if it has one, like any other candidate.
func (s *searcher) tryFound(d *descent, cl []class, done *Searched) error {
	if d.found == nil {
		return nil
	}
	t, err := d.transform()
	if err != nil {
		return err
	}
	if s.legal(t) {
		return s.try(LinearF, t, cl)
	}
	done.Illegal++
	if d.general {
		done.Note = "the best bank map does not fit the memory, others were not looked for"
	}
	return nil
}

// coset is a set of groups whose words form cosets of one space.
type coset struct {
	weight int64
	byLead []uint32 // by address bit: the basis vector whose highest bit it is, or 0
}

// scattered is a group whose words form no coset: its cost is counted.
type scattered struct {
	weight int64
	words  []uint32 // sorted
	bound  int64
	shares bool
}

// rank is an echelon of bank numbers by highest bit, and how many vectors vanished.
type rank struct {
	pivot  [maxBankBits]uint8
	kernel uint8
}

// maxBankBits bounds the bits of a bank number: 64 banks.
const maxBankBits = 6

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

// descent is one branch and bound. Bits are those of word numbers: word bit i is address bit i plus those of a word.
type descent struct {
	s       *searcher
	space   LinearSpace
	general bool // every bank map, not only XORs of row bits onto bank bits
	word    int  // address bits inside a word
	banks   int  // bits of a bank number
	low     int  // lowest bank bit that is free: those below lie inside a granule

	cosets    []coset
	scattered []scattered
	fixed     int64 // bound of the scattered groups

	assign []int    // the bits that get a bank, lowest first
	column []uint8  // by bit: its bank
	ranks  [][]rank // by depth and coset

	best, floor   int64
	found         []uint8
	work          int
	nodes, leaves int
	gaveUp        bool
	err           error
}

func (d *descent) prepare(cl []class) error {
	u := &d.s.unit
	d.word = bits.TrailingZeros(uint(u.BankBytes))
	d.banks = bits.TrailingZeros(uint(u.Banks))
	d.low = d.space.LowBit - d.word
	n := d.space.Bits - d.word
	d.column = make([]uint8, n)
	for i := range min(d.banks, n) {
		d.column[i] = 1 << i
	}
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
				used |= w ^ words[0]
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
				d.cosets = append(d.cosets, newCoset(v, n))
			}
			d.cosets[k].weight += weight
		}
	}
	first := d.banks
	if d.general {
		first = d.low
	}
	for i := first; i < n; i++ {
		d.column[i] = 0
		if used>>i&1 == 1 {
			d.assign = append(d.assign, i)
		}
	}
	d.ranks = make([][]rank, len(d.assign)+1)
	for i := range d.ranks {
		d.ranks[i] = make([]rank, len(d.cosets))
	}
	for k := range d.cosets {
		for _, v := range d.cosets[k].byLead[:min(first, n)] {
			if v != 0 {
				d.ranks[0][k].add(d.bank(v))
			}
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

func newCoset(v gf2.Space, n int) coset {
	c := coset{byLead: make([]uint32, n)}
	for _, b := range v.Basis() {
		c.byLead[bits.Len64(b)-1] = uint32(b)
	}
	return c
}

// choices lists the banks to try for a bit, given how many free bank bits earlier bits have taken (all of them where
// only row bits are assigned): what a plain layout or swizzle would take, then few bits before many.
func (d *descent) choices(bit, taken int) []uint8 {
	var out []uint8
	for m := range 1 << taken {
		out = append(out, uint8(m<<d.low))
	}
	width := d.banks - d.low
	if taken < width { // a new one; the others are its likes under another name
		out = append(out, 1<<(d.low+taken))
	}
	favourite := uint8(0)
	switch {
	case bit < d.banks && taken < width:
		favourite = 1 << (d.low + taken)
	case bit >= d.banks && width > 0:
		favourite = 1 << (d.low + (bit-d.banks)%width)
	}
	key := func(v uint8) int {
		switch {
		case v == favourite && bit < d.banks:
			return -1
		case v == favourite && v != 0:
			return 1
		}
		return 2 * bits.OnesCount8(v)
	}
	slices.SortStableFunc(out, func(a, b uint8) int { return cmp.Compare(key(a), key(b)) })
	return out
}

// down assigns the bits from depth on.
func (d *descent) down(depth int) {
	if depth == len(d.assign) {
		d.leaf()
		return
	}
	bit := d.assign[depth]
	taken := d.banks - d.low
	if d.general {
		var used rank
		for _, b := range d.assign[:depth] {
			used.add(d.column[b])
		}
		taken = depth - int(used.kernel)
	}
	for _, c := range d.choices(bit, taken) {
		if d.gaveUp || d.best == d.floor {
			break
		}
		d.nodes++
		if d.work += 1 + len(d.cosets); d.work > maxWork {
			d.gaveUp = true
			break
		}
		if d.nodes%1024 == 0 {
			if d.err = d.s.ctx.Err(); d.err != nil {
				d.gaveUp = true
				break
			}
		}
		d.column[bit] = c
		sum := d.fixed
		from, to := d.ranks[depth], d.ranks[depth+1]
		for i := range d.cosets {
			to[i] = from[i]
			if v := d.cosets[i].byLead[bit]; v != 0 {
				to[i].add(d.bank(v))
			}
			sum += d.cosets[i].weight << to[i].kernel
		}
		if sum += d.scatteredCost(bit, sum) - d.fixed; sum < d.best {
			d.down(depth + 1)
		}
	}
	d.column[bit] = 0
}

// scatteredCost returns what the groups without structure cost at least once the bits up to bit are assigned: words
// that agree above it keep their distance in banks. It stops early once sum, which holds the bound of these groups,
// shows no gain.
func (d *descent) scatteredCost(bit int, sum int64) int64 {
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
		for j, w := range g.words {
			if j > 0 && w>>(bit+1) != g.words[j-1]>>(bit+1) {
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
	out := uint8(word & (1<<d.low - 1))
	for w := word >> d.low << d.low; w != 0; w &= w - 1 {
		if i := bits.TrailingZeros32(w); i < len(d.column) {
			out ^= d.column[i]
		}
	}
	return out
}

func (d *descent) leaf() {
	d.leaves++
	sum := int64(0)
	for i, k := range d.ranks[len(d.assign)] {
		sum += d.cosets[i].weight << k.kernel
	}
	if sum += d.scatteredCost(len(d.column), sum+d.fixed); sum < d.best {
		d.best = sum
		d.found = slices.Clone(d.column)
	}
}

// transform returns the best map found, on bytes.
func (d *descent) transform() (layout.Linear, error) {
	n := len(d.found)
	images := make([]uint32, d.space.Bits)
	for i := range images {
		images[i] = 1 << i
	}
	if !d.general {
		for i := d.banks; i < n; i++ {
			images[i+d.word] |= uint32(d.found[i]) << d.word
		}
		return layout.NewLinear(images...)
	}
	bank, err := d.complete()
	if err != nil {
		return layout.Linear{}, err
	}
	// Rows of the map: the free bank bits, then as many address bits as make it one-to-one, lowest first.
	forms := make([]uint64, d.banks-d.low)
	for j := range forms {
		for i, c := range bank {
			forms[j] |= uint64(c>>(d.low+j)&1) << i
		}
	}
	row := d.banks
	rest := gf2.Span(forms...).Sum(gf2.Span(unit(d.low)...)).Complement(n).Basis()
	slices.Reverse(rest)
	for i := d.low; i < n; i++ {
		images[i+d.word] = uint32(bank[i]) << d.word
	}
	for _, form := range rest {
		i := bits.TrailingZeros64(form)
		images[i+d.word] |= 1 << (row + d.word)
		row++
	}
	return layout.NewLinear(images...)
}

// unit returns the first n unit vectors.
func unit(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = 1 << i
	}
	return out
}

// complete renames the banks of the map found so that bits inside a row keep their bank bit where they can, and gives
// bits that no request depends on the bank bits left over.
func (d *descent) complete() ([]uint8, error) {
	width := d.banks - d.low
	columns := make([]uint64, len(d.found))
	for i := d.low; i < len(columns); i++ {
		columns[i] = uint64(d.found[i] >> d.low)
	}
	taken := gf2.Span(columns...)
	for i := d.low; i < len(columns) && taken.Dim() < width; i++ {
		if columns[i] == 0 && !slices.Contains(d.assign, i) {
			columns[i] = taken.Complement(width).Basis()[0]
			taken = taken.Sum(gf2.Span(columns[i]))
		}
	}
	for i := d.low; i < len(columns) && taken.Dim() < width; i++ {
		// A bit that shares a bank keeps what it has and takes a new one besides: that parts words, never joins any.
		more := taken.Complement(width).Basis()[0]
		if before := independent(columns[:i]); gf2.Span(before...).Contains(columns[i]) {
			columns[i] ^= more
			taken = taken.Sum(gf2.Span(more))
		}
	}
	// from: the first columns that span everything; to: where they should go, their own place first.
	var from, to []uint64
	free := unit(width)
	for i := d.low; i < len(columns); i++ {
		if gf2.Span(from...).Contains(columns[i]) {
			continue
		}
		from = append(from, columns[i])
		place := uint64(0)
		if i < d.banks {
			place = 1 << (i - d.low)
		}
		to = append(to, place)
		free = slices.DeleteFunc(free, func(v uint64) bool { return v == place })
	}
	for i := range to {
		if to[i] == 0 {
			to[i], free = free[0], free[1:]
		}
	}
	a, err := gf2.FromColumns(width, from...)
	if err != nil {
		return nil, err
	}
	inverse, ok := a.Inverse()
	if !ok {
		return nil, &LimitError{"the bank map found does not use all banks"}
	}
	b, err := gf2.FromColumns(width, to...)
	if err != nil {
		return nil, err
	}
	rename, err := b.Compose(inverse)
	if err != nil {
		return nil, err
	}
	out := make([]uint8, len(columns))
	for i := range out {
		out[i] = uint8(rename.Apply(columns[i])) << d.low
		if i < d.low {
			out[i] = 1 << i
		}
	}
	return out, nil
}

// independent returns the vectors that are no sums of earlier ones.
func independent(vectors []uint64) []uint64 {
	var out []uint64
	for _, v := range vectors {
		if !gf2.Span(out...).Contains(v) {
			out = append(out, v)
		}
	}
	return out
}
