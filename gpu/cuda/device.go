//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"shmoo/gpu"
)

// Open starts the use of the GPU with the given index, as Devices lists them. It returns a *gpu.NoDriverError where there is
// no driver or no GPU.
func Open(ctx context.Context, index int) (gpu.Device, error) {
	l, err := load("NVIDIA's CUDA driver", driverFiles, driverCalls, explainDriver)
	if err != nil {
		return nil, err
	}
	return open(ctx, l, index)
}

func open(ctx context.Context, l *library, index int) (gpu.Device, error) {
	count, err := start(l)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= count {
		return nil, fmt.Errorf("device %d: want one of 0 to %d", index, count-1)
	}
	info, err := describe(l, int32(index))
	if err != nil {
		return nil, err
	}
	d := &device{lib: l, info: info, requests: make(chan request), closed: make(chan struct{}), ended: make(chan struct{})}
	if m, err := openManagement(info.UUID); err == nil {
		d.management = m
	}
	go d.own()
	begin := func() error { return d.begin(int32(index)) }
	if d.management != nil {
		begin = func() error { return d.management.learnOwn(func() error { return d.begin(int32(index)) }) }
	}
	if err := d.do(ctx, begin); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// A device is a GPU in use. Its goroutine makes all calls that need the context; the fields below lib belong to it.
type device struct {
	info       gpu.Info
	management *management // nil without NVML
	requests   chan request
	closed     chan struct{}
	ended      chan struct{} // closed when the goroutine has given the context back
	closing    sync.Once

	lib     *library
	number  int32
	context uint64
	started uint64 // events around a launch
	stopped uint64
	broken  error // why the device is of no further use
}

type request struct {
	work  func() error
	reply chan error
}

var errClosed = errors.New("the device is closed")

// own runs requests until the device is closed.
func (d *device) own() {
	defer close(d.ended)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and the context binding with it
	for {
		select {
		case r := <-d.requests:
			r.reply <- d.run(r.work)
		case <-d.closed:
			d.end()
			return
		}
	}
}

// run does one request, unless an earlier one broke the device, and remembers if this one does.
func (d *device) run(work func() error) error {
	if d.broken != nil {
		return fmt.Errorf("the device is of no further use after: %w", d.broken)
	}
	err := work()
	var failed *gpu.CallError
	var hung *gpu.HungError
	if errors.As(err, &hung) || errors.As(err, &failed) && failed.Fault() {
		d.broken = err
	}
	return err
}

// do has the owner do work and waits for it.
func (d *device) do(ctx context.Context, work func() error) error {
	r := request{work, make(chan error, 1)}
	select {
	case d.requests <- r:
		return <-r.reply
	case <-d.closed:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// must is do for work that needs no context.
func (d *device) must(work func() error) error { return d.do(context.Background(), work) }

func (d *device) begin(index int32) error {
	if err := d.lib.call(cuDeviceGet, pointer(&d.number), index); err != nil {
		return err
	}
	if err := d.lib.call(cuCtxCreate, pointer(&d.context), uint32(0), d.number); err != nil {
		return err
	}
	if err := d.lib.call(cuEventCreate, pointer(&d.started), uint32(0)); err != nil {
		return err
	}
	return d.lib.call(cuEventCreate, pointer(&d.stopped), uint32(0))
}

// end destroys the context, and with it all memory and modules. A hung kernel would block it, so then it is left.
func (d *device) end() {
	var hung *gpu.HungError
	if d.context != 0 && !errors.As(d.broken, &hung) {
		d.lib.call(cuCtxDestroy, d.context) // nothing is left to be done about an error
	}
}

func (d *device) Info() gpu.Info { return d.info }

func (d *device) Close() error {
	d.closing.Do(func() { close(d.closed) })
	<-d.ended // whoever opens the device next gets a new context
	return nil
}

func (d *device) State() (gpu.State, error) {
	if d.management == nil {
		return gpu.State{}, fmt.Errorf("state of %s: no NVML: %w", d.info.Name, errors.ErrUnsupported)
	}
	return d.management.state()
}
