package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"shmoo"
	"shmoo/report"
	"shmoo/report/formats"
)

// An outputFlag set says how a report is written.
type outputFlags struct {
	format, file string
	sources      string
	asJSON       bool
	quiet        bool
}

func (f *outputFlags) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "", "write "+strings.Join(formats.Names(), ", ")+
		" (default: by the name given to -o, else text)")
	fs.StringVarP(&f.file, "output", "o", "", "write to this file")
	fs.BoolVar(&f.asJSON, "json", false, "write JSON")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "write nothing when there is nothing to report")
	fs.StringVar(&f.sources, "source", "", "folder with the sources of a binary, to quote their lines")
	complete(cmd, "format", formats.Names)
}

// choose returns the format that the flags ask for. It is known before the work begins, so that a mistake costs nothing.
func (f *outputFlags) choose(p *program) (formats.Format, error) {
	name := f.format
	switch {
	case f.asJSON && name != "" && name != "json":
		return formats.Format{}, usagef("got --json and --format %s, want one of them", name)
	case f.asJSON:
		name = "json"
	case name == "":
		if chosen, ok := formats.ForFile(f.file); ok {
			return chosen, nil
		}
		name = "text"
	}
	chosen, err := formats.Lookup(name)
	if err != nil {
		return chosen, &usageError{err}
	}
	if chosen.Binary && (f.file == "" || f.file == "-") && p.isTerminal() {
		return chosen, usagef("format %s is not for a terminal, want -o FILE", name)
	}
	return chosen, nil
}

// silent reports whether a check that finds nothing prints nothing.
func (f *outputFlags) silent(to formats.Format) bool {
	return f.quiet && to.Name == "text" && (f.file == "" || f.file == "-")
}

// write writes a report of the input.
func (f *outputFlags) write(p *program, to formats.Format, in *shmoo.Input, r *report.Report) error {
	lines := in.Lines
	if lines == nil && f.sources != "" {
		folder, err := openSources(f.sources)
		if err != nil {
			return fmt.Errorf("--source: %w", err)
		}
		defer folder.close()
		lines = folder.line
	}
	toFile := f.file != "" && f.file != "-"
	options := formats.Options{Lines: lines, Unit: in.Unit, Quiet: f.quiet, Color: !toFile && p.colour()}
	return p.writeFile(f.file, func(w io.Writer) error {
		if err := to.Write(w, r, options); err != nil {
			return fmt.Errorf("%s: %w", to.Name, err)
		}
		return nil
	})
}
