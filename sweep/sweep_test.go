package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"shmoo/diag"
	"shmoo/gpu"
	"shmoo/internal/golden"
	"shmoo/space"
)

func mustSpace(t testing.TB, text string) *space.Space {
	t.Helper()
	s, err := space.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fakeBench takes times from a function of the point, with noise.
type fakeBench struct {
	seconds  func(p Point) float64
	noise    float64 // relative standard deviation
	random   *rand.Rand
	prepare  map[string]error
	lose     map[string]error // of a sample
	order    []string         // points in the order of their samples
	prepared map[string]int
	stop     func() // called before every sample
}

func newFake(seconds func(p Point) float64, noise float64, seed uint64) *fakeBench {
	return &fakeBench{seconds: seconds, noise: noise, random: rand.New(rand.NewPCG(seed, 2)), prepared: map[string]int{}}
}

func (b *fakeBench) Prepare(_ context.Context, p Point) (Case, error) {
	b.prepared[p.String()]++
	return &fakeCase{b, p}, b.prepare[p.String()]
}

type fakeCase struct {
	b *fakeBench
	p Point
}

func (c *fakeCase) Sample(ctx context.Context) (time.Duration, error) {
	if c.b.stop != nil {
		c.b.stop()
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	name := c.p.String()
	c.b.order = append(c.b.order, name)
	if err := c.b.lose[name]; err != nil {
		return 0, err
	}
	s := c.b.seconds(c.p) * (1 + c.b.noise*c.b.random.NormFloat64())
	return time.Duration(s * float64(time.Second)), nil
}

func (c *fakeCase) Facts() map[string]float64 {
	return map[string]float64{"ways": float64(c.p.Values[0].Int)}
}
func (c *fakeCase) Close() {}

func constant(p Point) float64 { return 1e-3 }

func sweep(t testing.TB, s *space.Space, b Bench, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), s, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Where all points are equal, a sweep may say so falsely in few cases: at most 1 in 20 of them, here of 200.
func TestEqualPointsTie(t *testing.T) {
	s := mustSpace(t, "A=1..20")
	wrong := 0
	for seed := range uint64(200) {
		r := sweep(t, s, newFake(constant, 0.02, seed), Options{Most: 20, Seed: seed})
		if r.Ties() != 19 {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 200 sweeps over equal points found a difference, want at most 10", wrong)
	}
}

// A difference well above the noise is found, in every sweep and for every point that has it.
func TestDifferentPointsDiffer(t *testing.T) {
	s := mustSpace(t, "A=1..10")
	seconds := func(p Point) float64 {
		if p.Values[0].Int <= 3 {
			return 1e-3
		}
		return 1.03e-3
	}
	for seed := range uint64(50) {
		r := sweep(t, s, newFake(seconds, 0.01, seed), Options{Seed: seed})
		slower := 0
		for _, row := range r.Rows {
			if row.Verdict == Slower {
				slower++
				if row.Delta < 0.015 || row.Delta > 0.05 {
					t.Errorf("seed %d: %s is %g slower, want about 0.03", seed, row.Name, row.Delta)
				}
			}
		}
		if slower != 7 || r.Best().Point.Values[0].Int > 3 {
			t.Errorf("seed %d: %d points slower, best %s; want 7, and the best among 3", seed, slower, r.Best().Name)
		}
	}
}

// A difference that is significant but too small to matter is a tie.
func TestSmallDifferencesTie(t *testing.T) {
	s := mustSpace(t, "A=1,2")
	b := newFake(func(p Point) float64 { return 1e-3 * (1 + 0.003*float64(p.Values[0].Int)) }, 0.0001, 1)
	r := sweep(t, s, b, Options{})
	if r.Rows[1].Verdict != Tie || r.Rows[1].P > 1e-6 {
		t.Errorf("0.3 %% apart: %s with p %g, want a tie in spite of its p", r.Rows[1].Verdict, r.Rows[1].P)
	}
	if r = sweep(t, s, b, Options{Effect: 0.001}); r.Rows[1].Verdict != Slower {
		t.Errorf("0.3 %% apart with effect 0.1 %%: %s, want slower", r.Rows[1].Verdict)
	}
}

// Every round measures each point once, in another order; a point that is tight leaves early, a noisy one stays to the end.
func TestRounds(t *testing.T) {
	s := mustSpace(t, "A=1..4")
	b := newFake(constant, 0, 1)
	noisy := newFake(constant, 0.5, 1)
	b.seconds = func(p Point) float64 {
		if p.Values[0].Int == 4 {
			return 1e-3 * (1 + 0.5*noisy.random.Float64())
		}
		return 1e-3
	}
	r := sweep(t, s, b, Options{Least: 6, Most: 30, Warmup: -1})
	for i, want := range []int{6, 6, 6, 30} {
		if got := r.Rows[i].Summary.N; got != want {
			t.Errorf("%s has %d samples, want %d", r.Rows[i].Name, got, want)
		}
	}
	orders := map[string]bool{}
	for round := range 6 {
		of := slices.Clone(b.order[4*round : 4*round+4])
		orders[strings.Join(of, " ")] = true
		slices.Sort(of)
		if got := strings.Join(of, " "); got != "A=1 A=2 A=3 A=4" {
			t.Errorf("round %d measures %s, want each point once", round, got)
		}
	}
	if len(orders) < 3 {
		t.Errorf("%d orders in 6 rounds, want the order to change", len(orders))
	}
}

func TestFailuresAreRows(t *testing.T) {
	s := mustSpace(t, "A=1..4")
	b := newFake(constant, 0.001, 1)
	b.prepare = map[string]error{"A=1": &gpu.CompileError{Name: "k.cu", Log: "line 1\nline 2"}}
	b.lose = map[string]error{"A=2": errors.New("wrong result"), "A=3": errors.New("misaligned")}
	r := sweep(t, s, b, Options{Least: 5, Most: 5})
	for i, want := range []string{"k.cu: line 1\nline 2", "wrong result", "misaligned", ""} {
		if r.Rows[i].Failure != want {
			t.Errorf("%s failed with %q, want %q", r.Rows[i].Name, r.Rows[i].Failure, want)
		}
	}
	if r.Rows[0].Verdict != Failed || r.Best().Name != "A=4" || r.Best().Summary.N != 5 {
		t.Errorf("verdicts %s and best %s with %d samples, want failed, and A=4 with 5", r.Rows[0].Verdict, r.Best().Name,
			r.Best().Summary.N)
	}
	if b.prepared["A=2"] != 1 || b.prepared["A=3"] != 1 {
		t.Errorf("prepared %v, want failed points once", b.prepared)
	}
}

// Rounds beside other processes or with a lowered clock are thrown away and told of.
func TestDisturbedRoundsAreDropped(t *testing.T) {
	s := mustSpace(t, "A=1,2")
	for name, tt := range map[string]struct {
		state gpu.State
		want  string
	}{
		"process": {gpu.State{ClockMHz: 1980, Others: []int{42}}, "other processes use the device: [42]"},
		"limit":   {gpu.State{ClockMHz: 1980, Limits: []string{"thermal"}}, "the clock is lowered: thermal"},
		"clock":   {gpu.State{ClockMHz: 1500}, "the clock changed from 1980 to 1500 MHz"},
	} {
		reads := 0
		b := newFake(constant, 0.001, 1)
		r := sweep(t, s, b, Options{Least: 5, Most: 5, Warmup: -1, State: func() (gpu.State, error) {
			if reads++; reads >= 4 && reads <= 6 { // of the second and third round
				return tt.state, nil
			}
			return gpu.State{ClockMHz: 1980}, nil
		}})
		if len(r.Disturbances) != 1 || r.Disturbances[0] != tt.want {
			t.Errorf("%s: disturbances %q, want %q", name, r.Disturbances, tt.want)
		}
		if len(b.order) != 2*(5+2) || r.Rows[0].Summary.N != 5 {
			t.Errorf("%s: %d samples taken and %d kept, want 14, of which 5 for each point", name, len(b.order), r.Rows[0].Summary.N)
		}
	}
	always := func() (gpu.State, error) { return gpu.State{Others: []int{1}}, nil }
	r := sweep(t, s, newFake(constant, 0.001, 1), Options{Least: 5, Most: 5, State: always})
	if r.Rows[0].Summary.N != 5 || len(r.Disturbances) != 1 {
		t.Errorf("always disturbed: %d samples, %q; want an end, with samples and the disturbance", r.Rows[0].Summary.N,
			r.Disturbances)
	}
}

// A sweep that is stopped half way goes on where it stopped, and measures nothing twice.
func TestResume(t *testing.T) {
	s := mustSpace(t, "A=1..3")
	path := filepath.Join(t.TempDir(), "log.jsonl")
	openLog := func() *Log {
		l, err := OpenLog(path, s, "test")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("killed")
	b := newFake(constant, 0.001, 1)
	b.lose = map[string]error{"A=2": errors.New("broken")}
	left := 15
	b.stop = func() {
		if left--; left == 0 {
			cancel(cause)
		}
	}
	if _, err := Run(ctx, s, b, Options{Least: 10, Most: 10, Warmup: -1, Log: openLog()}); !errors.Is(err, cause) {
		t.Fatalf("stopped sweep: %v, want the cause", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	done := bytes.Count(text, []byte(`"seconds"`))
	if done < 8 || done > 14 {
		t.Fatalf("%d samples in the log after 14 runs", done)
	}
	// A process that is killed while it writes leaves part of a line.
	if err := os.WriteFile(path, append(text, `{"point":"A=1","sec`...), 0o644); err != nil {
		t.Fatal(err)
	}
	again := newFake(constant, 0.001, 2)
	log := openLog()
	r := sweep(t, s, again, Options{Least: 10, Most: 10, Warmup: -1, Log: log})
	if len(again.order) != 20-done || again.prepared["A=2"] != 0 {
		t.Errorf("%d samples taken after %d, A=2 prepared %d times; want %d, and the failure from the log",
			len(again.order), done, again.prepared["A=2"], 20-done)
	}
	if r.Rows[1].Failure != "broken" || r.Rows[0].Summary.N != 10 {
		t.Errorf("rows %+v", r.Rows)
	}
	// A log that is complete needs no device at all, and a recording gives the same result.
	third := newFake(constant, 0, 3)
	full := sweep(t, s, third, Options{Least: 10, Most: 10, Log: openLog()})
	if len(third.prepared) != 0 {
		t.Errorf("a complete log prepared %v", third.prepared)
	}
	played := sweep(t, s, Recorded{openLog()}, Options{Least: 10, Most: 10, Warmup: -1})
	for i := range full.Rows {
		if diff := cmp.Diff(full.Rows[i].Samples, played.Rows[i].Samples, cmp.Comparer(func(a, b float64) bool {
			return a-b < 2e-9 && b-a < 2e-9 // durations are whole nanoseconds
		})); diff != "" || full.Rows[i].Failure != played.Rows[i].Failure {
			t.Errorf("%s: played otherwise than recorded:\n%s", full.Rows[i].Name, diff)
		}
	}
}

func TestLogErrors(t *testing.T) {
	s := mustSpace(t, "A=1,2")
	const head = `{"schema":"shmoo.sweep-log/1","space":"A=1,2","what":"k"}` + "\n"
	for _, tt := range []struct{ name, text, want string }{
		{"other file", "hello\n", `:1: error: got "hello\n", want the first line of a log`},
		{"other version", `{"schema":"shmoo.sweep-log/9"}` + "\n", ":1: error: got "},
		{"other space", strings.Replace(head, "A=1,2", "A=1..3", 1), `:1: error: got a log of "k" over A=1..3, want one of "k" over A=1,2`},
		{"other kernel", strings.Replace(head, `"k"`, `"j"`, 1), `:1: error: got a log of "j"`},
		{"broken line", head + "x\n" + `{"point":"A=1","seconds":1}` + "\n", `:2: error: got "x\n", want a point`},
		{"neither", head + `{"point":"A=1"}` + "\n", ":2: error: got "},
		{"both", head + `{"point":"A=1","seconds":1,"failure":"x"}` + "\n", ":2: error: got "},
		{"negative", head + `{"point":"A=1","seconds":-1}` + "\n", ":2: error: got "},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenLog(path, s, "k")
		var d *diag.Diagnostic
		if !errors.As(err, &d) || !strings.HasPrefix(err.Error(), path+tt.want) {
			t.Errorf("%s: got %v, want a diagnostic %s", tt.name, err, tt.want)
		}
	}
	if _, err := OpenLog(filepath.Join(t.TempDir(), "no", "log"), s, "k"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// result is a small sweep of everything a result can hold.
func result(t *testing.T) *Result {
	s := mustSpace(t, "CHUNK=32,64,PAD=0,2,4")
	b := newFake(func(p Point) float64 {
		return map[string]float64{"CHUNK=32,PAD=0": 2e-3, "CHUNK=32,PAD=2": 1e-3, "CHUNK=32,PAD=4": 1.0001e-3,
			"CHUNK=64,PAD=0": 4e-6, "CHUNK=64,PAD=2": 1.5}[p.String()]
	}, 0.001, 1)
	b.prepare = map[string]error{"CHUNK=64,PAD=4": errors.New("k.cu(3): error: x\nmore")}
	b.lose = map[string]error{"CHUNK=64,PAD=0": errors.New("wrong result: word 7 is 0, want 1")}
	r := sweep(t, s, b, Options{Least: 6, Most: 6})
	r.Disturbances = []string{"other processes use the device: [42]"}
	return r
}

func TestWriters(t *testing.T) {
	r := result(t)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"result.txt":   func(b *bytes.Buffer) error { return r.WriteText(b) },
		"result.csv":   func(b *bytes.Buffer) error { return r.WriteCSV(b) },
		"result.json":  func(b *bytes.Buffer) error { return r.WriteJSON(b) },
		"result.bench": func(b *bytes.Buffer) error { return r.WriteBenchmark(b, "scan") },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name, got.Bytes())
	}
}

// benchstat's own reader takes what WriteBenchmark writes.
func TestBenchmarkFormat(t *testing.T) {
	var b bytes.Buffer
	if err := result(t).WriteBenchmark(&b, "scan"); err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	reader := benchfmt.NewReader(&b, "b")
	for reader.Scan() {
		rec, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("got %v, want a result", reader.Result())
		}
		if v, ok := rec.Value("sec/op"); !ok || v <= 0 {
			t.Errorf("%s: %g sec/op", rec.Name, v)
		}
		n[string(rec.Name)]++
	}
	if n["Scan/CHUNK=32/PAD=2"] != 6 || len(n) != 4 {
		t.Errorf("benchmarks %v, want 6 each of the 4 points that were measured", n)
	}
}

func TestJSONNamesItsSchema(t *testing.T) {
	var b bytes.Buffer
	if err := result(t).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Schema string
		Rows   []struct {
			Point   string
			Verdict Verdict
		}
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Schema != Schema || len(back.Rows) != 6 ||
		back.Rows[1].Point != "CHUNK=32,PAD=2" || back.Rows[1].Verdict == "" {
		t.Errorf("read back %+v, %v", back, err)
	}
}

// fakeCompiler counts what it compiles.
type fakeCompiler struct {
	n   int
	err error
	log []gpu.Source
}

func (c *fakeCompiler) Version() string { return "fake 1.0" }
func (c *fakeCompiler) Compile(_ context.Context, s gpu.Source) ([]byte, error) {
	c.n++
	c.log = append(c.log, s)
	return []byte(fmt.Sprint(s.Text, s.Options)), c.err
}

func TestCache(t *testing.T) {
	ctx := context.Background()
	fake := &fakeCompiler{}
	c := &Cache{Compiler: fake, Dir: filepath.Join(t.TempDir(), "made", "when needed")}
	base := gpu.Source{Name: "k.cu", Text: "x", Arch: "sm_90", Options: []string{"-DA=1"}, Headers: map[string]string{"a.h": "1"}}
	sources := []gpu.Source{base}
	for _, change := range []func(*gpu.Source){
		func(s *gpu.Source) { s.Name = "j.cu" },
		func(s *gpu.Source) { s.Text = "y" },
		func(s *gpu.Source) { s.Arch = "sm_80" },
		func(s *gpu.Source) { s.Options = []string{"-DA=2"} },
		func(s *gpu.Source) { s.Options = []string{"-DA=1", "-DB"} },
		func(s *gpu.Source) { s.Options = nil },
		func(s *gpu.Source) { s.Headers = map[string]string{"a.h": "2"} },
		func(s *gpu.Source) { s.Headers = map[string]string{"b.h": "1"} },
		func(s *gpu.Source) { s.Headers = nil },
	} {
		s := base
		change(&s)
		sources = append(sources, s)
	}
	compileAll := func(want int) {
		t.Helper()
		fake.n = 0
		for i, s := range sources {
			got, err := c.Compile(ctx, s)
			if want := fmt.Sprint(s.Text, s.Options); err != nil || string(got) != want {
				t.Errorf("source %d: got %q, %v; want %q", i, got, err, want)
			}
		}
		if fake.n != want {
			t.Errorf("compiled %d sources, want %d", fake.n, want)
		}
	}
	compileAll(len(sources))
	compileAll(0)
	files, err := filepath.Glob(filepath.Join(c.Dir, "*"))
	if err != nil || len(files) != len(sources) {
		t.Fatalf("%d files in the cache, %v; want %d and no others", len(files), err, len(sources))
	}
	for i, spoil := range []string{"", "short", strings.Repeat("long enough but not what was written", 5)} {
		if err := os.WriteFile(files[i], []byte(spoil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compileAll(3)
	compileAll(0)
	fake.err = &gpu.CompileError{Name: "z.cu", Log: "no"}
	for range 2 {
		if _, err := c.Compile(ctx, gpu.Source{Name: "z.cu"}); !errors.Is(err, fake.err) {
			t.Errorf("refused source: %v", err)
		}
	}
	if fake.n != 2 {
		t.Errorf("a refused source was compiled %d times in 2, want no memory of it", fake.n)
	}
	fake.err = nil
	blocked := &Cache{Compiler: fake, Dir: files[0]} // a file where the folder should be
	if _, err := blocked.Compile(ctx, base); err != nil {
		t.Errorf("a folder that cannot be made: %v, want to go without", err)
	}
}

func FuzzLog(f *testing.F) {
	recorded, err := os.ReadFile("testdata/h200_column.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(recorded[:2000])
	f.Add([]byte(`{"schema":"shmoo.sweep-log/1","space":"A=1,2","what":"k"}` + "\n" + `{"point":"A=1","seconds":1e300}` + "\n"))
	s := mustSpace(f, "A=1,2")
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLog(path, s, "k")
		if err != nil {
			return
		}
		defer l.Close()
		r, err := Run(context.Background(), s, Recorded{l}, Options{Least: 5, Most: 5, Warmup: -1})
		if err != nil {
			t.Fatal(err)
		}
		for _, write := range []func() error{
			func() error { return r.WriteText(io.Discard) },
			func() error { return r.WriteCSV(io.Discard) },
			func() error { return r.WriteJSON(io.Discard) },
			func() error { return r.WriteBenchmark(io.Discard, "") },
		} {
			if err := write(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Predicted figures stand beside the measured ones, and alone without a bench.
func TestPredict(t *testing.T) {
	s := mustSpace(t, "A=1,2,3")
	o := Options{Least: 5, Most: 5, Predict: func(p Point) (map[string]float64, error) {
		if p.Values[0].Int == 3 {
			return nil, errors.New("an address depends on data")
		}
		return map[string]float64{"predicted": 10 * float64(p.Values[0].Int)}, nil
	}}
	for name, tt := range map[string]struct {
		bench Bench
		want  string
	}{
		"measured": {newFake(constant, 0, 1), "1 ms* (10, 1)  1 ms= (20, 2)  1 ms= (3)\n"},
		"alone":    {nil, "? (10)  ? (20)    ?\n"},
	} {
		var text strings.Builder
		if err := sweep(t, s, tt.bench, o).WriteText(&text, "predicted", "ways", "unheard of"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), tt.want) ||
			!strings.Contains(text.String(), "not predicted: A=3: an address depends on data\n") {
			t.Errorf("%s: got\n%swant in it %s", name, text.String(), tt.want)
		}
	}
}

// A log past the bound is refused and left as it was: cut at the bound, its last line would look broken and be dropped from the file.
func TestLongLogIsLeftAlone(t *testing.T) {
	defer func(n int64) { maxLogBytes = n }(maxLogBytes)
	s, err := space.Parse("PAD=0,1")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "log")
	l, err := OpenLog(path, s, "k")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	maxLogBytes = int64(len(before)) - 1
	if _, err := OpenLog(path, s, "k"); err == nil || !strings.Contains(err.Error(), "want at most that") {
		t.Errorf("got %v, want an error on the size", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the log has %d bytes, had %d (%v)", len(after), len(before), err)
	}
	maxLogBytes++
	if l, err = OpenLog(path, s, "k"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
