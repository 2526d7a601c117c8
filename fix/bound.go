package fix

import (
	"slices"

	"shmoo/smem"
)

// Bound is a number of wavefronts below which no layout goes.
type Bound struct {
	Wavefronts int64
	Sites      []int64 // by site
	// Granule is the condition: the bound holds for every layout that keeps each aligned Granule bytes in one piece.
	Granule int
}

// lowerBound sums over all requests the passes that each group needs under any layout; see the package comment.
func lowerBound(p *Problem) (Bound, error) {
	b := Bound{Sites: make([]int64, len(p.Sites)), Granule: int(p.granule())}
	var s scratch
	for i := range p.Requests {
		r := &p.Requests[i]
		n, err := s.requestBound(p.Arch.Unit, &r.Request, uint32(b.Granule))
		if err != nil {
			return Bound{}, err
		}
		b.Sites[r.Site] += n * r.Count
		b.Wavefronts += n * r.Count
	}
	return b, nil
}

// scratch holds buffers that are used again for every request.
type scratch struct {
	out   smem.Outcome
	words []uint32
}

func (s *scratch) requestBound(u *smem.Unit, r *smem.Request, granule uint32) (int64, error) {
	if err := u.Resolve(&s.out, r); err != nil {
		return 0, err
	}
	rule := u.Rules[smem.Key{Op: r.Op, Width: r.Width}]
	sum := int64(0)
	for _, g := range s.out.Groups {
		s.words = groupWords(s.words[:0], u, r, g&r.Addressing())
		sum += groupBound(u, s.words, rule.Shares, granule) * int64(rule.PerPass)
	}
	return sum, nil
}

// groupWords appends the words that the lanes of a group touch, sorted, with a lane's repeats kept.
func groupWords(to []uint32, u *smem.Unit, r *smem.Request, g smem.Mask) []uint32 {
	n := uint32(r.Bytes())
	for l, a := range r.Addr {
		if !g.Has(l) {
			continue
		}
		for w := a / uint32(u.BankBytes); w <= (a+n-1)/uint32(u.BankBytes); w++ {
			to = append(to, w)
		}
	}
	slices.Sort(to)
	return to
}

// groupBound returns the passes that a group needs wherever its granules go. words is sorted; a word met by two lanes
// is in it twice.
func groupBound(u *smem.Unit, words []uint32, shares bool, granule uint32) int64 {
	if len(words) == 0 {
		return 0
	}
	perGranule := max(1, granule/uint32(u.BankBytes))
	places := int64(max(1, uint32(u.Banks)/perGranule)) // banks that a word of a given place in its granule can be in
	var touched [64]int64                               // by place in the granule
	passes, same := int64(1), int64(0)
	for i, w := range words {
		if i > 0 && w == words[i-1] {
			same++
		} else {
			same = 1
		}
		if shares && same > 1 {
			continue
		}
		// A layout of granules finer than a word could part the lanes of a word, or pack several words into one.
		if granule < uint32(u.BankBytes) {
			continue
		}
		if !shares {
			passes = max(passes, same) // lanes on one word stay on one word
		}
		k := w % perGranule % 64
		touched[k]++
		passes = max(passes, (touched[k]+places-1)/places)
	}
	return passes
}
