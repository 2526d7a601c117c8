package bankmap

import (
	"cmp"
	"slices"

	"shmoo/smem"
)

// Schema names the version of the JSON form of a Picture. It changes when a field changes its meaning or goes away.
const Schema = "shmoo.map/1"

// A Picture is the JSON document of one or several panels: the same access at several pads, for example.
type Picture struct {
	Schema string   `json:"schema"` // Schema
	Arch   string   `json:"arch"`
	Title  string   `json:"title,omitempty"`
	Panels []*Panel `json:"panels"`
}

// NewPicture returns the document of panels that were made on the unit of the named architecture.
func NewPicture(arch, title string, panels []*Panel) *Picture {
	return &Picture{Schema: Schema, Arch: arch, Title: title, Panels: panels}
}

// A Panel is one request on the banks of a unit.
type Panel struct {
	Title string `json:"title"`
	// Refused says why the unit does not serve the request; "" for one that it serves. A refused panel has no totals and
	// no cells.
	Refused   string  `json:"refused,omitempty"`
	Op        string  `json:"op"`
	Width     int     `json:"width"` // bytes per lane, as in smem.Request
	Lanes     int     `json:"lanes"` // lanes of a warp
	Banks     int     `json:"banks"`
	BankBytes int     `json:"bankbytes"`
	Active    Lanes   `json:"active"` // lanes whose addresses count
	Paired    bool    `json:"paired"`
	PerPass   int     `json:"perpass"` // wavefronts that one pass takes
	Totals    Totals  `json:"totals"`
	Groups    []Group `json:"groups"` // the groups that have active lanes, in order
	Passes    []Pass  `json:"passes"` // in the order in which they are served
	// Accesses has one entry per active lane, in lane order.
	Accesses []Access `json:"accesses"`
	Rows     []Row    `json:"rows"`   // the rows touched, in ascending order
	Counts   []Count  `json:"counts"` // one per bank
}

// Totals is what the unit makes of the request.
type Totals struct {
	Wavefronts int     `json:"wavefronts"`
	Ideal      int     `json:"ideal"`
	Conflicts  int     `json:"conflicts"`
	Ways       int     `json:"ways"`
	Cycles     float32 `json:"cycles"`
	Basis      string  `json:"basis"`
}

// A Group is a set of lanes that the unit serves together.
type Group struct {
	Index  int   `json:"index"` // in the rule, which may have groups without active lanes
	Lanes  Lanes `json:"lanes"` // its active lanes
	First  int   `json:"first"` // index of its first pass in Panel.Passes
	Passes int   `json:"passes"`
}

// A Pass is one pass of the data stage: one word per bank at most.
type Pass struct {
	Name  string `json:"name"`  // a letter, in the order served
	Group int    `json:"group"` // index into Panel.Groups
	Pass  int    `json:"pass"`  // counts from 0 in its group
	Lanes Lanes  `json:"lanes"`
}

// An Access is where the address of one lane lands.
type Access struct {
	Lane    int    `json:"lane"`
	Address uint32 `json:"address"` // byte offset
	Word    int    `json:"word"`    // of its first byte
	Words   int    `json:"words"`   // words touched, in adjacent banks
	Bank    int    `json:"bank"`    // of the first word
	Row     int    `json:"row"`
	Group   int    `json:"group"` // index into Panel.Groups
	Pass    int    `json:"pass"`  // index into Panel.Passes
}

// A Row is one row of shared memory.
type Row struct {
	Row int `json:"row"`
	// Gap is the number of untouched rows between this row and the one before it in the panel.
	Gap   int    `json:"gap"`
	Cells []Cell `json:"cells"` // the words touched, by ascending bank
}

// A Cell is one word that the request touches.
type Cell struct {
	Bank int `json:"bank"`
	Word int `json:"word"`
	// Run is the number of cells of the access that begins here: 1 up to 32 bits, 2 for 64 and 4 for 128. It is 0 for the
	// cells inside a run.
	Run    int     `json:"run"`
	Lanes  Lanes   `json:"lanes"`
	Serves []Serve `json:"serves"` // in the order served
}

// A Serve is a pass that reads or writes a cell, with the lanes that it does so for.
type Serve struct {
	Pass  int   `json:"pass"` // index into Panel.Passes
	Lanes Lanes `json:"lanes"`
}

// A Count is the load of one bank.
type Count struct {
	Bank   int `json:"bank"`
	Lanes  int `json:"lanes"`  // lanes with a word in the bank
	Words  int `json:"words"`  // distinct words
	Passes int `json:"passes"` // passes in which the bank is busy
	// Ways is the largest number of passes of one group in which the bank is busy: above 1 it is a conflict.
	Ways int `json:"ways"`
}

// New returns the panel of request r on unit u. The panel does not keep r.
//
// Errors are those of smem.Unit.Resolve: a *smem.Fault for an address the hardware would refuse, a
// *smem.UnsupportedError for an operation without a rule.
func New(u *smem.Unit, r *smem.Request, title string) (*Panel, error) {
	var out smem.Outcome
	if err := u.Resolve(&out, r); err != nil {
		return nil, err
	}
	p := empty(u, r, title)
	p.Paired = out.Paired
	p.Totals = Totals{
		Wavefronts: out.Wavefronts, Ideal: out.Ideal, Conflicts: out.Conflicts(), Ways: out.Ways,
		Cycles: out.Cycles, Basis: out.Basis.String(),
	}
	p.serve(&out)
	p.place(u, r, &out)
	p.fill()
	return p, nil
}

// Refused returns the panel of a request that the unit refuses with err, so that it can stand among others: a pad that
// breaks the alignment, for example.
func Refused(u *smem.Unit, r *smem.Request, title string, err error) *Panel {
	p := empty(u, r, title)
	p.Refused = err.Error()
	p.Totals.Basis = u.Rules[smem.Key{Op: r.Op, Width: r.Width}].Basis.String()
	return p
}

// empty returns a panel without cells. Its slices are never nil, so that the JSON form has arrays throughout.
func empty(u *smem.Unit, r *smem.Request, title string) *Panel {
	p := &Panel{
		Title: title, Op: r.Op.String(), Width: r.Width,
		Lanes: u.Lanes, Banks: u.Banks, BankBytes: u.BankBytes,
		Active:  Lanes(r.Addressing()),
		PerPass: u.Rules[smem.Key{Op: r.Op, Width: r.Width}].PerPass,
		Groups:  []Group{}, Passes: []Pass{}, Accesses: []Access{}, Rows: []Row{},
		Counts: make([]Count, u.Banks),
	}
	for bank := range p.Counts {
		p.Counts[bank].Bank = bank
	}
	return p
}

// serve lists the groups with active lanes and their passes in the order of service.
func (p *Panel) serve(out *smem.Outcome) {
	for g := range out.Groups {
		passes := out.Passes(g)
		if passes == 0 {
			continue
		}
		group := Group{Index: g, First: len(p.Passes), Passes: passes}
		for pass := range passes {
			lanes := Lanes(out.Served(g, pass))
			group.Lanes |= lanes
			p.Passes = append(p.Passes, Pass{
				Name: passName(len(p.Passes)), Group: len(p.Groups), Pass: pass, Lanes: lanes,
			})
		}
		p.Groups = append(p.Groups, group)
	}
}

// place works out the words of each lane.
func (p *Panel) place(u *smem.Unit, r *smem.Request, out *smem.Outcome) {
	groupOf := map[int]int{}
	for i, g := range p.Groups {
		groupOf[g.Index] = i
	}
	for _, lane := range p.Active.List() {
		word := int(r.Addr[lane]) / u.BankBytes
		group := groupOf[int(out.Group[lane])]
		p.Accesses = append(p.Accesses, Access{
			Lane: lane, Address: r.Addr[lane], Word: word, Words: max(1, r.Bytes()/u.BankBytes),
			Bank: word % u.Banks, Row: word / u.Banks,
			Group: group, Pass: p.Groups[group].First + int(out.Pass[lane]),
		})
	}
}

// fill sorts the accesses into cells, rows and counts.
func (p *Panel) fill() {
	bankLanes := make([]Lanes, p.Banks)
	busy := make([]uint64, p.Banks) // passes, at most one per lane
	cells := map[int]*Cell{}        // by word
	for _, a := range p.Accesses {
		for i := range a.Words {
			c := cells[a.Word+i]
			if c == nil {
				c = &Cell{Bank: a.Bank + i, Word: a.Word + i}
				if i == 0 {
					c.Run = a.Words
				}
				cells[a.Word+i] = c
				p.Counts[c.Bank].Words++
			}
			c.add(a.Lane, a.Pass)
			bankLanes[c.Bank] |= 1 << uint(a.Lane)
			busy[c.Bank] |= 1 << uint(a.Pass)
		}
	}
	for _, c := range cells {
		slices.SortFunc(c.Serves, func(x, y Serve) int { return cmp.Compare(x.Pass, y.Pass) })
	}
	p.sortRows(cells)
	for bank := range p.Counts {
		n := &p.Counts[bank]
		n.Lanes, n.Passes = bankLanes[bank].Count(), Lanes(busy[bank]).Count()
		for _, g := range p.Groups {
			inGroup := smem.Lanes(g.First, g.First+g.Passes)
			n.Ways = max(n.Ways, (smem.Mask(busy[bank]) & inGroup).Count())
		}
	}
}

func (c *Cell) add(lane, pass int) {
	c.Lanes |= 1 << uint(lane)
	for i := range c.Serves {
		if c.Serves[i].Pass == pass {
			c.Serves[i].Lanes |= 1 << uint(lane)
			return
		}
	}
	c.Serves = append(c.Serves, Serve{Pass: pass, Lanes: 1 << uint(lane)})
}

func (p *Panel) sortRows(cells map[int]*Cell) {
	words := make([]int, 0, len(cells))
	for word := range cells {
		words = append(words, word)
	}
	slices.Sort(words)
	for _, word := range words {
		row := word / p.Banks
		last := len(p.Rows) - 1
		if last < 0 || p.Rows[last].Row != row {
			gap := 0
			if last >= 0 {
				gap = row - p.Rows[last].Row - 1
			}
			p.Rows = append(p.Rows, Row{Row: row, Gap: gap})
			last++
		}
		p.Rows[last].Cells = append(p.Rows[last].Cells, *cells[word])
	}
}

// passNames name the passes of a request, of which there are at most one per lane.
const passNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!$%&@#~^=<>?"

func passName(i int) string { return passNames[i : i+1] }
