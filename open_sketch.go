package shmoo

import (
	"context"
	"fmt"
	"strings"

	"shmoo/report"
	"shmoo/sketch"
)

func openSketch(_ context.Context, in *Input, data []byte, o Options) error {
	defines, err := parseDefines(o.Defines)
	if err != nil {
		return err
	}
	program, err := sketch.Parse(in.Name, data, sketch.Options{Defines: defines, Lanes: in.Arch.Unit.Lanes})
	if program != nil {
		in.Lines = program.Line
	}
	if err != nil {
		return err
	}
	source, err := program.Source(sketch.Launch{
		Kernel: o.Kernel, Block: o.Block, Grid: o.Grid, DynamicShared: o.DynamicShared,
		Blocks: o.Blocks, AllBlocks: o.Grid != [3]int{} && o.Blocks == nil,
	})
	if err != nil {
		return err
	}
	kernel := source.Kernel()
	in.Source = source
	in.Kernel = kernel.Name
	in.Notes = source.Warnings()
	in.Launch = &report.Launch{Block: source.Block(), Grid: filled(o.Grid), DynamicShared: o.DynamicShared}
	if o.Block == ([3]int{}) {
		in.Launch.Assumed = "no block given: one warp"
		if kernel.MaxThreads > 0 {
			in.Launch.Assumed = "no block given: the kernel's launch bounds"
		}
	}
	return nil
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
