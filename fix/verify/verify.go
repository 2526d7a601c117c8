// Package verify checks certificates of package fix. It shares no code with the search: counts come from the literal
// form of the unit, bounds and families are worked out again in the plainest way.
//
//	outcome, err := verify.Check(ctx, file)
//	if err != nil {
//		return err // not a certificate
//	}
//	if !outcome.OK() {
//		fmt.Println(outcome) // which claim fails, and why
//	}
//
// # What is checked
//
// The layout is one-to-one on the array, keeps granules aligned and in one piece, and fits the size and the budget; the
// counts before and after, by site and in all; the bound; and each claim of optimality: in general, by comparing the
// count with the bound, and in a family, by trying every member of it.
//
// # Limits
//
// Whether the requests are those of a kernel is not checked here: run the search on the kernel again. Families with
// more than MaxLinear linear maps, or too many members for the number of requests, are reported as not checked.
package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"shmoo/arch"
	"shmoo/layout"
	"shmoo/smem"
)

// Schema is the version of certificates that is read.
const Schema = "shmoo.certificate/1"

// MaxLinear bounds the linear maps that are tried one by one.
const MaxLinear = 1 << 16

// maxBytes bounds a certificate, maxWork the granules and lanes looked at for the families: some seconds.
const (
	maxBytes = 1 << 28
	maxWork  = 1 << 31
)

// Verdict is the outcome of one check.
type Verdict uint8

// The verdicts.
const (
	Holds Verdict = iota
	Fails
	Skipped // too large to check
)

func (v Verdict) String() string { return [...]string{"ok", "FAILED", "not checked"}[v] }

// A Finding is one check with its outcome.
type Finding struct {
	Name    string
	Verdict Verdict
	Detail  string
}

// Outcome is what the check of a certificate found.
type Outcome struct {
	Array, Transform string
	Findings         []Finding
}

// OK reports whether no check failed.
func (o *Outcome) OK() bool {
	for _, f := range o.Findings {
		if f.Verdict == Fails {
			return false
		}
	}
	return true
}

// String lists the findings, one a line.
func (o *Outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", o.Array, o.Transform)
	for _, f := range o.Findings {
		fmt.Fprintf(&b, "  %-12s %-20s %s\n", f.Verdict, f.Name, f.Detail)
	}
	return b.String()
}

func (o *Outcome) add(name string, holds bool, format string, args ...any) {
	v := Holds
	if !holds {
		v = Fails
	}
	o.Findings = append(o.Findings, Finding{name, v, fmt.Sprintf(format, args...)})
}

type certificate struct {
	Schema     string `json:"schema"`
	Arch       string `json:"arch"`
	Array      string `json:"array"`
	Present    string `json:"present"`
	ArrayBytes int    `json:"array_bytes"`
	Bytes      int    `json:"bytes"`
	Budget     int    `json:"budget"`
	Granule    int    `json:"granule"`
	Transform  string `json:"transform"`
	Sites      []struct {
		Site   string `json:"site"`
		Before int64  `json:"before"`
		After  int64  `json:"after"`
		Ideal  int64  `json:"ideal"`
		Bound  int64  `json:"bound"`
	} `json:"sites"`
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	Bound  int64 `json:"bound"`
	Claims struct {
		General bool `json:"general"`
		Pads    *struct {
			Pitches  []uint32 `json:"pitches"`
			Step     uint32   `json:"step"`
			Max      uint32   `json:"max"`
			Declared bool     `json:"declared"`
		} `json:"pads"`
		Swizzles *struct {
			LowBit int `json:"low_bit"`
			Bits   int `json:"bits"`
		} `json:"swizzles"`
		Linear *struct {
			LowBit  int  `json:"low_bit"`
			First   int  `json:"first"`
			Bits    int  `json:"bits"`
			General bool `json:"general"`
		} `json:"linear"`
	} `json:"claims"`
	Requests []struct {
		Site  int      `json:"site"`
		Op    string   `json:"op"`
		Width int      `json:"width"`
		Mask  string   `json:"mask"`
		Addr  []uint32 `json:"addr"`
		Count int64    `json:"count"`
	} `json:"requests"`
}

type request struct {
	smem.Request
	site  int
	count int64
}

type checker struct {
	ctx      context.Context
	cert     certificate
	unit     *smem.Unit
	roomy    smem.Unit // the same rules with no limit, for members of a family that are too large
	requests []request
	out      Outcome
	outcome  smem.Outcome
	addr     []uint32
	work     int64  // done so far
	sound    bool   // the members being tried are legal by their making
	extra    uint32 // bytes that the member being tried adds where that is not the end of its image
}

// Check reads a certificate and checks every claim. An error means that r does not hold a certificate; a false claim is
// a Finding.
func Check(ctx context.Context, r io.Reader) (*Outcome, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("certificate: got more than %d bytes", maxBytes)
	}
	c := checker{ctx: ctx}
	if err := json.Unmarshal(data, &c.cert); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	if c.cert.Schema != Schema {
		return nil, fmt.Errorf("certificate: got schema %q, want %q", c.cert.Schema, Schema)
	}
	a, err := arch.Lookup(c.cert.Arch)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	c.unit, c.roomy = a.Unit, *a.Unit
	c.roomy.Size = 1 << 30
	if err := c.read(); err != nil {
		return nil, err
	}
	t, err := layout.ParseTransform(c.cert.Transform)
	if err != nil {
		return nil, fmt.Errorf("certificate: transform: %w", err)
	}
	c.out.Array, c.out.Transform = c.cert.Array, c.cert.Transform
	c.layout(t)
	if !c.out.OK() {
		return &c.out, nil // counts under a broken layout mean nothing
	}
	present, err := layout.ParseTransform(c.cert.Present)
	if err != nil {
		return nil, fmt.Errorf("certificate: present layout: %w", err)
	}
	if err := c.counts(present, t); err != nil {
		return nil, err
	}
	if err := c.bound(); err != nil {
		return nil, err
	}
	return &c.out, c.families()
}

// read turns the requests of the certificate into those of the unit.
func (c *checker) read() error {
	k := &c.cert
	if k.ArrayBytes <= 0 || k.ArrayBytes > c.unit.Size || k.Granule <= 0 || k.Granule > 16 || k.Granule&(k.Granule-1) != 0 {
		return fmt.Errorf("certificate: got an array of %d bytes in granules of %d", k.ArrayBytes, k.Granule)
	}
	if len(k.Requests) == 0 || len(k.Sites) == 0 {
		return fmt.Errorf("certificate: got %d sites and %d requests, want some of both", len(k.Sites), len(k.Requests))
	}
	for i, q := range k.Requests {
		op, ok := smem.ParseOp(q.Op)
		mask, err := strconv.ParseUint(q.Mask, 16, 64)
		if !ok || err != nil || q.Site < 0 || q.Site >= len(k.Sites) || q.Count < 1 || q.Count > 1<<40 || len(q.Addr) > smem.MaxLanes {
			return fmt.Errorf("certificate: request %d: got op %q, mask %q, site %d, count %d, %d addresses", i, q.Op, q.Mask, q.Site,
				q.Count, len(q.Addr))
		}
		r := request{smem.Request{Op: op, Width: q.Width, Active: smem.Mask(mask), Addr: q.Addr}, q.Site, q.Count}
		for l, a := range q.Addr {
			if r.Addressing().Has(l) && int(a)+r.Bytes() > k.ArrayBytes {
				return fmt.Errorf("certificate: request %d: lane %d accesses offset %d of %d bytes", i, l, a, k.ArrayBytes)
			}
		}
		if r.Bytes() > k.Granule {
			return fmt.Errorf("certificate: request %d: accesses %d bytes, granules have %d", i, r.Bytes(), k.Granule)
		}
		c.requests = append(c.requests, r)
	}
	return nil
}

// layout checks that the transform is a layout of the array.
func (c *checker) layout(t layout.Transform) {
	k := &c.cert
	c.out.add("fits", k.Bytes <= k.Budget && k.Bytes <= c.unit.Size, "%d bytes, budget %d, a block has %d", k.Bytes, k.Budget, c.unit.Size)
	owner := make(map[uint32]uint32)
	for a := range uint32(k.ArrayBytes) {
		y := t.Map(a)
		base := a - a%uint32(k.Granule)
		if b := t.Map(base); b%uint32(k.Granule) != 0 || y != b+a-base {
			c.out.add("in one piece", false, "byte %d goes to %d, its granule to %d", a, y, b)
			return
		}
		if int64(y) >= int64(k.Bytes) {
			c.out.add("inside", false, "byte %d goes to %d, beyond %d", a, y, k.Bytes)
			return
		}
		if first, taken := owner[y]; taken {
			c.out.add("one-to-one", false, "bytes %d and %d both go to %d", first, a, y)
			return
		}
		owner[y] = a
	}
	c.out.add("one-to-one", true, "%d bytes, in granules of %d", k.ArrayBytes, k.Granule)
}

// counts compares the wavefronts before and after with the literal form of the unit.
func (c *checker) counts(present, t layout.Transform) error {
	k := &c.cert
	before, after, ideal := make([]int64, len(k.Sites)), make([]int64, len(k.Sites)), make([]int64, len(k.Sites))
	for i := range c.requests {
		r := &c.requests[i]
		was, err := c.walk(r, present)
		if err != nil {
			return fmt.Errorf("certificate: request %d: %w", i, err)
		}
		before[r.site] += int64(was.Outcome.Wavefronts) * r.count
		ideal[r.site] += int64(was.Outcome.Ideal) * r.count
		is, err := c.walk(r, t)
		if err != nil {
			c.out.add("counts", false, "request %d under the layout: %v", i, err)
			return nil
		}
		after[r.site] += int64(is.Outcome.Wavefronts) * r.count
	}
	var sumBefore, sumAfter int64
	for i, s := range k.Sites {
		sumBefore, sumAfter = sumBefore+before[i], sumAfter+after[i]
		if s.Before != before[i] || s.After != after[i] || s.Ideal != ideal[i] {
			c.out.add("counts", false, "%s: got %d, %d, ideal %d; counted %d, %d, ideal %d", s.Site, s.Before, s.After, s.Ideal,
				before[i], after[i], ideal[i])
			return nil
		}
	}
	c.out.add("counts", k.Before == sumBefore && k.After == sumAfter, "%d wavefronts before, %d after, at %d sites", sumBefore, sumAfter, len(k.Sites))
	return nil
}

// walk takes a request under a layout through the unit.
func (c *checker) walk(r *request, t layout.Transform) (*smem.Walk, error) {
	moved := r.Request
	moved.Addr = make([]uint32, len(r.Addr))
	for l, a := range r.Addr {
		if r.Addressing().Has(l) {
			moved.Addr[l] = t.Map(a)
		}
	}
	return c.unit.Walk(&moved)
}

// bound works out the bound again: for each group, how many granules meet at one place of a granule.
func (c *checker) bound() error {
	k := &c.cert
	sites := make([]int64, len(k.Sites))
	sum := int64(0)
	for i := range c.requests {
		r := &c.requests[i]
		w, err := c.unit.Walk(&r.Request)
		if err != nil {
			return fmt.Errorf("certificate: request %d: %w", i, err)
		}
		for _, g := range w.Outcome.Groups {
			n := c.groupBound(r, g&r.Addressing(), w.Rule.Shares) * int64(w.Rule.PerPass) * r.count
			sites[r.site] += n
			sum += n
		}
	}
	for i, s := range k.Sites {
		if s.Bound != sites[i] {
			c.out.add("bound", false, "%s: got %d, worked out %d", s.Site, s.Bound, sites[i])
			return nil
		}
	}
	c.out.add("bound", k.Bound == sum, "no layout has fewer than %d wavefronts", sum)
	if k.Claims.General {
		c.out.add("best of all", k.After == sum, "%d wavefronts, bound %d", k.After, sum)
	}
	return nil
}

func (c *checker) groupBound(r *request, g smem.Mask, shares bool) int64 {
	if g == 0 {
		return 0
	}
	if c.cert.Granule < c.unit.BankBytes {
		return 1
	}
	perGranule := c.cert.Granule / c.unit.BankBytes
	places := int64(c.unit.Banks / perGranule)
	lanesOn := map[uint32]int64{}
	for l, a := range r.Addr {
		if !g.Has(l) {
			continue
		}
		for b := 0; b < r.Bytes(); b += c.unit.BankBytes {
			lanesOn[(a+uint32(b))/uint32(c.unit.BankBytes)]++
		}
	}
	at := make([]int64, perGranule)
	passes := int64(1)
	for word, lanes := range lanesOn {
		if shares {
			lanes = 1
		}
		passes = max(passes, lanes)
		at[word%uint32(perGranule)] += lanes
	}
	for _, n := range at {
		passes = max(passes, (n+places-1)/places)
	}
	return passes
}

// families tries every member of each family that the certificate says was exhausted.
func (c *checker) families() error {
	k := &c.cert.Claims
	if s := k.Pads; s != nil {
		if s.Step == 0 || s.Max > 256 || len(s.Pitches) > 8 {
			return fmt.Errorf("certificate: pads: got step %d up to %d at %d pitches", s.Step, s.Max, len(s.Pitches))
		}
		if slices.Contains(s.Pitches, 0) {
			return fmt.Errorf("certificate: pads: got a pitch of 0 bytes")
		}
		size := uint32(c.cert.ArrayBytes)
		best, name := int64(1<<62), ""
		for i, inner := range s.Pitches {
			for add := uint32(0); add <= s.Max; add += s.Step {
				text := fmt.Sprintf("+%d per %d", add, inner)
				c.extra = 0
				if s.Declared {
					c.extra = size / inner * add
				}
				c.try(&best, &name, text, func(a uint32) uint32 { return a + a/inner*add })
				if !s.Declared {
					continue
				}
				for _, outer := range s.Pitches[i+1:] {
					for more := s.Step; more <= s.Max; more += s.Step {
						c.extra = 0
						if s.Declared {
							c.extra = size/inner*add + size/outer*more
						}
						c.try(&best, &name, text+fmt.Sprintf(", +%d per %d", more, outer), func(a uint32) uint32 {
							return a + a/inner*add + a/outer*more
						})
					}
				}
			}
		}
		c.extra = 0
		c.family("best pad", best, name)
	}
	if s := k.Swizzles; s != nil {
		if s.LowBit < 0 || s.Bits > 20 {
			return fmt.Errorf("certificate: swizzles: got bits %d to %d", s.LowBit, s.Bits)
		}
		best, name := int64(1<<62), ""
		for b := 1; b <= s.Bits; b++ {
			for m := s.LowBit; m <= s.Bits; m++ {
				for d := b; m+d+b <= s.Bits; d++ {
					field := uint32(1)<<b - 1
					c.try(&best, &name, fmt.Sprintf("Swizzle<%d,%d,%d>", b, m, d), func(a uint32) uint32 { return a ^ a>>(m+d)&field<<m })
					c.try(&best, &name, fmt.Sprintf("Swizzle<%d,%d,-%d>", b, m, d), func(a uint32) uint32 { return a ^ a>>m&field<<(m+d) })
				}
			}
		}
		c.family("best swizzle", best, name)
	}
	if s := k.Linear; s != nil {
		rows, width := s.Bits-s.First, s.First-s.LowBit
		if rows < 0 || width < 0 || rows > 20 || width > 20 {
			return fmt.Errorf("certificate: linear: got bits %d, %d, %d", s.LowBit, s.First, s.Bits)
		}
		if !c.fewEnough("best linear map", rows*width) {
			return c.ctx.Err()
		}
		// Within a row of banks granules change places and no more.
		c.sound = c.cert.ArrayBytes%(1<<s.First) == 0 && 1<<s.LowBit >= c.cert.Granule
		best, name := int64(1<<62), ""
		for code := range uint32(1) << (rows * width) {
			c.try(&best, &name, fmt.Sprintf("linear map %#x", code), func(a uint32) uint32 {
				for r := range rows {
					if a>>(s.First+r)&1 == 1 {
						a ^= code >> (r * width) & (1<<width - 1) << s.LowBit
					}
				}
				return a
			})
		}
		c.sound = false
		c.family("best linear map", best, name)
		if s.General {
			c.bankMaps(s.LowBit, s.First, s.Bits)
		}
	}
	return c.ctx.Err()
}

// fewEnough reports whether 2^n maps are few enough to try, and else adds the finding that they were not.
func (c *checker) fewEnough(name string, n int) bool {
	if n <= bits.Len(MaxLinear-1) {
		return true
	}
	c.out.Findings = append(c.out.Findings, Finding{name, Skipped, fmt.Sprintf("2^%d maps, more than %d", n, MaxLinear)})
	return false
}

// bankMaps tries every linear map of granules to banks. What rows a layout uses does not matter to the count, so each
// granule gets one of its own.
func (c *checker) bankMaps(low, first, n int) {
	granules, width := n-low, first-low
	if !c.fewEnough("best bank map", granules*width) {
		return
	}
	c.sound = true
	defer func() { c.sound = false }()
	best, name := int64(1<<62), ""
	for code := range uint32(1) << (granules * width) {
		c.try(&best, &name, fmt.Sprintf("bank map %#x", code), func(a uint32) uint32 {
			bank := uint32(0)
			for i := range granules {
				if a>>(low+i)&1 == 1 {
					bank ^= code >> (i * width) & (1<<width - 1)
				}
			}
			return a>>low<<first + bank<<low + a&(1<<low-1)
		})
	}
	c.family("best bank map", best, name)
}

func (c *checker) family(name string, best int64, member string) {
	if c.work > maxWork {
		c.out.Findings = append(c.out.Findings, Finding{name, Skipped, "too many members, or too many requests"})
		return
	}
	detail := fmt.Sprintf("no member has fewer than %d wavefronts", c.cert.After)
	if best < c.cert.After {
		detail = fmt.Sprintf("%s has %d wavefronts, the certificate %d", member, best, c.cert.After)
	}
	c.out.add(name, best >= c.cert.After, "%s", detail)
}

// fits reports whether a map keeps granules in one piece and stays within the budget.
func (c *checker) fits(f func(uint32) uint32) bool {
	g, last := uint32(c.cert.Granule), uint32(0)
	for a := uint32(0); a < uint32(c.cert.ArrayBytes); a += g {
		c.work++
		y := f(a)
		if y%g != 0 || f(a+g-1) != y+g-1 {
			return false
		}
		last = max(last, y+min(g, uint32(c.cert.ArrayBytes)-a))
	}
	if c.extra > 0 {
		last = uint32(c.cert.ArrayBytes) + c.extra
	}
	return int64(last) <= int64(c.cert.Budget)
}

// try lowers best to the wavefronts under a map if that is legal.
func (c *checker) try(best *int64, name *string, text string, f func(uint32) uint32) {
	if *best < c.cert.After || c.work > maxWork || c.ctx.Err() != nil {
		return // refuted already, or stopped
	}
	if !c.sound && !c.fits(f) {
		return
	}
	sum := int64(0)
	for i := range c.requests {
		r := &c.requests[i]
		c.work += int64(len(r.Addr))
		moved := r.Request
		moved.Addr = append(c.addr[:0], r.Addr...)
		for l, a := range moved.Addr {
			moved.Addr[l] = 0
			if r.Addressing().Has(l) {
				moved.Addr[l] = f(a)
			}
		}
		c.addr = moved.Addr
		if err := c.roomy.Resolve(&c.outcome, &moved); err != nil {
			return
		}
		if sum += int64(c.outcome.Wavefronts) * r.count; sum >= *best {
			return
		}
	}
	*best, *name = sum, text
}
