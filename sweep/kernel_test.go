package sweep

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"shmoo/gpu"
	"shmoo/gpu/cuda"
	"shmoo/space"
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
	r := sweep(t, mustSpace(t, "A=3..5,7"), k, Options{Least: 5, Most: 5, State: k.State})
	for i, want := range []string{"wrong result: byte 0 is 9, want 7", "", "", "no shape for 7"} {
		if r.Rows[i].Failure != want {
			t.Errorf("%s failed with %q, want %q", r.Rows[i].Name, r.Rows[i].Failure, want)
		}
	}
	if r.Best().Name != "A=4" || r.Best().Summary.Median != 400e-6 || r.Rows[2].Verdict != Slower {
		t.Errorf("best %s with %g s, A=5 %s; want A=4 with 400 us, and A=5 slower", r.Best().Name, r.Best().Summary.Median,
			r.Rows[2].Verdict)
	}
	if f := r.Rows[1].Facts; f["registers"] != 40 || f["shared bytes"] != 500 {
		t.Errorf("facts %v, want 40 registers, and 100 static bytes with 400 dynamic", f)
	}
	if len(devices) != 1 || devices[0].open != 1 || devices[0].fills < 10 {
		t.Errorf("devices %+v, want one with only the buffer left open that is filled before each sample", devices)
	}
	compiled := k.Compiler.(*fakeCompiler).log
	if got := fmt.Sprint(compiled[0].Arch, compiled[0].Options); !strings.HasPrefix(got, "sm_90[-O3 -DA=") {
		t.Errorf("compiled with %s", got)
	}
	if err := k.Close(); err != nil || k.Close() != nil {
		t.Error("closing failed")
	}
}

// A kernel that faults or hangs ends the sweep of this process, and the next one takes it up behind that point.
func TestLostDevice(t *testing.T) {
	var devices []*fakeDevice
	s := mustSpace(t, "A=1,2,4")
	path := t.TempDir() + "/log"
	attempt := func() (*Result, error) {
		log, err := OpenLog(path, s, "k")
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		return Run(context.Background(), s, kernelBench(t, &devices), Options{Least: 5, Most: 5, Log: log})
	}
	var lost *LostError
	for range 2 {
		if _, err := attempt(); !errors.As(err, &lost) || !strings.HasPrefix(err.Error(), "point A=") {
			t.Fatalf("got %v, want a LostError with its point", err)
		}
	}
	r, err := attempt()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"cuEventQuery: illegal address (status 700)", "kernel still running after 1s, gave up waiting", ""} {
		if r.Rows[i].Failure != want {
			t.Errorf("%s failed with %q, want %q", r.Rows[i].Name, r.Rows[i].Failure, want)
		}
	}
	if r.Best().Name != "A=4" {
		t.Errorf("best %s, want A=4", r.Best().Name)
	}
}

// child tells this test binary that it is the process of a sweep under supervision.
const child = "SHMOO_SWEEP_CHILD"

func TestMain(m *testing.M) {
	switch dir := os.Getenv(child); {
	case dir == "":
		os.Exit(m.Run())
	case strings.HasPrefix(dir, "live "):
		os.Exit(liveChild(strings.TrimPrefix(dir, "live ")))
	default: // count the runs, and end with the status that is asked for
		counted, _ := os.ReadFile(dir)
		os.WriteFile(dir, append(counted, 'x'), 0o644)
		if len(counted) < 2 {
			os.Exit(Again)
		}
		os.Exit(len(counted) - 2)
	}
}

func TestSupervise(t *testing.T) {
	path := t.TempDir() + "/count"
	command := func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), child+"="+path)
		return cmd
	}
	runs := func() int {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	if err := Supervise(context.Background(), 10, command); err != nil || runs() != 3 {
		t.Errorf("got %v after %d runs, want success of the third", err, runs())
	}
	var exit *exec.ExitError
	if err := Supervise(context.Background(), 10, command); !errors.As(err, &exit) || exit.ExitCode() != 1 || runs() != 4 {
		t.Errorf("got %v after %d runs, want the status 1 of the fourth, which is not run again", err, runs())
	}
	os.Remove(path)
	if err := Supervise(context.Background(), 2, command); err == nil || !strings.Contains(err.Error(), "lost 2 times") {
		t.Errorf("got %v, want to give up after 2 runs", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if err := Supervise(ctx, 2, command); !errors.Is(err, cause) {
		t.Errorf("cancelled: got %v, want the cause", err)
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
#if FAULT == 1
	out[1ll << 40] = 1;
#elif FAULT == 2
	while (((volatile int *)out)[0] != 1) {}
#endif
	__shared__ volatile int tile[32 * (32 + PAD)];
	for (int i = threadIdx.x; i < 32 * (32 + PAD); i += blockDim.x) tile[i] = i;
	__syncthreads();
	int sum = 0;
	for (int r = 0; r < rounds; r++) sum += tile[threadIdx.x % 32 * (32 + PAD)];
	if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = sum;
}`

// liveKernel is a bench of the column kernel on the GPU of this machine.
func liveKernel(cache string) (*Kernel, error) {
	compiler, err := cuda.NewCompiler()
	if err != nil {
		return nil, err
	}
	return &Kernel{
		Open:     func(ctx context.Context) (gpu.Device, error) { return cuda.Open(ctx, 0) },
		Compiler: &Cache{Compiler: compiler, Dir: cache},
		Source:   gpu.Source{Name: "column.cu", Text: column},
		Name:     "k",
		Timeout:  time.Second,
		Launch: func(Point) (gpu.Launch, []Arg, error) {
			return gpu.Launch{Grid: gpu.Dim{X: 132}, Block: gpu.Dim{X: 1024}}, []Arg{{Bytes: 128}, {Scalar: int32(rounds)}}, nil
		},
	}, nil
}

// rounds is how often the column kernel reads.
const rounds = 2000

// needDevice skips a test, loudly, where there is no GPU.
func needDevice(t *testing.T) {
	t.Helper()
	_, err := cuda.NewCompiler()
	if err == nil {
		_, err = cuda.Devices(context.Background())
	}
	var none *gpu.NoDriverError
	if errors.As(err, &none) {
		fmt.Fprintln(os.Stderr, "sweep: NOT TESTED ON A DEVICE, a stand-in and recordings take its place:", err)
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// On a device, points that are equal tie.
func TestLiveEqualPoints(t *testing.T) {
	needDevice(t)
	k, err := liveKernel(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
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

// The live sweep: pads of a tile, of which one does not compile; then kernels that fault (1) or hang (2).
const liveSpace = "FAULT=0..2,PAD=0,1,2,4,8,16,33,x"

// liveChild is a process of the live sweep: its log is in dir, and its result goes there when it is done.
func liveChild(dir string) int {
	r, err := liveSweep(dir)
	if lost := (*LostError)(nil); errors.As(err, &lost) {
		return Again
	}
	var text bytes.Buffer
	if err == nil {
		err = r.WriteJSON(&text)
	}
	if err == nil {
		err = WriteFile(dir+"/result.json", text.Bytes())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func liveSweep(dir string) (*Result, error) {
	s, err := space.Parse(liveSpace)
	if err != nil {
		return nil, err
	}
	log, err := OpenLog(dir+"/h200_column.jsonl", s, "column.cu on a live device")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	k, err := liveKernel(dir + "/cache")
	if err != nil {
		return nil, err
	}
	defer k.Close()
	k.Check = func(p Point, buffers [][]byte) error {
		for lane := range 32 {
			got := int32(binary.LittleEndian.Uint32(buffers[0][4*lane:]))
			if want := int32(lane*(32+int(p.Values[1].Int))) * rounds; got != want {
				return fmt.Errorf("lane %d has %d, want %d", lane, got, want)
			}
		}
		return nil
	}
	return Run(context.Background(), s, k, Options{Log: log, State: k.State})
}

// TestLive sweeps the pad of a tile on the GPU of this machine, if there is one, past faults and hangs.
func TestLive(t *testing.T) {
	needDevice(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	if keep := os.Getenv("SHMOO_RECORD"); keep != "" {
		dir = keep
	}
	err := Supervise(ctx, 24, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), child+"=live "+dir)
		cmd.Stderr = os.Stderr
		return cmd
	})
	if err != nil {
		t.Fatal(err)
	}
	checkColumn(t, dir+"/h200_column.jsonl")
}

// TestRecordedColumn is the live sweep as an H200 did it.
func TestRecordedColumn(t *testing.T) { checkColumn(t, "testdata/h200_column.jsonl") }

// checkColumn plays the log of the live sweep.
func checkColumn(t *testing.T, path string) {
	t.Helper()
	s := mustSpace(t, liveSpace)
	log, err := OpenLog(path, s, "column.cu on a live device")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r := sweep(t, s, Recorded{log}, Options{Warmup: -1})
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
	for _, row := range r.Rows[7:] {
		want := []string{"", "illegal memory access", "gave up waiting"}[row.Point.Values[0].Int]
		if row.Point.Values[1].Word == "x" {
			want = "identifier \"x\" is undefined"
		}
		if !strings.Contains(row.Failure, want) {
			t.Errorf("%s failed with %q, want %s", row.Name, row.Failure, want)
		}
	}
}
