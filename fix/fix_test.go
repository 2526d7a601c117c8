package fix

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/fix/verify"
	"shmoo/layout"
	"shmoo/smem"
)

// builder makes a source by hand: one array, sites, and their requests.
type builder struct {
	arrays   []access.Array
	sites    []access.Site
	accesses []access.Access
}

func (b *builder) Sites() []access.Site   { return b.sites }
func (b *builder) Arrays() []access.Array { return b.arrays }
func (b *builder) Accesses(context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		for i := range b.accesses {
			if !yield(&b.accesses[i], nil) {
				return
			}
		}
	}
}

func array(name string, elem int, dims ...int) access.Array {
	size := elem
	for _, d := range dims {
		size *= d
	}
	return access.Array{Name: name, Size: size, ElemBytes: elem, Dims: dims}
}

// site adds a site with one request per warp; addr gives the byte offset of a lane.
func (b *builder) site(text string, op smem.Op, width, warps int, addr func(warp, lane int) int) {
	k := len(b.sites)
	b.sites = append(b.sites, access.Site{Text: text, Op: op, Width: width})
	for w := range warps {
		a := access.Access{Site: k, Warp: w, Count: 1, Request: smem.Request{Op: op, Width: width, Active: smem.Lanes(0, 32)}}
		for l := range 32 {
			a.Request.Addr = append(a.Request.Addr, uint32(addr(w, l)))
		}
		b.accesses = append(b.accesses, a)
	}
}

func (b *builder) problem(t testing.TB, block Block) *Problem {
	t.Helper()
	p, err := Problems(context.Background(), b, arch.MustLookup("sm_90"), block)
	if err != nil {
		t.Fatal(err)
	}
	if len(p) != 1 {
		t.Fatalf("got %d problems, want 1", len(p))
	}
	return p[0]
}

func search(t testing.TB, p *Problem, o Options) *Result {
	t.Helper()
	r, err := Search(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// front prints a Pareto front, one candidate a line.
func front(r *Result) string {
	var b strings.Builder
	for _, c := range r.Pareto {
		fmt.Fprintf(&b, "%s: %d wavefronts, %d bytes, %d instructions\n", c.Transform, c.Wavefronts, c.Bytes, c.Instructions)
	}
	return b.String()
}

func transpose(pitch int) *builder {
	b := &builder{arrays: []access.Array{array("tile", 4, 32, pitch)}}
	b.site("tile[y][x]", smem.Store, 4, 32, func(w, l int) int { return 4 * (w*pitch + l) })
	b.site("tile[x][y]", smem.Load, 4, 32, func(w, l int) int { return 4 * (l*pitch + w) })
	return b
}

// ldmatrixTile is a tile of 2-byte elements, written in rows of 16-byte pieces, read by ldmatrix.x4 of 16x16 pieces.
func ldmatrixTile(rows, cols int, trans bool) *builder {
	b := &builder{arrays: []access.Array{array("tile", 2, rows, cols)}}
	perRow := cols / 8
	b.site("store", smem.Store, 16, rows*perRow/32, func(w, l int) int {
		i := 32*w + l
		return 2*cols*(i/perRow) + 16*(i%perRow)
	})
	name := "ldmatrix.x4"
	if trans {
		name += ".trans"
	}
	b.site(name, smem.LoadMatrix, 16, rows/16*(cols/16), func(w, l int) int {
		r, c := w/(cols/16)*16, w%(cols/16)*16
		return 2*cols*(r+l%16) + 2*(c+l/16*8)
	})
	return b
}

func TestKnownOptima(t *testing.T) {
	for _, test := range []struct {
		name    string
		b       *builder
		block   Block
		options Options
		best    string // recommended transform, "" to leave it
		reason  string // part of the reason
		pareto  string // a line of the front, where given
		general bool
	}{
		{
			name: "transpose, pad", b: transpose(32), block: Block{Threads: 1024},
			best: "pad(+4 per 128 bytes)", general: true, reason: "64 of 1056",
			pareto: "Swizzle<5,2,5>: 64 wavefronts, 4096 bytes, 2 instructions",
		},
		{
			name: "transpose, XOR", b: transpose(32), options: Options{Allow: []Family{XOR}},
			best: "Swizzle<5,2,5>", general: true, reason: "fewest any layout",
		},
		{
			name: "transpose, no byte to spare", b: transpose(32), options: Options{MaxBytes: 4096, Limited: true},
			best: "Swizzle<5,2,5>", general: true,
		},
		{
			name: "transpose, already padded", b: transpose(33),
			best: "", general: true, reason: "leave it: 64 wavefronts are the fewest any layout can have",
		},
		{
			name: "half, 64 wide, ldmatrix", b: ldmatrixTile(64, 64, false), block: Block{Threads: 128},
			best: "pad(+16 per 128 bytes)", general: true,
			// Swizzle<3,4,3> on bytes is Swizzle<3,3,3> on 2-byte elements.
			pareto: "Swizzle<3,4,3>: 128 wavefronts, 8192 bytes, 2 instructions",
		},
		{
			name: "half, 64 wide, ldmatrix, XOR", b: ldmatrixTile(64, 64, true), options: Options{Allow: []Family{XOR}},
			best: "Swizzle<3,4,3>", general: true,
		},
		{
			name: "half, 16 wide, ldmatrix, XOR", b: ldmatrixTile(64, 16, false), options: Options{Allow: []Family{XOR}},
			best: "Swizzle<1,4,3>", general: true,
		},
		{
			name: "float4, rows of 128 bytes", b: vectorColumns(32, 32),
			best: "pad(+16 per 128 bytes)", general: true, reason: "fewest any layout",
		},
		{
			name: "rows of 256 bytes", b: vectorColumns(32, 64), options: Options{Allow: []Family{XOR}},
			best: "Swizzle<3,4,4>", general: true,
		},
		{
			name: "a pad would cost a block", b: ldmatrixTile(256, 64, false), block: Block{Threads: 128, Shared: 75 << 10},
			best: "Swizzle<3,4,3>", general: true, reason: "pad(+16 per 128 bytes) would leave only 2 of 3 blocks per multiprocessor",
		},
		{
			name: "least bad: 16-byte pieces cannot spread the columns of single words over more than 8 banks", b: mixedColumns(),
			best: "pad(+16 per 128 bytes)", general: true, reason: "160 of 1056 wavefronts remain, the fewest any layout can have",
			pareto: "Swizzle<3,4,3>: 160 wavefronts",
		},
		{
			name: "cp.async.cg does not like pads", b: copied(), block: Block{Threads: 128},
			best: "Swizzle<3,4,3>", general: true, reason: "cp.async.cg is not modelled exactly",
		},
		{
			name: "rows, columns and XOR diagonals need a linear map", b: threeDirections(),
			// The linear map has the fewest wavefronts; its six index instructions cost more than the pad's second
			// pass.
			best: "pad(+8 per 128 bytes)", general: true, reason: "would leave 96, but its 6 index instructions an access outweigh that",
			pareto: "linear(0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x88, 0x110, 0x220, 0x440, 0x80c): 96 wavefronts",
		},
		{
			name: "the cure costs more than the disease", b: mostlyFree(), options: Options{Allow: []Family{XOR}},
			best: "", reason: "leave it: the index instructions would cost more issue slots than the 1 wavefronts saved", general: true,
		},
		{
			name: "16-byte rows read in columns of single words", b: narrowColumns(),
			best: "", reason: "leave it: 136 wavefronts are the fewest any layout can have", general: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := search(t, test.b.problem(t, test.block), test.options)
			got := ""
			if r.Best != nil {
				got = r.Best.Transform.String()
			}
			if got != test.best {
				t.Errorf("best: got %q, want %q (%s)", got, test.best, r.Reason)
			}
			if !strings.Contains(r.Reason, test.reason) {
				t.Errorf("reason: got %q, want %q in it", r.Reason, test.reason)
			}
			if !strings.Contains(front(r), test.pareto) {
				t.Errorf("front: want %s in\n%s", test.pareto, front(r))
			}
			if r.OptimalInGeneral != test.general || !r.OptimalInFamily {
				t.Errorf("optimal: got %v in general, %v in the families; bound %d\n%s", r.OptimalInGeneral, r.OptimalInFamily, r.Bound.Wavefronts, front(r))
			}
			checkResult(t, r)
		})
	}
}

// vectorColumns is a float tile written by rows and read as columns of float4.
func vectorColumns(rows, cols int) *builder {
	b := &builder{arrays: []access.Array{array("tile", 4, rows, cols)}}
	b.site("store row", smem.Store, 16, rows*cols/4/32, func(w, l int) int { return 16 * (32*w + l) })
	b.site("load column", smem.Load, 16, cols/4, func(w, l int) int { return 4*cols*(l%rows) + 16*w })
	return b
}

// mixedColumns writes rows of 128 bytes in 16-byte pieces and reads columns of single words.
func mixedColumns() *builder {
	b := &builder{arrays: []access.Array{array("tile", 4, 32, 32)}}
	b.site("store", smem.Store, 16, 8, func(w, l int) int { return 512*w + 16*l })
	b.site("column", smem.Load, 4, 32, func(w, l int) int { return 128*l + 4*w })
	return b
}

// threeDirections reads a float tile by rows, by columns, and along (r, r XOR k).
func threeDirections() *builder {
	b := &builder{arrays: []access.Array{array("tile", 4, 32, 32)}}
	b.site("row", smem.Store, 4, 32, func(w, l int) int { return 4 * (32*w + l) })
	b.site("column", smem.Load, 4, 32, func(w, l int) int { return 4 * (32*l + w) })
	b.site("diagonal", smem.Load, 4, 32, func(w, l int) int { return 4 * (32*l + l ^ w) })
	return b
}

// copied is an ldmatrix tile filled by cp.async.cg.
func copied() *builder {
	b := ldmatrixTile(64, 64, false)
	b.sites[0].Op = smem.CopyAsyncCG
	for i := range b.accesses {
		if b.accesses[i].Site == 0 {
			b.accesses[i].Request.Op = smem.CopyAsyncCG
		}
	}
	return b
}

// mostlyFree has one access with a 2-way conflict among many without.
func mostlyFree() *builder {
	b := &builder{arrays: []access.Array{array("tile", 4, 2, 32)}}
	b.site("row", smem.Store, 4, 32, func(w, l int) int { return 128*(w%2) + 4*l })
	b.site("pairs", smem.Load, 4, 1, func(w, l int) int { return 128*(l%2) + 4*(l/2) })
	return b
}

// narrowColumns writes 16 bytes a lane and reads one word of each: four banks of 32 hold a word of one place in its 16
// bytes, so a column takes four passes whatever the layout.
func narrowColumns() *builder {
	b := &builder{arrays: []access.Array{array("rows", 4, 32, 4)}}
	b.site("store", smem.Store, 16, 2, func(w, l int) int { return 16 * l })
	b.site("load word", smem.Load, 4, 32, func(w, l int) int { return 16*l + 4*(w%4) })
	return b
}

// checkResult holds whatever the problem: counts agree with a plain recount, the front is a front, nothing is below the
// bound.
func checkResult(t interface {
	Helper()
	Errorf(string, ...any)
}, r *Result) {
	t.Helper()
	for i := range r.Pareto {
		c := &r.Pareto[i]
		if len(c.Narrowed) == 0 {
			if got := recount(r.Problem, c.Transform); !slices.Equal(got, c.Sites) {
				t.Errorf("%s: sites got %v, recounted %v", c.Transform, c.Sites, got)
			}
		}
		if c.Wavefronts < r.Bound.Wavefronts {
			t.Errorf("%s: %d wavefronts, below the bound %d", c.Transform, c.Wavefronts, r.Bound.Wavefronts)
		}
		for j := range r.Pareto {
			k := &r.Pareto[j]
			if i != j && k.Wavefronts <= c.Wavefronts && k.Bytes <= c.Bytes && k.Instructions <= c.Instructions && len(k.Narrowed) <= len(c.Narrowed) {
				t.Errorf("front: %s is beaten by %s", c.Transform, k.Transform)
			}
		}
	}
	for i, n := range r.Bound.Sites {
		if n > r.Before.Sites[i] {
			t.Errorf("site %d: bound %d above the present %d", i, n, r.Before.Sites[i])
		}
	}
}

// recount resolves every request, one by one, with the literal form of the unit.
func recount(p *Problem, t layout.Transform) []int64 {
	out := make([]int64, len(p.Sites))
	for i := range p.Requests {
		r := p.Requests[i]
		moved := r.Request
		moved.Addr = nil
		for _, a := range r.Addr {
			moved.Addr = append(moved.Addr, t.Map(a))
		}
		w, err := p.Arch.Unit.Walk(&moved)
		if err != nil {
			return nil
		}
		out[r.Site] += int64(w.Outcome.Wavefronts) * r.Count
	}
	return out
}

// randomProblem draws a small array, a few sites and requests of many kinds.
func randomProblem(rng *rand.Rand) *builder {
	elem := []int{2, 4, 4, 8, 16}[rng.IntN(5)]
	rows, cols := 1<<rng.IntN(5), 1<<rng.IntN(5)
	if rng.IntN(3) == 0 {
		rows, cols = 1+rng.IntN(20), 1+rng.IntN(24)
	}
	b := &builder{arrays: []access.Array{array("a", elem, rows, cols)}}
	switch {
	case rng.IntN(4) == 0:
		b.arrays[0].Dims = nil
	case rng.IntN(8) == 0 && elem >= 4 && rows*cols <= 128:
		b.arrays[0] = array("a", elem, 4, rows, cols)
	}
	size := b.arrays[0].Size
	for range 1 + rng.IntN(3) {
		ops := []smem.Op{smem.Load, smem.Store, smem.Load, smem.Store, smem.Atomic, smem.LoadMatrix}
		op := ops[rng.IntN(len(ops))]
		width := 1 << rng.IntN(5)
		unit := width
		switch op {
		case smem.Atomic:
			width, unit = 4, 4
		case smem.LoadMatrix:
			width, unit = 4<<rng.IntN(3), 16
		}
		if size%unit != 0 {
			op, width, unit = smem.Load, 1, 1
		}
		n := size / unit
		kind, stride, start := rng.IntN(3), 1+rng.IntN(40), rng.IntN(n)
		b.site(fmt.Sprint(op), op, width, 1+rng.IntN(3), func(w, l int) int {
			switch kind {
			case 0:
				return unit * ((start + w + l*stride) % n)
			case 1:
				return unit * (((l * stride) ^ start ^ w) % n)
			}
			return unit * rng.IntN(n)
		})
		if rng.IntN(3) == 0 {
			last := &b.accesses[len(b.accesses)-1]
			last.Request.Active = smem.Mask(rng.Uint32())
			last.Count = 1 + rng.Int64N(5)
		}
	}
	return b
}

// TestSearchEqualsBruteForce compares the search with a plain loop over every member of the families on 1,000 random
// problems.
func TestSearchEqualsBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	improved, linearTried, allTried, beyond := 0, 0, 0, 0
	count := 1000
	if testing.Short() {
		count = 40
	}
	for i := range count {
		b := randomProblem(rng)
		problems, err := Problems(context.Background(), b, arch.MustLookup("sm_90"), Block{})
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) == 0 { // every mask came out empty
			continue
		}
		p := problems[0]
		r, err := Search(context.Background(), p, Options{})
		if err != nil {
			t.Fatalf("problem %d: %v", i, err)
		}
		checkResult(t, r)
		p = r.Problem // without the pad that it may have
		pads, swizzles := bruteForce(p)
		want := min(r.Before.Wavefronts, pads, swizzles)
		got := r.Before.Wavefronts
		for _, c := range r.Pareto {
			if c.Family != LinearF {
				got = min(got, c.Wavefronts)
			}
		}
		// A linear map that beats them drops pads and swizzles from the front.
		if linear := r.Pareto[0]; linear.Family == LinearF && got > want {
			got = want
		}
		if got != want {
			t.Fatalf("problem %d: got %d wavefronts, want %d\n%s", i, got, want, front(r))
		}
		if want < r.Before.Wavefronts {
			improved++
		}
		if n, ok := bruteLinear(p); ok && !r.OptimalInGeneral && !refused(r) {
			linearTried++
			if best := min(n, want); r.afterRows != best {
				t.Fatalf("problem %d: with linear maps got %d wavefronts, want %d\n%s", i, r.afterRows, best, front(r))
			}
			if all, ok := bruteBanks(p); ok && r.linear.General {
				allTried++
				if all < r.afterRows {
					beyond++
				}
				if best := min(all, r.afterRows); r.Pareto[0].Wavefronts != best {
					t.Fatalf("problem %d: with all bank maps got %d wavefronts, want %d\n%s", i, r.Pareto[0].Wavefronts, best, front(r))
				}
			}
		}
		if i%10 == 0 {
			certified(t, r)
		}
		if t.Failed() {
			t.Fatalf("problem %d", i)
		}
	}
	if count == 1000 && (improved < 100 || linearTried < 50 || allTried < 20 || beyond < 2) {
		t.Errorf("the problems are too easy: %d improved, %d needed linear maps, %d were compared with all bank maps, %d of them won by one",
			improved, linearTried, allTried, beyond)
	}
}

// certified checks the certificate of the best candidate with the other package's code.
func certified(t *testing.T, r *Result) {
	t.Helper()
	c, err := r.Certificate(&r.Pareto[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteCertificate(&b, c); err != nil {
		t.Fatal(err)
	}
	o, err := verify.Check(context.Background(), &b)
	if err != nil || !o.OK() {
		t.Errorf("certificate: %v\n%v", err, o)
	}
}

// bruteForce returns the fewest wavefronts of any legal pad and of any legal swizzle. It shares no code with the search
// but the pitches.
func bruteForce(p *Problem) (pads, swizzles int64) {
	wide := 1
	for _, r := range p.Requests {
		wide = max(wide, r.Bytes())
	}
	pitches, declared := p.pitches()
	pads, swizzles = 1<<62, 1<<62
	step := p.Array.ElemBytes
	if p.Present != nil {
		pads = plainCost(p, wide, pads, func(a int) int { return a })
	}
	for i, inner := range pitches {
		for add := step; add <= 128; add += step {
			pads = min(pads, plainCost(p, wide, pads, func(a int) int { return a + a/int(inner)*add }))
			for _, outer := range pitches[i+1:] {
				for more := step; declared && more <= 128; more += step {
					pads = min(pads, plainCost(p, wide, pads, func(a int) int { return a + a/int(inner)*add + a/int(outer)*more }))
				}
			}
		}
	}
	n := 0
	for 1<<n < p.Array.Size {
		n++
	}
	for b := 1; b <= n; b++ {
		for m := 0; m <= n; m++ {
			for s := -n; s <= n; s++ {
				if s < b && -s < b || m+max(s, -s)+b > n || 1<<m < wide {
					continue
				}
				swizzles = min(swizzles, plainCost(p, wide, swizzles, func(a int) int {
					if s > 0 {
						return a ^ (a>>(m+s)&(1<<b-1))<<m
					}
					return a ^ (a>>m&(1<<b-1))<<(m-s)
				}))
			}
		}
	}
	return pads, swizzles
}

// bruteLinear returns the fewest wavefronts of any map that XORs row bits onto bank bits, if there are few enough to
// try.
func bruteLinear(p *Problem) (int64, bool) {
	wide, n := 4, 0
	for _, r := range p.Requests {
		wide = max(wide, r.Bytes())
	}
	for 1<<n < p.Array.Size {
		n++
	}
	low := 0
	for 1<<low < wide {
		low++
	}
	rows, width := n-7, 7-low
	if rows < 1 || rows*width > 9 {
		return 0, false
	}
	best := int64(1 << 62)
	for code := range 1 << (rows * width) {
		best = min(best, plainCost(p, wide, best, func(a int) int {
			for r := range rows {
				if a>>(7+r)&1 == 1 {
					a ^= code >> (r * width) & (1<<width - 1) << low
				}
			}
			return a
		}))
	}
	return best, true
}

// bruteBanks returns the fewest wavefronts of any linear map of granule numbers to banks, if there are few enough to
// try. Every granule gets a row of its own, so that only banks decide.
func bruteBanks(p *Problem) (int64, bool) {
	wide, n := 4, 0
	for _, r := range p.Requests {
		wide = max(wide, r.Bytes())
	}
	for wide<<n < p.Array.Size {
		n++
	}
	width := 0
	for wide<<width < 128 {
		width++
	}
	if n < width || n*width > 14 || p.Array.Size/wide > 256 {
		return 0, false
	}
	best := int64(1 << 62)
	for code := range 1 << (n * width) {
		best = min(best, plainCost(p, wide, best, func(a int) int {
			g, bank := a/wide, 0
			for i := range n {
				if g>>i&1 == 1 {
					bank ^= code >> (i * width) & (1<<width - 1)
				}
			}
			return g*128 + bank*wide + a%wide
		}))
	}
	return best, true
}

// refused reports whether a linear map was found and dropped for want of memory.
func refused(r *Result) bool {
	return slices.ContainsFunc(r.Searched, func(s Searched) bool { return s.Family == LinearF && s.Illegal > 0 })
}

// plainCost sums the wavefronts under a map, or returns at once when they reach the given number or the map moves an
// access off its alignment or apart.
func plainCost(p *Problem, wide int, enough int64, f func(int) int) int64 {
	for base := 0; base < p.Array.Size; base += wide {
		start := f(base)
		if start%wide != 0 {
			return enough
		}
		for k := 1; k < wide; k++ {
			if f(base+k) != start+k {
				return enough
			}
		}
	}
	sum := int64(0)
	var out smem.Outcome
	var addr [32]uint32
	for _, r := range p.Requests {
		moved := r.Request
		moved.Addr = addr[:len(r.Addr)]
		for l, a := range r.Addr {
			moved.Addr[l] = uint32(f(int(a)))
		}
		if err := p.Arch.Unit.Resolve(&out, &moved); err != nil {
			return enough
		}
		if sum += int64(out.Wavefronts) * r.Count; sum >= enough {
			return enough
		}
	}
	return sum
}

// gemm is the access set of a 128x64 half tile: 128-bit stores, ldmatrix.x4 and ldmatrix.x4.trans over all of it.
func gemm() *builder {
	b := ldmatrixTile(128, 64, false)
	t := ldmatrixTile(128, 64, true)
	for _, a := range t.accesses {
		if t.sites[a.Site].Op == smem.LoadMatrix {
			a.Site = len(b.sites)
			b.accesses = append(b.accesses, a)
		}
	}
	b.sites = append(b.sites, t.sites[1])
	return b
}

// TestTooManyRequests searches random requests, which nothing merges and no bound prunes: it must end soon and say that
// it did not look at everything.
func TestTooManyRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	b := &builder{arrays: []access.Array{array("hist", 4, 8192)}}
	b.site("hist[random]", smem.Store, 4, 20000, func(_, _ int) int { return 4 * rng.IntN(8192) })
	r := search(t, b.problem(t, Block{}), Options{Allow: []Family{XOR}})
	if r.OptimalInFamily || r.Searched[1].Exhausted || !strings.Contains(r.Searched[1].Note, "distinct requests") {
		t.Errorf("got %+v", r.Searched[1])
	}
	if _, err := r.Certificate(&r.Pareto[0]); err != nil {
		t.Error(err)
	}
}

func BenchmarkGEMM(b *testing.B) {
	set := gemm()
	a := arch.MustLookup("sm_90")
	for b.Loop() {
		p, err := Problems(context.Background(), set, a, Block{Threads: 256})
		if err != nil {
			b.Fatal(err)
		}
		r, err := Search(context.Background(), p[0], Options{})
		if err != nil {
			b.Fatal(err)
		}
		if r.Best == nil || !r.OptimalInGeneral {
			b.Fatal(r.Reason)
		}
	}
}
