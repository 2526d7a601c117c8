// Package pprof writes reports as profiles for "go tool pprof":
//
//	shmoo check kernel.cu --format pprof -o kernel.pb.gz
//	go tool pprof -top kernel.pb.gz
//	go tool pprof -http :8080 kernel.pb.gz
//
// The stack of a site is kernel > inlined calls > line > instruction. Its values are the columns of the other reports:
// requests, wavefronts, ideal, conflicts, cycles, and the requests that could not be resolved. The kernel's frames carry
// file and line, so that pprof's source view annotates the source. The sample type shown first is conflicts where there are
// any, else wavefronts.
//
// Limits: pprof values are whole numbers, so cycles are rounded. A profile does not hold the diagnostics.
package pprof

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/google/pprof/profile"

	"shmoo/diag"
	"shmoo/report"
)

// A value is a sample type.
type value struct {
	name, unit string
	of         func(*report.Tally) int64
}

var values = []value{
	{"requests", "count", func(t *report.Tally) int64 { return t.Requests }},
	{"wavefronts", "count", func(t *report.Tally) int64 { return t.Wavefronts }},
	{"ideal", "count", func(t *report.Tally) int64 { return t.Ideal }},
	{"conflicts", "count", (*report.Tally).Conflicts},
	{"cycles", "count", func(t *report.Tally) int64 { return int64(math.Round(t.Cycles)) }},
	{"unresolved", "count", (*report.Tally).UnresolvedRequests},
}

// Write writes the report as a compressed profile. The same report gives the same profile.
func Write(w io.Writer, r *report.Report) error {
	p := Profile(r)
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("profile of %s: %w", r.Kernel, err)
	}
	return p.Write(w)
}

// Profile converts a report.
func Profile(r *report.Report) *profile.Profile {
	b := newBuilder(r)
	for i := range r.Sites {
		b.site(&r.Sites[i])
	}
	return b.p
}

// A builder shares functions and locations among the sites of a report.
type builder struct {
	p         *profile.Profile
	kernel    string
	functions map[string]*profile.Function
	locations map[location]*profile.Location
}

type location struct {
	function *profile.Function
	line     int
	pc       uint64
}

func newBuilder(r *report.Report) *builder {
	b := &builder{
		p:         &profile.Profile{},
		kernel:    r.Kernel,
		functions: map[string]*profile.Function{},
		locations: map[location]*profile.Location{},
	}
	if b.kernel == "" {
		b.kernel = "all accesses"
	}
	for _, v := range values {
		b.p.SampleType = append(b.p.SampleType, &profile.ValueType{Type: v.name, Unit: v.unit})
	}
	totals := r.Totals()
	b.p.DefaultSampleType = "conflicts"
	if totals.Conflicts() == 0 {
		b.p.DefaultSampleType = "wavefronts"
	}
	b.p.Comments = []string{"shared-memory requests of " + b.kernel + " on " + r.Arch}
	if r.Launch != nil {
		b.p.Comments = append(b.p.Comments, r.Launch.String())
	}
	// A mapping that has its symbols keeps pprof from looking for a binary.
	b.p.Mapping = []*profile.Mapping{{
		ID: 1, File: b.kernel, Limit: math.MaxUint64,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}}
	return b
}

// site adds the sample of a site, leaf first.
func (b *builder) site(s *report.Site) {
	leaf := b.location(fmt.Sprintf("%s at %s", instruction(s), s.Place()), s.Pos.Pos, s.PC)
	stack := []*profile.Location{leaf}
	kernelLine := s.Pos.Pos
	if s.Pos.IsValid() {
		stack = append(stack, b.line(s.Pos.Pos))
	}
	for _, call := range s.Inlined {
		stack = append(stack, b.line(call))
		kernelLine = call
	}
	stack = append(stack, b.location(b.kernel, kernelLine, 0))
	sample := &profile.Sample{
		Location: stack,
		Label:    map[string][]string{"op": {s.Op.String()}},
		NumLabel: map[string][]int64{"width": {int64(s.Width)}},
		NumUnit:  map[string][]string{"width": {"bytes"}},
	}
	if s.Array != "" {
		sample.Label["array"] = []string{s.Array}
	}
	for _, v := range values {
		sample.Value = append(sample.Value, v.of(&s.Tally))
	}
	b.p.Sample = append(b.p.Sample, sample)
}

// instruction names the leaf: what is executed, and what it accesses.
func instruction(s *report.Site) string {
	name := s.Instruction()
	switch {
	case s.Text != "":
		return name + " " + strings.Join(strings.Fields(s.Text), " ")
	case s.Array != "":
		return name + " " + s.Array
	}
	return name
}

// line returns the frame of a source line.
func (b *builder) line(at diag.Pos) *profile.Location {
	return b.location(fmt.Sprintf("%s:%d", at.File, at.Line), at, 0)
}

func (b *builder) location(name string, at diag.Pos, pc uint64) *profile.Location {
	f := b.functions[name]
	if f == nil {
		// pprof strips what stands in brackets from names that look like C++; a system name of their own keeps ours whole.
		id := uint64(len(b.p.Function) + 1)
		f = &profile.Function{ID: id, Name: name, SystemName: fmt.Sprintf("frame%d", id), Filename: at.File}
		b.functions[name] = f
		b.p.Function = append(b.p.Function, f)
	}
	key := location{f, at.Line, pc}
	l := b.locations[key]
	if l == nil {
		l = &profile.Location{
			ID: uint64(len(b.p.Location) + 1), Mapping: b.p.Mapping[0], Address: pc,
			Line: []profile.Line{{Function: f, Line: int64(at.Line), Column: int64(at.Col)}},
		}
		b.locations[key] = l
		b.p.Location = append(b.p.Location, l)
	}
	return l
}
