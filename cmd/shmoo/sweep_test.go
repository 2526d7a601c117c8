package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shmoo/gpu"
	"shmoo/predict"
	"shmoo/space"
	"shmoo/sweep"
)

// sweepFlags are the sweeps of examples/sweeps by the name of their recording, as its README gives them.
var sweepFlags = map[string][]string{
	"scan": {"scan.cu", "--kernel", "scan", "--set", "CHUNK=16,32,64,128", "--set", "PAD=0,2,4,8,16", "--block", "4096/CHUNK",
		"--grid", "65536", "--arg", "f16[65536*4096]:random", "--arg", "f16[65536*4096]:zero"},
	"width": {"width.cu", "--kernel", "width", "--set", "WIDTH=32,64,128", "--set", "GCD=1,2,4,8,16,32", "--block", "128",
		"--grid", "132*40", "--arg", "f32[8192]:random", "--arg", "f32[132*40*128]:zero", "--bytes", "0"},
	"split": {"width.cu", "--kernel", "width", "--set", "WIDTH=128", "--set", "GCD=1,2,4,8,16,32", "-X", "-DSPLIT=1", "--block",
		"128", "--grid", "132*40", "--arg", "f32[8192]:random", "--arg", "f32[132*40*128]:zero", "--bytes", "0"},
	"chunk56": {"chunk56.cu", "--kernel", "chunk56", "--set", "COLS=3584,7168,14336,28672", "--set", "K=1,2", "--block", "COLS/56",
		"--grid", "COLS<=7168 ? 2048 : 1024*14336/COLS", "--smem", "COLS/56*(56+8*K)*2",
		"--arg", "bf16[(COLS<=7168 ? 2048 : 1024*14336/COLS)*COLS]:random",
		"--arg", "bf16[(COLS<=7168 ? 2048 : 1024*14336/COLS)*COLS]:zero"},
	"copy": {"copy.cu", "--kernel", "copy", "--set", "VEC=4,8,16", "--block", "256", "--grid", "32768", "--arg", "i32[1<<27]:lcg",
		"--arg", "i32[1<<27]:zero"},
	"transpose": {"transpose.cu", "--kernel", "transpose", "--set", "ROWS=4,8,16,32", "--set", "PAD=0,1,2,4,8", "--block",
		"32,ROWS", "--grid", "512,512", "--arg", "i32[16384*16384]:lcg", "--arg", "i32[16384*16384]:zero"},
	"reduce": {"reduce.cu", "--kernel", "reduce", "--set", "ITEMS=1,2,4,8,16", "--set", "BLOCK=128,256,512,1024", "--set",
		"APART=0,1", "--block", "BLOCK", "--grid", "(1<<28)/BLOCK/ITEMS", "--arg", "i32[1<<28]:lcg", "--arg",
		"i32[(1<<28)/BLOCK/ITEMS]:zero"},
	"broken": {"broken.cu", "--kernel", "broken", "--set", "MODE=0..5", "--block", "256", "--grid", "264", "--arg",
		"i32[264*256]:zero", "--check", "first", "--timeout", "1s"},
	"same": {"scan.cu", "--kernel", "scan", "--set", "SAME=1..6", "-X", "-DCHUNK=64", "-X", "-DPAD=2", "--block", "64", "--grid",
		"16384", "--arg", "f16[16384*4096]:random", "--arg", "f16[16384*4096]:zero", "--check", "first"},
}

// recordedSweep plays the recording of a sweep on an H200 against the points that were compiled for it.
func recordedSweep(t *testing.T, name string) *sweep.Result {
	t.Helper()
	const dir = "../../examples/sweeps/"
	args := append([]string{"sweep", dir + sweepFlags[name][0]}, sweepFlags[name][1:]...)
	var out, errs bytes.Buffer
	code := run(append(args, "--cubins", dir+"testdata/cubins", "--from", dir+"testdata/"+name+".jsonl", "--format", "json"),
		strings.NewReader(""), &out, &errs)
	if code != exitClean && code != exitFindings {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	r := &sweep.Result{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The predictor against an H200: within 15 % on at least 18 of the 20 scan points, and in every other recording but one
// point, a copy of 4 bytes a lane, which waits for memory rather than fills it.
func TestPredictionsAgainstH200(t *testing.T) {
	for _, test := range []struct {
		name       string
		least, all int
	}{{"scan", 18, 20}, {"width", 18, 18}, {"split", 6, 6}, {"chunk56", 8, 8}, {"copy", 2, 3}, {"transpose", 20, 20},
		{"reduce", 40, 40}} {
		r := &sweepReport{Result: recordedSweep(t, test.name)}
		near, all, median := r.agreement()
		if near < test.least || all != test.all {
			t.Errorf("%s: within 15 %% at %d of %d points, want %d of %d", test.name, near, all, test.least, test.all)
		}
		t.Logf("%s: within 15 %% at %d of %d points, median difference %.1f %%", test.name, near, all, 100*median)
	}
}

// The pad that is predicted to be best for a chunk is never more than 5 % slower than the one that is measured to be.
func TestPredictedPads(t *testing.T) {
	r := recordedSweep(t, "scan")
	const pads = 5
	for at := 0; at < len(r.Rows); at += pads {
		rows := r.Rows[at : at+pads]
		byPrediction := slices.MinFunc(rows, func(a, b sweep.Row) int {
			return int(math.Copysign(1, a.Facts[factSeconds]-b.Facts[factSeconds]))
		})
		byMeasurement := slices.MinFunc(rows, func(a, b sweep.Row) int {
			return int(math.Copysign(1, a.Summary.Median-b.Summary.Median))
		})
		if loss := byPrediction.Summary.Median/byMeasurement.Summary.Median - 1; loss > 0.05 {
			t.Errorf("%s is predicted best and %.1f %% slower than %s", byPrediction.Name, 100*loss, byMeasurement.Name)
		}
	}
}

// medians returns the medians of a recording in seconds, in the order of its points.
func medians(r *sweep.Result) []float64 {
	var list []float64
	for i := range r.Rows {
		list = append(list, r.Rows[i].Summary.Median)
	}
	return list
}

// The bound gcd/w is met: time doubles with the gcd as soon as it is above the width in words, and two LDS.64 take the place
// of an LDS.128 at twice the time, which is what the TileOPs page shows as its 128-bit column.
func TestWidthTable(t *testing.T) {
	wide, split := medians(recordedSweep(t, "width")), medians(recordedSweep(t, "split"))
	for w, words := range []float64{1, 2, 4} {
		row := wide[6*w : 6*w+6]
		for i, gcd := range []float64{1, 2, 4, 8, 16, 32} {
			if i == 0 {
				continue // scalar reads at every width
			}
			want := max(1, gcd/words)
			if got := row[i] / wide[7]; math.Abs(got/want-1) > 0.13 {
				t.Errorf("width %g, gcd %g: %.2f times the fastest, want %.0f", 32*words, gcd, got, want)
			}
		}
	}
	for i, gcd := range []float64{8, 16, 32} {
		got := split[i+3] / wide[12+2]
		if want := gcd / 2; math.Abs(got/want-1) > 0.13 {
			t.Errorf("128 bits as two LDS.64, gcd %g: %.2f times the fastest, want %.0f", gcd, got, want)
		}
	}
}

// Points that are the same tie.
func TestSamePointsTie(t *testing.T) {
	r := recordedSweep(t, "same")
	for i := range r.Rows {
		if v := r.Rows[i].Verdict; v != sweep.Best && v != sweep.Tie {
			t.Errorf("%s: %s", r.Rows[i].Name, v)
		}
	}
}

// Points that go wrong are rows with their reasons, and the others are measured.
func TestBrokenPoints(t *testing.T) {
	r := recordedSweep(t, "broken")
	for i, want := range []string{"", "wrong result: byte 3072 is 0x00, want 0xff", "misaligned address",
		"still running after", "#error", ""} {
		row := &r.Rows[i]
		if !strings.Contains(row.Failure, want) || (want == "") != (row.Failure == "") || (want == "") != (row.Summary.N >= 20) {
			t.Errorf("%s: got %q with %d samples, want %q", row.Name, row.Failure, row.Summary.N, want)
		}
	}
}

// Every format is written, to a file whose name chooses it.
func TestSweepFormats(t *testing.T) {
	const dir = "../../examples/sweeps/"
	for _, test := range []struct{ name, want string }{
		{"r.txt", "best: VEC=16"}, {"r.json", `"schema": "shmoo.sweep/1"`}, {"r.csv", "VEC,median,low,high"},
		{"r.bench", "BenchmarkCopy/VEC=4 1 "}, {"r.svg", "<svg "}, {"r.png", "\x89PNG"},
	} {
		path := filepath.Join(t.TempDir(), test.name)
		args := append([]string{"sweep", dir + "copy.cu"}, sweepFlags["copy"][1:]...)
		args = append(args, "--cubins", dir+"testdata/cubins", "--from", dir+"testdata/copy.jsonl", "-o", path)
		var out, errs bytes.Buffer
		if code := run(args, strings.NewReader(""), &out, &errs); code != exitClean || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, %s", test.name, code, out.String(), errs.String())
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(got, []byte(test.want)) {
			t.Errorf("%s: got %.80q, %v, want %q in it", test.name, got, err, test.want)
		}
	}
}

// What cannot win is left out: points that are predicted more than predict.Margin times as slow as the best.
func TestSkip(t *testing.T) {
	p := &sweepPlan{Points: make([]plannedPoint, 3), predictions: []*predict.Prediction{{Seconds: 1}, {Seconds: 1.3}, {Seconds: 2}}}
	p.skip()
	for i, want := range []string{"", "", "predicted 2.00 times as slow as the best"} {
		if p.Points[i].Skip != want {
			t.Errorf("point %d: got %q, want %q", i, p.Points[i].Skip, want)
		}
	}
}

func TestSweepUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "k.cu")
	if err := os.WriteFile(file, []byte("extern \"C\" __global__ void k() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := []string{"--kernel", "k", "--set", "PAD=0,1", "--block", "32", "--no-gpu"}
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no parameter", []string{"--kernel", "k", "--block", "32", "--no-gpu"}, exitUsage, "got no --set"},
		{"parameter twice", append(good, "--set", "PAD=3"), exitUsage, "PAD twice"},
		{"no kernel", []string{"--set", "PAD=0", "--block", "32"}, exitUsage, "got no --kernel"},
		{"block of nothing", append(good, "--block", "PAD"), exitUsage, "--block PAD: got 0 for PAD=0"},
		{"unknown name", append(good, "--grid", "N"), exitUsage, `got "N", want a parameter`},
		{"too many extents", append(good, "--grid", "1,2,3,4"), exitUsage, "got 4 extents"},
		{"shared memory", append(good, "--smem", "PAD-1"), exitUsage, "got -1, want 0 to 1048576"},
		{"argument", append(good, "--arg", "f32[PAD]:zero"), exitUsage, `"0" elements`},
		{"bytes", append(good, "--bytes", "1/PAD"), exitUsage, "got 1 / 0"},
		{"format", append(good, "--format", "xml"), exitUsage, "want one of text, json, csv, bench, svg, png"},
		{"GPU", append(good, "--gpu", "H300"), exitUsage, `unknown GPU "H300"`},
		{"samples", append(good, "--samples", "0"), exitUsage, "--samples 0"},
		{"bandwidth", append(good, "--bandwidth", "-1"), exitUsage, "--bandwidth -1"},
		{"log", append(good, "--log", "x"), exitUsage, "--no-gpu with --log"},
		{"compiler", append(good, "--nvcc", file+".none"), exitEnv, "name one with --nvcc"},
	} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"sweep", file}, test.args...), strings.NewReader(""), &out, &errs); code != test.code ||
			!strings.Contains(errs.String(), test.want) {
			t.Errorf("%s: exit code %d, %q, want %d with %q", test.name, code, errs.String(), test.code, test.want)
		}
	}
}

// --check needs something to compare, and a parameter that exists.
func TestCheckUsage(t *testing.T) {
	c, _ := standIn(t, "N=1,2", "first:M", &standInDevice{})
	if _, err := c.checker(); err == nil || !strings.Contains(err.Error(), `no parameter "M"`) {
		t.Errorf("got %v", err)
	}
	c.check, c.args = "first", nil
	if _, err := c.checker(); err == nil || !strings.Contains(err.Error(), "has no buffer") {
		t.Errorf("got %v", err)
	}
}

// A file of bytes is the reference of every point.
func TestCheckAgainstFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "want.bin")
	if err := os.WriteFile(path, []byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	c, bench := standIn(t, "BAD=0,1", path, &standInDevice{})
	log, err := sweep.OpenLog(filepath.Join(t.TempDir(), "log"), c.space, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r, err := c.measure(t.Context(), bench, log, plan(c.space, ""))
	if err != nil || r.Rows[0].Verdict != sweep.Best || r.Rows[1].Failure != "wrong result: byte 0 is 0x01, want 0x00" {
		t.Errorf("got %v, %+v", err, r)
	}
}

func TestExpandArg(t *testing.T) {
	s, err := space.Parse("CHUNK=16")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"f16[65536*CHUNK]:zero", "f16[1048576]:zero"},
		{"2:i32[CHUNK]:value=CHUNK", "2:i32[16]:value=CHUNK"},
		{"i32=CHUNK*2", "i32=32"},
		{"1:i64=CHUNK", "1:i64=16"},
		{"f32=0.5", "f32=0.5"},
		{"bytes=00ff", "bytes=00ff"},
		{"null", "null"},
	} {
		if got, err := expandArg(test.text, first(s)); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.text, got, err, test.want)
		}
	}
	if got := splitShape("max(1,2),gcd(4,6)*2"); !slices.Equal(got, []string{"max(1,2)", "gcd(4,6)*2"}) {
		t.Errorf("got %q", got)
	}
}

func TestCompareBuffers(t *testing.T) {
	one, near, nan := []byte{0x00, 0x3c}, []byte{0x01, 0x3c}, []byte{0x01, 0x7e} // 1, 1 + 2^-10, NaN as 16-bit floats
	for _, test := range []struct {
		name, kind string
		got, want  []byte
		tolerance  float64
		err        string
	}{
		{"equal", "f16", one, one, 0, ""},
		{"bit for bit", "f16", near, one, 0, "element 0 is 1.0009765625, want 1"},
		{"near", "f16", near, one, 1e-2, ""},
		{"not near enough", "f16", near, one, 1e-4, "element 0"},
		{"NaN", "f16", nan, one, 1, "element 0 is NaN, want 1"},
		{"two NaN", "f16", nan, []byte{0x00, 0x7e}, 1, ""},
		{"integers", "i16", near, one, 1, "byte 0 is 0x01, want 0x00"},
		{"sizes", "f16", one, append(one, one...), 0, "got 2 bytes, want 4"},
		{"second", "bf16", []byte{0, 0, 0x80, 0x3f}, []byte{0, 0, 0x80, 0xbf}, 0.5, "element 1 is 1, want -1"},
	} {
		err := compareBuffers(test.kind, test.got, test.want, test.tolerance)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.err)
		}
	}
}

// A standInDevice runs no kernels: a launch writes into its last argument what the options of the compilation say.
type standInDevice struct {
	lost map[string]bool // options at which a launch loses the device
	runs map[string]int
}

func (d *standInDevice) Info() gpu.Info {
	return gpu.Info{Name: "stand-in", Arch: "sm_90", L2Bytes: 64}
}
func (d *standInDevice) State() (gpu.State, error)       { return gpu.State{ClockMHz: 1000}, nil }
func (d *standInDevice) Close() error                    { return nil }
func (d *standInDevice) Unload() error                   { return nil }
func (d *standInDevice) Alloc(n int) (gpu.Memory, error) { return &standInMemory{make([]byte, n)}, nil }
func (d *standInDevice) Load(_ context.Context, _ string, image []byte) (gpu.Module, error) {
	return &standInModule{d, string(image)}, nil
}

type standInModule struct {
	*standInDevice
	image string
}

func (m *standInModule) Kernel(string) (gpu.Kernel, error)   { return m, nil }
func (m *standInModule) Attributes() (gpu.Attributes, error) { return gpu.Attributes{}, nil }
func (m *standInModule) Launch(_ context.Context, _ gpu.Launch, args ...any) (time.Duration, error) {
	if m.lost[m.image] {
		return 0, &gpu.CallError{Call: "cuLaunchKernel", Code: 700}
	}
	m.runs[m.image]++
	out := args[len(args)-1].(*standInMemory)
	if strings.Contains(m.image, "BAD=1") {
		out.b[0]++
	}
	return time.Millisecond, nil
}

type standInMemory struct{ b []byte }

func (m *standInMemory) Size() int                    { return len(m.b) }
func (m *standInMemory) Write(at int, p []byte) error { copy(m.b[at:], p); return nil }
func (m *standInMemory) Read(at int, p []byte) error  { copy(p, m.b[at:]); return nil }
func (m *standInMemory) Free() error                  { return nil }
func (m *standInMemory) Fill(b byte) error {
	for i := range m.b {
		m.b[i] = b
	}
	return nil
}

// standInCompiler gives the point's macros as machine code.
type standInCompiler struct{}

func (standInCompiler) Version() string { return "stand-in" }
func (standInCompiler) Compile(_ context.Context, s gpu.Source) ([]byte, error) {
	return []byte(strings.Join(s.Options, " ")), nil
}

// standIn returns a command over a space and its bench on a stand-in device.
func standIn(t *testing.T, text, check string, d *standInDevice) (*sweepCommand, *sweep.Kernel) {
	t.Helper()
	s, err := space.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d.runs = map[string]int{}
	c := &sweepCommand{p: &program{err: io.Discard}, space: s, kernel: "k", block: "32", grid: "1", smem: "0", check: check,
		args: []string{"i32[4]:iota"}, least: 5, most: 5, source: gpu.Source{Arch: "sm_90"}, timeout: time.Second}
	c.compiler = &pointCompiler{found: standInCompiler{}}
	c.compiler.once.Do(func() {})
	c.open = func(context.Context) (gpu.Device, error) { return d, nil }
	return c, c.bench()
}

func plan(s *space.Space, skip string) *sweepPlan {
	p := &sweepPlan{}
	for _, point := range points(s) {
		known := plannedPoint{Point: point.String()}
		if known.Point == skip {
			known.Skip = "too slow"
		}
		p.Points = append(p.Points, known)
	}
	return p
}

func TestCheckAgainstPoints(t *testing.T) {
	d := &standInDevice{}
	c, bench := standIn(t, "N=1,2,BAD=0,1,2", "first:BAD", d)
	log, err := sweep.OpenLog(filepath.Join(t.TempDir(), "log"), c.space, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r, err := c.measure(t.Context(), bench, log, plan(c.space, "N=2,BAD=2"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []sweep.Verdict{sweep.Best, sweep.Failed, sweep.Tie, sweep.Tie, sweep.Failed, sweep.Skipped} {
		row := &r.Rows[i]
		if row.Verdict != want || want == sweep.Failed && row.Failure != "wrong result: byte 0 is 0x01, want 0x00" {
			t.Errorf("%s: got %s %q, want %s", row.Name, row.Verdict, row.Failure, want)
		}
	}
	if n := d.runs["-DN=2 -DBAD=2"]; n != 0 {
		t.Errorf("a point that was left out ran %d times", n)
	}
}

// A reference point that loses the device is noted in the log, so that the next process does without it.
func TestLostReference(t *testing.T) {
	c, bench := standIn(t, "BAD=0,2", "first", &standInDevice{lost: map[string]bool{"-DBAD=0": true}})
	path := filepath.Join(t.TempDir(), "log")
	for process, want := range []string{"cuLaunchKernel", ""} {
		log, err := sweep.OpenLog(path, c.space, "test")
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.measure(t.Context(), bench, log, plan(c.space, ""))
		if lost := (*sweep.LostError)(nil); want != "" && (!errors.As(err, &lost) || !strings.Contains(err.Error(), want)) {
			t.Errorf("process %d: got %v, want a lost device", process, err)
		}
		if want == "" {
			if err != nil || !strings.Contains(r.Rows[1].Failure, "nothing to compare with: point BAD=0 failed") {
				t.Errorf("process %d: got %v, %+v", process, err, r)
			}
		}
		log.Close()
	}
}

// A supervised process ends when the one that supervises it is gone.
func TestOrphan(t *testing.T) {
	dir := t.TempDir()
	c, _ := standIn(t, "BAD=0", "", &standInDevice{})
	text, err := json.Marshal(plan(c.space, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, planFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	c.child, c.p.in = dir, strings.NewReader("") // at its end
	c.open = func(ctx context.Context) (gpu.Device, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = c.measureAsChild(ctx)
	if _, exists := os.Stat(filepath.Join(dir, resultFile)); exists == nil || err == nil ||
		!strings.Contains(err.Error(), "the supervising process is gone") {
		t.Errorf("got %v, want an error that says why, and no result", err)
	}
}
