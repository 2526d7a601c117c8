package main

import (
	"github.com/spf13/cobra"

	"shmoo/pattern"
	"shmoo/report/json"
)

func (p *program) replay() *cobra.Command {
	var (
		archName string
		asJSON   bool
	)
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Compare recorded patterns with the model",
		Long: `Compare recorded patterns with the model of the unit.

FILE is CSV, plain or gzipped, with the columns op, mask, addresses and what was recorded: cycles, wavefronts, conflicts
(docs/formats.md). The exit code is 1 if any pattern disagrees.`,
		Example: "  shmoo replay pattern/testdata/h200_patterns.csv.gz",
		Args:    exactly(1, "a pattern file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := p.lookupArch(archName)
			if err != nil {
				return err
			}
			in, err := p.openFile(args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			reader, err := pattern.NewReader(in, args[0])
			if err != nil {
				return err
			}
			result, err := pattern.Replay(cmd.Context(), reader, a.Unit)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.Encode(p.out, result)
			} else {
				err = result.WriteText(p.out)
			}
			if err == nil && result.Disagree > 0 {
				err = errFindings
			}
			return err
		},
	}
	archFlag(cmd, &archName)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}
