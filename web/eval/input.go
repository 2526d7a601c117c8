package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"shmoo"
)

var errNoBinary = errors.New("no binary was given to the server, want one named with shmoo serve")

// Limits of one question.
const (
	MaxSource  = 256 << 10 // bytes of source
	maxDefines = 64
	maxBlocks  = 256 // blocks that are run
)

// Input is what every question starts from: a source and how to run it. Zero fields mean what the command line means
// without the flag.
type Input struct {
	Name    string   `json:"name,omitempty"` // used in positions
	Source  string   `json:"source"`
	Arch    string   `json:"arch,omitempty"`
	Block   [3]int   `json:"block"`
	Grid    [3]int   `json:"grid"`
	Blocks  []int    `json:"blocks,omitempty"` // linear indices of the blocks to run
	Defines []string `json:"defines,omitempty"`
	Shared  int      `json:"dynamic_shared,omitempty"` // bytes
	Kernel  string   `json:"kernel,omitempty"`
	Binary  bool     `json:"binary,omitempty"` // the source is the server's binary instead of Source
}

// name is what positions in the source are called when the question gives no name.
const defaultName = "sketch.cu"

func (in *Input) open(ctx context.Context, m *Model) (*shmoo.Input, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	options := shmoo.Options{
		Arch: in.Arch, Block: in.Block, Grid: in.Grid, Blocks: in.Blocks, DynamicShared: in.Shared,
		Kernel: in.Kernel, Defines: in.Defines,
	}
	if in.Binary {
		if m.Binary == nil {
			return nil, errNoBinary
		}
		return shmoo.Open(ctx, m.Binary.Name, bytes.NewReader(m.Binary.Data), options)
	}
	name := in.Name
	if name == "" {
		name = defaultName
	}
	return shmoo.Open(ctx, name, strings.NewReader(in.Source), options)
}

func (in *Input) check() error {
	switch {
	case len(in.Source) > MaxSource:
		return fmt.Errorf("source of %d bytes, want at most %d", len(in.Source), MaxSource)
	case strings.HasPrefix(in.Source, "\x1f\x8b"):
		// A compressed pattern file would undo the bound on the source.
		return fmt.Errorf("source is compressed, want text")
	case len(in.Defines) > maxDefines:
		return fmt.Errorf("%d definitions, want at most %d", len(in.Defines), maxDefines)
	case len(in.Blocks) > maxBlocks:
		return fmt.Errorf("%d blocks, want at most %d", len(in.Blocks), maxBlocks)
	case in.Shared < 0:
		return fmt.Errorf("dynamic shared memory of %d bytes, want 0 or more", in.Shared)
	}
	for _, shape := range [][3]int{in.Block, in.Grid} {
		for _, n := range shape {
			if n < 0 {
				return fmt.Errorf("shape %v, want positive numbers", shape)
			}
		}
	}
	return nil
}
