package predict

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shmoo/gpu"
	"shmoo/launch"
)

func h200(t testing.TB) *Machine {
	t.Helper()
	m, err := Lookup("H200")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLookup(t *testing.T) {
	for _, name := range append(Names(), "sm_90", "h100") {
		if m, err := Lookup(name); err != nil || m.SMs == 0 || m.Memory == 0 {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
	if _, err := Lookup("H300"); err == nil || !strings.Contains(err.Error(), "H200, H100") {
		t.Errorf("got %v, want an error that lists the names", err)
	}
	// "NVIDIA A100" has the letters of no other board of its generation.
	m, err := Of(gpu.Info{Name: "NVIDIA H100 PCIe", Arch: "sm_90", Multiprocessors: 114, ClockMHz: 1755})
	if err != nil || m.SMs != 114 || m.Memory != 3.35e12 {
		t.Errorf("got %+v, %v", m, err)
	}
	if m, err := Of(gpu.Info{Name: "GPU of tomorrow", Arch: "sm_90", Multiprocessors: 1, ClockMHz: 1}); err != nil || m.Memory != 0 {
		t.Errorf("got %+v, %v, want no bandwidth", m, err)
	}
	if _, err := Of(gpu.Info{Name: "broken", Arch: "sm_90"}); err == nil {
		t.Error("a device without multiprocessors was taken")
	}
}

func TestResident(t *testing.T) {
	m := h200(t)
	for _, test := range []struct {
		name                       string
		threads, shared, registers int
		want                       int
	}{
		{"blocks", 32, 0, 16, 32},
		{"warps", 256, 0, 16, 8},
		{"shared memory", 64, 100 << 10, 16, 2},
		{"registers", 256, 0, 128, 2},
		{"registers round up to 256 a warp", 1024, 0, 33, 1},
		{"nothing fits", 128, 300 << 10, 16, 0},
	} {
		if got := m.Resident(test.threads, test.shared, test.registers); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

// The floors by hand: 132 multiprocessors at 1980 MHz, 4.2 TB/s.
func TestFloors(t *testing.T) {
	f := h200(t).floors(Work{Blocks: 132, Bytes: 4.2e9, Wavefronts: 132 * 1980e3, Instructions: 132 * 1980e3 * 4}, 1)
	near := func(name string, got, want float64) {
		if math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%s: got %g, want %g", name, got, want)
		}
	}
	near("memory", f.Memory, 1e-3)
	near("shared", f.Shared, 1e-3+4.2e9/128/132/1980e6)
	near("issue", f.Issue, 1e-3)
	near("latency", f.Latency, Trip+1e-3+1e-3) // one wave: a trip, its wavefronts, its instructions
	// One block more makes the busiest multiprocessor do two.
	two := h200(t).floors(Work{Blocks: 133, Wavefronts: 133 * 1980e3}, 1)
	near("tail", two.Shared, 2e-3)
}

func TestTime(t *testing.T) {
	f := Floors{Memory: 3e-4, Shared: 2e-4, Issue: 1e-4}
	last := math.Inf(1)
	for _, waves := range []float64{0.1, 1, 1.5, 2, 4, 10, 1000} {
		got := f.time(waves)
		if got > last || got < f.Memory+Launch || got > Launch+6e-4 {
			t.Errorf("%g waves: got %g, want from the largest floor to the sum, and no more than with fewer waves", waves, got)
		}
		last = got
	}
	for _, test := range []struct {
		f    Floors
		want string
	}{{f, "memory"}, {Floors{1, 2, 1.5, 1}, "shared"}, {Floors{1, 2, 3, 1}, "issue"},
		{Floors{1, 2, 3, 4}, "latency"}, {Floors{}, "memory"}} {
		if got := test.f.limit(); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.f, got, test.want)
		}
	}
}

func TestBeaten(t *testing.T) {
	points := []*Prediction{{Seconds: 1.3}, nil, {Seconds: 1}, {Seconds: 1.36}}
	if got, want := Beaten(points), []bool{false, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// cubins returns the compiled points of a kernel of examples/sweeps.
func cubins(t testing.TB, kernel string) [][]byte {
	t.Helper()
	names, err := filepath.Glob("../examples/sweeps/testdata/cubins/" + kernel + "-*.cubin")
	if err != nil || len(names) == 0 {
		t.Fatal("no compiled points:", err)
	}
	var list [][]byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data)
	}
	return list
}

// The counts of chunk56.cu can be made by hand: 3584 / 56 = 64 threads, which read and write 14 vectors of 64 bits each, all
// lanes in two banks when they are 32 words apart, and stage 7 units of 16 bytes in and out.
func TestRun(t *testing.T) {
	var l launch.Launch
	for range 2 {
		if err := l.Add("ptr"); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, data := range cubins(t, "chunk56") {
		p := Point{Name: "chunk56.cu", Cubin: data, Kernel: "chunk56", Launch: l, Bytes: 1 << 20}
		p.Launch.Grid, p.Launch.Block, p.Launch.DynamicShared = [3]int{264, 1, 1}, [3]int{64, 1, 1}, 64*64*2
		got, err := Run(context.Background(), h200(t), p)
		if err != nil {
			continue // a block of another point, with more threads or shared memory
		}
		if got.Ways == 16 {
			found++
			// A warp: 14 loads and 14 stores of 2 groups with 16 passes each; 14 staged requests of 4 groups, in each of which
			// 8 lanes have 7 units of a segment and the first of the next, which begins in the same bank: 2 passes.
			if want := float64(264 * 2 * (28*2*16 + 14*4*2)); got.Wavefronts != want {
				t.Errorf("got %g wavefronts, want %g", got.Wavefronts, want)
			}
			if !got.Matters() || got.Worst == "" || got.Limit != "shared" || got.Conflicts() <= 0 {
				t.Errorf("got %+v, want conflicts that matter", got)
			}
			if got.Accesses != "STS.128 x7, LDS.64 x14, STS.64 x14, LDS.128 x7" {
				t.Errorf("got accesses %q", got.Accesses)
			}
		}
	}
	if found == 0 {
		t.Error("no point with lanes 32 words apart")
	}
}

func TestRunErrors(t *testing.T) {
	data := cubins(t, "copy")[0]
	for _, test := range []struct {
		name, want string
		p          Point
	}{
		{"no cubin", "copy.cu", Point{Name: "copy.cu", Cubin: []byte("text"), Kernel: "copy"}},
		{"no kernel", `no kernel "paste", it has ["copy"]`, Point{Name: "copy.cu", Cubin: data, Kernel: "paste"}},
		{"too much shared memory", "does not fit", Point{Name: "copy.cu", Cubin: data, Kernel: "copy",
			Launch: launch.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, DynamicShared: 228 << 10}}},
	} {
		if _, err := Run(context.Background(), h200(t), test.p); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.name, err, test.want)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	var l launch.Launch
	for range 2 {
		if err := l.Add("ptr"); err != nil {
			b.Fatal(err)
		}
	}
	p := Point{Name: "copy.cu", Cubin: cubins(b, "copy")[0], Kernel: "copy", Launch: l, Bytes: 1 << 30}
	p.Launch.Grid, p.Launch.Block = [3]int{32768, 1, 1}, [3]int{256, 1, 1}
	for b.Loop() {
		if _, err := Run(context.Background(), h200(b), p); err != nil {
			b.Fatal(err)
		}
	}
}
