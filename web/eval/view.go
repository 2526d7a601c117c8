package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"shmoo"
	"shmoo/access"
	"shmoo/bankmap"
	"shmoo/explain"
	"shmoo/layout"
	"shmoo/smem"
)

// Limits of a view.
const (
	maxPads       = 16
	maxExecutions = 1 << 14 // of a site, over all warps
)

// ViewQuestion asks for one request of one site. Without Warp and Execution the worst request is shown.
type ViewQuestion struct {
	Input
	Site      int   `json:"site"`                // index into the report's sites
	Warp      *int  `json:"warp,omitempty"`      // index into View.Warps
	Execution *int  `json:"execution,omitempty"` // of the site by that warp
	Pads      []int `json:"pads,omitempty"`      // elements added to each row of the array, a panel each
}

// View is the reply to "view".
type View struct {
	Site int `json:"site"`
	// Warps lists the warps that execute the site, with what each execution costs.
	Warps     []Warp           `json:"warps"`
	Truncated bool             `json:"truncated"` // the site is executed more often than Warps shows
	Warp      int              `json:"warp"`      // the request shown: index into Warps
	Execution int              `json:"execution"`
	Explain   *explain.Data    `json:"explain"`              // what shmoo explain --json writes; null if nothing is resolved
	Addresses []uint32         `json:"addresses"`            // of the request, by lane
	Reason    string           `json:"unresolved"`           // why there is nothing to explain
	Pads      *bankmap.Picture `json:"pads,omitempty"`       // what shmoo map --pad --json writes
	PadsError string           `json:"pads_error,omitempty"` // why there is no such picture
}

// Warp is one warp's executions of a site.
type Warp struct {
	Block      int   `json:"block"`
	Warp       int   `json:"warp"`
	Wavefronts []int `json:"wavefronts"` // by execution; -1 unresolved, -2 refused by the hardware
	Ideal      []int `json:"ideal"`
}

const (
	unresolved = -1
	refused    = -2
)

func view(ctx context.Context, m *Model, q *ViewQuestion) (*View, error) {
	in, err := q.open(ctx, m)
	if err != nil {
		return nil, err
	}
	sites := in.Source.Sites()
	if q.Site < 0 || q.Site >= len(sites) {
		return nil, fmt.Errorf("site %d, want 0 to %d", q.Site, len(sites)-1)
	}
	if len(q.Pads) > maxPads {
		return nil, fmt.Errorf("%d pads, want at most %d", len(q.Pads), maxPads)
	}
	s := scan{unit: in.Unit, view: &View{Site: q.Site, Warps: []Warp{}, Addresses: []uint32{}}, warp: q.Warp, execution: q.Execution}
	for a, err := range in.Source.Accesses(ctx) {
		if err != nil {
			return nil, err
		}
		if a.Site == q.Site {
			if err := s.add(a); err != nil {
				return nil, err
			}
		}
	}
	return s.finish(in, q)
}

// A scan goes through the executions of a site and keeps the request that is to be shown.
type scan struct {
	unit            *smem.Unit
	view            *View
	warp, execution *int
	count           int
	out             smem.Outcome

	chosen   *smem.Request
	score    int // how much the chosen request is worth showing
	sawAny   bool
	reason   string
	lastWarp int
}

func (s *scan) add(a *access.Access) error {
	warp := s.warpOf(a)
	if s.count >= maxExecutions {
		s.view.Truncated = true
		return nil
	}
	s.count++
	w := &s.view.Warps[warp]
	wavefronts, ideal, score, err := s.cost(a)
	if err != nil {
		return err
	}
	w.Wavefronts = append(w.Wavefronts, wavefronts)
	w.Ideal = append(w.Ideal, ideal)
	if s.wanted(warp, len(w.Wavefronts)-1, score) {
		s.view.Warp, s.view.Execution = warp, len(w.Wavefronts)-1
		s.sawAny, s.score, s.chosen, s.reason = true, score, nil, a.Unresolved
		if a.Unresolved == "" {
			r := a.Request
			r.Addr = slices.Clone(r.Addr)
			s.chosen = &r
		}
	}
	return nil
}

// warpOf returns the index of the access's warp in the view, which it may add to.
func (s *scan) warpOf(a *access.Access) int {
	is := func(w *Warp) bool { return w.Block == a.Block && w.Warp == a.Warp }
	if s.lastWarp < len(s.view.Warps) && is(&s.view.Warps[s.lastWarp]) {
		return s.lastWarp
	}
	for i := range s.view.Warps {
		if is(&s.view.Warps[i]) {
			s.lastWarp = i
			return i
		}
	}
	s.view.Warps = append(s.view.Warps, Warp{Block: a.Block, Warp: a.Warp, Wavefronts: []int{}, Ideal: []int{}})
	s.lastWarp = len(s.view.Warps) - 1
	return s.lastWarp
}

// cost returns what an execution takes and how much it is worth showing: a fault most, then conflicts, then any request.
func (s *scan) cost(a *access.Access) (wavefronts, ideal, score int, err error) {
	if a.Unresolved != "" {
		return unresolved, 0, -1, nil
	}
	err = s.unit.Resolve(&s.out, &a.Request)
	if _, fault := errors.AsType[*smem.Fault](err); fault {
		return refused, 0, 1 << 30, nil
	}
	if err != nil {
		return 0, 0, 0, err
	}
	return s.out.Wavefronts, s.out.Ideal, s.out.Conflicts(), nil
}

// wanted reports whether an execution is the one to show, as far as is known.
func (s *scan) wanted(warp, execution, score int) bool {
	if !s.sawAny {
		return true
	}
	exact := func(w, x int) int {
		n := 0
		if s.warp != nil && w == *s.warp {
			n += 2
		}
		if s.execution != nil && x == *s.execution && n > 0 {
			n++
		}
		return n
	}
	now, best := exact(warp, execution), exact(s.view.Warp, s.view.Execution)
	if now != best {
		return now > best
	}
	return score > s.score
}

func (s *scan) finish(in *shmoo.Input, q *ViewQuestion) (*View, error) {
	v := s.view
	v.Reason = s.reason
	if s.chosen == nil {
		if !s.sawAny {
			v.Reason = "it never runs"
		}
		return v, nil
	}
	v.Addresses = s.chosen.Addr
	site := &in.Source.Sites()[q.Site]
	w := &v.Warps[v.Warp]
	var err error
	v.Explain, err = explain.New(s.unit, s.chosen, explain.Options{
		Site: site, Block: w.Block, Warp: w.Warp, Provenance: in.Arch.Provenance,
	})
	if err != nil {
		return nil, err
	}
	if len(q.Pads) == 0 {
		return v, nil
	}
	// A longer array may need more shared memory than the launch has now: what counts is what a block can have.
	panels, err := padPanels(in.Arch.Unit, s.chosen, arrayOf(in.Source.Arrays(), site.Array), q.Pads)
	if err != nil {
		v.PadsError = err.Error()
		return v, nil
	}
	v.Pads = bankmap.NewPicture(in.Arch.Name, site.Text, panels)
	return v, nil
}

func arrayOf(arrays []access.Array, name string) *access.Array {
	for i := range arrays {
		if arrays[i].Name == name {
			return &arrays[i]
		}
	}
	return nil
}

// padPanels draws the request with the rows of its array longer by each of the pads, in elements.
func padPanels(u *smem.Unit, r *smem.Request, a *access.Array, pads []int) ([]*bankmap.Panel, error) {
	if a == nil || a.ElemBytes == 0 {
		return nil, errors.New("the array of this access is not known, so there is nothing to pad")
	}
	if len(a.Dims) < 2 {
		return nil, fmt.Errorf("%s has no rows to pad: one dimension", a.Name)
	}
	pitch := a.Dims[len(a.Dims)-1] * a.ElemBytes
	var panels []*bankmap.Panel
	for _, elems := range pads {
		if elems < 0 || elems > 1<<16 {
			return nil, fmt.Errorf("pad %d, want 0 to %d elements", elems, 1<<16)
		}
		padded := *r
		padded.Addr = slices.Clone(r.Addr)
		if elems > 0 {
			t, err := layout.NewPad(layout.PadStep{Add: uint32(elems * a.ElemBytes), Per: uint32(pitch)})
			if err != nil {
				return nil, err
			}
			for lanes := r.Addressing(); lanes != 0; lanes &= lanes - 1 {
				lane := lanes.Lowest()
				padded.Addr[lane] = uint32(a.Offset) + t.Map(r.Addr[lane]-uint32(a.Offset))
			}
		}
		title := fmt.Sprintf("pad %d", elems)
		panel, err := bankmap.New(u, &padded, title)
		if err != nil {
			panel = bankmap.Refused(u, &padded, title, err)
		}
		panels = append(panels, panel)
	}
	return panels, nil
}
