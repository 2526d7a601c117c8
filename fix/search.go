package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"shmoo/layout"
	"shmoo/smem"
)

// Options bound a search. The zero value searches all families within the memory of a block.
type Options struct {
	// Allow lists the families to search; nil for all.
	Allow []Family
	// MaxBytes is the budget for the array if Limited is set.
	MaxBytes int
	Limited  bool
	// Narrow admits pads that break up wide loads and stores, which are then counted as several narrower ones.
	Narrow bool
}

// BudgetError reports a budget that does not hold even the array as it is.
type BudgetError struct {
	Array     string
	Got, Want int // bytes
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("fix: array %s: got a budget of %d bytes, want at least the %d the array takes now", e.Array, e.Got, e.Want)
}

// Candidate is a layout with what it costs.
type Candidate struct {
	Family    Family
	Transform layout.Transform
	// Bytes is what the array takes.
	Bytes int
	// Instructions counts index instructions added to each access.
	Instructions int
	// Wavefronts are summed over all requests, Sites by site.
	Wavefronts int64
	Sites      []int64
	// Blocks is how many blocks fit on a multiprocessor by shared memory, threads and the generation's limits.
	Blocks int
	// Narrowed lists, where wide accesses had to be broken up, the sites concerned.
	Narrowed []int
}

// Searched says what a search went through.
type Searched struct {
	Family Family
	// Tried is the number of legal candidates, Illegal that of those dropped for alignment or memory.
	Tried, Illegal int
	// Exhausted reports that every member of the family is accounted for.
	Exhausted bool
	Note      string // why not, or why the family was not needed
}

// Result is the outcome of a search.
type Result struct {
	Problem *Problem
	Options Options
	Before  Candidate
	// Basis is the weakest basis among the rules of the unit that the counts rest on.
	Basis smem.Basis
	Ideal []int64 // by site: wavefronts without conflicts
	// Pareto holds the candidates, Before among them, that no other beats in wavefronts, bytes and instructions at
	// once, fewest wavefronts first.
	Pareto []Candidate
	// Best is the recommendation, or nil to leave the array as it is.
	Best *Candidate
	// Reason says why Best is recommended, or why not to change anything.
	Reason   string
	Bound    Bound
	Searched []Searched
	// OptimalInFamily: no member of the families searched has fewer wavefronts than Pareto[0]. OptimalInGeneral: no
	// layout that keeps granules in one piece has.
	OptimalInFamily, OptimalInGeneral bool

	searcher *searcher
	limit    int // bytes that the array may take
	pads     PadSpace
	swizzles SwizzleSpace
	linear   LinearSpace
	// afterRows is the fewest wavefronts before bank maps other than XORs of row bits were tried.
	afterRows int64
}

// Search tries every candidate of the allowed families on all requests of the problem. A pad that the declaration has
// is among them, not under them: the result's problem is without it, and candidates may have less. It returns a
// *LimitError for a problem it cannot take and a *BudgetError for a budget below the array's size.
func Search(ctx context.Context, p *Problem, o Options) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p = p.withoutPad()
	if o.Limited && o.MaxBytes < p.Array.Size {
		return nil, &BudgetError{p.Array.Name, o.MaxBytes, p.Array.Size}
	}
	for _, f := range o.Allow {
		if !slices.Contains(Families(), f) {
			return nil, &LimitError{fmt.Sprintf("got family %q, want one of %v", f, Families())}
		}
	}
	allow := o.Allow
	if allow == nil {
		allow = Families()
	}
	s := newSearcher(ctx, p, o)
	r := &Result{Problem: p, Options: o, limit: s.limit, searcher: s}
	r.pads, r.swizzles, r.linear = spaces(p, s.granule)

	var err error
	if r.Bound, err = s.bound(); err != nil {
		return nil, err
	}
	if r.Before, r.Ideal, err = s.before(); err != nil {
		return nil, err
	}
	r.Basis = s.basis
	s.keep(r.Before)
	// Linear maps come last: they are tried only where the rest leaves something to gain.
	for _, f := range Families() {
		if !slices.Contains(allow, f) {
			r.Searched = append(r.Searched, Searched{Family: f, Note: notAllowed})
			continue
		}
		done, err := s.family(f, r)
		if err != nil {
			return nil, err
		}
		r.Searched = append(r.Searched, done)
	}
	r.Pareto = s.pareto
	r.conclude()
	return r, nil
}

func newSearcher(ctx context.Context, p *Problem, o Options) *searcher {
	s := &searcher{ctx: ctx, p: p, o: o, granule: p.granule(), unit: *p.Arch.Unit}
	_, s.declared = p.pitches()
	s.now = int(s.extent(p.present()))
	s.limit = p.Arch.Unit.Size - max(0, p.Block.Shared-s.now)
	if o.Limited {
		s.limit = min(s.limit, o.MaxBytes)
	}
	// Representatives of classes may lie above the memory of a block; candidates are held to it by their extent.
	s.unit.Size = 1 << 30
	return s
}

// merged returns the requests with equal ones merged: for layouts of any kind.
func (s *searcher) merged() ([]class, error) {
	var err error
	if s.exact == nil {
		s.exact, err = s.classes(func([]uint32, smem.Mask) {})
	}
	return s.exact, err
}

type searcher struct {
	ctx      context.Context
	p        *Problem
	unit     smem.Unit
	o        Options
	now      int // bytes that the array takes in the present code
	limit    int // bytes for the array
	granule  uint32
	declared bool
	pareto   []Candidate // by wavefronts
	basis    smem.Basis
	out      smem.Outcome
	request  smem.Request
	resolved int // requests so far
	addr     []uint32
	sites    []int64
	exact    []class // see merged
}

func (s *searcher) bound() (Bound, error) {
	b, err := lowerBound(s.p)
	if err != nil || !s.o.Narrow {
		return b, err
	}
	// Broken-up accesses regroup their lanes: only the count of words holds for those.
	b = Bound{Sites: make([]int64, len(s.p.Sites)), Granule: s.p.Arch.Unit.BankBytes}
	banks := s.p.Arch.Unit.Banks
	for i := range s.p.Requests {
		r := &s.p.Requests[i]
		words := slices.Compact(groupWords(nil, s.p.Arch.Unit, &r.Request, r.Addressing()))
		n := int64((len(words)+banks-1)/banks) * r.Count
		b.Sites[r.Site] += n
		b.Wavefronts += n
	}
	return b, nil
}

func (s *searcher) before() (Candidate, []int64, error) {
	ideal := make([]int64, len(s.p.Sites))
	c := Candidate{Family: None, Transform: s.p.present(), Bytes: s.now, Blocks: s.blocks(s.now)}
	c.Sites = make([]int64, len(s.p.Sites))
	for i := range s.p.Requests {
		r := &s.p.Requests[i]
		n, err := s.cost(c.Transform, &r.Request)
		if err != nil {
			return c, nil, err
		}
		c.Sites[r.Site] += n * r.Count
		c.Wavefronts += n * r.Count
		ideal[r.Site] += int64(s.out.Ideal) * r.Count
		s.basis = max(s.basis, s.out.Basis)
	}
	return c, ideal, nil
}

func (s *searcher) blocks(bytes int) int {
	shared := max(s.p.Block.Shared, s.now) - s.now + bytes
	return s.p.Arch.BlocksPerSM(shared, max(1, s.p.Block.Threads))
}

func (s *searcher) family(f Family, r *Result) (Searched, error) {
	if f == LinearF {
		return s.linear(r)
	}
	done := Searched{Family: f, Exhausted: true}
	var candidates []layout.Transform
	gather := func(t layout.Transform) {
		if s.legal(t) {
			candidates = append(candidates, t)
		} else {
			done.Illegal++
		}
	}
	var same normal
	switch f {
	case PadOf:
		same = modAdd(commonPeriod(r.pads, s.granule))
		if s.p.Present != nil {
			gather(layout.Identity{})
		}
		r.pads.each(func(t layout.Pad) { gather(t) })
	case XOR:
		same = modXor(max(s.granule, 4))
		r.swizzles.each(func(t layout.Swizzle) { gather(t) })
	}
	cl, err := s.classes(same)
	if err != nil {
		return done, err
	}
	done.Tried = len(candidates)
	start := s.resolved
	for i := 0; i < len(candidates); i++ {
		if err := s.ctx.Err(); err != nil {
			return done, err
		}
		if s.resolved-start > maxResolves && done.Exhausted {
			done.Exhausted = false
			if candidates, err = s.screen(candidates[i:], cl); err != nil {
				return done, err
			}
			done.Note = fmt.Sprintf("%d of them on a part of the %d distinct requests", done.Tried-i-len(candidates), len(cl))
			i = 0
		}
		if err := s.try(f, candidates[i], cl); err != nil {
			return done, err
		}
	}
	return done, nil
}

// maxResolves bounds the requests resolved for one family before candidates are screened on a part of the classes:
// about half a second. maxFinal is how many of them are then looked at in full.
const (
	maxResolves = 1 << 21
	maxFinal    = 8
)

// screen returns the candidates that do best on a part of the classes, evenly chosen.
func (s *searcher) screen(candidates []layout.Transform, cl []class) ([]layout.Transform, error) {
	type scored struct {
		t   layout.Transform
		sum int64
	}
	step := 2*len(cl)*len(candidates)/maxResolves + 1
	list := make([]scored, len(candidates))
	for i, t := range candidates {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		list[i].t = t
		for k := 0; k < len(cl); k += step {
			n, err := s.cost(t, &cl[k].Request)
			if err != nil {
				return nil, err
			}
			list[i].sum += n * cl[k].total
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.sum, b.sum) })
	out := make([]layout.Transform, 0, maxFinal)
	for _, c := range list[:min(maxFinal, len(list))] {
		out = append(out, c.t)
	}
	return out, nil
}

// commonPeriod returns a distance that all pitches and the granule divide and over which pads of any number of steps
// add whole words, or, where that distance is too large to matter, one that exceeds every address.
func commonPeriod(s PadSpace, granule uint32) uint32 {
	period := uint64(granule)
	for _, p := range s.Pitches {
		period = lcm(period, uint64(p))
		if period >= 1<<30 {
			return 1 << 31
		}
	}
	for bytes := uint64(s.Step); bytes%4 != 0 || period%4 != 0; bytes, period = 2*bytes, 2*period {
		if period >= 1<<30 {
			return 1 << 31
		}
	}
	return uint32(period)
}

func lcm(a, b uint64) uint64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// legal reports whether a candidate fits and keeps accesses in one piece, or may break them up.
func (s *searcher) legal(t layout.Transform) bool {
	if s.extent(t) > uint64(s.limit) {
		return false
	}
	if t.Granule() >= s.granule {
		return true
	}
	if !s.o.Narrow {
		return false
	}
	_, ok := s.narrowed(t.Granule())
	return ok
}

// try evaluates a legal candidate and keeps it if it is not beaten.
func (s *searcher) try(f Family, t layout.Transform, cl []class) error {
	c := Candidate{Family: f, Transform: t, Bytes: int(s.extent(t)), Instructions: s.instructions(t)}
	if t.Granule() < s.granule {
		c.Narrowed, _ = s.narrowed(t.Granule())
	}
	ceiling := s.ceiling(&c)
	s.sites = append(s.sites[:0], make([]int64, len(s.p.Sites))...)
	for i := range cl {
		if c.Wavefronts+cl[i].rest >= ceiling {
			return nil
		}
		n, err := s.cost(t, &cl[i].Request)
		if err != nil {
			return err
		}
		c.Wavefronts += n * cl[i].total
		for _, sh := range cl[i].shares {
			s.sites[sh.site] += n * sh.count
		}
	}
	c.Sites = slices.Clone(s.sites)
	c.Blocks = s.blocks(c.Bytes)
	s.keep(c)
	return nil
}

// extent returns the bytes that the array takes under a transform. It is exact where Transform.Extent rounds up to a
// block, and counts whole rows where the array has declared ones.
func (s *searcher) extent(t layout.Transform) uint64 {
	n := uint32(s.p.Array.Size)
	rough := t.Extent(uint64(n))
	first := uint32(0)
	switch t := t.(type) {
	case layout.Pad:
		if s.declared {
			rough = uint64(n)
			for _, p := range t {
				rough += uint64(n/p.Per) * uint64(p.Add)
			}
		}
		return rough
	case layout.Swizzle:
		// Blocks are permuted in themselves, so the end lies in the last one.
		block := t.Target() + t.Target()&-t.Target()
		first = (n - 1) / max(block, 1) * block
	}
	if rough == uint64(n) {
		return rough
	}
	g := min(t.Granule(), n)
	end := uint64(0)
	for a := first; a < n; a += g {
		end = max(end, uint64(t.Map(a))+uint64(min(g, n-a)))
	}
	return end
}

func (s *searcher) instructions(t layout.Transform) int {
	if s.declared {
		return t.Cost().Folded
	}
	return t.Cost().Flat
}

// narrowed lists the sites whose accesses a granule breaks up, and reports whether those are all plain loads and
// stores.
func (s *searcher) narrowed(granule uint32) ([]int, bool) {
	var out []int
	for i := range s.p.Requests {
		r := &s.p.Requests[i]
		if uint32(r.Bytes()) <= granule {
			continue
		}
		if r.Op != smem.Load && r.Op != smem.Store || granule < uint32(max(1, s.p.Array.ElemBytes)) {
			return nil, false
		}
		if !slices.Contains(out, r.Site) {
			out = append(out, r.Site)
		}
	}
	slices.Sort(out)
	return out, true
}

// cost returns the wavefronts of one request under a transform.
func (s *searcher) cost(t layout.Transform, r *smem.Request) (int64, error) {
	s.request.Op, s.request.Width, s.request.Active = r.Op, r.Width, r.Active
	if cap(s.addr) < len(r.Addr) {
		s.addr = make([]uint32, len(r.Addr))
	}
	s.addr = s.addr[:len(r.Addr)]
	s.request.Addr = s.addr
	s.resolved++
	parts := 1
	if g := t.Granule(); g < s.granule && g < uint32(r.Bytes()) {
		parts = r.Bytes() / int(g)
		s.request.Width = int(g)
	}
	sum := int64(0)
	for k := range parts {
		off := uint32(k * s.request.Width)
		mapAll(t, s.addr, r.Addr, off, r.Active)
		if err := s.unit.Resolve(&s.out, &s.request); err != nil {
			return 0, err
		}
		sum += int64(s.out.Wavefronts)
	}
	return sum, nil
}

// mapAll maps the addresses of the active lanes, with direct calls for the families that have thousands of members.
func mapAll(t layout.Transform, to, from []uint32, off uint32, lanes smem.Mask) {
	switch t := t.(type) {
	case layout.Swizzle:
		for l, a := range from {
			to[l] = t.Map(a + off)
		}
	default:
		for l, a := range from {
			if lanes.Has(l) {
				to[l] = t.Map(a + off)
			} else {
				to[l] = 0
			}
		}
	}
}

// ceiling returns the wavefronts from which on a candidate is beaten by one already kept.
func (s *searcher) ceiling(c *Candidate) int64 {
	ceiling := int64(1<<63 - 1)
	for i := range s.pareto {
		if k := &s.pareto[i]; k.Bytes <= c.Bytes && k.Instructions <= c.Instructions && len(k.Narrowed) <= len(c.Narrowed) {
			ceiling = min(ceiling, k.Wavefronts)
		}
	}
	return ceiling
}

// keep adds a candidate to the Pareto front unless one there is as good in every respect, and drops those it beats.
func (s *searcher) keep(c Candidate) {
	asGood := func(a, b *Candidate) bool {
		return a.Wavefronts <= b.Wavefronts && a.Bytes <= b.Bytes && a.Instructions <= b.Instructions && len(a.Narrowed) <= len(b.Narrowed)
	}
	for i := range s.pareto {
		if asGood(&s.pareto[i], &c) {
			return
		}
	}
	s.pareto = slices.DeleteFunc(s.pareto, func(k Candidate) bool { return asGood(&c, &k) })
	s.pareto = append(s.pareto, c)
	slices.SortStableFunc(s.pareto, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Wavefronts, b.Wavefronts), cmp.Compare(len(a.Narrowed), len(b.Narrowed)),
			cmp.Compare(a.Instructions, b.Instructions), cmp.Compare(a.Bytes, b.Bytes))
	})
}
