// Package formats is the one table of report writers, for the command line, the server and library users.
//
//	f, err := formats.Lookup("sarif")
//	if err != nil {
//		return err // names the formats there are
//	}
//	err = f.Write(os.Stdout, r, formats.Options{Lines: in.Lines, Unit: in.Unit})
//
// A new writer is a package and one line in the table.
//
// Limits: a writer sees the report only. What needs the input again, such as the search for fixes, is done before.
package formats

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"shmoo/arch"
	"shmoo/bankmap"
	"shmoo/bankmap/draw"
	"shmoo/diag"
	"shmoo/report"
	"shmoo/report/html"
	"shmoo/report/json"
	"shmoo/report/pprof"
	"shmoo/report/sarif"
	"shmoo/report/source"
	"shmoo/report/text"
	"shmoo/smem"
)

// Options are what writers may use beside the report. All of them may be left out.
type Options struct {
	// Lines returns a line of a source, to quote it.
	Lines func(diag.Pos) (string, bool)
	// Unit is the unit that the report was made on; nil for that of its architecture.
	Unit  *smem.Unit
	Quiet bool // text: nothing when there is nothing to report
	Color bool // formats for a terminal: use colour
}

// A Format is a way to write a report.
type Format struct {
	Name   string
	Ext    string // of a file, with its dot; "" where a name says nothing
	About  string // in a few words, for help
	Binary bool   // not for a terminal
	Write  func(io.Writer, *report.Report, Options) error
}

// table is in the order in which help lists it.
var table = []Format{
	{Name: "text", Ext: ".txt", About: "a table for the terminal", Write: func(w io.Writer, r *report.Report, o Options) error {
		return text.Write(w, r, text.Options{Lines: o.Lines, Quiet: o.Quiet})
	}},
	{Name: "source", About: "the source with the counts of every line", Write: func(w io.Writer, r *report.Report, o Options) error {
		return source.Write(w, r, source.Options{Lines: o.Lines, Color: o.Color})
	}},
	{Name: "json", Ext: ".json", About: "everything, in the schema " + report.Schema, Write: plain(json.Write)},
	{Name: "html", Ext: ".html", About: "one page with pictures", Write: func(w io.Writer, r *report.Report, o Options) error {
		unit, err := o.unit(r)
		if err != nil {
			return err
		}
		return html.Write(w, r, html.Options{Lines: o.Lines, Unit: unit})
	}},
	{Name: "svg", Ext: ".svg", About: "bank pictures of the worst sites", Write: writeSVG},
	{Name: "sarif", Ext: ".sarif", About: "SARIF 2.1.0 for code review", Write: func(w io.Writer, r *report.Report, o Options) error {
		return sarif.Write(w, r, sarif.Options{Lines: o.Lines})
	}},
	{Name: "pprof", Ext: ".pb.gz", About: "a profile for go tool pprof", Binary: true, Write: plain(pprof.Write)},
	{Name: "csv", Ext: ".csv", About: "a row per site", Write: plain(text.CSV)},
	{Name: "markdown", Ext: ".md", About: "a table for a pull request", Write: plain(text.Markdown)},
}

func plain(write func(io.Writer, *report.Report) error) func(io.Writer, *report.Report, Options) error {
	return func(w io.Writer, r *report.Report, _ Options) error { return write(w, r) }
}

// All returns the formats.
func All() []Format { return append([]Format(nil), table...) }

// Names returns the names of the formats.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return names
}

// Lookup returns the format of a name.
func Lookup(name string) (Format, error) {
	for _, f := range table {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("format %q, want one of %s", name, strings.Join(Names(), ", "))
}

// ForFile returns the format that a file's name asks for by its extension, and whether there is one.
func ForFile(name string) (Format, bool) {
	for _, f := range table {
		if f.Ext != "" && strings.HasSuffix(strings.ToLower(name), f.Ext) {
			return f, true
		}
	}
	return Format{}, false
}

func (o *Options) unit(r *report.Report) (*smem.Unit, error) {
	if o.Unit != nil {
		return o.Unit, nil
	}
	a, err := arch.Lookup(r.Arch)
	if err != nil {
		return nil, err
	}
	return a.Unit, nil
}

// maxPictures is how many sites the svg format draws.
const maxPictures = 4

// writeSVG draws the worst request of the sites with the most conflicts, or of the first sites where none has any.
func writeSVG(w io.Writer, r *report.Report, o Options) error {
	unit, err := o.unit(r)
	if err != nil {
		return err
	}
	order := r.ByConflicts()
	if len(order) == 0 {
		for i := range r.Sites {
			order = append(order, i)
		}
	}
	var panels []*bankmap.Panel
	for _, i := range order {
		s := &r.Sites[i]
		if s.Worst == nil || len(panels) == maxPictures {
			continue
		}
		panel, err := bankmap.New(unit, &s.Worst.Request, s.Place()+" "+s.Phrase())
		if err != nil {
			return fmt.Errorf("%s: %w", s.Place(), err)
		}
		panels = append(panels, panel)
	}
	if len(panels) == 0 {
		return errors.New("svg: no request with known addresses to draw")
	}
	return draw.SVG(w, panels, draw.Options{Title: r.Kernel})
}
