package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shmoo"
	"shmoo/examples"
	"shmoo/launch"
)

// An inputFlag set is what every command that analyses an input takes.
type inputFlags struct {
	expr, example string
	block, grid   string
	blocks        string
	args          []string
	launch, ncu   string
	profile       *launch.Profile // what --ncu holds of the kernel
	options       shmoo.Options
}

func (f *inputFlags) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.expr, "expr", "e", "", "the input itself: a sketch, or bare statements")
	fs.StringVar(&f.example, "example", "", "an embedded example: "+strings.Join(examples.Names(), ", "))
	fs.StringVar(&f.block, "block", "", "block shape X[,Y[,Z]] (default: the source's launch bounds, or 32)")
	fs.StringVar(&f.grid, "grid", "", "grid shape X[,Y[,Z]] (default 1)")
	fs.StringVar(&f.blocks, "blocks", "", "linear indices of the blocks to run, or all (default 0)")
	fs.StringArrayVarP(&f.options.Defines, "define", "D", nil, "define NAME=VALUE: a macro, constant or template parameter")
	fs.IntVar(&f.options.DynamicShared, "smem", 0, "bytes of dynamic shared memory")
	fs.StringVar(&f.options.Kernel, "kernel", "", "kernel to run, where there are several")
	fs.StringArrayVar(&f.args, "arg", nil, "argument of a binary's kernel: i32=128, f32[1024]:random, i32[64]:file=x.npy, ptr, "+
		"null; in order, or with a position as 2:i32=128")
	fs.Int64Var(&f.options.Steps, "steps", 0, "most warp instructions of a block of a binary (default 200 million)")
	fs.StringVar(&f.launch, "launch", "", "launch of a binary's kernel: a TOML or JSON file, or Triton's metadata")
	fs.StringVar(&f.ncu, "ncu", "", "take a binary's launch from what ncu --csv wrote; check also compares its counters")
	fs.StringArrayVar(&f.options.Layouts, "place", nil, "lay an array of a sketch out: tile='Swizzle<3,4,3>' or tile='pad(+4 per 128 bytes)'")
	archFlag(cmd, &f.options.Arch)
	complete(cmd, "example", examples.Names)
}

// adopt takes over the flags that an example's comment asks for, except those that the user gave.
func (f *inputFlags) adopt(cmd *cobra.Command) error {
	text, err := examples.Read(f.example)
	if err != nil {
		return &usageError{err}
	}
	var own inputFlags
	scratch := &cobra.Command{}
	own.flags(scratch)
	if err := scratch.ParseFlags(examples.Flags(text)); err != nil {
		return fmt.Errorf("example %s: %w", f.example, err)
	}
	scratch.Flags().Visit(func(flag *pflag.Flag) {
		if user := cmd.Flags().Lookup(flag.Name); !user.Changed && flag.Name != "define" {
			err = errors.Join(err, user.Value.Set(flag.Value.String()))
		}
	})
	f.options.Defines = append(own.options.Defines, f.options.Defines...) // later ones win
	return err
}

// given reports whether the flags name an input, even an empty one.
func (f *inputFlags) given(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("expr") || cmd.Flags().Changed("example")
}

// open opens the input that the flags and arguments name.
func (p *program) open(ctx context.Context, cmd *cobra.Command, f *inputFlags, args []string) (*shmoo.Input, error) {
	if err := p.parse(cmd, f, args); err != nil {
		return nil, err
	}
	name, r, err := p.stream(cmd, f, args)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	in, err := shmoo.Open(ctx, name, r, f.options)
	if in != nil {
		p.lines = in.Lines
	}
	return in, err
}

// parse checks the flags and arguments and fills the options.
func (p *program) parse(cmd *cobra.Command, f *inputFlags, args []string) error {
	given := len(args)
	for _, flag := range []string{"expr", "example"} {
		if cmd.Flags().Changed(flag) {
			given++
		}
	}
	if given != 1 {
		return usagef("%s: got %d inputs, want one of a file, - for standard input, -e or --example", cmd.Name(), given)
	}
	if _, err := p.lookupArch(f.options.Arch); err != nil {
		return err
	}
	var err error
	if f.options.Unit, err = p.unit(); err != nil {
		return err
	}
	if cmd.Flags().Changed("example") {
		if err := f.adopt(cmd); err != nil {
			return err
		}
	}
	if f.options.Block, err = parseShape("block", f.block); err != nil {
		return err
	}
	if f.options.Grid, err = parseShape("grid", f.grid); err != nil {
		return err
	}
	if f.options.Blocks, err = parseBlocks(f.blocks, f.options.Grid); err != nil {
		return err
	}
	if f.options.DynamicShared < 0 {
		return usagef("--smem %d: want a number of bytes", f.options.DynamicShared)
	}
	return f.readLaunch()
}

// readLaunch takes over what --launch, --ncu and --arg say, as far as flags do not say otherwise.
func (f *inputFlags) readLaunch() error {
	var l launch.Launch
	for _, source := range []struct {
		path string
		read func(name string, data []byte) (*launch.Launch, error)
	}{{f.launch, launch.Parse}, {f.ncu, f.profiledLaunch}} {
		if source.path == "" {
			continue
		}
		data, err := os.ReadFile(source.path)
		if err != nil {
			return err
		}
		read, err := source.read(source.path, data)
		if err != nil {
			return err
		}
		l = *read
	}
	o := &f.options
	if o.Kernel == "" {
		o.Kernel = l.Kernel
	}
	if o.Block == ([3]int{}) {
		o.Block = l.Block
	}
	if o.Grid == ([3]int{}) {
		o.Grid = l.Grid
	}
	if o.DynamicShared == 0 {
		o.DynamicShared = l.DynamicShared
	}
	for _, text := range f.args {
		if err := l.Add(text); err != nil {
			return usagef("--arg: %w", err)
		}
	}
	o.Args = l.Args
	return nil
}

// profiledLaunch takes the launch of the named kernel, or the first, from a profile.
func (f *inputFlags) profiledLaunch(name string, data []byte) (*launch.Launch, error) {
	profiles, err := launch.ReadProfiles(name, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for _, p := range profiles {
		if f.options.Kernel == "" || p.Launch.Kernel == f.options.Kernel {
			f.profile = p
			return &p.Launch, nil
		}
	}
	return nil, fmt.Errorf("%s: no launch of kernel %q in it", name, f.options.Kernel)
}

// stream returns the input's text and the name for its positions.
func (p *program) stream(cmd *cobra.Command, f *inputFlags, args []string) (string, io.ReadCloser, error) {
	switch {
	case cmd.Flags().Changed("expr"):
		return "-e", io.NopCloser(strings.NewReader(f.expr)), nil
	case cmd.Flags().Changed("example"):
		text, err := examples.Read(f.example)
		if err != nil {
			return "", nil, &usageError{err}
		}
		return f.example + ".cu", io.NopCloser(bytes.NewReader(text)), nil
	case args[0] == "-":
		return "<stdin>", io.NopCloser(p.in), nil
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		return "", nil, fmt.Errorf("%s is a folder, want a file", args[0])
	}
	f.options.Include = shmoo.IncludeFrom(filepath.Dir(args[0]))
	r, err := os.Open(args[0])
	return args[0], r, err
}

// maxDim is larger than any extent that CUDA allows for a grid's x.
const maxDim = 1 << 31

// parseShape parses "X[,Y[,Z]]", also written with x. An empty text is the zero shape: not given.
func parseShape(flag, text string) (shape [3]int, err error) {
	if text == "" {
		return shape, nil
	}
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == 'x' })
	if len(fields) == 0 || len(fields) > 3 {
		return shape, usagef("--%s %q: want X[,Y[,Z]]", flag, text)
	}
	shape = [3]int{1, 1, 1}
	for i, s := range fields {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 || n >= maxDim {
			return shape, usagef("--%s %q: %q is not a positive number of threads or blocks", flag, text, s)
		}
		shape[i] = n
	}
	return shape, nil
}

// maxBlocks bounds --blocks all: a sketch's blocks are usually alike, and each is run in full.
const maxBlocks = 1 << 16

func parseBlocks(text string, grid [3]int) ([]int, error) {
	total := max(1, grid[0]) * max(1, grid[1]) * max(1, grid[2])
	var blocks []int
	switch text {
	case "":
		return nil, nil
	case "all":
		if total > maxBlocks {
			return nil, usagef("--blocks all: the grid has %d blocks, want at most %d: name some of them", total, maxBlocks)
		}
		for i := range total {
			blocks = append(blocks, i)
		}
		return blocks, nil
	}
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(s)
		if s == "last" {
			n, err = total-1, nil
		}
		if err != nil || n < 0 || n >= total {
			return nil, usagef("--blocks: %q is not a block of a grid of %d, want 0 to %d, last or all", s, total, total-1)
		}
		blocks = append(blocks, n)
	}
	return blocks, nil
}
