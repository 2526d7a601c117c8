//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"
	"unsafe"

	"shmoo/gpu"
)

// Options of the driver's compiler and linker (enum CUjit_option) and the kind of its input (enum CUjitInputType).
const (
	jitInfoLog      = int32(3)
	jitInfoLogSize  = int32(4)
	jitErrorLog     = int32(5)
	jitErrorLogSize = int32(6)
	jitInputPTX     = int32(1)
)

// Kernel attributes (enum CUfunction_attribute).
const (
	funcThreads       = int32(0)
	funcShared        = int32(1)
	funcLocal         = int32(3)
	funcRegisters     = int32(4)
	funcDynamicShared = int32(8) // settable: most dynamic shared memory
)

// staticShared is the shared memory that a block gets without opting in, in bytes.
const staticShared = 48 << 10

// jitLog holds the driver's messages about an image.
type jitLog struct {
	options [4]int32
	values  [4]uintptr
	info    [8 << 10]byte
	errors  [32 << 10]byte
}

// newJitLog returns a log for the options of a call, and a function that unpins it once the driver has let go of it.
func newJitLog() (*jitLog, func()) {
	log := &jitLog{options: [4]int32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize}}
	var pinner runtime.Pinner
	pinner.Pin(log)
	log.values = [4]uintptr{
		uintptr(unsafe.Pointer(&log.info)), uintptr(len(log.info)),
		uintptr(unsafe.Pointer(&log.errors)), uintptr(len(log.errors)),
	}
	return log, pinner.Unpin
}

// explain turns a failed compilation into a *gpu.CompileError. Status 200 to 299 speak of images (enum CUresult).
func (log *jitLog) explain(name string, err error) error {
	var failed *gpu.CallError
	if !errors.As(err, &failed) || failed.Code < 200 || failed.Code > 299 {
		return err
	}
	message := text(log.errors[:])
	if message == "" {
		message = failed.Error()
	}
	return &gpu.CompileError{Name: name, Log: message}
}

type module struct {
	device *device
	handle uint64
}

func (d *device) Load(ctx context.Context, name string, image []byte) (gpu.Module, error) {
	if len(image) == 0 {
		return nil, &gpu.CompileError{Name: name, Log: "empty image, want PTX text or a cubin"}
	}
	m := &module{device: d}
	image = append(bytes.Clone(image), 0) // PTX ends with a NUL
	err := d.do(ctx, func() error {
		log, unpin := newJitLog()
		defer unpin()
		err := d.lib.call(cuModuleLoad, pointer(&m.handle), bytesOf(image), uint32(len(log.options)),
			pointer(&log.options), pointer(&log.values))
		return log.explain(name, err)
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Assemble returns the cubin that the driver makes of PTX text.
func (d *device) Assemble(ctx context.Context, name string, ptx []byte) (cubin []byte, err error) {
	ptx = append(bytes.Clone(ptx), 0)
	err = d.do(ctx, func() error {
		log, unpin := newJitLog()
		defer unpin()
		var link uint64
		err := d.lib.call(cuLinkCreate, uint32(len(log.options)), pointer(&log.options), pointer(&log.values),
			pointer(&link))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.lib.call(cuLinkDestroy, link)) }()
		err = d.lib.call(cuLinkAdd, link, jitInputPTX, bytesOf(ptx), uint64(len(ptx)), name, uint32(0),
			unsafe.Pointer(nil), unsafe.Pointer(nil))
		if err != nil {
			return log.explain(name, err)
		}
		var at unsafe.Pointer
		var size uint64
		if err = d.lib.call(cuLinkComplete, link, pointer(&at), pointer(&size)); err != nil {
			return log.explain(name, err)
		}
		if size > math.MaxInt32 {
			return fmt.Errorf("%s: the driver returned a cubin of %d bytes", name, size)
		}
		cubin = bytes.Clone(unsafe.Slice((*byte)(at), int(size)))
		return nil
	})
	return cubin, err
}

func (m *module) Kernel(name string) (gpu.Kernel, error) {
	k := &kernel{device: m.device, name: name}
	err := m.device.must(func() error {
		return m.device.lib.call(cuModuleGetFunction, pointer(&k.handle), m.handle, name)
	})
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return k, nil
}

func (m *module) Unload() error {
	return m.device.must(func() error { return m.device.lib.call(cuModuleUnload, m.handle) })
}

type kernel struct {
	device *device
	handle uint64
	name   string
	shared int // dynamic shared memory opted in to; of the device's goroutine
}

func (k *kernel) Attributes() (gpu.Attributes, error) {
	var a gpu.Attributes
	err := k.device.must(func() error {
		for _, f := range []struct {
			to        *int
			attribute int32
		}{
			{&a.ThreadsPerBlock, funcThreads}, {&a.StaticShared, funcShared},
			{&a.LocalBytes, funcLocal}, {&a.Registers, funcRegisters},
		} {
			var v int32
			if err := k.device.lib.call(cuFuncGetAttribute, pointer(&v), f.attribute, k.handle); err != nil {
				return err
			}
			*f.to = int(v)
		}
		return nil
	})
	return a, err
}

// arguments are the values of a launch as cuLaunchKernel takes them: a pointer to each.
type arguments struct {
	values   []uint64
	pointers []unsafe.Pointer
	pinner   runtime.Pinner
}

func newArguments(d *device, args []any) (*arguments, error) {
	a := &arguments{values: make([]uint64, len(args)+1), pointers: make([]unsafe.Pointer, len(args)+1)}
	for i, arg := range args {
		v := &a.values[i]
		switch arg := arg.(type) {
		case *memory:
			if arg.device != d {
				return nil, fmt.Errorf("argument %d: memory of another device", i)
			}
			*v = arg.address
		case int32:
			*v = uint64(uint32(arg))
		case uint32:
			*v = uint64(arg)
		case int64:
			*v = uint64(arg)
		case uint64:
			*v = arg
		case float32:
			*v = uint64(math.Float32bits(arg))
		case float64:
			*v = math.Float64bits(arg)
		default:
			return nil, fmt.Errorf("argument %d is a %T, want a gpu.Memory, int32, uint32, int64, uint64, float32 or float64",
				i, arg)
		}
	}
	a.pinner.Pin(&a.values[0])
	for i := range args {
		a.pointers[i] = unsafe.Pointer(&a.values[i])
	}
	return a, nil
}

func (k *kernel) Launch(ctx context.Context, l gpu.Launch, args ...any) (time.Duration, error) {
	a, err := newArguments(k.device, args)
	if err != nil {
		return 0, fmt.Errorf("kernel %s: %w", k.name, err)
	}
	defer a.pinner.Unpin()
	var took time.Duration
	err = k.device.do(ctx, func() (err error) {
		took, err = k.launch(ctx, l, a)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("kernel %s: %w", k.name, err)
	}
	return took, nil
}

// launch runs on the device's goroutine.
func (k *kernel) launch(ctx context.Context, l gpu.Launch, a *arguments) (time.Duration, error) {
	d := k.device
	if l.Shared > staticShared && l.Shared > k.shared {
		if err := d.lib.call(cuFuncSetAttribute, k.handle, funcDynamicShared, int32(l.Shared)); err != nil {
			return 0, err
		}
		k.shared = l.Shared
	}
	size := func(n int) uint32 { return uint32(max(n, 1)) }
	repeat := max(l.Repeat, 1)
	if err := d.lib.call(cuEventRecord, d.started, uint64(0)); err != nil {
		return 0, err
	}
	for range repeat {
		err := d.lib.call(cuLaunchKernel, k.handle, size(l.Grid.X), size(l.Grid.Y), size(l.Grid.Z),
			size(l.Block.X), size(l.Block.Y), size(l.Block.Z), uint32(l.Shared), uint64(0),
			pointer(&a.pointers[0]), unsafe.Pointer(nil))
		if err != nil {
			return 0, err
		}
	}
	if err := d.lib.call(cuEventRecord, d.stopped, uint64(0)); err != nil {
		return 0, err
	}
	if err := d.wait(ctx); err != nil {
		return 0, err
	}
	var milliseconds float32
	if err := d.lib.call(cuEventElapsed, pointer(&milliseconds), d.started, d.stopped); err != nil {
		return 0, err
	}
	return time.Duration(float64(milliseconds) * float64(time.Millisecond) / float64(repeat)), nil
}

// notReady is the status of an event that has not happened (enum CUresult).
const notReady = 600

// wait waits for the event after a launch. It asks again and again, at first without a pause, so that a short kernel is
// noticed at once and a hung one can be given up.
func (d *device) wait(ctx context.Context) error {
	const eager, pause = 1000, 50 * time.Microsecond // an eager question takes about half a microsecond
	began := time.Now()
	for asked := 0; ; asked++ {
		err := d.lib.call(cuEventQuery, d.stopped)
		var failed *gpu.CallError
		if !errors.As(err, &failed) || failed.Code != notReady {
			return err
		}
		if ctx.Err() != nil {
			return &gpu.HungError{After: time.Since(began)}
		}
		if asked >= eager {
			time.Sleep(pause)
		}
	}
}
