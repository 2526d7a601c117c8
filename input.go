package shmoo

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/diag"
	"shmoo/fix"
	"shmoo/report"
	"shmoo/smem"
)

// Options says how to run an input.
type Options struct {
	Arch          string     // GPU generation; "" for arch.Default
	Block, Grid   [3]int     // launch shape; zero for what the input says
	Blocks        []int      // linear indices of the blocks to run; nil for all of a given grid
	DynamicShared int        // bytes of dynamic shared memory
	Kernel        string     // which kernel, where there are several
	Defines       []string   // NAME or NAME=VALUE
	Steps         int64      // most warp instructions of a block of machine code; 0 for the emulator's default
	Args          []Arg      // arguments of a kernel of machine code
	Unit          *smem.Unit // instead of the generation's own; nil for that
	// Include returns a file that a sketch includes in quotes, or fs.ErrNotExist to pass it over; nil passes all over.
	// OpenFile looks beside the sketch.
	Include func(name string) ([]byte, error)
	Layouts []string // ARRAY=TRANSFORM: lay an array of a sketch out by a transform of its bytes
}

// on returns the generation a with the unit of the options, if they have one.
func (o *Options) on(a *arch.Arch) *arch.Arch {
	if o.Unit == nil {
		return a
	}
	learned := *a
	learned.Unit = o.Unit
	return &learned
}

// An Input is an opened source with what is known about it.
type Input struct {
	Name   string
	Format string // name of its format, such as "sketch"
	Arch   *arch.Arch
	Unit   *smem.Unit // the unit of Arch, with the shared memory that a block of the input has
	Source access.Source
	Kernel string
	Launch *report.Launch
	Notes  diag.List // what to tell the user although the input can be analysed
	// Sketch is what it takes to run a sketch again with a fix in it; nil for other formats.
	Sketch *fix.Input
	// Lines returns a line of the input, to quote it; nil where there are none.
	Lines func(diag.Pos) (string, bool)
}

// Problems returns what fix.Search needs for each shared array that the input accesses.
func (in *Input) Problems(ctx context.Context) ([]*fix.Problem, error) {
	return fix.Problems(ctx, in.Source, in.Arch, fix.Block{Threads: in.threads()})
}

func (in *Input) threads() int {
	if in.Launch == nil {
		return in.Arch.Unit.Lanes
	}
	return in.Launch.Block[0] * in.Launch.Block[1] * in.Launch.Block[2]
}

// A format is a kind of input. Inputs are recognised by content, never by name alone. The table is formats.
type format struct {
	name  string
	sniff func(data []byte) bool
	open  func(ctx context.Context, in *Input, data []byte, o Options) error
}

// maxInput bounds an input that is read whole, in bytes. Sketches and pattern files are text written by people and probes.
const maxInput = 256 << 20

// OpenFile opens a file as an input.
func OpenFile(ctx context.Context, name string, o Options) (*Input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if o.Include == nil {
		o.Include = IncludeFrom(filepath.Dir(name))
	}
	return Open(ctx, name, f, o)
}

// maxHeader bounds an included file in bytes.
const maxHeader = 4 << 20

// IncludeFrom reads headers from a folder, for Options.Include: regular files only, since a name in a sketch could be that of a device.
func IncludeFrom(folder string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxHeader {
			return nil, fs.ErrNotExist
		}
		return os.ReadFile(path)
	}
}

// Open reads r to its end and opens what it holds; name is used in positions.
func Open(ctx context.Context, name string, r io.Reader, o Options) (*Input, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("%s: more than %d MiB, want a smaller input", name, maxInput>>20)
	}
	a, err := arch.Lookup(defaultTo(o.Arch, arch.Default))
	if err != nil {
		return nil, err
	}
	a = o.on(a)
	in := &Input{Name: name, Arch: a, Unit: a.Unit}
	for _, f := range formats {
		if f.sniff(data) {
			in.Format = f.name
			return in, f.open(ctx, in, data, o)
		}
	}
	return nil, fmt.Errorf("%s: not a known kind of input", name)
}

func defaultTo(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
