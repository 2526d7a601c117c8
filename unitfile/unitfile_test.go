package unitfile

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"shmoo/arch"
	"shmoo/diag"
	"shmoo/internal/golden"
	"shmoo/smem"
)

// Every unit of the table survives being written and read, and the same request costs the same.
func TestUnitsAreReadBack(t *testing.T) {
	for _, name := range arch.Names() {
		t.Run(name, func(t *testing.T) {
			want := &File{
				Unit:   arch.MustLookup(name).Unit,
				Origin: Origin{Device: `a "GPU" \ µ` + "\n\x7f", Driver: "580.159.04", Date: "2026-11-30", Samples: 3, Source: "r.csv"},
				Evidence: map[smem.Key]Evidence{
					{Op: smem.Load, Width: 4}: {Samples: 7, Undecided: []string{"pairing", `a "b"`}},
				},
			}
			var text, again bytes.Buffer
			if err := Write(&text, want); err != nil {
				t.Fatal(err)
			}
			got, err := Read(bytes.NewReader(text.Bytes()), "u.toml")
			if err != nil {
				t.Fatalf("%v in\n%s", err, text.String())
			}
			maps.DeleteFunc(got.Evidence, func(_ smem.Key, e Evidence) bool { return e.Samples == 0 })
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(smem.Unit{})); diff != "" {
				t.Errorf("read back otherwise (-want +got):\n%s", diff)
			}
			if err := Write(&again, got); err != nil || again.String() != text.String() {
				t.Errorf("written again otherwise (%v):\n%s", err, again.String())
			}
			u := want.Unit
			for key := range u.Rules {
				r := smem.Request{Op: key.Op, Width: key.Width, Active: u.FullMask(), Addr: make([]uint32, u.Lanes)}
				for lane := range r.Addr {
					r.Addr[lane] = uint32(lane * lane * 16)
				}
				var a, b smem.Outcome
				if err := errors.Join(u.Resolve(&a, &r), got.Unit.Resolve(&b, &r)); err != nil {
					t.Fatal(err)
				}
				if a.Wavefronts != b.Wavefronts || a.Cycles != b.Cycles {
					t.Errorf("%s of %d bytes: %d wavefronts, %g cycles; want %d and %g",
						key.Op, key.Width, b.Wavefronts, b.Cycles, a.Wavefronts, a.Cycles)
				}
			}
		})
	}
}

func TestWriteGolden(t *testing.T) {
	var got bytes.Buffer
	f := &File{Unit: arch.MustLookup("sm_90").Unit, Origin: Origin{Device: "NVIDIA H200", Samples: 49588}}
	if err := Write(&got, f); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "sm_90.toml", got.Bytes())
}

// Each file of testdata/errors.txt has its error in a comment on the line where it must appear.
func TestErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range strings.Split(string(text), "\n---\n") {
		title, body, _ := strings.Cut(chunk, "\n")
		t.Run(strings.TrimPrefix(title, "# "), func(t *testing.T) {
			wantLine, want := 0, ""
			for i, line := range strings.Split(body, "\n") {
				if _, message, ok := strings.Cut(line, "#! "); ok {
					wantLine, want = i+1, message
				}
			}
			if want == "" {
				t.Fatal("no line with #! and an error")
			}
			_, err := Read(strings.NewReader(body), "u.toml")
			var d *diag.Diagnostic
			if !errors.As(err, &d) {
				t.Fatalf("got error %v, want a diagnostic on line %d: %s", err, wantLine, want)
			}
			if d.Span.Line != wantLine || !strings.Contains(d.Message, want) {
				t.Errorf("got %v, want it on line %d: %s", err, wantLine, want)
			}
		})
	}
}

func TestHostileFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"long", strings.Repeat("#", maxBytes+1), "u.toml: error: got more than 262144 bytes"},
		{"deep", "x = " + strings.Repeat("[", 100000), "u.toml:1: error: got more than 64 brackets"},
		{"deep tables", "x = " + strings.Repeat("{a=", 20000), "u.toml:1: error: got more than 64 brackets"},
		{"empty", "", "u.toml: error: schema: missing"},
		{"NUL", "\x00", "u.toml:1: error: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(tt.text), "u.toml"); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if _, err := Read(iotest.ErrReader(io.ErrClosedPipe), "u.toml"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a failing reader gives %v, want its own error", err)
	}
}

func TestLanes(t *testing.T) {
	for m, want := range map[smem.Mask]string{
		1: "0", 0xff: "0-7", 0xf0000f: "0-3 20-23", 1<<63 | 1: "0 63", ^smem.Mask(0): "0-63",
	} {
		if got := FormatLanes(m); got != want {
			t.Errorf("FormatLanes(%#x) is %q, want %q", uint64(m), got, want)
		}
		if got, err := ParseLanes(want); got != m || err != nil {
			t.Errorf("ParseLanes(%q) is %#x, %v; want %#x", want, uint64(got), err, uint64(m))
		}
	}
	for _, s := range []string{"", " ", "64", "3-1", "0-7 7", "a", "-1", "0-", "1-2-3", "+1"} {
		if m, err := ParseLanes(s); err == nil {
			t.Errorf("ParseLanes(%q) is %#x, want an error", s, uint64(m))
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, path := range []string{"testdata/sm_90.toml", "testdata/errors.txt"} {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, chunk := range strings.Split(string(text), "\n---\n") {
			f.Add(chunk)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Read(strings.NewReader(text), "u.toml")
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, file); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(bytes.NewReader(out.Bytes()), "u.toml"); err != nil {
			t.Errorf("what was written is refused: %v\n%s", err, out.String())
		}
	})
}
