package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"shmoo"
	"shmoo/compare"
	"shmoo/report"
	"shmoo/report/json"
)

func (p *program) diff() *cobra.Command {
	var (
		input  inputFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two reports or inputs: what got better, worse, is new or gone",
		Long: `Compare two reports, site by site: what got better, worse, is new or gone. A file is a report (what "shmoo check --json"
writes) or an input that is checked first, both with the same flags; its content decides.

Sites are matched by array, operation and text, so lines may move. The exit code is 1 if a site got worse, or is new and
not clean.`,
		Example: `  shmoo diff before.cu after.cu --block 32,8
  shmoo diff main.json branch.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 || input.given(cmd) {
				return usagef("diff: got %d files, want two: before and after", len(args))
			}
			before, err := p.reportOf(cmd, &input, args[0])
			if err != nil {
				return err
			}
			after, err := p.reportOf(cmd, &input, args[1])
			if err != nil {
				return err
			}
			c, err := compare.Reports(before, after)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.Encode(p.out, c.Document())
			} else {
				err = c.WriteText(p.out)
			}
			if err != nil {
				return err
			}
			if len(c.Regressions()) > 0 {
				return errFindings
			}
			return nil
		},
	}
	input.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// reportOf reads a report, or checks an input.
func (p *program) reportOf(cmd *cobra.Command, f *inputFlags, name string) (*report.Report, error) {
	isReport, err := startsAsJSON(name)
	if err != nil {
		return nil, err
	}
	if isReport {
		return readReport(name)
	}
	in, err := p.open(cmd.Context(), cmd, f, []string{name})
	if err != nil {
		return nil, err
	}
	return shmoo.Analyze(cmd.Context(), in)
}

// startsAsJSON reports whether a file starts as a JSON object, as reports do and no input does.
func startsAsJSON(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start := make([]byte, 512)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return bytes.HasPrefix(bytes.TrimSpace(start[:n]), []byte("{")), nil
}
