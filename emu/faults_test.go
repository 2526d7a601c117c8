package emu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"shmoo/diag"
)

// faultProgram loads a kernel of testdata/faults.cu with its line table.
func faultProgram(t *testing.T, name string) *Program {
	t.Helper()
	img := readCubin(t, "testdata/faults.sm_90.cubin.gz")
	k := img.Kernel(name)
	if k == nil {
		t.Fatalf("no kernel %s", name)
	}
	lines, err := k.Lines()
	if err != nil {
		t.Fatal(err)
	}
	code := codeOf(k)
	code.Pos = func(pc uint64) (diag.Span, []diag.Pos) {
		var chain []diag.Pos
		for _, f := range lines.AppendAt(nil, uint32(pc)) {
			file := f.File[strings.LastIndexByte(f.File, '/')+1:]
			chain = append(chain, diag.Pos{File: file, Line: f.Line})
		}
		if len(chain) == 0 {
			return diag.Span{}, nil
		}
		return diag.Span{Pos: chain[0]}, chain[1:]
	}
	p, err := NewProgram(code)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFaults(t *testing.T) {
	out := func() Arg { return Buffer(make([]byte, 1024)) }
	for _, c := range []struct {
		name   string
		kernel string
		launch Launch
		want   []string // parts of the message
	}{
		{"misaligned", "misaligned", line(1, 64, out(), Int32(2)),
			[]string{"emu: misaligned: misaligned address at pc 0x", "(faults.cu:8)", `"LDS R`, "block 0, warp 1, lane 5: got 0x496, want a multiple of 4"}},
		{"outside", "outside", Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}, DynamicShared: 256, Args: []Arg{out(), Int32(2)}},
			[]string{"shared address out of bounds", "(faults.cu:13)", `"STS [R`, "warp 1, lane 0: got 0x100, want at most 0xfc: the block has 256 bytes"}},
		{"no dynamic memory", "outside", line(1, 64, out(), Int32(1)),
			[]string{"shared address out of bounds", "warp 0, lane 0: got 0x0, want at most 0x0: the block has 0 bytes"}},
		{"trap", "trapped", line(1, 96, out(), Int32(9)), []string{"trapped: trap at pc 0x", "(faults.cu:19)", "warp 2, lane 6"}},
		{"deadlock", "stuck", line(1, 64, out()), []string{"deadlock: no warp can proceed", `BAR.SYNC`, "(faults.cu:34)"}},
		{"steps", "endless", line(1, 64, out()), []string{"emu: endless: limit of 50000 steps reached at pc 0x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := Run(context.Background(), faultProgram(t, c.kernel), c.launch, Options{Limits: Limits{Steps: 50_000}}, nil)
			if err == nil {
				t.Fatal("no error")
			}
			if result == nil || result.Instructions == 0 || result.Blocks != 0 {
				t.Errorf("result %+v, want what was found before the fault", result)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %q, want it to contain %q", err, part)
				}
			}
			var fault *Fault
			var limit *LimitError
			if !errors.As(err, &fault) && !errors.As(err, &limit) {
				t.Errorf("%T is neither a Fault nor a LimitError", err)
			}
		})
	}
}

func TestNoTrapWithoutCause(t *testing.T) {
	buf := make([]byte, 1024)
	if _, err := Run(context.Background(), faultProgram(t, "trapped"), line(1, 96, Buffer(buf), Int32(2)), Options{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := word(buf, 95); got != 2 {
		t.Errorf("out[95] = %d, want 2", got)
	}
}

func TestLaunchErrors(t *testing.T) {
	p := faultProgram(t, "bounded")
	good := func() Launch { return line(1, 64, Pointer()) }
	for _, c := range []struct {
		name   string
		change func(*Launch)
		want   string
	}{
		{"grid 0", func(l *Launch) { l.Grid[1] = 0 }, "emu: launch of bounded: grid y is 0, want 1 to 65535"},
		{"block too long", func(l *Launch) { l.Block[2] = 65 }, "emu: launch of bounded: block z is 65, want 1 to 64"},
		{"too many threads", func(l *Launch) { l.Block = [3]int{64, 32, 1} },
			"emu: launch of bounded: block has 2048 threads, want at most 1024"},
		{"past the launch bound", func(l *Launch) { l.Block[0] = 128 },
			"emu: launch of bounded: block has 128 threads, the kernel's launch bound is 64"},
		{"too many arguments", func(l *Launch) { l.Args = append(l.Args, Int32(1)) },
			"emu: launch of bounded: 2 arguments, the kernel has 1 parameters"},
		{"argument of another size", func(l *Launch) { l.Args[0] = Int32(1) },
			"emu: launch of bounded: argument 0 has 4 bytes, the parameter has 8"},
		{"block outside the grid", func(l *Launch) { l.Blocks = []int{1} }, "emu: launch of bounded: block 1, the grid has 1"},
		{"shared memory", func(l *Launch) { l.DynamicShared = 1 << 20 },
			"emu: launch of bounded: shared memory of 0 static and 1048576 dynamic bytes, want at most 262144 together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := good()
			c.change(&l)
			_, err := NewSource(p, l, Options{})
			var launch *LaunchError
			if !errors.As(err, &launch) {
				t.Fatalf("got %v, want a LaunchError", err)
			}
			if err.Error() != c.want {
				t.Errorf("got  %q\nwant %q", err, c.want)
			}
		})
	}
	if _, err := NewSource(p, good(), Options{}); err != nil {
		t.Errorf("a good launch: %v", err)
	}
}

func TestBadCode(t *testing.T) {
	for _, c := range []struct {
		name string
		code Code
		want string
	}{
		{"arch", Code{Name: "k", Arch: 60, Text: make([]byte, 16)}, "emu: k: architecture sm_60: want sm_70 to sm_121"},
		{"empty", Code{Name: "k", Arch: 80}, "emu: k: 0 bytes of code: want a multiple of 16, at most 67108864"},
		{"ragged", Code{Name: "k", Arch: 80, Text: make([]byte, 24)}, "emu: k: 24 bytes of code: want a multiple of 16, at most 67108864"},
		{"entry", Code{Name: "k", Arch: 80, Text: make([]byte, 32), Entry: 8}, "emu: k: entry 0x8 is not an instruction of the code"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewProgram(c.code); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, faultProgram(t, "endless"), line(1, 64, Pointer()), Options{}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
