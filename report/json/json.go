// Package json writes reports as JSON in the versioned schema "shmoo.report/1", which docs/formats.md describes.
//
// The same structures serve the command line, the server and library users:
//
//	json.Write(os.Stdout, r)
//
// Limits: fields are only ever added within a version of the schema.
package json

import (
	"encoding/json"
	"io"

	"shmoo/diag"
	"shmoo/report"
)

// Report is the JSON form of a report.Report.
type Report struct {
	Schema      string       `json:"schema"`
	Arch        string       `json:"arch"`
	Kernel      string       `json:"kernel,omitempty"`
	Launch      *Launch      `json:"launch,omitempty"`
	Sites       []Site       `json:"sites"`
	Arrays      []Array      `json:"arrays"`
	Totals      Tally        `json:"totals"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Launch is the shape the kernel was run with.
type Launch struct {
	Block   [3]int `json:"block"`
	Grid    [3]int `json:"grid"`
	Blocks  int    `json:"blocks_run,omitempty"` // how many blocks of the grid the sums cover; 0 for all
	Shared  int    `json:"dynamic_shared"`
	Assumed string `json:"assumed,omitempty"`
}

// Site is one access instruction.
type Site struct {
	Array string `json:"array"`
	Op    string `json:"op"`
	Width int    `json:"width"` // bytes per lane
	Instr string `json:"instr,omitempty"`
	Text  string `json:"text,omitempty"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	Col   int    `json:"col"`
	Len   int    `json:"len,omitempty"` // bytes of the access in its line
	PC    uint64 `json:"pc,omitempty"`
	// Inlined is the calls that the site was inlined through, innermost first.
	Inlined []Pos `json:"inlined,omitempty"`
	Tally
	Bounds *Bounds `json:"bounds,omitempty"` // of the unresolved requests
	Worst  *Sample `json:"worst,omitempty"`
	Fault  string  `json:"fault,omitempty"`
}

// Pos is a place in a source.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col,omitempty"`
}

// Bounds hold the wavefronts of requests whose lanes or addresses are not all known.
type Bounds struct {
	Low  int64 `json:"low"`            // wavefronts, at least
	High int64 `json:"high"`           // wavefronts, at most
	Open bool  `json:"open,omitempty"` // in a loop of unknown trip count: neither bound is complete
}

// Tally is the sums of a site or of the whole report.
type Tally struct {
	Requests   int64            `json:"requests"`
	Wavefronts int64            `json:"wavefronts"`
	Ideal      int64            `json:"ideal"`
	Conflicts  int64            `json:"conflicts"`
	Ways       int              `json:"ways"`
	Cycles     float64          `json:"cycles"`
	Unresolved int64            `json:"unresolved"`
	Reasons    map[string]int64 `json:"unresolved_reasons,omitempty"`
	Faulted    int64            `json:"faulted"`
	Coverage   float64          `json:"coverage"`
	SourcePage *int64           `json:"ncu_source_page,omitempty"` // wavefronts as ncu's Source page shows them, where known
	Basis      string           `json:"basis"`
}

// Sample is the request that cost a site most.
type Sample struct {
	Block      int      `json:"block"`
	Warp       int      `json:"warp"`
	Active     uint64   `json:"active"`
	Addresses  []uint32 `json:"addresses"`
	Wavefronts int      `json:"wavefronts"`
	Ideal      int      `json:"ideal"`
}

// Array is a shared array.
type Array struct {
	Name      string `json:"name"`
	Type      string `json:"type,omitempty"`
	Offset    int    `json:"offset"`
	Bytes     int    `json:"bytes"`
	ElemBytes int    `json:"elem_bytes,omitempty"`
	Dims      []int  `json:"dims,omitempty"`
	Dynamic   bool   `json:"dynamic"`
}

// Diagnostic is something to tell the user.
type Diagnostic struct {
	ID       string   `json:"id"`
	Severity string   `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Col      int      `json:"col"`
	Len      int      `json:"len,omitempty"`
	Message  string   `json:"message"`
	Fixes    []string `json:"fixes,omitempty"`
}

// From converts a report.
func From(r *report.Report) *Report {
	totals := r.Totals()
	j := &Report{
		Schema:      report.Schema,
		Arch:        r.Arch,
		Kernel:      r.Kernel,
		Sites:       []Site{},
		Arrays:      []Array{},
		Totals:      tally(&totals),
		Diagnostics: Diagnostics(r.Diagnostics),
	}
	if l := r.Launch; l != nil {
		j.Launch = &Launch{Block: l.Block, Grid: l.Grid, Blocks: l.Blocks, Shared: l.DynamicShared, Assumed: l.Assumed}
	}
	for i := range r.Sites {
		j.Sites = append(j.Sites, site(&r.Sites[i]))
	}
	for _, a := range r.Arrays {
		j.Arrays = append(j.Arrays, Array{a.Name, a.Type, a.Offset, a.Size, a.ElemBytes, a.Dims, a.Dynamic})
	}
	return j
}

func site(s *report.Site) Site {
	j := Site{
		Array: s.Array, Op: s.Op.String(), Width: s.Width, Instr: s.Instr, Text: s.Text,
		File: s.Pos.File, Line: s.Pos.Line, Col: s.Pos.Col, Len: s.Pos.Len, PC: s.PC,
		Tally: tally(&s.Tally),
	}
	for _, p := range s.Inlined {
		j.Inlined = append(j.Inlined, Pos{p.File, p.Line, p.Col})
	}
	if s.Fault != nil {
		j.Fault = s.Fault.Fault.Error()
	}
	if b := s.Bounds; b != nil {
		j.Bounds = &Bounds{b.Low, b.High, b.Open}
	}
	if w := s.Worst; w != nil {
		j.Worst = &Sample{w.Block, w.Warp, uint64(w.Request.Active), w.Request.Addr, w.Wavefronts, w.Ideal}
	}
	return j
}

func tally(t *report.Tally) Tally {
	j := Tally{
		Requests: t.Requests, Wavefronts: t.Wavefronts, Ideal: t.Ideal, Conflicts: t.Conflicts(), Ways: t.Ways,
		Cycles: t.Cycles, Unresolved: t.UnresolvedRequests(), Reasons: t.Unresolved, Faulted: t.Faulted,
		Coverage: t.Coverage(), Basis: t.Basis.String(),
	}
	if t.SourcePageUnknown == 0 {
		j.SourcePage = &t.SourcePage
	}
	return j
}

// Diagnostics converts a list of diagnostics.
func Diagnostics(list diag.List) []Diagnostic {
	out := []Diagnostic{}
	for _, d := range list {
		j := Diagnostic{ID: d.ID, Severity: d.Severity.String(), File: d.Span.File, Line: d.Span.Line, Col: d.Span.Col, Len: d.Span.Len,
			Message: d.Message}
		for _, f := range d.Fixes {
			j.Fixes = append(j.Fixes, f.Message)
		}
		out = append(out, j)
	}
	return out
}

// Write writes the report as one indented JSON document.
func Write(w io.Writer, r *report.Report) error { return Encode(w, From(r)) }

// Encode writes any of the program's documents the way all of them are written.
func Encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
