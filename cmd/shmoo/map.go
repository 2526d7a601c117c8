package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"shmoo/access"
	"shmoo/bankmap"
	"shmoo/bankmap/draw"
	"shmoo/layout"
	"shmoo/pad"
	"shmoo/report/json"
	"shmoo/smem"
)

// A mapCommand is the flags of "shmoo map".
type mapCommand struct {
	p      *program
	input  inputFlags
	raw    rawRequest
	site   string
	pads   string
	pitch  int
	chunk  int
	dtype  string
	width  int
	format string
	out    string
	count  bool
	dark   bool
	ascii  bool
	asJSON bool

	unit *smem.Unit
}

func (p *program) bankMap() *cobra.Command {
	m := &mapCommand{p: p}
	cmd := &cobra.Command{
		Use:   "map [FILE | - | -e SKETCH | --example NAME | --addr LIST | --chunk N]",
		Short: "Draw where the lanes of a request fall on the banks",
		Long: `Draw where the lanes of a request fall on the banks, and in which pass each is served.

The request is the worst of a site (--site LINE, LINE:COL or #N), given addresses, or lanes that each read a run of their
own (--chunk elements of --dtype, in loads of --width bits). --pad draws one panel per pad, in elements: after every row of
the array, or after every run.`,
		Example: `  shmoo map --example transpose --pad 0,1
  shmoo map --chunk 64 --dtype f16 --pad 0,2,4,8 --count
  shmoo map --chunk 64 --dtype f16 --pad 0,2,4,8 --count -o banks.svg`,
		RunE: m.run,
	}
	m.input.flags(cmd)
	m.raw.flags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&m.site, "site", "", "site: LINE, LINE:COL or #N")
	fs.StringVar(&m.pads, "pad", "", "pads in elements, a panel each, such as 0,2,4,8")
	fs.IntVar(&m.pitch, "pitch", 0, "elements of a row that --pad widens, for an array of one dimension")
	fs.IntVar(&m.chunk, "chunk", 0, "elements of each lane's run")
	fs.StringVar(&m.dtype, "dtype", "f32", "element type of --chunk")
	fs.IntVar(&m.width, "width", 0, "bits per load of --chunk: 8 to 128 (default: the element, at least 32)")
	fs.StringVar(&m.format, "format", "", "text, svg, png or json (default: by the name given to -o, else text)")
	fs.StringVarP(&m.out, "output", "o", "", "write to this file")
	fs.BoolVar(&m.count, "count", false, "show how many lanes fall in each bank instead of the memory rows")
	fs.BoolVar(&m.dark, "dark", false, "draw on a dark background")
	fs.BoolVar(&m.ascii, "ascii", false, "use ASCII characters only")
	fs.BoolVar(&m.asJSON, "json", false, "write JSON")
	complete(cmd, "dtype", pad.DTypeNames)
	complete(cmd, "format", func() []string { return []string{"text", "svg", "png", "json"} })
	return cmd
}

func (m *mapCommand) run(cmd *cobra.Command, args []string) error {
	panels, err := m.panels(cmd, args)
	if err != nil {
		return err
	}
	view := bankmap.LaneView
	if m.count {
		view = bankmap.CountView
	}
	var write func(io.Writer) error
	switch format := m.formatName(); format {
	case "text":
		options := bankmap.TextOptions{Width: m.p.columns(), Color: m.out == "" && m.p.colour(), ASCII: m.ascii, View: view}
		write = func(w io.Writer) error { return bankmap.Text(w, panels, options) }
	case "svg":
		write = func(w io.Writer) error { return draw.SVG(w, panels, draw.Options{View: view, Dark: m.dark}) }
	case "png":
		write = func(w io.Writer) error { return draw.PNG(w, panels, draw.Options{View: view, Dark: m.dark}) }
	case "json":
		write = func(w io.Writer) error {
			return json.Encode(w, bankmap.Picture{Schema: bankmap.Schema, Arch: m.unit.Name, Panels: panels})
		}
	default:
		return usagef("map: format %q, want text, svg, png or json", format)
	}
	return m.p.writeFile(m.out, write)
}

func (m *mapCommand) formatName() string {
	switch {
	case m.asJSON:
		return "json"
	case m.format != "":
		return m.format
	}
	switch ext := strings.ToLower(filepath.Ext(m.out)); ext {
	case ".svg", ".png", ".json":
		return ext[1:]
	}
	return "text"
}

// panels draws one panel per pad.
func (m *mapCommand) panels(cmd *cobra.Command, args []string) ([]*bankmap.Panel, error) {
	pads, err := parsePads(m.pads)
	if err != nil {
		return nil, err
	}
	unit, request, err := m.request(cmd, args)
	if err != nil {
		return nil, err
	}
	m.unit = unit
	var panels []*bankmap.Panel
	for _, elems := range pads {
		r, title, err := request(elems)
		if err != nil {
			return nil, err
		}
		panel, err := bankmap.New(unit, r, title)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		panels = append(panels, panel)
	}
	return panels, nil
}

// A padded function returns the request under a pad of some elements, and what to call it.
type padded func(elems int) (*smem.Request, string, error)

func (m *mapCommand) request(cmd *cobra.Command, args []string) (*smem.Unit, padded, error) {
	if m.chunk == 0 && !m.raw.given() {
		return m.fromInput(cmd, args)
	}
	if len(args) > 0 || m.input.given(cmd) || m.chunk != 0 && m.raw.given() {
		return nil, nil, usagef("map: got several inputs, want one of a file, -e, --example, --addr and --chunk")
	}
	a, err := m.p.lookupArch(m.input.options.Arch)
	if err != nil {
		return nil, nil, err
	}
	if m.chunk != 0 {
		run, err := m.runs(a.Unit)
		return a.Unit, run, err
	}
	r, err := m.raw.request(a.Unit.Lanes)
	return a.Unit, func(elems int) (*smem.Request, string, error) {
		if elems != 0 {
			return nil, "", usagef("map: --pad needs an array or --chunk, not --addr")
		}
		return r, fmt.Sprintf("%s of %d bytes", r.Op, r.Width), nil
	}, err
}

// fromInput takes the worst request of a site and pads the rows of its array.
func (m *mapCommand) fromInput(cmd *cobra.Command, args []string) (*smem.Unit, padded, error) {
	in, err := m.p.open(cmd.Context(), cmd, &m.input, args)
	if err != nil {
		return nil, nil, err
	}
	site, sample, err := pick(cmd.Context(), in, m.site)
	if err != nil {
		return nil, nil, err
	}
	name := site.Text
	if name == "" {
		name = site.Op.String()
	}
	array := arrayOf(in.Source.Arrays(), &site.Site)
	return in.Unit, func(elems int) (*smem.Request, string, error) {
		if elems == 0 {
			return &sample.Request, name, nil
		}
		r, err := padRows(&sample.Request, array, elems, m.pitch)
		return r, fmt.Sprintf("%s, pad %d", name, elems), err
	}, nil
}

// padRows returns a request on an array whose rows are elems elements longer. The pitch is counted in elements; 0 means
// the array's innermost dimension.
func padRows(r *smem.Request, a *access.Array, elems, pitch int) (*smem.Request, error) {
	if a == nil || a.ElemBytes == 0 {
		return nil, usagef("map: --pad: the site's array is not known")
	}
	if pitch == 0 && len(a.Dims) > 1 {
		pitch = a.Dims[len(a.Dims)-1]
	}
	if pitch <= 0 {
		return nil, usagef("map: --pad: %s has no rows; say after how many elements to pad with --pitch", a.Name)
	}
	t, err := layout.NewPad(layout.PadStep{Add: uint32(elems * a.ElemBytes), Per: uint32(pitch * a.ElemBytes)})
	if err != nil {
		return nil, err
	}
	out := *r
	out.Addr = make([]uint32, len(r.Addr))
	base := uint32(a.Offset)
	for lanes := r.Addressing(); lanes != 0; lanes &= lanes - 1 {
		lane := lanes.Lowest()
		out.Addr[lane] = base + t.Map(r.Addr[lane]-base)
	}
	return &out, nil
}

// runs is the request of lanes that each read a run of their own.
func (m *mapCommand) runs(u *smem.Unit) (padded, error) {
	dtype, err := pad.LookupDType(m.dtype)
	if err != nil {
		return nil, &usageError{err}
	}
	width := m.width / 8
	if m.width == 0 {
		width = dtype.Bytes
	}
	if m.chunk < 0 || m.chunk > 1<<20 || m.width%8 != 0 || width < 1 {
		return nil, usagef("map: --chunk %d --width %d: want a positive number of elements and a width in bits", m.chunk, m.width)
	}
	return func(elems int) (*smem.Request, string, error) {
		stride := (m.chunk + elems) * dtype.Bytes
		r := &smem.Request{Op: smem.Load, Width: width, Active: u.FullMask(), Addr: make([]uint32, u.Lanes)}
		for lane := range r.Addr {
			r.Addr[lane] = uint32(lane * stride)
		}
		return r, fmt.Sprintf("pad %d: S %g words", elems, float64(stride)/4), nil
	}, nil
}

func parsePads(text string) ([]int, error) {
	if text == "" {
		return []int{0}, nil
	}
	var pads []int
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 0 || n > 1<<16 {
			return nil, usagef("--pad: %q is not a number of elements", s)
		}
		pads = append(pads, n)
	}
	const most = 16
	if len(pads) > most {
		return nil, usagef("--pad: %d pads, want at most %d panels", len(pads), most)
	}
	return pads, nil
}
