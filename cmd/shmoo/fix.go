package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shmoo"
	"shmoo/fix"
	"shmoo/fix/verify"
	"shmoo/layout"
	"shmoo/pad"
	"shmoo/report/json"
	"shmoo/space"
)

// A fixCommand is the flags of "shmoo fix".
type fixCommand struct {
	p           *program
	input       inputFlags
	array       string
	maxBytes    int
	keepWidth   bool
	allow       []string
	layout      string
	candidate   int
	space       string
	emit        string
	emitTest    string
	certificate string
	verify      string
	out         string
	asJSON      bool
}

func (p *program) fix() *cobra.Command {
	c := &fixCommand{p: p}
	cmd := &cobra.Command{
		Use:   "fix [FILE | - | -e SKETCH | --example NAME] | --verify CERTIFICATE",
		Short: "Search the pad or swizzle that serves all accesses of an array",
		Long: `Search the pad, swizzle or linear layout that serves all accesses of each shared array best, within alignment and memory.

The table lists what no other layout beats in wavefronts, bytes and index instructions at once, with the recommendation, or
why to leave the array as it is, a lower bound, and what is proved. --emit writes the recommendation as code, or as a diff of
the sketch; --candidate N takes line N of the table instead. --space searches every point of a parameter space and looks for
the fewest rules that serve all of them: each parameter is a -D of the sketch, and BLOCK also sets the block's x.`,
		Example: `  shmoo fix --example transpose
  shmoo fix --example transpose --emit diff
  shmoo fix kernel.cu --array tile --allow swizzle --emit cute
  shmoo fix kernel.cu --space CHUNK=16..256:8,DTYPE=f16,bf16,f32
  shmoo fix --example transpose --certificate tile.json && shmoo fix --verify tile.json`,
		RunE: c.run,
	}
	c.input.flags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&c.array, "array", "", "only this array (default: all)")
	fs.IntVar(&c.maxBytes, "max-bytes", 0, "largest size of the array (default: what a block can have)")
	fs.BoolVar(&c.keepWidth, "keep-width", true, "keep every access as wide as it is; =false admits pads that break up wide ones")
	fs.StringSliceVar(&c.allow, "allow", nil, "families to search: pad, swizzle, linear (default: all)")
	fs.StringVar(&c.layout, "layout", "", "count what this layout or transform of bytes does, instead of searching")
	fs.IntVar(&c.candidate, "candidate", 0, "use line N of the table instead of the recommendation")
	fs.StringVar(&c.space, "space", "", "search every point of this space")
	fs.StringVar(&c.emit, "emit", "", "write the fix as cuda, cute, python, triton or diff; with --space, as python or markdown")
	fs.StringVar(&c.emitTest, "emit-test", "", "write a test that fails when the layout is lost: go or pytest")
	fs.StringVar(&c.certificate, "certificate", "", "write a certificate to this file")
	fs.StringVar(&c.verify, "verify", "", "check the certificate in this file, with code of its own")
	fs.StringVarP(&c.out, "output", "o", "", "write --emit or --emit-test to this file")
	fs.BoolVar(&c.asJSON, "json", false, "write JSON")
	complete(cmd, "allow", func() []string { return []string{"pad", "swizzle", "linear"} })
	complete(cmd, "emit", func() []string { return []string{"cuda", "cute", "python", "triton", "diff", "markdown"} })
	complete(cmd, "emit-test", func() []string { return []string{"go", "pytest"} })
	return cmd
}

func (c *fixCommand) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.verify != "" {
		if len(args) > 0 || c.input.given(cmd) {
			return usagef("fix: got an input and --verify, want one of them")
		}
		return c.check(ctx)
	}
	options, err := c.options(cmd)
	if err != nil {
		return err
	}
	if c.space != "" {
		return c.runSpace(ctx, cmd, args, options)
	}
	in, err := c.p.open(ctx, cmd, &c.input, args)
	if err != nil {
		return err
	}
	problems, err := c.problems(ctx, in)
	if err != nil {
		return err
	}
	var results []*fix.Result
	for _, problem := range problems {
		if c.layout != "" {
			if err := c.evaluate(ctx, problem); err != nil {
				return err
			}
			continue
		}
		result, err := fix.Search(ctx, problem, options)
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	if c.layout != "" {
		return nil
	}
	return c.write(ctx, in, results)
}

func (c *fixCommand) options(cmd *cobra.Command) (o fix.Options, err error) {
	o.Narrow = !c.keepWidth
	if cmd.Flags().Changed("max-bytes") {
		if c.maxBytes < 0 {
			return o, usagef("fix: --max-bytes %d: want a number of bytes", c.maxBytes)
		}
		o.MaxBytes, o.Limited = c.maxBytes, true
	}
	for _, name := range c.allow {
		family := fix.Family(name)
		if family == fix.None || !slices.Contains(fix.Families(), family) {
			return o, usagef("fix: --allow %q, want pad, swizzle or linear", name)
		}
		o.Allow = append(o.Allow, family)
	}
	return o, nil
}

// problems returns the arrays to work on.
func (c *fixCommand) problems(ctx context.Context, in *shmoo.Input) ([]*fix.Problem, error) {
	problems, err := in.Problems(ctx)
	if err != nil {
		return nil, err
	}
	if len(problems) == 0 {
		return nil, fmt.Errorf("%s: no shared-memory access with known addresses found", in.Name)
	}
	if c.array == "" {
		return problems, nil
	}
	var names []string
	for _, p := range problems {
		if p.Array.Name == c.array {
			return []*fix.Problem{p}, nil
		}
		names = append(names, p.Array.Name)
	}
	return nil, usagef("fix: no array %q is accessed, want one of %s", c.array, strings.Join(names, ", "))
}

// evaluate counts what a given layout does to one array.
func (c *fixCommand) evaluate(ctx context.Context, problem *fix.Problem) error {
	transform, err := layout.ParseTransform(c.layout)
	if err != nil {
		l, lerr := layout.Parse(c.layout)
		if lerr != nil {
			return lerr
		}
		if transform, err = fix.FromLayout(problem, l); err != nil {
			return err
		}
	}
	before, err := fix.Evaluate(ctx, problem, layout.Identity{})
	if err != nil {
		return err
	}
	after, err := fix.Evaluate(ctx, problem, transform)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.p.out, "%s: %s: %d -> %d wavefronts, %d -> %d bytes, %d index instructions an access\n",
		problem.Array.Name, transform, before.Wavefronts, after.Wavefronts, before.Bytes, after.Bytes, after.Instructions)
	return err
}

func (c *fixCommand) write(ctx context.Context, in *shmoo.Input, results []*fix.Result) error {
	if c.emit == "" && c.emitTest == "" && c.certificate == "" {
		return c.writeResults(results)
	}
	if len(results) != 1 {
		return usagef("fix: %d arrays are accessed, name one with --array", len(results))
	}
	result := results[0]
	chosen, err := c.choose(result)
	if err != nil {
		return err
	}
	if c.certificate != "" {
		certificate, err := result.Certificate(chosen)
		if err != nil {
			return err
		}
		err = c.p.writeFile(c.certificate, func(w io.Writer) error { return fix.WriteCertificate(w, certificate) })
		if err != nil {
			return err
		}
	}
	switch {
	case c.emitTest != "":
		form := fix.GuardForm(c.emitTest)
		if !slices.Contains(fix.GuardForms(), form) {
			return usagef("fix: --emit-test %q, want go or pytest", c.emitTest)
		}
		return c.p.writeFile(c.out, func(w io.Writer) error { return fix.EmitGuard(w, result, chosen, form) })
	case c.emit == string(fix.Sketch):
		return c.patch(ctx, in, result, chosen)
	case c.emit != "":
		form := fix.Form(c.emit)
		if !slices.Contains(fix.Forms(), form) {
			return usagef("fix: --emit %q, want cuda, cute, python, triton or diff", c.emit)
		}
		return c.p.writeFile(c.out, func(w io.Writer) error { return fix.Emit(w, result, chosen, form) })
	}
	return nil
}

func (c *fixCommand) writeResults(results []*fix.Result) error {
	if c.asJSON {
		return json.Encode(c.p.out, struct {
			Schema string        `json:"schema"`
			Arrays []*fix.Result `json:"arrays"`
		}{fix.Schema, results})
	}
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(c.p.out)
		}
		if err := fix.WriteText(c.p.out, r); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the candidate that --candidate names, or the recommendation.
func (c *fixCommand) choose(r *fix.Result) (*fix.Candidate, error) {
	switch {
	case c.candidate < 0 || c.candidate > len(r.Pareto):
		return nil, usagef("fix: --candidate %d, want 1 to %d", c.candidate, len(r.Pareto))
	case c.candidate > 0:
		return &r.Pareto[c.candidate-1], nil
	case r.Best == nil:
		return nil, fmt.Errorf("nothing to write for %s: %s", r.Problem.Array.Name, r.Reason)
	}
	return r.Best, nil
}

func (c *fixCommand) patch(ctx context.Context, in *shmoo.Input, r *fix.Result, chosen *fix.Candidate) error {
	if in.Sketch == nil {
		return usagef("fix: --emit diff needs a sketch, %s is a %s", in.Name, in.Format)
	}
	patch, err := fix.PatchSketch(ctx, *in.Sketch, r, chosen)
	if err != nil {
		return err
	}
	if patch.Dynamic > 0 {
		fmt.Fprintf(c.p.err, "note: the launch must give %d bytes of dynamic shared memory\n", patch.Dynamic)
	}
	return c.p.writeFile(c.out, func(w io.Writer) error {
		_, err := io.WriteString(w, patch.Diff)
		return err
	})
}

// check verifies a certificate.
func (c *fixCommand) check(ctx context.Context) error {
	f, err := c.p.openFile(c.verify)
	if err != nil {
		return err
	}
	defer f.Close()
	outcome, err := verify.Check(ctx, f)
	if err != nil {
		return fmt.Errorf("%s: %w", c.verify, err)
	}
	fmt.Fprintln(c.p.out, outcome)
	if !outcome.OK() {
		return errFindings
	}
	return nil
}

// maxSketch bounds the sketch of a space in bytes.
const maxSketch = 4 << 20

// runSpace searches a space whose parameters are definitions of the sketch.
func (c *fixCommand) runSpace(ctx context.Context, cmd *cobra.Command, args []string, options fix.Options) error {
	s, err := space.Parse(c.space)
	if err != nil {
		return &usageError{err}
	}
	if err := c.p.parse(cmd, &c.input, args); err != nil {
		return err
	}
	name, r, err := c.p.stream(cmd, &c.input, args)
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxSketch+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxSketch {
		return fmt.Errorf("%s: more than %d bytes, want a sketch", name, maxSketch)
	}
	result, err := fix.SearchSpace(ctx, s, func(point []space.Value) (*fix.Problem, error) {
		in, err := shmoo.Open(ctx, name, bytes.NewReader(text), c.at(s, point))
		if err != nil {
			return nil, err
		}
		problems, err := c.problems(ctx, in)
		if err != nil {
			return nil, err
		}
		if len(problems) != 1 {
			return nil, usagef("fix: %d arrays are accessed, name one with --array", len(problems))
		}
		return problems[0], nil
	}, options)
	if err != nil {
		return err
	}
	switch {
	case c.asJSON:
		return json.Encode(c.p.out, result)
	case c.emit == string(fix.Python):
		return c.p.writeFile(c.out, func(w io.Writer) error { return fix.EmitPick(w, result) })
	case c.emit == "" || c.emit == "markdown":
		return c.p.writeFile(c.out, func(w io.Writer) error { return fix.WriteMarkdown(w, result) })
	}
	return usagef("fix: --emit %q with --space, want python or markdown", c.emit)
}

// blockParameter is the parameter of a space that also sets the block's x.
const blockParameter = "BLOCK"

// at returns the options for one point of a space: its values are definitions, an element type by its name in CUDA C++.
func (c *fixCommand) at(s *space.Space, point []space.Value) shmoo.Options {
	o := c.input.options
	o.Defines = slices.Clone(o.Defines)
	for i, param := range s.Params {
		value := point[i].String()
		if d, err := pad.LookupDType(value); err == nil && !point[i].IsInt() {
			value = d.CUDA()
		}
		o.Defines = append(o.Defines, param.Name+"="+value)
		if param.Name == blockParameter && o.Block == ([3]int{}) && point[i].IsInt() {
			o.Block = [3]int{int(point[i].Int), 1, 1}
		}
	}
	return o
}
