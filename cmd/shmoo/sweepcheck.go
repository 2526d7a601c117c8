package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"shmoo/internal/half"
	"shmoo/launch"
	"shmoo/sweep"
)

// A sweepChecker compares results with those of a reference: another point, or a file.
type sweepChecker struct {
	c         *sweepCommand
	file      []byte // the reference of every point; nil when it is another point
	parameter int    // the point with this parameter's first value is the reference; -1 for the first of all
	// references are the buffers of reference points by name; nil for one that failed.
	references map[string][][]byte
}

// checker returns the checker that --check asks for, or nil.
func (c *sweepCommand) checker() (*sweepChecker, error) {
	if c.check == "" {
		return nil, nil
	}
	l, err := c.launchOf(first(c.space))
	if err != nil {
		return nil, err
	}
	last := lastBuffer(l.Args)
	if last < 0 {
		return nil, usagef("--check %s: the kernel has no buffer", c.check)
	}
	k := &sweepChecker{c: c, parameter: -1, references: map[string][][]byte{}}
	word, name, named := strings.Cut(c.check, ":")
	switch {
	case c.check == "first":
	case word == "first" && named:
		if k.parameter = c.space.Index(name); k.parameter < 0 {
			return nil, usagef("--check %s: no parameter %q", c.check, name)
		}
	default:
		spec, _, _ := strings.Cut(l.Args[last].String(), "]")
		arg, err := launch.ParseArg(spec + "]:file=" + c.check)
		if err != nil {
			return nil, err
		}
		if k.file, err = arg.Raw(); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// lastBuffer returns the index of the last buffer among arguments, or -1.
func lastBuffer(args []launch.Arg) int {
	for i := len(args) - 1; i >= 0; i-- {
		if args[i].Size() > 0 {
			return i
		}
	}
	return -1
}

// reference returns the point that p is compared with.
func (k *sweepChecker) reference(p sweep.Point) sweep.Point {
	if k.parameter < 0 {
		return first(k.c.space)
	}
	r := sweep.Point{Params: p.Params, Values: append(p.Values[:0:0], p.Values...)}
	r.Values[k.parameter] = p.Params[k.parameter].Values[0]
	return r
}

// learn runs the reference points of those that will be measured.
func (k *sweepChecker) learn(ctx context.Context, bench *sweep.Kernel, log *sweep.Log, list []sweep.Point,
	skip func(sweep.Point) string) error {
	if k.file != nil {
		return nil
	}
	for _, p := range list {
		r := k.reference(p)
		if _, known := k.references[r.String()]; known || skip(p) != "" {
			continue
		}
		k.references[r.String()] = nil
		if log.Failure(r) != "" {
			continue
		}
		bench.Check = func(_ sweep.Point, buffers [][]byte) error {
			k.references[r.String()] = [][]byte{buffers[len(buffers)-1]}
			return nil
		}
		ready, err := bench.Prepare(ctx, r)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if logged := log.Fail(r, err.Error()); logged != nil {
				return logged
			}
			if lost := (*sweep.LostError)(nil); errors.As(err, &lost) {
				return fmt.Errorf("point %s: %w", r, lost)
			}
			continue
		}
		ready.Close()
	}
	return nil
}

// check compares the last buffer of a point with that of its reference.
func (k *sweepChecker) check(p sweep.Point, buffers [][]byte) error {
	want := k.file
	if want == nil {
		r := k.reference(p)
		kept := k.references[r.String()]
		if kept == nil {
			return fmt.Errorf("nothing to compare with: point %s failed", r)
		}
		want = kept[0]
	}
	l, err := k.c.launchOf(p)
	if err != nil {
		return err
	}
	return compareBuffers(elementType(l.Args), buffers[len(buffers)-1], want, k.c.tolerance)
}

// elementType returns the type of the last buffer's elements, as the argument names it.
func elementType(args []launch.Arg) string {
	i := lastBuffer(args)
	if i < 0 {
		return ""
	}
	kind, _, _ := strings.Cut(args[i].String(), "[")
	return kind[strings.LastIndexByte(kind, ':')+1:]
}

// floats reads one element by the name of its type: bytes and value.
var floats = map[string]struct {
	size int
	read func(b []byte) float64
}{
	"f16":  {2, func(b []byte) float64 { return half.From(binary.LittleEndian.Uint16(b)) }},
	"half": {2, func(b []byte) float64 { return half.From(binary.LittleEndian.Uint16(b)) }},
	"bf16": {2, func(b []byte) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}},
	"f32":   {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	"float": {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	"f64":   {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
}

// compareBuffers says where two buffers first differ by more than the tolerance. Integers are compared bit for bit.
func compareBuffers(kind string, got, want []byte, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("got %d bytes, want %d", len(got), len(want))
	}
	if bytes.Equal(got, want) {
		return nil
	}
	f, ok := floats[kind]
	if !ok {
		for i := range got {
			if got[i] != want[i] {
				return fmt.Errorf("byte %d is 0x%02x, want 0x%02x", i, got[i], want[i])
			}
		}
	}
	for i := 0; i+f.size <= len(got); i += f.size {
		if bytes.Equal(got[i:i+f.size], want[i:i+f.size]) {
			continue
		}
		a, b := f.read(got[i:]), f.read(want[i:])
		near := tolerance > 0 && (math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b))
		if !near {
			return fmt.Errorf("element %d is %v, want %v", i/f.size, a, b)
		}
	}
	return nil
}
