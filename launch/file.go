package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// document is the form of a launch file.
type document struct {
	Kernel string   `toml:"kernel" json:"kernel"`
	Grid   []int    `toml:"grid" json:"grid"`
	Block  []int    `toml:"block" json:"block"`
	Shared int      `toml:"shared" json:"shared"` // dynamic, in bytes
	Args   []string `toml:"args" json:"args"`
}

// Parse reads a launch file, TOML or JSON:
//
//	kernel = "transpose"
//	grid = [4, 4]
//	block = [32, 8]
//	shared = 0
//	args = ["i32[16384]:zero", "i32[16384]:random", "i32=128"]
//
// Keys that it does not know are errors. Triton's metadata of a kernel, which is JSON too, is read by ParseTriton.
func Parse(name string, data []byte) (*Launch, error) {
	var d document
	if trimmed := bytes.TrimSpace(data); bytes.HasPrefix(trimmed, []byte("{")) {
		if isTriton(data) {
			return ParseTriton(name, data)
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&d); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	} else if err := parseTOML(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &Launch{Kernel: d.Kernel, DynamicShared: d.Shared}
	var err error
	if l.Grid, err = shape("grid", d.Grid); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if l.Block, err = shape("block", d.Block); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if d.Shared < 0 {
		return nil, fmt.Errorf("%s: shared = %d, want a number of bytes", name, d.Shared)
	}
	for _, text := range d.Args {
		if err := l.Add(text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return l, nil
}

func parseTOML(data []byte, d *document) error {
	meta, err := toml.Decode(string(data), d)
	if err != nil {
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			return fmt.Errorf("line %d: %s", parse.Position.Line, parse.Message)
		}
		return err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		var keys []string
		for _, k := range unknown {
			keys = append(keys, k.String())
		}
		return fmt.Errorf("unknown key %s, want kernel, grid, block, shared or args", strings.Join(keys, ", "))
	}
	return nil
}

// shape turns one to three extents into a launch shape; none is the zero shape.
func shape(what string, dims []int) (s [3]int, err error) {
	if len(dims) == 0 {
		return s, nil
	}
	if len(dims) > 3 {
		return s, fmt.Errorf("%s has %d extents, want 1 to 3", what, len(dims))
	}
	s = [3]int{1, 1, 1}
	for i, n := range dims {
		if n < 1 {
			return s, fmt.Errorf("%s = %v, want positive extents", what, dims)
		}
		s[i] = n
	}
	return s, nil
}
