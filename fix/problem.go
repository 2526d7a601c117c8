package fix

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/layout"
	"shmoo/smem"
)

// Request is one distinct warp-wide access to the array of a problem.
type Request struct {
	Site int // index into Problem.Sites
	smem.Request
	Count int64 // how often it is made
}

// Block is what else occupancy depends on.
type Block struct {
	Threads int // per block; 0 for one warp
	Shared  int // bytes of shared memory of the whole block; 0 for the sum of the arrays
}

// Problem is one shared array with all the requests made to it. Addresses count from the start of the array.
type Problem struct {
	Arch  *arch.Arch
	Array access.Array
	Block Block
	// Sites are those that touch the array, Requests the distinct requests of all of them.
	Sites    []access.Site
	Requests []Request
	// Present is the pad that the declaration has, where a search took it out: Array and Requests are then without it.
	// Problems leaves it nil.
	Present layout.Pad
	// Unresolved counts accesses that may belong here but have no known address.
	Unresolved int64
}

// maxDistinct bounds the distinct requests that are kept for an array.
const maxDistinct = 1 << 18

// LimitError reports a request that the search cannot take, or an input that is too large for it.
type LimitError struct{ Msg string }

func (e *LimitError) Error() string { return "fix: " + e.Msg }

// Problems reads a source to its end and returns one problem for each array that is accessed, in the order of the
// source's arrays. An access belongs to the array that its first active lane hits; if another lane hits another array
// it belongs to none and is an error. A source without arrays gives one problem named "shared memory".
func Problems(ctx context.Context, source access.Source, a *arch.Arch, block Block) ([]*Problem, error) {
	c := collector{arch: a, sites: source.Sites(), arrays: source.Arrays(), block: block}
	if len(c.arrays) == 0 {
		c.arrays = []access.Array{{Name: "shared memory"}}
	}
	c.parts = make([]part, len(c.arrays))
	for acc, err := range source.Accesses(ctx) {
		if err != nil {
			return nil, err
		}
		if err := c.add(acc); err != nil {
			return nil, err
		}
	}
	return c.problems(), nil
}

type collector struct {
	arch       *arch.Arch
	sites      []access.Site
	arrays     []access.Array
	block      Block
	parts      []part
	unresolved []int64 // by site
	key        []byte
}

// part is what has been gathered for one array.
type part struct {
	problem Problem
	site    map[int]int    // of the source -> of the problem
	seen    map[string]int // request -> index
	end     int            // bytes: the end of the highest access
}

func (c *collector) add(a *access.Access) error {
	if a.Unresolved != "" {
		if c.unresolved == nil {
			c.unresolved = make([]int64, len(c.sites))
		}
		c.unresolved[a.Site] += max(1, a.Count)
		return nil
	}
	r := &a.Request
	lanes := r.Addressing()
	if lanes == 0 {
		return nil
	}
	at := -1
	for l := range len(r.Addr) {
		if !lanes.Has(l) {
			continue
		}
		k := slices.IndexFunc(c.arrays, func(x access.Array) bool { return x.Covers(int(r.Addr[l])) })
		switch {
		case k < 0:
			return &LimitError{fmt.Sprintf("%s: lane %d accesses offset %d, outside every array", c.sites[a.Site].Pos.Pos, l, r.Addr[l])}
		case at >= 0 && k != at:
			return &LimitError{fmt.Sprintf("%s: lanes of one request access %s and %s: the two cannot be laid out apart",
				c.sites[a.Site].Pos.Pos, c.arrays[at].Name, c.arrays[k].Name)}
		}
		at = k
	}
	return c.parts[at].add(c, at, a, lanes)
}

func (p *part) add(c *collector, at int, a *access.Access, lanes smem.Mask) error {
	array := &c.arrays[at]
	r := &a.Request
	if p.seen == nil {
		p.seen, p.site = map[string]int{}, map[int]int{}
		p.problem = Problem{Arch: c.arch, Array: *array, Block: c.block}
	}
	site, ok := p.site[a.Site]
	if !ok {
		site = len(p.problem.Sites)
		p.site[a.Site] = site
		p.problem.Sites = append(p.problem.Sites, c.sites[a.Site])
	}
	c.key = binary.LittleEndian.AppendUint64(c.key[:0], uint64(lanes))
	c.key = append(c.key, byte(r.Op), byte(r.Width))
	c.key = binary.LittleEndian.AppendUint32(c.key, uint32(site))
	for l, addr := range r.Addr {
		if lanes.Has(l) {
			c.key = binary.LittleEndian.AppendUint32(c.key, addr)
			p.end = max(p.end, int(addr)+r.Bytes()-array.Offset)
		}
	}
	if i, ok := p.seen[string(c.key)]; ok {
		p.problem.Requests[i].Count += max(1, a.Count)
		return nil
	}
	if len(p.seen) == maxDistinct {
		return &LimitError{fmt.Sprintf("array %s: more than %d distinct requests", array.Name, maxDistinct)}
	}
	p.seen[string(c.key)] = len(p.problem.Requests)
	own := Request{Site: site, Request: *r, Count: max(1, a.Count)}
	own.Active = lanes
	own.Addr = make([]uint32, len(r.Addr))
	for l, addr := range r.Addr {
		if lanes.Has(l) {
			own.Addr[l] = addr - uint32(array.Offset)
		}
	}
	p.problem.Requests = append(p.problem.Requests, own)
	return nil
}

func (c *collector) problems() []*Problem {
	total := 0
	for i := range c.parts {
		p := &c.parts[i]
		if p.seen != nil && p.problem.Array.Size == 0 {
			p.problem.Array.Size = p.end
		}
		total = max(total, c.arrays[i].Offset+max(c.arrays[i].Size, p.end))
	}
	var out []*Problem
	for i := range c.parts {
		p := &c.parts[i]
		if p.seen == nil {
			continue
		}
		if p.problem.Block.Shared == 0 {
			p.problem.Block.Shared = total
		}
		for site, n := range c.unresolved {
			if n > 0 && (c.sites[site].Array == p.problem.Array.Name || c.sites[site].Array == "") {
				p.problem.Unresolved += n
			}
		}
		out = append(out, &p.problem)
	}
	return out
}

// granule returns the bytes of the widest single access: what a layout has to keep together and aligned.
func (p *Problem) granule() uint32 {
	g := 1
	for i := range p.Requests {
		g = max(g, p.Requests[i].Bytes())
	}
	return uint32(g)
}

// check fails on a problem that has no sound answer: nothing to do, accesses outside the array, or misaligned ones.
func (p *Problem) check() error {
	if p.Array.Size <= 0 || p.Array.Size >= 1<<30 {
		return &LimitError{fmt.Sprintf("array %s: got %d bytes, want 1 to %d", p.Array.Name, p.Array.Size, 1<<30-1)}
	}
	if len(p.Requests) == 0 {
		return &LimitError{fmt.Sprintf("array %s: no request with known addresses", p.Array.Name)}
	}
	for i := range p.Requests {
		r := &p.Requests[i]
		if r.Site < 0 || r.Site >= len(p.Sites) {
			return &LimitError{fmt.Sprintf("array %s: request %d of site %d, want a site below %d", p.Array.Name, i, r.Site, len(p.Sites))}
		}
		n := uint32(r.Bytes())
		for l, a := range r.Addr {
			if !r.Addressing().Has(l) {
				continue
			}
			if uint64(a)+uint64(n) > uint64(p.Array.Size) {
				return &LimitError{fmt.Sprintf("array %s: %s: lane %d accesses bytes %d to %d, want below %d", p.Array.Name,
					siteName(&p.Sites[r.Site]), l, a, a+n-1, p.Array.Size)}
			}
			if a%n != 0 {
				return &LimitError{fmt.Sprintf("array %s: %s: lane %d accesses offset %d, want a multiple of %d", p.Array.Name,
					siteName(&p.Sites[r.Site]), l, a, n)}
			}
		}
	}
	return nil
}

func siteName(s *access.Site) string {
	where := s.Pos.Pos.String()
	if where == "" {
		where = fmt.Sprintf("pc %#x", s.PC)
	}
	if s.Text != "" {
		where += " " + s.Text
	}
	return where
}

// pitches returns the row sizes in bytes after which pads can go, smallest first, and whether they are declared. Where
// the array is flat they are read off the distances between neighbouring lanes, the most frequent ones first kept.
func (p *Problem) pitches() (pitches []uint32, declared bool) {
	if d := p.Array.Dims; len(d) >= 2 && p.Array.ElemBytes > 0 {
		per := p.Array.ElemBytes
		for i := len(d) - 1; i > 0 && per > 0; i-- {
			per *= d[i]
			if per > 0 && per < p.Array.Size {
				pitches = append(pitches, uint32(per))
			}
		}
		return slices.Compact(pitches), true
	}
	counts := map[uint32]int64{}
	for i := range p.Requests {
		r := &p.Requests[i]
		last := -1
		for l := range r.Addr {
			if !r.Addressing().Has(l) {
				continue
			}
			if last >= 0 && r.Addr[l] > r.Addr[last] {
				if d := r.Addr[l] - r.Addr[last]; d > uint32(r.Bytes()) && d < uint32(p.Array.Size) {
					counts[d] += r.Count
				}
			}
			last = l
		}
	}
	for d := range counts {
		pitches = append(pitches, d)
	}
	slices.SortFunc(pitches, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	pitches = pitches[:min(len(pitches), maxInferred)]
	if row := uint32(p.Arch.Unit.RowBytes()); row < uint32(p.Array.Size) && !slices.Contains(pitches, row) {
		pitches = append(pitches, row)
	}
	slices.Sort(pitches)
	return pitches, false
}

// maxInferred is how many pitches of a flat array are tried, besides the row of banks.
const maxInferred = 3
