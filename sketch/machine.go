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
	nextCheck int64 // steps left at which the context is looked at again
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
