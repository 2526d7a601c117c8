package main

import (
	"github.com/spf13/cobra"

	"shmoo"
	"shmoo/report"
	"shmoo/report/json"
	"shmoo/report/text"
)

func (p *program) check() *cobra.Command {
	var (
		input  inputFlags
		asJSON bool
		quiet  bool
	)
	cmd := &cobra.Command{
		Use:   "check [FILE | - | -e SKETCH | --example NAME]",
		Short: "Count the wavefronts of every shared-memory access",
		Long: `Count the wavefronts of every shared-memory access of a kernel: a line per site with requests, wavefronts, ideal and
conflicts, and for the worst sites why, and the cheapest pad that helps.

The input is a CUDA sketch or a pattern file; its content decides. Without --block the kernel's launch bounds give the
block, else 32 threads; the first line says which. The exit code is 1 if anything conflicts or could not be resolved.`,
		Example: `  shmoo check --example transpose
  shmoo check kernel.cu --block 32,8 -D TILE=64
  shmoo check -e '__shared__ float t[32][33]; t[threadIdx.x][0];'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := p.open(cmd.Context(), cmd, &input, args)
			if err != nil {
				return err
			}
			r, err := shmoo.Analyze(cmd.Context(), in)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.Write(p.out, r)
			} else {
				err = text.Write(p.out, r, text.Options{Lines: in.Lines, Quiet: quiet})
			}
			if err != nil {
				return err
			}
			if input.profile != nil && !asJSON {
				if err := shmoo.CompareProfile(r, input.profile).WriteText(p.out, false); err != nil {
					return err
				}
			}
			return verdict(r)
		},
	}
	input.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "write nothing when there is nothing to report")
	return cmd
}

// errFault ends a command whose report holds accesses that the hardware would refuse; they are printed already.
var errFault = &exitError{exitInput}

// verdict turns a report into the error whose exit code says what was found.
func verdict(r *report.Report) error {
	switch totals := r.Totals(); {
	case totals.Faulted > 0:
		return errFault
	case !r.Clean():
		return errFindings
	}
	return nil
}
