package sketch

import (
	"context"
	"fmt"
	"math/bits"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/smem"
)

// Pointers are 64-bit values whose top byte says which memory they point into. Shared addresses have a bias, so that
// moving back past the start keeps the tag; their low 32 bits are the offset from the start of shared memory.
const (
	tagShift   = 56
	spaceShare = 1
	spaceOther = 2 // global, constant, or a pointer that came out of memory
	spaceLocal = 3

	sharedBase = spaceShare<<tagShift | 1<<(tagShift-1)
	otherBase  = spaceOther<<tagShift | 1<<(tagShift-1)
	localBase  = spaceLocal<<tagShift | 1<<(tagShift-1)
)

type (
	evalFn func(m *machine, mask laneMask) *vec
	// stmtFn runs a statement and returns the lanes that go on after it.
	stmtFn func(m *machine, mask laneMask) laneMask
)

// machine runs a compiled kernel for one warp after another.
type machine struct {
	lanes  int
	code   *code
	warp   int
	block  int
	thread [3]vec // threadIdx
	place  [3]vec // blockIdx
	lane   vec

	// unsure lanes may or may not execute what runs now, for the reason why; ghost lanes may take part though they are
	// not in the mask. pend lanes may have left a loop or function that is still running.
	unsure, ghost, pend laneMask
	why                 string

	steps     int64 // left
	err       *diag.Diagnostic
	stopped   bool
	cancelled error
	ctx       context.Context
	yield     func(*access.Access, error) bool
	acc       access.Access
	addr      [smem.MaxLanes]uint32
}

// halt ends the run: everything checks steps.
func (m *machine) halt() { m.steps = -1 << 62 }

// fail ends the run with a diagnostic.
func (m *machine) fail(s span, id, format string, args ...any) {
	if m.err == nil && !m.stopped {
		m.err = diag.Errorf(id, m.code.file.place(s), format, args...)
	}
	m.halt()
}

// exhausted is called when steps ran out.
func (m *machine) exhausted(s span) laneMask {
	if m.err == nil && !m.stopped && m.cancelled == nil {
		m.fail(s, "sketch/steps", "warp %d runs more than %d steps: is the loop endless? want a bound or a higher limit",
			m.warp, m.code.limits.Steps)
	}
	m.halt()
	return 0
}

// siteRef is an access in the compiled code. Its index in the table is -1 when it never touches shared memory.
type siteRef struct {
	index   int
	span    span
	op      smem.Op
	width   int
	instr   string
	offset  int // of this piece, when a value takes several accesses
	pieces  int
	from    *origin
	chain   []diag.Pos
	indexes []span
	why     string // unresolved whatever the addresses are
	keep    bool   // surely touches shared memory
	text    string // how to show it, where the source under the span does not do
}

// emit hands out one access of a site with shared offsets in a (low 32 bits) for the lanes of mask.
func (m *machine) emit(s *siteRef, mask laneMask, a *vec) {
	if m.steps < 0 || mask == 0 {
		return
	}
	acc := &m.acc
	acc.Site, acc.Block, acc.Warp, acc.Count, acc.Unresolved = s.index, m.block, m.warp, 1, ""
	acc.Request.Op, acc.Request.Width, acc.Request.Active = s.op, s.width, mask
	switch {
	case s.why != "":
		acc.Unresolved = s.why
	case mask&m.unsure|m.ghost != 0:
		acc.Unresolved = m.why
	case a.unk&mask != 0:
		acc.Unresolved = "address depends on " + a.why
		if m.code.reasons == nil {
			m.code.reasons = map[string]string{}
		}
		if r, ok := m.code.reasons[a.why]; ok {
			acc.Unresolved = r
		} else {
			m.code.reasons[a.why] = acc.Unresolved
		}
	case a.uni:
		x := uint32(a.v[0]) + uint32(s.offset)
		for i := range a.v {
			m.addr[i] = x
		}
	default:
		for i, x := range a.v {
			m.addr[i] = uint32(x) + uint32(s.offset)
		}
	}
	acc.Request.Addr = m.addr[:m.lanes]
	if s.index < 0 {
		m.fail(s.span, "sketch/space", "this access reaches shared memory through a pointer whose origin was not followed")
		return
	}
	if !m.yield(acc, nil) {
		m.stopped = true
		m.halt()
	}
}

// sharedLanes returns the lanes of mask whose pointer points into shared memory.
func (m *machine) sharedLanes(a *vec, mask laneMask, possible bool) laneMask {
	if a.uni {
		tag := a.v[0] >> tagShift
		if tag == spaceShare || possible && tag == 0 && a.unk&mask != 0 {
			return mask
		}
		return 0
	}
	var in laneMask
	for w := uint64(mask); w != 0; w &= w - 1 {
		lane := bits.TrailingZeros64(w)
		tag := a.v[lane] >> tagShift
		if tag == spaceShare || possible && tag == 0 && a.unk.Has(lane) {
			in |= 1 << lane
		}
	}
	return in
}

// uncertain starts a stretch in which the given lanes may or may not run.
func (m *machine) uncertain(lanes laneMask, why string) {
	m.unsure |= lanes
	m.why = why
}

// branchReason words why what depends on a condition is unresolved, keeping the words for the next time.
type branchReason struct {
	place string
	last  string
	text  string
}

func (b *branchReason) of(why string) string {
	if b.text == "" || b.last != why {
		b.last = why
		b.text = fmt.Sprintf("under a condition at %s that depends on %s", b.place, why)
	}
	return b.text
}

// object is a variable: one leaf per scalar in it. A variable without followed parts has no leaves.
type object struct {
	name   string
	ty     *ctype
	leaves []vec
	at     []leafPlace
	index  []int32 // byte offset -> leaf, -1 where none starts
	addr   int64   // in the local space
	live   laneMask
	unsure laneMask // lanes that were unsure when it was declared
	from   *origin
	why    string // why untracked parts are unknown
}

type leafPlace struct {
	off int
	ty  *ctype
}

// declare makes the variable come to life without a value.
func (o *object) declare(m *machine, mask laneMask) {
	o.live, o.unsure = mask, m.unsure
	for i := range o.leaves {
		o.leaves[i].setUnknown(o.why)
	}
}

// assign gives the lanes of mask of a leaf a new value.
func (o *object) assign(m *machine, leaf int, src *vec, mask laneMask) {
	dst := &o.leaves[leaf]
	doubt := m.unsure &^ o.unsure & mask
	if o.live&^mask == 0 && doubt == 0 {
		if dst != src {
			dst.copyFrom(src)
		}
		return
	}
	dst.merge(src, mask)
	if doubt != 0 {
		dst.spread()
		dst.uni = false
		dst.unk |= doubt
		dst.why = m.why
	}
}

// forget makes the lanes of mask unknown in all leaves that overlap n bytes at offset; n < 0 means all leaves.
func (o *object) forget(off, n int, mask laneMask, why string) {
	for i := range o.leaves {
		p := o.at[i]
		if n >= 0 && (p.off+p.ty.size <= off || p.off >= off+n) {
			continue
		}
		v := &o.leaves[i]
		if o.live&^mask == 0 {
			v.setUnknown(why)
			continue
		}
		v.spread()
		v.uni = false
		v.unk |= mask
		v.why = why
	}
}

// leafAt returns the leaf of the given size that starts at a byte offset, or -1.
func (o *object) leafAt(off int64, size int) int {
	if off < 0 || off >= int64(len(o.index)) {
		return -1
	}
	i := o.index[off]
	if i >= 0 && o.at[i].ty.size == size {
		return int(i)
	}
	return -1
}

// gather reads a value of type t at the offsets in a.
func (o *object) gather(out *vec, t *ctype, a *vec, mask laneMask) {
	if a.uni && a.unk == 0 {
		if i := o.leafAt(a.v[0], t.size); i >= 0 {
			out.copyFrom(&o.leaves[i])
			o.convert(out, i, t)
			return
		}
		out.setUnknown(o.why)
		return
	}
	a.spread()
	out.uni, out.unk = false, a.unk
	out.why = a.why
	for w := uint64(mask &^ a.unk); w != 0; w &= w - 1 {
		lane := bits.TrailingZeros64(w)
		i := o.leafAt(a.v[lane], t.size)
		if i < 0 {
			out.unk |= 1 << lane
			out.why = o.why
			continue
		}
		leaf := &o.leaves[i]
		out.v[lane] = t.wrap(leaf.at(lane))
		if leaf.unk.Has(lane) {
			out.unk |= 1 << lane
			out.why = leaf.why
		}
	}
}

func (o *object) convert(out *vec, leaf int, t *ctype) {
	if from := o.at[leaf].ty; from.signed != t.signed || from.kind != t.kind {
		if out.uni {
			out.v[0] = t.wrap(out.v[0])
		} else {
			wrapAll(t, out.v)
		}
	}
}

// scatter writes src, of type t, at the offsets in a. Where src is nil the value is unknown.
func (o *object) scatter(m *machine, t *ctype, a, src *vec, mask laneMask) {
	if a.unk&mask != 0 {
		o.forget(0, -1, mask, "an array element that depends on "+a.why)
		return
	}
	if a.uni {
		i := o.leafAt(a.v[0], t.size)
		if i < 0 || src == nil {
			o.forget(int(a.v[0]), t.size, mask, o.why)
			return
		}
		o.assign(m, i, src, mask)
		return
	}
	for w := uint64(mask); w != 0; w &= w - 1 {
		lane := bits.TrailingZeros64(w)
		one := laneMask(1) << lane
		i := o.leafAt(a.v[lane], t.size)
		if i < 0 || src == nil {
			o.forget(int(a.v[lane]), t.size, one, o.why)
			continue
		}
		leaf := &o.leaves[i]
		leaf.merge(src, one)
		if doubt := m.unsure &^ o.unsure & one; doubt != 0 {
			leaf.unk |= doubt
			leaf.why = m.why
		}
	}
}

// find returns the variable at a local address and the offset in it.
func (c *code) find(addr int64) (*object, int64) {
	lo, hi := 0, len(c.objects)
	for lo < hi {
		mid := (lo + hi) / 2
		if c.objects[mid].addr <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil, 0
	}
	o := c.objects[lo-1]
	if off := addr - o.addr; off < int64(o.ty.size) {
		return o, off
	}
	return nil, 0
}

// origin says what a pointer value may point into. It is worked out after compiling, when all assignments are known.
type origin struct {
	array   *sharedArray
	unknown bool // may point into shared memory that is not known by name
	from    []*origin
}

func (o *origin) add(from *origin) {
	if o != nil && from != nil && o != from {
		o.from = append(o.from, from)
	}
}

// arrays returns the one array that the origin leads to, or whether it leads to several or unknown ones.
func (o *origin) resolve() (array *sharedArray, shared bool) {
	seen := map[*origin]bool{}
	several := false
	stack := []*origin{o}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if o == nil || seen[o] {
			continue
		}
		seen[o] = true
		if o.unknown {
			shared, several = true, true
		}
		if o.array != nil {
			shared = true
			if array != nil && array != o.array {
				several = true
			}
			array = o.array
		}
		stack = append(stack, o.from...)
	}
	if several {
		array = nil
	}
	return array, shared
}

// sharedArray is a shared array of the kernel.
type sharedArray struct {
	name    string
	decl    *varDecl
	span    span
	ty      *ctype
	off     int64
	align   int
	dynamic bool
	dims    []dimension
	from    *origin
	elem    *typeExpr
}
