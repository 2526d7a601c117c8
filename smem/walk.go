package smem

import "fmt"

// Stage is a step of the pipeline that an access goes through.
type Stage uint8

// The stages, in the order in which an access meets them.
const (
	Drop      Stage = iota // inactive and predicated-off lanes leave
	Convert                // generic addresses become offsets: the window's base is subtracted
	Check                  // alignment and bounds of every lane left
	Decode                 // bank and row of every lane left
	Split                  // the groups that the unit serves one after the other
	Resolver               // a pass: the lanes whose banks are free, or already on their row
	BankRead               // the banks chosen by the resolver access one row each
	Crossbar               // bank data goes to its lanes (or lane data to its banks)
	WriteBack              // the lanes' data goes to the register file
	Retire                 // no lane is left
)

var stageNames = [...]string{
	"drop", "convert", "check", "decode", "split", "resolver", "banks", "crossbar", "write-back", "retire",
}

// String returns the name of the stage.
func (s Stage) String() string {
	if int(s) < len(stageNames) {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// A Step is one stage of a walk at one moment.
type Step struct {
	Stage     Stage
	Lanes     Mask // the lanes this step deals with
	Waiting   Mask // the lanes that are still to be served after it
	Wavefront int  // index into Walk.Wavefronts from Resolver to WriteBack, else -1
}

// A Place is where a lane's access lands.
type Place struct {
	Offset uint32 // bytes from the start of shared memory
	Bank   int    // bank of its first word
	Row    int    // row of that bank
	Words  int    // words it touches, in adjacent banks
}

// A Wavefront is one pass of the data stage: at most one row per bank.
type Wavefront struct {
	Group, Pass int
	Lanes       Mask            // lanes it serves
	Row         [MaxLanes]int32 // per bank the row it accesses, -1 when idle
	BankLanes   [MaxLanes]Mask  // per bank the lanes it serves
}

// A Walk records every step of one access through the unit.
type Walk struct {
	Place      [MaxLanes]Place // meaningful for lanes that were not dropped
	Wavefronts []Wavefront     // passes; each takes Rule.PerPass wavefronts
	Steps      []Step
	Rule       Rule
	Outcome    Outcome
}

// A Window is the part of the generic address space that maps to shared memory.
type Window struct {
	Base uint64
	Size uint64
}

// Offset converts a generic address to a byte offset into shared memory. It reports false for an address outside the
// window.
func (w Window) Offset(addr uint64) (uint32, bool) {
	offset := addr - w.Base
	return uint32(offset), offset < w.Size
}

// WalkGeneric converts the generic addresses in addr, one per lane, and walks the request r with them; r.Addr is not
// read. Errors are those of Walk, and one for an active lane whose address lies outside the window.
func (u *Unit) WalkGeneric(r *Request, addr []uint64, window Window) (*Walk, error) {
	converted := *r
	converted.Addr = make([]uint32, len(addr))
	lanes := r.Addressing()
	for lane, a := range addr {
		offset, ok := window.Offset(a)
		if !ok && lanes.Has(lane) {
			return nil, fmt.Errorf("lane %d: generic address %#x is outside the shared window [%#x, %#x)",
				lane, a, window.Base, window.Base+window.Size)
		}
		converted.Addr[lane] = offset
	}
	return u.walk(&converted, true)
}

// Walk takes r through the unit the long way: each stage works on the whole warp, the resolver forms one wavefront at a
// time, and every step is recorded. It gives the same outcome as Resolve, which is much faster.
//
// Errors are those of Resolve; the walk up to the fault is returned with them.
func (u *Unit) Walk(r *Request) (*Walk, error) { return u.walk(r, false) }

func (u *Unit) walk(r *Request, generic bool) (*Walk, error) {
	p, err := u.lookup(r.Op, r.Width)
	if err != nil {
		return nil, err
	}
	rule := p.rule
	w := &Walk{Rule: rule}
	lanes := r.Addressing()
	if err := u.checkShape(r, lanes); err != nil {
		return nil, err
	}
	w.step(Drop, u.FullMask()&^lanes, lanes)
	if generic {
		w.step(Convert, lanes, lanes)
	}
	w.step(Check, lanes, lanes)
	if err := u.fault(r, p, lanes); err != nil {
		return w, err
	}
	w.step(Decode, lanes, lanes)
	for lane := range u.Lanes {
		if lanes.Has(lane) {
			w.Place[lane] = u.place(r, lane)
		}
	}
	o := &w.Outcome
	o.Groups, o.Basis = rule.Groups, rule.Basis
	if rule.Paired != nil && (u.sharesWithPartner(r, lanes, 1) || u.sharesWithPartner(r, lanes, 2)) {
		o.Groups, o.Paired = rule.Paired, true
	}
	for lane := range o.Group {
		o.Group[lane], o.Pass[lane] = -1, -1
	}
	w.step(Split, lanes, lanes)
	waiting := lanes
	for g, group := range o.Groups {
		passes := 0
		for left := group & lanes; left != 0; passes++ {
			front := u.form(w, left, rule.Shares)
			front.Group, front.Pass = g, passes
			left &^= front.Lanes
			waiting &^= front.Lanes
			w.serve(front, waiting)
		}
		if passes > 0 {
			o.Wavefronts += passes * rule.PerPass
			o.Ideal += rule.PerPass
			o.Ways = max(o.Ways, passes)
		}
	}
	o.Cycles = rule.cycles(o.Wavefronts, o.Paired)
	w.step(Retire, lanes, waiting)
	return w, nil
}

func (w *Walk) step(s Stage, lanes, waiting Mask) {
	w.Steps = append(w.Steps, Step{Stage: s, Lanes: lanes, Waiting: waiting, Wavefront: -1})
}

// place splits a lane's offset into bank and row: with 32 banks of 4 bytes, bits 1..0 select the byte of a word, bits
// 6..2 the bank, and bits 7 and up the row.
func (u *Unit) place(r *Request, lane int) Place {
	word := int(r.Addr[lane]) / u.BankBytes
	return Place{
		Offset: r.Addr[lane],
		Bank:   word % u.Banks,
		Row:    word / u.Banks,
		Words:  max(1, r.Bytes()/u.BankBytes),
	}
}

// sharesWithPartner reports whether every active lane with an active partner at the given distance has its address.
func (u *Unit) sharesWithPartner(r *Request, lanes Mask, distance int) bool {
	for lane := range u.Lanes {
		partner := lane ^ distance
		if lanes.Has(lane) && lanes.Has(partner) && r.Addr[lane] != r.Addr[partner] {
			return false
		}
	}
	return true
}

// form is one pass of the resolver: from the lowest lane left to the highest, a lane joins the wavefront when each bank
// it needs is idle or, where the rule lets lanes share, already on the row it needs.
func (u *Unit) form(w *Walk, left Mask, shares bool) Wavefront {
	var front Wavefront
	for bank := range front.Row {
		front.Row[bank] = -1
	}
	for lane := range u.Lanes {
		if !left.Has(lane) || !u.fits(&front, w.Place[lane], shares) {
			continue
		}
		p := w.Place[lane]
		for word := range p.Words {
			front.Row[p.Bank+word] = int32(p.Row)
			front.BankLanes[p.Bank+word] |= 1 << uint(lane)
		}
		front.Lanes |= 1 << uint(lane)
	}
	return front
}

// fits reports whether a wavefront can take an access. An aligned access never runs past its row.
func (u *Unit) fits(front *Wavefront, p Place, shares bool) bool {
	for word := range p.Words {
		row := front.Row[p.Bank+word]
		if row != -1 && (!shares || row != int32(p.Row)) {
			return false
		}
	}
	return true
}

// serve records a wavefront and the stages it goes through.
func (w *Walk) serve(front Wavefront, waiting Mask) {
	for lane := range MaxLanes {
		if front.Lanes.Has(lane) {
			w.Outcome.Group[lane], w.Outcome.Pass[lane] = int8(front.Group), int8(front.Pass)
		}
	}
	index := len(w.Wavefronts)
	w.Wavefronts = append(w.Wavefronts, front)
	for _, stage := range []Stage{Resolver, BankRead, Crossbar, WriteBack} {
		w.Steps = append(w.Steps, Step{stage, front.Lanes, waiting, index})
	}
}
