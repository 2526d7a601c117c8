package main

import (
	"github.com/spf13/cobra"

	"shmoo/bankmap"
	"shmoo/explain"
	"shmoo/report/json"
)

func (p *program) explain() *cobra.Command {
	var (
		input  inputFlags
		raw    rawRequest
		site   string
		asJSON bool
		ascii  bool
	)
	cmd := &cobra.Command{
		Use:   "explain [FILE | - | -e SKETCH | --example NAME | --addr LIST]",
		Short: "Explain one access: the rule, the steps, the lanes, the picture",
		Long: `Explain one request in full: the rule that applies, the steps of the unit, where every lane lands and which pass serves it,
the picture, and why.

--site chooses the site: LINE, LINE:COL or #N; its worst request is shown. Without it, the worst of all.`,
		Example: `  shmoo explain --example transpose
  shmoo explain --addr 0,132
  shmoo explain -e '__shared__ float4 t[256]; t[8 * threadIdx.x];'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := p.explanation(cmd, &input, &raw, site, args)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.Encode(p.out, d)
			} else {
				err = explain.Text(p.out, d, bankmap.TextOptions{Width: p.columns(), Color: p.colour(), ASCII: ascii})
			}
			if err == nil && d.Fault != nil {
				err = errFault
			}
			return err
		},
	}
	input.flags(cmd)
	raw.flags(cmd)
	cmd.Flags().StringVar(&site, "site", "", "site: LINE, LINE:COL or #N")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().BoolVar(&ascii, "ascii", false, "use ASCII characters only")
	return cmd
}

func (p *program) explanation(cmd *cobra.Command, input *inputFlags, raw *rawRequest, site string, args []string,
) (*explain.Data, error) {
	if raw.given() {
		a, err := p.lookupArch(input.options.Arch)
		if err != nil {
			return nil, err
		}
		if len(args) > 0 || input.given(cmd) {
			return nil, usagef("explain: got an input and --addr, want one of them")
		}
		r, err := raw.request(a.Unit.Lanes)
		if err != nil {
			return nil, err
		}
		window, err := raw.base()
		if err != nil {
			return nil, err
		}
		return explain.New(a.Unit, r, explain.Options{Provenance: a.Provenance, Window: window})
	}
	in, err := p.open(cmd.Context(), cmd, input, args)
	if err != nil {
		return nil, err
	}
	s, sample, err := pick(cmd.Context(), in, site)
	if err != nil {
		return nil, err
	}
	return explain.New(in.Unit, &sample.Request, explain.Options{
		Site: &s.Site, Block: sample.Block, Warp: sample.Warp, Provenance: in.Arch.Provenance,
	})
}
