package main

import (
	"github.com/spf13/cobra"

	"shmoo/pad"
	"shmoo/report/json"
	"shmoo/space"
)

// A padCommand is the flags of "shmoo pad".
type padCommand struct {
	p                     *program
	chunk, dtype, width   string
	policy, space, format string
	arch                  string
	unit, max, fixed      int
	details               int
	asJSON                bool
}

func (p *program) pad() *cobra.Command {
	c := &padCommand{p: p}
	cmd := &cobra.Command{
		Use:   "pad --chunk LIST --dtype LIST | --space SPACE (--fixed-pad BYTES | --policy RULE)",
		Short: "Find the pad for lanes that read runs of their own",
		Long: `Find the pad for an array in which every lane reads a run of chunk elements of its own, in loads of some width.

For each chunk and type: the stride S in words, gcd(S, 32), ways and alignment of every candidate pad, and the best pad per
width that keeps the load legal. Every figure is counted; the gcd formula stands beside it where it applies.

With --space, one rule is judged over a whole space and the counterexamples are named; the exit code is then 1 if it fails
anywhere.`,
		Example: `  shmoo pad --chunk 64 --dtype f16,f32
  shmoo pad --chunk 16..256:8 --dtype bf16 --width 64
  shmoo pad --chunk 56 --dtype bf16 --policy 'k=1|2'
  shmoo pad --space chunk=16..256:8,dtype=f16,bf16,f32 --fixed-pad 16`,
		Args: exactly(0, "flags only"),
		RunE: c.run,
	}
	fs := cmd.Flags()
	fs.StringVar(&c.chunk, "chunk", "", "elements of a run: a list, or a range such as 16..256:8")
	fs.StringVar(&c.dtype, "dtype", "f32", "element types, a list")
	fs.StringVar(&c.width, "width", "auto", "widths of the load in bits, a list, or auto for every one that can be legal")
	fs.IntVar(&c.unit, "unit", 0, "candidates are multiples of this many bytes (default: the element)")
	fs.IntVar(&c.max, "max", pad.DefaultMax, "largest pad in bytes")
	fs.StringVar(&c.policy, "policy", "", "a rule such as k=1|2: of pads of k times 16 bytes, the one with the smallest gcd")
	fs.StringVar(&c.space, "space", "", "judge a rule over this space of chunk and dtype")
	fs.IntVar(&c.fixed, "fixed-pad", -1, "the rule to judge: this many bytes everywhere")
	fs.IntVar(&c.details, "details", 4, "list every candidate when there are at most this many cases")
	fs.StringVar(&c.format, "format", "text", "text, markdown or json")
	fs.BoolVar(&c.asJSON, "json", false, "write JSON")
	archFlag(cmd, &c.arch)
	complete(cmd, "dtype", pad.DTypeNames)
	complete(cmd, "format", func() []string { return []string{"text", "markdown", "json"} })
	return cmd
}

func (c *padCommand) run(*cobra.Command, []string) error {
	report, err := c.report()
	if err != nil {
		return &usageError{err}
	}
	switch {
	case c.asJSON || c.format == "json":
		err = json.Encode(c.p.out, report)
	case c.format == "markdown":
		err = report.Write(c.p.out, pad.Markdown, c.details)
	case c.format == "text":
		err = report.Write(c.p.out, pad.Text, c.details)
	default:
		return usagef("pad: format %q, want text, markdown or json", c.format)
	}
	if err == nil && report.Judgement != nil && report.Judgement.Failed > 0 {
		err = errFindings
	}
	return err
}

// report does the work. Its errors are all about the flags: the package has no other input.
func (c *padCommand) report() (*pad.Report, error) {
	a, err := c.p.lookupArch(c.arch)
	if err != nil {
		return nil, err
	}
	o := pad.Options{Unit: a.Unit, Step: c.unit, Max: c.max}
	if o.Widths, err = pad.ParseWidths(c.width); err != nil {
		return nil, err
	}
	if c.policy != "" {
		if o.Policy, err = pad.ParsePolicy(c.policy); err != nil {
			return nil, err
		}
	}
	if c.space != "" {
		return c.judge(o)
	}
	if c.fixed >= 0 {
		return nil, usagef("pad: --fixed-pad is judged over a --space")
	}
	if c.chunk == "" {
		return nil, usagef("pad: want --chunk or --space")
	}
	chunks, err := pad.ParseChunks(c.chunk)
	if err != nil {
		return nil, err
	}
	dtypes, err := pad.ParseDTypes(c.dtype)
	if err != nil {
		return nil, err
	}
	return pad.Analyze(chunks, dtypes, o)
}

func (c *padCommand) judge(o pad.Options) (*pad.Report, error) {
	if c.chunk != "" {
		return nil, usagef("pad: got --chunk and --space, want one of them")
	}
	s, err := space.Parse(c.space)
	if err != nil {
		return nil, err
	}
	switch rule := o.Policy; {
	case c.fixed >= 0 && rule != nil:
		return nil, usagef("pad: got --fixed-pad and --policy, want one rule to judge")
	case c.fixed >= 0:
		return pad.Judge(s, pad.Fixed(c.fixed), o)
	case rule != nil:
		return pad.Judge(s, rule, o)
	}
	return nil, usagef("pad: --space needs a rule to judge: --fixed-pad BYTES or --policy RULE")
}
