package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"shmoo/arch"
	"shmoo/gpu"
	"shmoo/gpu/cuda"
	"shmoo/internal/golden"
	"shmoo/pattern"
	"shmoo/smem"
)

// fakeDevice runs the measuring kernels in Go: it takes the cycles of a unit, times the copies a warp executes.
type fakeDevice struct {
	t       *testing.T
	info    gpu.Info
	unit    *smem.Unit
	text    string
	drop    string // op whose copies the "compiler" drops
	loadErr error
	grids   []int
}

func (d *fakeDevice) Info() gpu.Info { return d.info }
func (d *fakeDevice) Load(_ context.Context, _ string, image []byte) (gpu.Module, error) {
	d.text = string(image)
	return fakeModule{d}, d.loadErr
}
func (d *fakeDevice) Alloc(size int) (gpu.Memory, error) { return &fakeMemory{make([]byte, size)}, nil }
func (d *fakeDevice) State() (gpu.State, error)          { return gpu.State{}, errors.ErrUnsupported }
func (d *fakeDevice) Close() error                       { return nil }

type fakeModule struct{ d *fakeDevice }

func (m fakeModule) Unload() error { return nil }
func (m fakeModule) Kernel(name string) (gpu.Kernel, error) {
	if !strings.Contains(m.d.text, ".entry "+name+"(") {
		return nil, fmt.Errorf("no kernel %s", name)
	}
	return fakeKernel{m.d, strings.TrimPrefix(name, "shmoo_")}, nil
}

type fakeKernel struct {
	d  *fakeDevice
	op string
}

func (k fakeKernel) Attributes() (gpu.Attributes, error) { return gpu.Attributes{}, nil }
func (k fakeKernel) Launch(_ context.Context, l gpu.Launch, args ...any) (time.Duration, error) {
	if l.Block.Count() != threads || l.Shared != k.d.info.SharedPerBlock || len(args) != 4 {
		k.d.t.Errorf("launch %+v with %d arguments, want %d threads, all shared memory, 4 arguments", l, len(args), threads)
	}
	k.d.grids = append(k.d.grids, l.Grid.X)
	patterns, cycles := args[0].(*fakeMemory).b, args[1].(*fakeMemory).b
	var op pattern.Op
	for _, o := range pattern.Ops() {
		if o.Name == k.op {
			op = o
		}
	}
	var out smem.Outcome
	for block := range l.Grid.X {
		word := func(i int) uint32 { return binary.LittleEndian.Uint32(patterns[4*(block*patternLen+i):]) }
		r := smem.Request{Op: op.Op, Width: op.Width, Active: smem.Mask(word(lanes)), Addr: make([]uint32, lanes)}
		for lane := range r.Addr {
			r.Addr[lane] = word(lane)
		}
		if op.Loop {
			r.Op, r.Width = smem.CompareSwap, 4
		}
		if err := k.d.unit.Resolve(&out, &r); err != nil {
			return 0, err
		}
		total := uint32(out.Cycles * warps * 128)
		if k.op == k.d.drop {
			total /= 32
		}
		binary.LittleEndian.PutUint32(cycles[4*block:], total)
	}
	return time.Millisecond, nil
}

type fakeMemory struct{ b []byte }

func (m *fakeMemory) Size() int { return len(m.b) }
func (m *fakeMemory) Write(at int, p []byte) error {
	copy(m.b[at:], p)
	return nil
}
func (m *fakeMemory) Read(at int, p []byte) error {
	copy(p, m.b[at:])
	return nil
}
func (m *fakeMemory) Fill(byte) error { return nil }
func (m *fakeMemory) Free() error     { return nil }

func hopper(t *testing.T) *fakeDevice {
	unit := arch.MustLookup("sm_90").Unit
	return &fakeDevice{t: t, unit: unit,
		info: gpu.Info{Name: "fake", Arch: "sm_90", WarpLanes: 32, SharedPerBlock: unit.Size}}
}

// The meter hands every pattern to the device and every time back to its pattern.
func TestMeterOnFakeDevice(t *testing.T) {
	d := hopper(t)
	m, err := NewMeter(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	d.grids = nil
	rec := &gpu.Recording{Samples: Generate(m.Ops(), Options{Patterns: 5000, Seed: 3})}
	if err := m.Measure(context.Background(), rec.Samples); err != nil {
		t.Fatal(err)
	}
	if len(d.grids) != len(instructions) {
		t.Errorf("%d launches, want one per instruction: %d", len(d.grids), len(instructions))
	}
	result, err := Compare(context.Background(), rec, d.unit)
	if err != nil {
		t.Fatal(err)
	}
	if result.Disagree != 0 || result.Agree != len(rec.Samples) {
		t.Errorf("tally %+v, want all %d to agree", result.Tally, len(rec.Samples))
	}
}

func TestMeterSplitsLongRuns(t *testing.T) {
	d := hopper(t)
	m, err := NewMeter(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	d.grids = nil
	samples := make([]gpu.Sample, maxBlocks+3)
	for i := range samples {
		samples[i] = gpu.Sample{Op: "ld32", Active: 1, Addr: make([]uint32, lanes)}
	}
	samples[maxBlocks+1].Op = "st32"
	if err := m.Measure(context.Background(), samples); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.grids); got != fmt.Sprint([]int{maxBlocks, 1, 1, 1}) {
		t.Errorf("grids %s, want %d and three of 1", got, maxBlocks)
	}
	for i := range samples {
		if samples[i].Cycles != 1 {
			t.Fatalf("sample %d has %g cycles, want 1", i, samples[i].Cycles)
		}
	}
}

func TestMeterErrors(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		change func(*fakeDevice)
		want   string
	}{
		"dropped copies": {func(d *fakeDevice) { d.drop = "redmax" }, "redmax takes 0.03 cycles"},
		"generation":     {func(d *fakeDevice) { d.info.Arch = "gfx942" }, "is a gfx942, want an NVIDIA generation"},
		"lanes":          {func(d *fakeDevice) { d.info.WarpLanes = 64 }, "has warps of 64 lanes, want 32"},
		"compiler":       {func(d *fakeDevice) { d.loadErr = &gpu.CompileError{Name: "probe.ptx"} }, "probe.ptx: refused"},
	} {
		d := hopper(t)
		tt.change(d)
		if _, err := NewMeter(ctx, d); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	m, err := NewMeter(ctx, hopper(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]gpu.Sample{
		`no kernel for op "ld48"`: {Op: "ld48", Active: 1, Addr: make([]uint32, lanes)},
		"with 2 addresses":        {Op: "ld32", Active: 1, Addr: make([]uint32, 2)},
		"mask 100000001":          {Op: "ld32", Active: 1<<32 | 1, Addr: make([]uint32, lanes)},
	} {
		if err := m.Measure(ctx, []gpu.Sample{s}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}

// A generation gets only the instructions it has.
func TestMeterLeavesOutWhatIsTooNew(t *testing.T) {
	for name, tt := range map[string]struct{ ops, target string }{
		"sm_70": {"", "sm_70"}, "sm_75": {"ldm1", "sm_75"}, "sm_90": {"ldm1 stm1", "sm_90"}, "sm_120": {"ldm1 stm1", "sm_90"},
	} {
		d := hopper(t)
		d.info.Arch = name
		m, err := NewMeter(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, op := range m.Ops() {
			if op == "ldm1" || op == "stm1" {
				got = append(got, op)
			}
		}
		if strings.Join(got, " ") != tt.ops || !strings.Contains(d.text, ".target "+tt.target+"\n") {
			t.Errorf("%s: has %v, want %q for %s", name, got, tt.ops, tt.target)
		}
	}
}

// A kernel repeats its instruction as often as it says, and every instruction is one of package pattern's.
func TestKernelText(t *testing.T) {
	ops := map[string]bool{}
	for _, op := range pattern.Ops() {
		ops[op.Name] = true
	}
	for i := range instructions {
		in := &instructions[i]
		if !ops[in.op] {
			t.Errorf("%s is no op of package pattern", in.op)
		}
		mnemonic, _, _ := strings.Cut(in.body, " ")
		text := kernelText(in, standard)
		want := standard.copies
		switch in.op { // the epilogue has some of its own
		case "st64":
			want++
		case "ld64":
			want++
		case "ld32":
			want += 2
		}
		if got := strings.Count(text, "\t"+mnemonic+" "); got != want {
			t.Errorf("%s: %d times %s, want %d", in.op, got, mnemonic, want)
		}
		if strings.Contains(text, "%!") {
			t.Errorf("%s: broken format in:\n%s", in.op, text)
		}
	}
	golden.Check(t, "ld64.ptx", []byte(ptxHeader(90)+kernelText(&instructions[3], shape{copies: 2, loops: 2, rounds: 1, batch: 2})))
}

func TestGenerate(t *testing.T) {
	unit := arch.MustLookup("sm_90").Unit
	ops := map[string]pattern.Op{}
	var names []string
	for _, op := range pattern.Ops() {
		ops[op.Name] = op
		names = append(names, op.Name)
	}
	samples := Generate(names, Options{Patterns: 8000, Seed: 1})
	if len(samples) < 7900 || len(samples) > 8100 {
		t.Errorf("%d patterns, want about 8000", len(samples))
	}
	again := Generate(names, Options{Patterns: 8000, Seed: 1})
	other := Generate(names, Options{Patterns: 8000, Seed: 2})
	equal, seen, full := 0, map[string]bool{}, 0
	var out smem.Outcome
	for i := range samples {
		s := &samples[i]
		if fmt.Sprint(*s) != fmt.Sprint(again[i]) {
			t.Fatalf("sample %d differs with the same seed", i)
		}
		if fmt.Sprint(*s) == fmt.Sprint(other[i]) {
			equal++
		}
		if i > 0 && s.Op != samples[i-1].Op && seen[s.Op] {
			t.Fatalf("patterns of %s are not next to each other", s.Op)
		}
		seen[s.Op] = true
		op := ops[s.Op]
		if op.Loop {
			op.Op = smem.CompareSwap
		}
		err := unit.Resolve(&out, &smem.Request{Op: op.Op, Width: op.Width, Active: smem.Lanes(0, lanes), Addr: s.Addr})
		if err != nil {
			t.Fatalf("sample %d of %s: %v (inactive lanes have valid addresses too)", i, s.Op, err)
		}
		if s.Active == 0 {
			t.Fatalf("sample %d has no active lane", i)
		}
		if s.Active == smem.Lanes(0, lanes) {
			full++
		} else if op.Op.IsMatrix() {
			t.Fatalf("sample %d of %s leaves lanes out", i, s.Op)
		}
	}
	if len(seen) != len(names) || equal > len(samples)/20 {
		t.Errorf("%d ops of %d, %d patterns equal with another seed", len(seen), len(names), equal)
	}
	if full < len(samples)/3 || full > len(samples)*4/5 {
		t.Errorf("%d of %d patterns have all lanes", full, len(samples))
	}
	if got := Generate([]string{"ld48"}, Options{}); len(got) != 0 {
		t.Errorf("%d patterns of an unknown op, want none", len(got))
	}
}

// TestLive measures on the GPU of this machine, if there is one.
func TestLive(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	device, err := cuda.Open(ctx, 0)
	var none *gpu.NoDriverError
	if errors.As(err, &none) {
		fmt.Fprintln(os.Stderr, "probe: NOT TESTED ON A DEVICE, the recordings stand in for one:", err)
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	m, err := NewMeter(ctx, device)
	if err != nil {
		t.Fatal(err)
	}
	rec := &gpu.Recording{Info: m.Info(), Samples: Generate(m.Ops(), Options{Patterns: 20000, Seed: uint64(time.Now().UnixNano())})}
	if err := m.Measure(ctx, rec.Samples); err != nil {
		t.Fatal(err)
	}
	a, err := arch.Lookup(m.Info().Arch)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Compare(ctx, rec, a.Unit)
	if err != nil {
		t.Fatal(err)
	}
	if result.Disagree > 0 {
		var text strings.Builder
		result.WriteText(&text)
		t.Errorf("the unit of %s does not explain this device:\n%s", a.Name, text.String())
	}
	if l := learn(t, rec); !l.Decided() {
		var text strings.Builder
		l.WriteText(&text)
		t.Errorf("the lesson is not decided:\n%s", text.String())
	}
}
