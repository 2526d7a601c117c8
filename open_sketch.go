package shmoo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/diag"
	"shmoo/fix"
	"shmoo/report"
	"shmoo/sketch"
)

// isText takes any text for a sketch, so this format comes last: the parser says what is wrong with it.
func isText([]byte) bool { return true }

func openSketch(_ context.Context, in *Input, data []byte, o Options) error {
	defines, err := parseDefines(o.Defines)
	if err != nil {
		return err
	}
	options := sketch.Options{Defines: defines, Include: o.Include, Lanes: in.Arch.Unit.Lanes}
	program, err := sketch.Parse(in.Name, data, options)
	if program != nil {
		in.Lines = program.Line
	}
	if err != nil {
		return err
	}
	launch := sketch.Launch{
		Kernel: o.Kernel, Block: o.Block, Grid: o.Grid, DynamicShared: o.DynamicShared,
		Blocks: o.Blocks, AllBlocks: o.Grid != [3]int{} && o.Blocks == nil,
	}
	source, err := program.Source(launch)
	if err != nil {
		return err
	}
	kernel := source.Kernel()
	static, dynamic := source.SharedBytes()
	if err := checkShared(in.Arch, kernel.Pos, static, dynamic); err != nil {
		return err
	}
	in.Sketch = &fix.Input{Name: in.Name, Text: data, Options: options, Launch: launch}
	grows, err := in.place(source, data, o.Layouts)
	if err != nil {
		return err
	}
	if !openEnded(source.Arrays()) {
		in.Unit = in.Arch.Unit.WithSize(static + dynamic + grows)
	}
	in.Kernel = kernel.Name
	in.Notes = source.Warnings()
	if static > in.Arch.StaticShared {
		in.Notes = append(in.Notes, diag.Warningf("sketch/static", kernel.Pos,
			"%s declares %d bytes of static shared memory, a compiler takes at most %d: the rest has to be dynamic",
			kernel.Name, static, in.Arch.StaticShared))
	}
	in.Launch = &report.Launch{Block: source.Block(), Grid: filled(o.Grid), DynamicShared: o.DynamicShared}
	if o.Block == ([3]int{}) {
		in.Launch.Assumed = "no block given: one warp"
		if kernel.MaxThreads > 0 {
			in.Launch.Assumed = "no block given: the kernel's launch bounds"
		}
	}
	return nil
}

// place lays the arrays of a sketch out as its comments and the options ask, and returns by how many bytes they grow.
func (in *Input) place(source access.Source, text []byte, layouts []string) (grows int, err error) {
	placements, err := directives(in.Name, text)
	if err != nil {
		return 0, err
	}
	for _, l := range layouts {
		p, err := parsePlacement(l)
		if err != nil {
			return 0, err
		}
		placements = append(placements, p)
	}
	if in.Source, err = place(source, placements); err != nil {
		return 0, fmt.Errorf("%s: %w", in.Name, err)
	}
	if p, ok := in.Source.(*placed); ok {
		grows = p.grows
		in.Sketch = nil // a fix on top of another layout is not a change of the sketch's text
	}
	return grows, nil
}

// checkShared returns an error if a block of the kernel cannot run at all.
func checkShared(a *arch.Arch, at diag.Span, static, dynamic int) error {
	if total := static + dynamic; total > a.Unit.Size {
		return diag.Errorf("sketch/shared", at, "a block takes %d bytes of shared memory, want at most the %d of %s",
			total, a.Unit.Size, a.Name)
	}
	return nil
}

// openEnded reports whether an extern array has no size, because the launch does not say how much dynamic memory it adds.
func openEnded(arrays []access.Array) bool {
	return slices.ContainsFunc(arrays, func(a access.Array) bool { return a.Dynamic && a.Size == 0 })
}

// filled returns a launch shape with 1 for what is not given.
func filled(shape [3]int) [3]int {
	for i := range shape {
		shape[i] = max(1, shape[i])
	}
	return shape
}

// parseDefines splits NAME=VALUE; a bare NAME is 1, as for a compiler.
func parseDefines(list []string) ([]sketch.Define, error) {
	var defines []sketch.Define
	for _, d := range list {
		name, value, ok := strings.Cut(d, "=")
		if !ok {
			value = "1"
		}
		if name == "" {
			return nil, fmt.Errorf("-D %q: want NAME or NAME=VALUE", d)
		}
		defines = append(defines, sketch.Define{Name: name, Value: value})
	}
	return defines, nil
}
