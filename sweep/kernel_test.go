package sweep

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"shmoo/gpu"
	"shmoo/gpu/cuda"
)

// fakeDevice runs "kernels": the source's options say what they do.
type fakeDevice struct {
	t      *testing.T
	open   int // memories and modules that are not freed
	broken bool
	fills  int
}

func (d *fakeDevice) Info() gpu.Info { return gpu.Info{Name: "fake", Arch: "sm_90", L2Bytes: 64} }
func (d *fakeDevice) Load(_ context.Context, _ string, image []byte) (gpu.Module, error) {
	d.open++
	return &fakeModule{d, string(image)}, nil
}
func (d *fakeDevice) Alloc(size int) (gpu.Memory, error) {
	d.open++
	return &fakeMemory{d, make([]byte, size)}, nil
}
func (d *fakeDevice) State() (gpu.State, error) { return gpu.State{ClockMHz: 1000}, nil }
func (d *fakeDevice) Close() error              { return nil }

type fakeModule struct {
	d    *fakeDevice
	text string
}

func (m *fakeModule) Unload() error { m.d.open--; return nil }
func (m *fakeModule) Kernel(name string) (gpu.Kernel, error) {
	if name != "k" {
		return nil, &gpu.CallError{Call: "cuModuleGetFunction", Code: 500}
	}
	return &fakeKernel{m}, nil
}

type fakeKernel struct{ m *fakeModule }

func (k *fakeKernel) Attributes() (gpu.Attributes, error) {
	return gpu.Attributes{Registers: 40, StaticShared: 100}, nil
}

func (k *fakeKernel) Launch(ctx context.Context, l gpu.Launch, args ...any) (time.Duration, error) {
	if k.m.d.broken {
		k.m.d.t.Error("a launch on a broken device")
	}
	has := func(option string) bool { return strings.Contains(k.m.text, option) }
	switch {
	case has("-DA=1"):
		k.m.d.broken = true
		return 0, &gpu.CallError{Call: "cuEventQuery", Code: 700, Text: "illegal address"}
	case has("-DA=2"):
		k.m.d.broken = true
		<-ctx.Done()
		return 0, &gpu.HungError{After: time.Second}
	case has("-DA=3"):
		args[0].(*fakeMemory).b[0] = 9
	default:
		args[0].(*fakeMemory).b[0] = args[0].(*fakeMemory).b[1] + byte(args[1].(int32))
	}
	return time.Duration(l.Shared) * time.Microsecond, nil
}

type fakeMemory struct {
	d *fakeDevice
	b []byte
}

func (m *fakeMemory) Size() int { return len(m.b) }
func (m *fakeMemory) Write(at int, p []byte) error {
	copy(m.b[at:], p)
	return nil
}
func (m *fakeMemory) Read(at int, p []byte) error {
	copy(p, m.b[at:])
	return nil
}
func (m *fakeMemory) Fill(b byte) error {
	m.d.fills++
	for i := range m.b {
		m.b[i] = b
	}
	return nil
}
func (m *fakeMemory) Free() error { m.d.open--; return nil }

// kernelBench is a bench on fake devices; devices holds those it opened.
func kernelBench(t *testing.T, devices *[]*fakeDevice) *Kernel {
	return &Kernel{
		Open: func(context.Context) (gpu.Device, error) {
			d := &fakeDevice{t: t}
			*devices = append(*devices, d)
			return d, nil
		},
		Compiler: &fakeCompiler{},
		Source:   gpu.Source{Name: "k.cu", Text: "source ", Options: []string{"-O3"}},
		Name:     "k",
		Timeout:  20 * time.Millisecond,
		Launch: func(p Point) (gpu.Launch, []Arg, error) {
			a := int(p.Values[0].Int)
			if a == 7 {
				return gpu.Launch{}, nil, errors.New("no shape for 7")
			}
			return gpu.Launch{Shared: 100 * a}, []Arg{{Bytes: 4, Fill: 5}, {Scalar: int32(2)}}, nil
		},
		Check: func(_ Point, buffers [][]byte) error {
			if buffers[0][0] != 7 {
				return fmt.Errorf("byte 0 is %d, want 7", buffers[0][0])
			}
			return nil
		},
	}
}

func TestKernelBench(t *testing.T) {
	var devices []*fakeDevice
	k := kernelBench(t, &devices)
	r := sweep(t, mustSpace(t, "A=1,3..5,7"), k, Options{Least: 5, Most: 5, State: k.State})
	for i, want := range []string{"cuEventQuery: illegal address (status 700)", "wrong result: byte 0 is 9, want 7", "", "",
		"no shape for 7"} {
		if r.Rows[i].Failure != want {
			t.Errorf("%s failed with %q, want %q", r.Rows[i].Name, r.Rows[i].Failure, want)
		}
	}
	if r.Best().Name != "A=4" || r.Best().Summary.Median != 400e-6 || r.Rows[3].Verdict != Slower {
		t.Errorf("best %s with %g s, A=5 %s; want A=4 with 400 us, and A=5 slower", r.Best().Name, r.Best().Summary.Median,
			r.Rows[3].Verdict)
	}
	if f := r.Rows[2].Facts; f["registers"] != 40 || f["shared bytes"] != 500 {
		t.Errorf("facts %v, want 40 registers, and 100 static bytes with 400 dynamic", f)
	}
	if len(devices) != 2 {
		t.Fatalf("%d devices opened, want another one after the fault", len(devices))
	}
	if last := devices[1]; last.open != 1 || last.fills < 10 {
		t.Errorf("%d things left open, want only the buffer that flushes the cache; %d fills, want one before each sample",
			last.open, last.fills)
	}
	compiled := k.Compiler.(*fakeCompiler).log
	if got := fmt.Sprint(compiled[0].Arch, compiled[0].Options); !strings.HasPrefix(got, "sm_90[-O3 -DA=") {
		t.Errorf("compiled with %s", got)
	}
	if err := k.Close(); err != nil || k.Close() != nil {
		t.Error("closing failed")
	}
}

// A kernel that hangs ends the sweep of this process, and the next one takes it up behind that point.
func TestKernelBenchHangs(t *testing.T) {
	var devices []*fakeDevice
	s := mustSpace(t, "A=2,4")
	path := t.TempDir() + "/log"
	log, err := OpenLog(path, s, "k")
	if err != nil {
		t.Fatal(err)
	}
	k := kernelBench(t, &devices)
	_, err = Run(context.Background(), s, k, Options{Least: 5, Most: 5, Log: log})
	var hung *gpu.HungError
	if !errors.As(err, &hung) {
		t.Fatalf("got %v, want a HungError", err)
	}
	log.Close()
	if log, err = OpenLog(path, s, "k"); err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r := sweep(t, s, kernelBench(t, &devices), Options{Least: 5, Most: 5, Log: log})
	if r.Rows[0].Failure != hung.Error() || r.Best().Name != "A=4" {
		t.Errorf("taken up: A=2 failed with %q, best %v; want the hang from the log, and A=4", r.Rows[0].Failure, r.Best())
	}
}

func TestKernelBenchErrors(t *testing.T) {
	var devices []*fakeDevice
	for name, tt := range map[string]struct {
		change func(*Kernel)
		want   string
	}{
		"name": {func(k *Kernel) { k.Name = "j" }, "cuModuleGetFunction: (status 500)"},
		"data": {func(k *Kernel) {
			k.Launch = func(Point) (gpu.Launch, []Arg, error) {
				return gpu.Launch{}, []Arg{{Bytes: 1, Data: []byte("ab")}}, nil
			}
		}, "argument 0: got 2 bytes of data, want at most 1"},
		"source": {func(k *Kernel) { k.Compiler.(*fakeCompiler).err = &gpu.CompileError{Name: "k.cu", Log: "no"} }, "k.cu: no"},
	} {
		k := kernelBench(t, &devices)
		tt.change(k)
		r := sweep(t, mustSpace(t, "A=4"), k, Options{})
		if r.Rows[0].Failure != tt.want || r.Best() != nil {
			t.Errorf("%s: failed with %q, want %q", name, r.Rows[0].Failure, tt.want)
		}
		if d := devices[len(devices)-1]; d.open != 1 {
			t.Errorf("%s: %d things left open, want only the buffer that flushes the cache", name, d.open)
		}
	}
	k := kernelBench(t, &devices)
	k.Open = func(context.Context) (gpu.Device, error) { return nil, &gpu.NoDriverError{Reason: "none"} }
	var none *gpu.NoDriverError
	if _, err := Run(context.Background(), mustSpace(t, "A=4"), k, Options{}); !errors.As(err, &none) {
		t.Errorf("no device: %v, want a NoDriverError that ends the sweep", err)
	}
}

// column reads a column of a shared tile again and again: its time is that of its conflicts.
const column = `
extern "C" __global__ void k(int *out, int rounds) {
#if FAULT
	out[1ll << 40] = 1;
#endif
	__shared__ volatile int tile[32 * (32 + PAD)];
	for (int i = threadIdx.x; i < 32 * (32 + PAD); i += blockDim.x) tile[i] = i;
	__syncthreads();
	int sum = 0;
	for (int r = 0; r < rounds; r++) sum += tile[threadIdx.x % 32 * (32 + PAD)];
	if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = sum;
}`

// liveKernel is a bench of the column kernel on the GPU of this machine. It skips the test, loudly, where there is none.
func liveKernel(t *testing.T) *Kernel {
	t.Helper()
	compiler, err := cuda.NewCompiler()
	var none *gpu.NoDriverError
	if err == nil {
		_, err = cuda.Devices(context.Background())
	}
	if errors.As(err, &none) {
		fmt.Fprintln(os.Stderr, "sweep: NOT TESTED ON A DEVICE, a stand-in and recordings take its place:", err)
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	k := &Kernel{
		Open:     func(ctx context.Context) (gpu.Device, error) { return cuda.Open(ctx, 0) },
		Compiler: &Cache{Compiler: compiler, Dir: t.TempDir()},
		Source:   gpu.Source{Name: "column.cu", Text: column},
		Name:     "k",
		Launch: func(Point) (gpu.Launch, []Arg, error) {
			return gpu.Launch{Grid: gpu.Dim{X: 132}, Block: gpu.Dim{X: 1024}}, []Arg{{Bytes: 128}, {Scalar: int32(rounds)}}, nil
		},
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// rounds is how often the column kernel reads.
const rounds = 2000

// On a device, points that are equal tie.
func TestLiveEqualPoints(t *testing.T) {
	k := liveKernel(t)
	k.Source.Options = []string{"-DPAD=1", "-DFAULT=0"}
	r := sweep(t, mustSpace(t, "SAME=1..8"), k, Options{State: k.State})
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	if r.Ties() != 7 {
		t.Errorf("%d of 7 equal points tie with the best", r.Ties())
	}
}

// TestLive sweeps the pad of a tile on the GPU of this machine, if there is one.
func TestLive(t *testing.T) {
	k := liveKernel(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	k.Check = func(p Point, buffers [][]byte) error {
		for lane := range 32 {
			got := int32(binary.LittleEndian.Uint32(buffers[0][4*lane:]))
			if want := int32(lane*(32+int(p.Values[1].Int))) * rounds; got != want {
				return fmt.Errorf("lane %d has %d, want %d", lane, got, want)
			}
		}
		return nil
	}
	path := t.TempDir() + "/log.jsonl"
	if dir := os.Getenv("SHMOO_RECORD"); dir != "" { // to keep what is measured
		path = dir + "/h200_column.jsonl"
	}
	s := mustSpace(t, "FAULT=0,1,PAD=0,1,2,4,8,16,33,x")
	log, err := OpenLog(path, s, "column.cu on a live device")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r, err := Run(ctx, s, k, Options{Log: log, State: k.State})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	for i, row := range r.Rows[:7] {
		if row.Failure != "" {
			t.Errorf("%s failed: %s", row.Name, row.Failure)
			continue
		}
		// Pads of 1 and 33 words make the stride odd; the others leave a conflict of gcd(32+pad, 32) ways.
		ways := []float64{32, 1, 2, 4, 8, 16, 1}[i]
		if ratio := row.Summary.Median / r.Rows[1].Summary.Median; ways >= 8 && (ratio < ways/3 || ratio > 1.1*ways) {
			t.Errorf("%s takes %.2f times the time without conflicts, want about %g", row.Name, ratio, ways)
		}
	}
	if v := r.Rows[1].Verdict; v != Best && v != Tie {
		t.Errorf("PAD=1 is %s, want best or a tie", v)
	}
	for _, row := range r.Rows[8:15] {
		if !strings.Contains(row.Failure, "CUDA_ERROR_ILLEGAL_ADDRESS") {
			t.Errorf("%s failed with %q, want an illegal address", row.Name, row.Failure)
		}
	}
	if !strings.Contains(r.Rows[7].Failure, "error") {
		t.Errorf("PAD=x failed with %q, want a compiler's message", r.Rows[7].Failure)
	}
}

