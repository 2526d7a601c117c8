package explain

import (
	"errors"
	"fmt"
	"strings"

	"shmoo/access"
	"shmoo/bankmap"
	"shmoo/ncu"
	"shmoo/smem"
)

// Schema names the version of the JSON form. It changes when a field changes its meaning or goes away.
const Schema = "shmoo.explain/1"

// Options say where a request comes from. All of them may be left out.
type Options struct {
	Site        *access.Site
	Block, Warp int    // of the request; meaningful with Site
	Title       string // "" for a title made from Site
	Provenance  string // where the unit's rules come from, as in arch.Arch
	// Window is the shared window of a generic access, whose addresses are the request's plus its base; nil for an access
	// that addresses shared memory itself.
	Window *smem.Window
}

// Data is the explanation of one request.
type Data struct {
	Schema  string  `json:"schema"` // Schema
	Arch    string  `json:"arch"`
	Title   string  `json:"title"`
	Site    *Site   `json:"site,omitempty"`
	Request Request `json:"request"`
	Rule    Rule    `json:"rule"`
	Pairing Pairing `json:"pairing"`
	Why     string  `json:"why"` // the sentence of the package function Why
	Reason  *Reason `json:"reason,omitempty"`
	Steps   []Step  `json:"steps"` // up to the fault, if there is one
	// Picture is the request on the banks; nil for a request at fault.
	Picture *bankmap.Panel `json:"picture,omitempty"`
	Notes   []string       `json:"notes"`
	Fault   *Fault         `json:"fault,omitempty"`
}

// A Site is the instruction that the request belongs to.
type Site struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
	PC    uint64 `json:"pc"`
	Array string `json:"array,omitempty"`
	Text  string `json:"text,omitempty"`
	Instr string `json:"instr,omitempty"`
	Block int    `json:"block"`
	Warp  int    `json:"warp"`
}

// A Request is what is asked of the unit.
type Request struct {
	Op     string        `json:"op"`
	Width  int           `json:"width"` // bytes per lane
	Active bankmap.Lanes `json:"active"`
}

// A Rule is the rule of the unit that applies.
type Rule struct {
	Groups  []bankmap.Lanes `json:"groups"`
	Paired  []bankmap.Lanes `json:"paired"` // groups of a load that pairs; empty where loads do not
	Shares  bool            `json:"shares"` // lanes on one word share a pass
	PerPass int             `json:"perpass"`
	Floor   float32         `json:"floor"` // fewest cycles of an unpaired request
	Extra   float32         `json:"extra"` // cycles added to every request
	Basis   string          `json:"basis"`
	// Provenance says where the rules of the generation come from.
	Provenance string `json:"provenance,omitempty"`
}

// A Pairing says whether the load paired and why.
type Pairing struct {
	Possible bool `json:"possible"` // the rule has paired groups
	Pairs    bool `json:"pairs"`
	// Distance is the lane distance at which all partners agree, 1 or 2; 0 where the load does not pair.
	Distance int `json:"distance"`
	// Breaks names, where the load could pair but does not, the first pair of lanes that differ at distance 1 and at 2.
	Breaks [][2]int `json:"breaks,omitempty"`
}

// A Step is one stage of the unit at one moment.
type Step struct {
	Stage   string        `json:"stage"`
	Lanes   bankmap.Lanes `json:"lanes"`   // the lanes it deals with
	Waiting bankmap.Lanes `json:"waiting"` // the lanes still to be served after it
	Pass    int           `json:"pass"`    // index into Picture.Passes, or -1
	Text    string        `json:"text"`
}

// A Fault is an address that the hardware would refuse.
type Fault struct {
	Kind    string `json:"kind"` // "misaligned" or "out of bounds"
	Lane    int    `json:"lane"`
	Address uint32 `json:"address"`
	Bytes   int    `json:"bytes"`
	Limit   int    `json:"limit,omitempty"` // bytes of shared memory, for an address out of bounds
	Text    string `json:"text"`
	Advice  string `json:"advice"`
}

// New explains request r on unit u. A request that the hardware would refuse is explained by Data.Fault; a unit without a
// rule for the operation is an error.
func New(u *smem.Unit, r *smem.Request, o Options) (*Data, error) {
	walk, err := o.walk(u, r)
	fault, faulted := errors.AsType[*smem.Fault](err)
	if err != nil && !faulted {
		return nil, err
	}
	d := &Data{
		Schema: Schema, Arch: u.Name, Title: o.title(r), Site: o.site(),
		Request: Request{Op: r.Op.String(), Width: r.Width, Active: bankmap.Lanes(r.Active)},
		Rule:    ruleOf(&walk.Rule, o.Provenance),
		Notes:   []string{},
	}
	if faulted {
		d.Steps = stepsOf(u, r, walk, nil, fault)
		d.Fault = faultOf(fault, r)
		d.Why = fault.Error()
		return d, nil
	}
	if d.Picture, err = bankmap.New(u, r, ""); err != nil {
		return nil, err
	}
	if d.Reason, err = Analyze(u, r); err != nil {
		return nil, err
	}
	d.Why = d.Reason.String()
	d.Pairing = pairingOf(r, &walk.Rule)
	d.Steps = stepsOf(u, r, walk, d.Picture, nil)
	d.Notes = notesOf(u, r, walk)
	return d, nil
}

func (o *Options) walk(u *smem.Unit, r *smem.Request) (*smem.Walk, error) {
	if o.Window == nil {
		return u.Walk(r)
	}
	generic := make([]uint64, len(r.Addr))
	for lane, offset := range r.Addr {
		generic[lane] = o.Window.Base + uint64(offset)
	}
	return u.WalkGeneric(r, generic, *o.Window)
}

func (o *Options) site() *Site {
	if o.Site == nil {
		return nil
	}
	s := o.Site
	return &Site{
		File: s.Pos.File, Line: s.Pos.Line, Col: s.Pos.Col, PC: s.PC, Array: s.Array, Text: s.Text, Instr: s.Instr,
		Block: o.Block, Warp: o.Warp,
	}
}

// title names the site: its place, what the user wrote there, and the warp.
func (o *Options) title(r *smem.Request) string {
	if o.Title != "" || o.Site == nil {
		return o.Title
	}
	var parts []string
	if place := o.Site.Pos.String(); place != "" {
		parts = append(parts, place+":")
	}
	switch {
	case o.Site.Text != "":
		parts = append(parts, fmt.Sprintf("%s of %s", r.Op, o.Site.Text))
	case o.Site.Instr != "":
		parts = append(parts, fmt.Sprintf("%s at %#x", o.Site.Instr, o.Site.PC))
	default:
		parts = append(parts, r.Op.String())
	}
	return strings.Join(parts, " ") + fmt.Sprintf(" (block %d, warp %d)", o.Block, o.Warp)
}

func ruleOf(rule *smem.Rule, provenance string) Rule {
	return Rule{
		Groups: laneSets(rule.Groups), Paired: laneSets(rule.Paired), Shares: rule.Shares, PerPass: rule.PerPass,
		Floor: rule.Floor, Extra: rule.Extra, Basis: rule.Basis.String(), Provenance: provenance,
	}
}

func laneSets(masks []smem.Mask) []bankmap.Lanes {
	sets := make([]bankmap.Lanes, len(masks))
	for i, m := range masks {
		sets[i] = bankmap.Lanes(m)
	}
	return sets
}

// pairingOf judges the lanes at both distances.
func pairingOf(r *smem.Request, rule *smem.Rule) Pairing {
	p := Pairing{Possible: rule.Paired != nil}
	if !p.Possible {
		return p
	}
	for _, distance := range []int{1, 2} {
		lane, ok := differs(r, distance)
		if !ok {
			return Pairing{Possible: true, Pairs: true, Distance: distance}
		}
		p.Breaks = append(p.Breaks, [2]int{lane, lane ^ distance})
	}
	return p
}

// differs returns the first lane whose active partner at the distance has another address.
func differs(r *smem.Request, distance int) (int, bool) {
	lanes := r.Addressing()
	for m := lanes; m != 0; m &= m - 1 {
		lane := m.Lowest()
		if lanes.Has(lane^distance) && r.Addr[lane] != r.Addr[lane^distance] {
			return lane, true
		}
	}
	return 0, false
}

func faultOf(f *smem.Fault, r *smem.Request) *Fault {
	out := &Fault{Lane: f.Lane, Address: f.Addr, Bytes: f.Bytes, Text: f.Error()}
	if f.Kind == smem.Misaligned {
		out.Kind = "misaligned"
		out.Advice = fmt.Sprintf("make every address a multiple of %d (element offset, row pitch and the start of the array), "+
			"or access at most %s at a time", f.Bytes, count(int(f.Addr&-f.Addr), "byte"))
		return out
	}
	out.Kind, out.Limit = "out of bounds", f.Limit
	need := uint64(0)
	for m := r.Addressing(); m != 0; m &= m - 1 {
		need = max(need, uint64(r.Addr[m.Lowest()])+uint64(f.Bytes))
	}
	out.Advice = fmt.Sprintf("check the index of lane %d, or give the block the %d bytes of shared memory that this access "+
		"reaches, if the GPU has them", f.Lane, need)
	return out
}

// notesOf returns what the numbers alone do not say.
func notesOf(u *smem.Unit, r *smem.Request, walk *smem.Walk) []string {
	notes := []string{}
	out := &walk.Outcome
	if out.Cycles > float32(out.Wavefronts) {
		notes = append(notes, fmt.Sprintf("cycles are not wavefronts: a saturated unit takes %g cycles for it", out.Cycles))
	}
	switch out.Basis {
	case smem.Estimated:
		notes = append(notes, fmt.Sprintf("not modelled exactly: the rule for %s of %s per lane is an estimate", r.Op,
			count(r.Width, "byte")))
	case smem.Assumed:
		notes = append(notes, fmt.Sprintf("the rule is assumed for %s, not measured on it", u.Name))
	}
	page, known := ncu.SourcePage(u, r, out)
	switch {
	case !known:
		notes = append(notes, "Nsight Compute's Source page may show another number for this load: it judges pairing in its "+
			"own way; the hardware's counter agrees with the number here")
	case page != out.Wavefronts:
		notes = append(notes, fmt.Sprintf("Nsight Compute's Source page will show %s for this load, because it judges pairing "+
			"in its own way; the hardware's counter shows %d", count(page, "wavefront"), out.Wavefronts))
	}
	return notes
}
