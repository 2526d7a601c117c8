package fix

import (
	"cmp"
	"encoding/binary"
	"slices"

	"shmoo/smem"
)

// class is a request that stands for many which cost the same under every candidate of a family.
type class struct {
	smem.Request
	shares []share
	total  int64 // sum of the shares
	rest   int64 // bound on the wavefronts of this class and all later ones
}

// share is how many requests of a site a class stands for.
type share struct {
	site  int
	count int64
}

// normal rewrites the addresses of a request in place to those of its class's representative.
type normal func(addr []uint32, lanes smem.Mask)

// classes merges the requests that normal makes equal, the heaviest class first.
func classes(requests []Request, n normal) []class {
	var out []class
	seen := map[string]int{}
	var key []byte
	var addr []uint32
	for i := range requests {
		r := &requests[i]
		lanes := r.Addressing()
		addr = append(addr[:0], r.Addr...)
		n(addr, lanes)
		key = binary.LittleEndian.AppendUint64(key[:0], uint64(lanes))
		key = append(key, byte(r.Op), byte(r.Width))
		for l, a := range addr {
			if lanes.Has(l) {
				key = binary.LittleEndian.AppendUint32(key, a)
			}
		}
		k, ok := seen[string(key)]
		if !ok {
			k = len(out)
			seen[string(key)] = k
			c := class{Request: r.Request}
			c.Active, c.Addr = lanes, slices.Clone(addr)
			out = append(out, c)
		}
		out[k].add(r.Site, r.Count)
	}
	slices.SortStableFunc(out, func(a, b class) int { return cmp.Compare(b.total, a.total) })
	return out
}

// classes merges the requests of the problem and works out what each class costs at least.
func (s *searcher) classes(n normal) ([]class, error) {
	cl := classes(s.p.Requests, n)
	if s.o.Narrow { // bounds of whole accesses do not hold
		return cl, nil
	}
	var buf scratch
	rest := int64(0)
	for i := len(cl) - 1; i >= 0; i-- {
		b, err := buf.requestBound(&s.unit, &cl[i].Request, s.granule)
		if err != nil {
			return nil, err
		}
		rest += b * cl[i].total
		cl[i].rest = rest
	}
	return cl, nil
}

func (c *class) add(site int, n int64) {
	c.total += n
	for i := range c.shares {
		if c.shares[i].site == site {
			c.shares[i].count += n
			return
		}
	}
	c.shares = append(c.shares, share{site, n})
}

// modXor makes requests equal whose addresses differ by one constant under XOR. A linear map turns that into XOR of the
// words by a constant, which permutes the banks: the cost is the same. The constant is a multiple of align, at least a
// word.
func modXor(align uint32) normal {
	return func(addr []uint32, lanes smem.Mask) {
		if lanes == 0 {
			return
		}
		base := addr[lanes.Lowest()] &^ (align - 1)
		for l := range addr {
			if lanes.Has(l) {
				addr[l] ^= base
			}
		}
	}
}

// modAdd makes requests equal whose addresses differ by a multiple of period, the largest distance between pads times
// enough to make every pad shift by whole words: such a shift rotates the banks and no more.
func modAdd(period uint32) normal {
	return func(addr []uint32, lanes smem.Mask) {
		low := ^uint32(0)
		for l, a := range addr {
			if lanes.Has(l) {
				low = min(low, a)
			}
		}
		low -= low % period
		for l := range addr {
			if lanes.Has(l) {
				addr[l] -= low
			}
		}
	}
}
