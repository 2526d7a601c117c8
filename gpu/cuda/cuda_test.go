//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"shmoo/gpu"
)

// fakeDriver stands in for the driver: calls by name on memory of this process.
type fakeDriver struct {
	t      *testing.T
	calls  []string           // names, in order
	fail   map[string]int     // status per call
	memory map[uintptr][]byte // device memory by address
	next   uintptr
	hang   bool
	count  int32
	params []uint64 // values of the last launch's parameters
}

func newFake(t *testing.T) *fakeDriver {
	return &fakeDriver{t: t, fail: map[string]int{}, memory: map[uintptr][]byte{}, next: 1 << 40, count: 1}
}

func (f *fakeDriver) library(missing ...string) (*library, error) {
	names := []string{}
	l, err := bind("the fake driver", "fake.so", driverCalls, explainDriver, func(name string) (uintptr, error) {
		for _, m := range missing {
			if m == name {
				return 0, fmt.Errorf("undefined symbol: %s", name)
			}
		}
		names = append(names, name)
		return uintptr(len(names)), nil
	})
	if err != nil {
		return nil, err
	}
	l.invoke = func(address uintptr, args ...uintptr) uintptr { return f.invoke(names[address-1], args) }
	return l, nil
}

// at is the memory of this process at an address that a call passed.
func at[T any](address uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) }

// cString is a text that the "library" owns.
var cString = func() map[string]*[64]byte {
	m := map[string]*[64]byte{}
	for _, s := range []string{"CUDA_ERROR_FAKE", "something failed"} {
		m[s] = new([64]byte)
		copy(m[s][:], s)
	}
	return m
}()

func (f *fakeDriver) invoke(name string, a []uintptr) uintptr {
	f.calls = append(f.calls, name)
	if status := f.fail[name]; status != 0 {
		return uintptr(status) | 0xdead<<32 // the upper half of the register is not the callee's to clear
	}
	switch name {
	case "cuGetErrorName":
		*at[*[64]byte](a[1]) = cString["CUDA_ERROR_FAKE"]
	case "cuGetErrorString":
		*at[*[64]byte](a[1]) = cString["something failed"]
	case "cuDeviceGetCount":
		*at[int32](a[0]) = f.count
	case "cuDeviceGetName":
		copy(at[[256]byte](a[0])[:], "Fake GPU\x00junk")
	case "cuDriverGetVersion":
		*at[int32](a[0]) = 13010
	case "cuDeviceTotalMem_v2":
		*at[uint64](a[0]) = 1 << 36
	case "cuDeviceGetUuid_v2":
		copy(at[[16]byte](a[0])[:], "0123456789abcdef")
	case "cuDeviceGetAttribute":
		*at[int32](a[0]) = map[int32]int32{attrMajor: 9, attrMinor: 0, attrClockKHz: 1980000, attrMultiprocessors: 132,
			attrWarpLanes: 32, attrL2Bytes: 60 << 20, attrSharedPerSM: 233472, attrSharedPerBlock: 232448}[int32(a[1])]
	case "cuMemAlloc_v2":
		f.memory[f.next] = make([]byte, a[1])
		*at[uintptr](a[0]) = f.next
		f.next += 1 << 20
	case "cuMemFree_v2":
		delete(f.memory, a[0])
	case "cuMemcpyHtoD_v2":
		base := a[0] &^ (1<<20 - 1)
		copy(f.memory[base][a[0]-base:], unsafe.Slice(at[byte](a[1]), int(a[2])))
	case "cuMemcpyDtoH_v2":
		base := a[1] &^ (1<<20 - 1)
		copy(unsafe.Slice(at[byte](a[0]), int(a[2])), f.memory[base][a[1]-base:])
	case "cuMemsetD8_v2":
		for i := range f.memory[a[0]] {
			f.memory[a[0]][i] = byte(a[1])
		}
	case "cuModuleLoadDataEx":
		image := unsafe.Slice(at[byte](a[1]), 4)
		if string(image) == "bad\x00" {
			values := unsafe.Slice(at[uintptr](a[4]), 4)
			copy(at[[64]byte](values[2])[:], "line 1: syntax error\x00")
			return 218
		}
	case "cuLinkComplete":
		*at[*[64]byte](a[1]) = cString["something failed"]
		*at[uint64](a[2]) = 9
	case "cuFuncGetAttribute":
		*at[int32](a[0]) = 100 + int32(a[1])
	case "cuEventQuery":
		if f.hang {
			return notReady
		}
	case "cuEventElapsedTime":
		*at[float32](a[0]) = 3
	case "cuLaunchKernel":
		f.params = nil
		for p := at[*uint64](a[9]); *p != nil; p = (**uint64)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(p))) {
			f.params = append(f.params, **p) // the array ends with a nil pointer
		}
	}
	return 0
}

func (f *fakeDriver) open() (gpu.Device, error) {
	l, err := f.library()
	if err != nil {
		f.t.Fatal(err)
	}
	return open(context.Background(), l, 0)
}

func TestDevice(t *testing.T) {
	f := newFake(t)
	d, err := f.open()
	if err != nil {
		t.Fatal(err)
	}
	want := gpu.Info{Name: "Fake GPU", Arch: "sm_90", Driver: "CUDA 13.1", UUID: "GPU-30313233-3435-3637-3839-616263646566",
		Multiprocessors: 132, WarpLanes: 32, ClockMHz: 1980, MemoryBytes: 1 << 36, L2Bytes: 60 << 20,
		SharedPerBlock: 232448, SharedPerSM: 233472}
	if got := d.Info(); got != want {
		t.Errorf("info %+v, want %+v", got, want)
	}
	ctx := context.Background()
	m, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	back := make([]byte, 3)
	if err := errors.Join(m.Fill(7), m.Write(2, []byte("ab")), m.Read(1, back)); err != nil || string(back) != "\x07ab" {
		t.Errorf("read back %q, %v", back, err)
	}
	for _, err := range []error{m.Write(7, back), m.Read(-1, back), m.Read(9, nil), m.Write(1<<62, back)} {
		if err == nil {
			t.Error("a copy outside the memory was made")
		}
	}
	module, err := d.Load(ctx, "k.ptx", []byte("good"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := module.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := k.Attributes(); err != nil || a != (gpu.Attributes{Registers: 104, StaticShared: 101, LocalBytes: 103,
		ThreadsPerBlock: 100}) {
		t.Errorf("attributes %+v, %v", a, err)
	}
	f.calls = nil
	took, err := k.Launch(ctx, gpu.Launch{Shared: 100 << 10, Repeat: 2}, m, int32(-1), float32(1))
	if err != nil || took != 1500*time.Microsecond {
		t.Errorf("took %v, %v; want 1.5 ms", took, err)
	}
	if got := fmt.Sprintf("%x", f.params); got != "[10000000000 ffffffff 3f800000]" {
		t.Errorf("parameters %s", got)
	}
	if got, want := strings.Join(f.calls, " "), "cuFuncSetAttribute cuEventRecord cuLaunchKernel cuLaunchKernel "+
		"cuEventRecord cuEventQuery cuEventElapsedTime"; got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
	if _, err := k.Launch(ctx, gpu.Launch{}, "text"); err == nil || !strings.Contains(err.Error(), "argument 0 is a string") {
		t.Errorf("a text as argument: %v", err)
	}
	cubin, err := d.(gpu.Assembler).Assemble(ctx, "k.ptx", []byte("good"))
	if err != nil || string(cubin) != "something" {
		t.Errorf("assembled %q, %v", cubin, err)
	}
	if _, err := d.State(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("state without NVML: %v, want unsupported", err)
	}
	if err := errors.Join(m.Free(), module.Unload(), d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if _, err := d.Alloc(1); !errors.Is(err, errClosed) {
		t.Errorf("alloc after close: %v", err)
	}
}

func TestDeviceErrors(t *testing.T) {
	var none *gpu.NoDriverError
	for name, change := range map[string]func(*fakeDriver){
		"no device":         func(f *fakeDriver) { f.count = 0 },
		"driver stays down": func(f *fakeDriver) { f.fail["cuInit"] = 100 },
	} {
		f := newFake(t)
		change(f)
		if _, err := f.open(); !errors.As(err, &none) {
			t.Errorf("%s: %v, want a NoDriverError", name, err)
		}
	}
	f := newFake(t)
	if _, err := f.library("cuMemAlloc_v2"); !errors.As(err, &none) ||
		!strings.Contains(err.Error(), "has no function cuMemAlloc_v2, want a newer one") {
		t.Errorf("a driver without a function: %v", err)
	}
	l, err := f.library("cuDeviceGetUuid_v2")
	if err != nil {
		t.Fatalf("a driver without an optional function: %v", err)
	}
	if _, err := open(context.Background(), l, 3); err == nil || err.Error() != "device 3: want one of 0 to 0" {
		t.Errorf("a device that is not there: %v", err)
	}
	d, err := f.open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var refused *gpu.CompileError
	if _, err := d.Load(context.Background(), "b.ptx", []byte("bad")); !errors.As(err, &refused) ||
		err.Error() != "b.ptx: line 1: syntax error" {
		t.Errorf("bad PTX: %v", err)
	}
	f.fail["cuMemAlloc_v2"] = 2
	if _, err := d.Alloc(8); err == nil ||
		err.Error() != "cuMemAlloc_v2: something failed (CUDA_ERROR_FAKE, status 2)" {
		t.Errorf("no memory left: %v", err)
	}
	if _, err := d.Alloc(0); err == nil {
		t.Error("an allocation of nothing was made")
	}
}

// After a fault nothing works any more, and every call says why.
func TestFaultBreaksDevice(t *testing.T) {
	f := newFake(t)
	d, err := f.open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k := &kernel{device: d.(*device), name: "k"}
	f.fail["cuEventQuery"] = 700
	_, err = k.Launch(context.Background(), gpu.Launch{})
	var failed *gpu.CallError
	if !errors.As(err, &failed) || !failed.Fault() {
		t.Fatalf("faulting kernel: %v", err)
	}
	clear(f.fail)
	if _, err := d.Alloc(8); !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), "the device is of no further use after") {
		t.Errorf("after a fault: %v", err)
	}
}

// A kernel that does not end is given up when the context ends, in fake time.
func TestHungKernelIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.hang = true
		d, err := f.open()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, err = (&kernel{device: d.(*device), name: "k"}).Launch(ctx, gpu.Launch{})
		var hung *gpu.HungError
		if !errors.As(err, &hung) || hung.After < 100*time.Millisecond || hung.After > 101*time.Millisecond {
			t.Errorf("got %v, want a HungError after 100 ms", err)
		}
		f.calls = nil
		d.Close()
		synctest.Wait()
		if strings.Contains(strings.Join(f.calls, " "), "cuCtxDestroy") {
			t.Error("closing waits for the hung kernel by destroying its context")
		}
	})
}

// The table's names, kinds and number of arguments are consistent with how calls are converted.
func TestCallTables(t *testing.T) {
	for library, table := range map[string][]signature{"driver": driverCalls, "nvrtc": nvrtcCalls, "nvml": nvmlCalls} {
		seen := map[string]bool{}
		for _, sig := range table {
			if sig.name == "" || seen[sig.name] {
				t.Errorf("%s: function %q is missing or there twice", library, sig.name)
			}
			seen[sig.name] = true
			if len(sig.args) > maxArgs || strings.Trim(sig.args, "iuzps") != "" {
				t.Errorf("%s: %s has kinds %q", library, sig.name, sig.args)
			}
		}
	}
	f := newFake(t)
	l, err := f.library()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.call(cuInit); err == nil || !strings.Contains(err.Error(), "got 0 arguments, want 1") {
		t.Errorf("too few arguments: %v", err)
	}
	if err := l.call(cuInit, int32(0)); err == nil || !strings.Contains(err.Error(), "argument 0 is a int32, want kind u") {
		t.Errorf("wrong kind: %v", err)
	}
}

// TestLibrariesHere loads what this machine has of NVIDIA's libraries.
func TestLibrariesHere(t *testing.T) {
	var none *gpu.NoDriverError
	c, err := NewCompiler()
	switch {
	case errors.As(err, &none):
		fmt.Fprintln(os.Stderr, "gpu/cuda: COMPILER NOT TESTED:", err)
	case err != nil:
		t.Error(err)
	default:
		testCompiler(t, c)
	}
	d, err := Open(context.Background(), 0)
	switch {
	case errors.As(err, &none):
		fmt.Fprintln(os.Stderr, "gpu/cuda: DEVICE NOT TESTED:", err)
	case err != nil:
		t.Error(err)
	default:
		defer d.Close()
		testDevice(t, d)
	}
}

func testCompiler(t *testing.T, c gpu.Compiler) {
	source := gpu.Source{Name: "k.cu", Arch: "sm_90", Options: []string{"-DN=2"},
		Headers: map[string]string{"a.h": "#define A 1", "b.h": "#define B 2"},
		Text:    "#include \"a.h\"\n#include \"b.h\"\nextern \"C\" __global__ void k(int *x) { x[0] = A + B + N; }"}
	cubin, err := c.Compile(context.Background(), source)
	if err != nil || !bytes.HasPrefix(cubin, []byte("\x7fELF")) {
		t.Errorf("%s: cubin of %d bytes, %v", c.Version(), len(cubin), err)
	}
	source.Text = "__global__ void k() { unknown(); }"
	var refused *gpu.CompileError
	if _, err := c.Compile(context.Background(), source); !errors.As(err, &refused) ||
		!strings.Contains(refused.Log, `k.cu(1): error: identifier "unknown" is undefined`) {
		t.Errorf("%s: bad source: %v", c.Version(), err)
	}
	source.Arch = "sm_1"
	if _, err := c.Compile(context.Background(), source); err == nil {
		t.Errorf("%s: compiled for sm_1", c.Version())
	}
}

const addPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 at, .param .u32 count)
{
	.reg .u64 a;
	.reg .u32 n, v;
	ld.param.u64 a, [at];
	ld.param.u32 n, [count];
	ld.global.u32 v, [a];
	add.u32 v, v, n;
	st.global.u32 [a], v;
	ret;
}
`

func testDevice(t *testing.T, d gpu.Device) {
	ctx := context.Background()
	m, err := d.Load(ctx, "add.ptx", []byte(addPTX))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	word, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := word.Fill(1); err != nil {
		t.Fatal(err)
	}
	took, err := k.Launch(ctx, gpu.Launch{Repeat: 3}, word, uint32(5))
	if err != nil || took <= 0 {
		t.Fatalf("took %v, %v", took, err)
	}
	var back [4]byte
	if err := word.Read(0, back[:]); err != nil || back != [4]byte{16, 1, 1, 1} {
		t.Errorf("3 times 5 added to 0x01010101: read back %x, %v", back, err)
	}
	if _, err := d.Load(ctx, "bad.ptx", []byte(".version 7.0\n.target sm_70\nnonsense\n")); err == nil ||
		!strings.HasPrefix(err.Error(), "bad.ptx: ") {
		t.Errorf("bad PTX: %v", err)
	}
	if s, err := d.State(); err != nil || s.ClockMHz <= 0 {
		t.Errorf("state %+v, %v", s, err)
	}
}
