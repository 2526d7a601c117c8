package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"shmoo/layout"
)

func (p *program) layout() *cobra.Command {
	return &cobra.Command{
		Use:   "layout A [== B]",
		Short: "Describe a layout or swizzle, or compare two",
		Long: `Describe a layout: sizes, whether it is one-to-one, and its forms in other notations where they are exact. With == B, decide
whether two layouts are the same map; if not, the first index where they differ is shown and the exit code is 1.

Notations: CuTe shape:stride and Swizzle<B,M,S>, compositions with "o", pad(+N per M bytes), linear(...), and Triton's
shared encodings. docs/formats.md lists them.`,
		Example: `  shmoo layout 'Swizzle<3,3,3> o (8,64):(64,1)'
  shmoo layout '(4,4):(1,4) == 16:1'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("layout: got no layout, want A or A == B")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			first, second, two := strings.Cut(strings.Join(args, " "), "==")
			a, err := layout.Parse(strings.TrimSpace(first))
			if err != nil {
				return err
			}
			if !two {
				return layout.Describe(p.out, a)
			}
			b, err := layout.Parse(strings.TrimSpace(second))
			if err != nil {
				return fmt.Errorf("right of ==: %w", err)
			}
			c, err := layout.Compare(a, b)
			if err != nil {
				return err
			}
			fmt.Fprintln(p.out, c)
			if !c.Equal {
				return errFindings
			}
			return nil
		},
	}
}
