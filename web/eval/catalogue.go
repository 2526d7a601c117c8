package eval

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"shmoo/arch"
	"shmoo/examples"
)

// Catalogue is the reply to "examples": what the menus of the page offer.
type Catalogue struct {
	Examples []Example `json:"examples"`
	Archs    []Arch    `json:"archs"`
	Default  string    `json:"default_arch"`
	Binary   string    `json:"binary,omitempty"` // name of the file of machine code, if there is one
}

// Example is a sketch that ships with the program, with the launch that its comment gives.
type Example struct {
	Title string `json:"title"`
	Input
}

// Arch is a GPU generation that can be chosen.
type Arch struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

func listExamples(_ context.Context, m *Model, _ *struct{}) (*Catalogue, error) {
	c := &Catalogue{Examples: []Example{}, Default: arch.Default}
	for _, name := range examples.Names() {
		text, err := examples.Read(name)
		if err != nil {
			return nil, err
		}
		e := Example{Title: name, Input: Input{Name: name + ".cu", Source: string(text)}}
		if err := e.setFlags(examples.Flags(text)); err != nil {
			return nil, fmt.Errorf("example %s: %w", name, err)
		}
		c.Examples = append(c.Examples, e)
	}
	if m.Binary != nil {
		c.Binary = m.Binary.Name
	}
	for _, name := range arch.Names() {
		c.Archs = append(c.Archs, Arch{name, arch.MustLookup(name).Title})
	}
	return c, nil
}

// setFlags sets what the command-line flags of an example set.
func (in *Input) setFlags(flags []string) error {
	for i := 0; i < len(flags); i += 2 {
		if i+1 == len(flags) {
			return fmt.Errorf("flag %s has no value", flags[i])
		}
		if err := in.setFlag(flags[i], flags[i+1]); err != nil {
			return fmt.Errorf("flag %s %s: %w", flags[i], flags[i+1], err)
		}
	}
	return nil
}

func (in *Input) setFlag(name, value string) (err error) {
	switch name {
	case "--block":
		in.Block, err = parseShape(value)
	case "--grid":
		in.Grid, err = parseShape(value)
	case "-D":
		in.Defines = append(in.Defines, value)
	case "--smem":
		in.Shared, err = strconv.Atoi(value)
	case "--kernel":
		in.Kernel = value
	case "--arch":
		in.Arch = value
	default:
		return fmt.Errorf("unknown flag, want --block, --grid, -D, --smem, --kernel or --arch")
	}
	return err
}

func parseShape(text string) ([3]int, error) {
	shape := [3]int{1, 1, 1}
	fields := strings.Split(text, ",")
	if len(fields) > len(shape) {
		return shape, fmt.Errorf("%d dimensions, want at most %d", len(fields), len(shape))
	}
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return shape, err
		}
		shape[i] = n
	}
	return shape, nil
}
