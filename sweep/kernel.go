package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shmoo/gpu"
)

// A Kernel is a Bench of CUDA C++: every point is compiled with its parameters as macros, checked, and timed on a device.
type Kernel struct {
	// Open opens the device when the first point needs it. Close closes it.
	Open     func(ctx context.Context) (gpu.Device, error)
	Compiler gpu.Compiler
	Source   gpu.Source // Arch is filled in from the device when empty; -DNAME=VALUE is added per parameter
	Name     string     // of the kernel; declare it extern "C", or give the mangled name
	// Launch gives the shape and the arguments of a point.
	Launch func(p Point) (gpu.Launch, []Arg, error)
	// Check looks at the buffers after the first run, in the order of the arguments; nil for no check.
	Check func(p Point, buffers [][]byte) error
	// Flush is how many bytes are written between samples, so that none finds its data in the L2 cache; 0 for twice the
	// cache, negative for none.
	Flush int
	// Timeout is how long a run may take; 0 for 10 seconds.
	Timeout time.Duration

	device gpu.Device
	flush  gpu.Memory
}

// An Arg is an argument of a kernel: a buffer, or a scalar.
type Arg struct {
	Bytes  int  // size of a buffer; 0 for a scalar
	Fill   byte // of every byte of the buffer before the first run, unless Data is given
	Data   []byte
	Scalar any // int32, uint32, int64, uint64, float32 or float64
}

// Close closes the device.
func (k *Kernel) Close() error {
	if k.device == nil {
		return nil
	}
	err := k.device.Close()
	k.device, k.flush = nil, nil
	return err
}

// State returns the device's state.
func (k *Kernel) State() (gpu.State, error) {
	if k.device == nil {
		return gpu.State{}, errors.ErrUnsupported
	}
	return k.device.State()
}

func (k *Kernel) open(ctx context.Context) error {
	if k.device != nil {
		return nil
	}
	var err error
	if k.device, err = k.Open(ctx); err != nil {
		return err
	}
	size := k.Flush
	if size == 0 {
		size = 2 * k.device.Info().L2Bytes
	}
	if size > 0 {
		k.flush, err = k.device.Alloc(size)
	}
	return err
}

// Prepare compiles the point, runs it once and checks its result.
func (k *Kernel) Prepare(ctx context.Context, p Point) (Case, error) {
	if err := k.open(ctx); err != nil {
		return nil, &LostError{fmt.Errorf("device: %w", err)}
	}
	launch, args, err := k.Launch(p)
	if err != nil {
		return nil, err
	}
	source := k.Source
	source.Arch = cmp.Or(source.Arch, k.device.Info().Arch)
	source.Options = slices.Clone(source.Options)
	for i, v := range p.Values {
		source.Options = append(source.Options, "-D"+p.Params[i].Name+"="+v.String())
	}
	cubin, err := k.Compiler.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	c := &kernelCase{bench: k, launch: launch}
	if err := c.load(ctx, cubin, args); err != nil {
		c.Close()
		return nil, lost(err)
	}
	if _, err := c.run(ctx); err != nil {
		c.Close()
		return nil, lost(err)
	}
	if err := c.check(p); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// lost marks errors that leave the device unusable: after a fault every call of the process fails, and CUDA has no call that
// stops a kernel (seen on an H200 with driver 580: not even a new context can be made).
func lost(err error) error {
	var failed *gpu.CallError
	var hung *gpu.HungError
	if errors.As(err, &hung) || errors.As(err, &failed) && failed.Fault() {
		return &LostError{err}
	}
	return err
}

type kernelCase struct {
	bench   *Kernel
	module  gpu.Module
	kernel  gpu.Kernel
	launch  gpu.Launch
	args    []any
	buffers []gpu.Memory
	facts   map[string]float64
}

func (c *kernelCase) load(ctx context.Context, cubin []byte, args []Arg) error {
	var err error
	if c.module, err = c.bench.device.Load(ctx, c.bench.Source.Name, cubin); err != nil {
		return err
	}
	if c.kernel, err = c.module.Kernel(c.bench.Name); err != nil {
		return err
	}
	a, err := c.kernel.Attributes()
	if err != nil {
		return err
	}
	c.facts = map[string]float64{"registers": float64(a.Registers), "local bytes": float64(a.LocalBytes),
		"shared bytes": float64(a.StaticShared + c.launch.Shared)}
	for i, arg := range args {
		if arg.Bytes == 0 {
			c.args = append(c.args, arg.Scalar)
			continue
		}
		m, err := c.bench.device.Alloc(arg.Bytes)
		if err != nil {
			return err
		}
		c.args, c.buffers = append(c.args, m), append(c.buffers, m)
		switch {
		case len(arg.Data) > arg.Bytes:
			return fmt.Errorf("argument %d: got %d bytes of data, want at most %d", i, len(arg.Data), arg.Bytes)
		case arg.Data != nil:
			err = m.Write(0, arg.Data)
		default:
			err = m.Fill(arg.Fill)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// run launches the kernel with the watchdog set.
func (c *kernelCase) run(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.bench.Timeout, 10*time.Second))
	defer cancel()
	return c.kernel.Launch(ctx, c.launch, c.args...)
}

func (c *kernelCase) check(p Point) error {
	if c.bench.Check == nil {
		return nil
	}
	contents := make([][]byte, len(c.buffers))
	for i, m := range c.buffers {
		contents[i] = make([]byte, m.Size())
		if err := m.Read(0, contents[i]); err != nil {
			return err
		}
	}
	if err := c.bench.Check(p, contents); err != nil {
		return fmt.Errorf("wrong result: %w", err)
	}
	return nil
}

// Sample writes over the cache and runs the kernel once.
func (c *kernelCase) Sample(ctx context.Context) (time.Duration, error) {
	if c.bench.flush != nil {
		if err := c.bench.flush.Fill(0); err != nil {
			return 0, lost(err)
		}
	}
	took, err := c.run(ctx)
	return took, lost(err)
}

func (c *kernelCase) Facts() map[string]float64 { return c.facts }

// Close frees the case. What cannot be freed goes with the device.
func (c *kernelCase) Close() {
	for _, m := range c.buffers {
		_ = m.Free()
	}
	if c.module != nil {
		_ = c.module.Unload()
	}
}
