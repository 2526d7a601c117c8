package fix

import (
	"slices"

	"shmoo/layout"
)

// withoutPad returns the problem with the pad that the declaration has taken out, so that the search can take it away
// or choose another: columns at the end of every row that no request touches are unused room. It returns p itself where
// there is none.
//
// A column may be untouched for another reason, such as a block at the edge of the grid that was not run. So only what
// looks like a pad counts: the rows without it are whole granules and a multiple of 16 bytes or a power of two, the
// unused room is no more than a row of banks and than the rest of the row, and every address is known.
func (p *Problem) withoutPad() *Problem {
	_, declared := p.pitches()
	if !declared || p.Unresolved > 0 || p.Present != nil {
		return p
	}
	last := len(p.Array.Dims) - 1
	elem := uint32(p.Array.ElemBytes)
	pitch := elem * uint32(p.Array.Dims[last])
	used := uint32(0)
	for i := range p.Requests {
		r := &p.Requests[i]
		for l, a := range r.Addr {
			if r.Addressing().Has(l) {
				used = max(used, a%pitch+uint32(r.Bytes()))
			}
		}
	}
	used = (used + elem - 1) / elem * elem
	if used == 0 || used >= pitch || used%p.granule() != 0 || used%16 != 0 && used&(used-1) != 0 {
		return p
	}
	slack := pitch - used
	if slack > uint32(p.Arch.Unit.RowBytes()) || slack > used {
		return p
	}
	q := *p
	q.Present = layout.Pad{{Add: slack, Per: used}}
	q.Array.Dims = slices.Clone(p.Array.Dims)
	q.Array.Dims[last] = int(used / elem)
	q.Array.Size = p.Array.Size / int(pitch) * int(used)
	q.Requests = make([]Request, len(p.Requests))
	for i := range p.Requests {
		r := p.Requests[i]
		r.Addr = slices.Clone(r.Addr)
		for l := range r.Addr {
			r.Addr[l] = q.plain(r.Addr[l])
		}
		q.Requests[i] = r
	}
	return &q
}

// plain takes an offset in the array as it is declared to one in the array without its pad.
func (p *Problem) plain(addr uint32) uint32 {
	if p.Present == nil {
		return addr
	}
	s := p.Present[0]
	return addr/(s.Per+s.Add)*s.Per + addr%(s.Per+s.Add)
}

// present returns the layout that the code has now.
func (p *Problem) present() layout.Transform {
	if p.Present == nil {
		return layout.Identity{}
	}
	return p.Present
}
