package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"shmoo"
)

func (p *program) check() *cobra.Command {
	var (
		input  inputFlags
		output outputFlags
		gate   gateFlags
	)
	cmd := &cobra.Command{
		Use:   "check [FILE | - | -e SKETCH | --example NAME]",
		Short: "Count the wavefronts of every shared-memory access",
		Long: `Count the wavefronts of every shared-memory access of a kernel: a line per site with requests, wavefronts, ideal and
conflicts, and for the worst sites why, and the cheapest pad that helps.

The input is a CUDA sketch, a CUDA binary (cubin, executable or library) or a pattern file; its content decides. Without
--block the kernel's launch bounds give the block, else 32 threads; the first line says which. The exit code is 1 if
anything conflicts or could not be resolved.

As a gate, --max-conflicts lets a number of conflicts pass, and --baseline all that an earlier report has: only sites that
got worse or are new and not clean fail.`,
		Example: `  shmoo check --example transpose
  shmoo check kernel.cu --block 32,8 -D TILE=64
  shmoo check -e '__shared__ float t[32][33]; t[threadIdx.x][0];'
  shmoo check kernel.cu -o report.html
  shmoo check kernel.cu --baseline main.json --format sarif -o kernel.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := output.choose(p)
			if err != nil {
				return err
			}
			if err := gate.prepare(cmd); err != nil {
				return err
			}
			in, err := p.open(cmd.Context(), cmd, &input, args)
			if err != nil {
				return err
			}
			r, err := shmoo.Analyze(cmd.Context(), in)
			if err != nil {
				return err
			}
			reasons, verdict := gate.verdict(r)
			if output.silent(format) && gate.given() && verdict == nil {
				return nil
			}
			if err := output.write(p, format, in, r); err != nil {
				return err
			}
			if input.profile != nil && format.Name == "text" {
				if err := shmoo.CompareProfile(r, input.profile).WriteText(p.out, false); err != nil {
					return err
				}
			}
			for _, reason := range reasons {
				fmt.Fprintln(p.err, reason)
			}
			return verdict
		},
	}
	input.flags(cmd)
	output.flags(cmd)
	gate.flags(cmd)
	return cmd
}
