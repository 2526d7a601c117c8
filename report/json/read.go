package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/report"
	"shmoo/smem"
)

// maxDocument bounds what Read takes, in bytes. A report has some hundred bytes per site and lane of evidence.
const maxDocument = 256 << 20

// A SchemaError is a document of another schema than was wanted.
type SchemaError struct{ Got, Want string }

func (e *SchemaError) Error() string { return fmt.Sprintf("schema: got %q, want %q", e.Got, e.Want) }

// Read reads a report that Write wrote. It is strict, because a gate that compares with half a report would pass by
// accident: an unknown field, numbers that contradict each other and anything behind the document are errors, which name
// the field. A document of another schema is a *SchemaError.
//
// A fault is read back as its count and text; the request behind it is not part of the document.
func Read(r io.Reader) (*report.Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxDocument {
		return nil, fmt.Errorf("more than %d MiB, want a smaller report", maxDocument>>20)
	}
	// The schema first: the fields of another one mean nothing here.
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, located(data, err)
	}
	if head.Schema != report.Schema {
		return nil, &SchemaError{head.Schema, report.Schema}
	}
	var j Report
	if err := Decode(data, &j); err != nil {
		return nil, err
	}
	return j.report()
}

// Decode decodes one document strictly: unknown fields and anything behind it are errors, which name line and column where
// those are known.
func Decode(data []byte, document any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(document); err != nil {
		return located(data, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		line, col := position(data, d.InputOffset())
		return fmt.Errorf("%d:%d: got more behind the document, want its end", line, col)
	}
	return nil
}

// report converts the document and checks that it is one that From makes.
func (j *Report) report() (*report.Report, error) {
	r := &report.Report{Arch: j.Arch, Kernel: j.Kernel}
	if j.Arch == "" {
		return nil, errors.New("arch: got nothing, want the name of a generation")
	}
	if l := j.Launch; l != nil {
		for _, n := range append(l.Block[:], l.Grid[:]...) {
			if n < 1 {
				return nil, fmt.Errorf("launch: got extent %d, want at least 1", n)
			}
		}
		if l.Blocks < 0 {
			return nil, fmt.Errorf("launch.blocks_run: got %d, want a count", l.Blocks)
		}
		r.Launch = &report.Launch{Block: l.Block, Grid: l.Grid, Blocks: l.Blocks, DynamicShared: l.Shared, Assumed: l.Assumed}
	}
	if j.Sites == nil {
		return nil, errors.New("sites: got nothing, want an array")
	}
	for i := range j.Sites {
		s, err := j.Sites[i].site()
		if err != nil {
			return nil, fmt.Errorf("sites[%d]: %w", i, err)
		}
		r.Sites = append(r.Sites, s)
	}
	for _, a := range j.Arrays {
		r.Arrays = append(r.Arrays, access.Array{Name: a.Name, Type: a.Type, Offset: a.Offset, Size: a.Bytes,
			ElemBytes: a.ElemBytes, Dims: a.Dims, Dynamic: a.Dynamic})
	}
	for i := range j.Diagnostics {
		d, err := j.Diagnostics[i].diagnostic()
		if err != nil {
			return nil, fmt.Errorf("diagnostics[%d]: %w", i, err)
		}
		r.Diagnostics = append(r.Diagnostics, d)
	}
	totals := r.Totals()
	if want := tally(&totals); !want.equal(&j.Totals) {
		return nil, fmt.Errorf("totals: got %d wavefronts, %d conflicts in %d requests, want the sum of the sites: %d, %d, %d",
			j.Totals.Wavefronts, j.Totals.Conflicts, j.Totals.Requests, want.Wavefronts, want.Conflicts, want.Requests)
	}
	return r, nil
}

func (j *Site) site() (report.Site, error) {
	s := report.Site{Site: access.Site{
		Pos: diag.Span{Pos: diag.Pos{File: j.File, Line: j.Line, Col: j.Col}, Len: j.Len}, PC: j.PC, Array: j.Array,
		Width: j.Width, Instr: j.Instr, Text: j.Text,
	}}
	for _, p := range j.Inlined {
		s.Inlined = append(s.Inlined, diag.Pos{File: p.File, Line: p.Line, Col: p.Col})
	}
	var ok bool
	if s.Op, ok = smem.ParseOp(j.Op); !ok {
		return s, fmt.Errorf("op: got %q, want an operation such as %q", j.Op, smem.Load)
	}
	t, err := j.Tally.tally()
	if err != nil {
		return s, err
	}
	s.Tally = *t
	if b := j.Bounds; b != nil {
		if b.Low < 0 || b.High < b.Low {
			return s, fmt.Errorf("bounds: got %d to %d wavefronts, want a range", b.Low, b.High)
		}
		s.Bounds = &report.Bounds{Low: b.Low, High: b.High, Open: b.Open}
	}
	if w := j.Worst; w != nil {
		if len(w.Addresses) > smem.MaxLanes {
			return s, fmt.Errorf("worst.addresses: got %d, want at most %d", len(w.Addresses), smem.MaxLanes)
		}
		s.Worst = &report.Sample{
			Block: w.Block, Warp: w.Warp, Wavefronts: w.Wavefronts, Ideal: w.Ideal,
			Request: smem.Request{Op: s.Op, Width: s.Width, Active: smem.Mask(w.Active), Addr: w.Addresses},
		}
	}
	return s, nil
}

func (j *Tally) tally() (*report.Tally, error) {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"requests", j.Requests}, {"wavefronts", j.Wavefronts}, {"ideal", j.Ideal}, {"ways", int64(j.Ways)},
		{"unresolved", j.Unresolved}, {"faulted", j.Faulted},
	} {
		if f.value < 0 {
			return nil, fmt.Errorf("%s: got %d, want a count", f.name, f.value)
		}
	}
	basis, ok := smem.ParseBasis(j.Basis)
	if !ok {
		return nil, fmt.Errorf("basis: got %q, want one such as %q", j.Basis, smem.Measured)
	}
	t := &report.Tally{
		Requests: j.Requests, Wavefronts: j.Wavefronts, Ideal: j.Ideal, Ways: j.Ways, Cycles: j.Cycles, Faulted: j.Faulted,
		Unresolved: maps.Clone(j.Reasons), Basis: basis,
	}
	if j.SourcePage != nil {
		t.SourcePage = *j.SourcePage
	} else {
		t.SourcePageUnknown = max(1, j.Requests)
	}
	if j.Conflicts != t.Conflicts() {
		return nil, fmt.Errorf("conflicts: got %d, want wavefronts - ideal = %d", j.Conflicts, t.Conflicts())
	}
	for _, reason := range slices.Sorted(maps.Keys(j.Reasons)) {
		if n := j.Reasons[reason]; n < 1 {
			return nil, fmt.Errorf("unresolved_reasons: got %d requests for %q, want at least 1", n, reason)
		}
	}
	if n := t.UnresolvedRequests(); n != j.Unresolved {
		return nil, fmt.Errorf("unresolved: got %d, want the sum of unresolved_reasons = %d", j.Unresolved, n)
	}
	return t, nil
}

// equal reports whether two tallies say the same; sums of cycles may differ by rounding.
func (j *Tally) equal(o *Tally) bool {
	return j.Requests == o.Requests && j.Wavefronts == o.Wavefronts && j.Ideal == o.Ideal && j.Conflicts == o.Conflicts &&
		j.Ways == o.Ways && j.Unresolved == o.Unresolved && j.Faulted == o.Faulted &&
		math.Abs(j.Cycles-o.Cycles) <= 1e-6*math.Max(1, math.Abs(j.Cycles))
}

func (j *Diagnostic) diagnostic() (*diag.Diagnostic, error) {
	d := &diag.Diagnostic{
		ID: j.ID, Span: diag.Span{Pos: diag.Pos{File: j.File, Line: j.Line, Col: j.Col}, Len: j.Len}, Message: j.Message,
	}
	found := false
	for s := diag.Error; s <= diag.Note; s++ {
		if s.String() == j.Severity {
			d.Severity, found = s, true
		}
	}
	if !found {
		return nil, fmt.Errorf("severity: got %q, want error, warning or note", j.Severity)
	}
	for _, message := range j.Fixes {
		d.Fixes = append(d.Fixes, diag.Fix{Message: message})
	}
	return d, nil
}
