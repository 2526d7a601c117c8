package replay

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shmoo/diag"
	"shmoo/gpu"
)

func open(t *testing.T, text string) *Meter {
	t.Helper()
	m, err := Open(strings.NewReader(text), "r.csv")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRecordingIsReadBack(t *testing.T) {
	want := &gpu.Recording{
		File: "r.csv",
		Info: gpu.Info{Name: "NVIDIA H200", Arch: "sm_90", Driver: "580.1"},
		Date: "2026-11-30",
		Samples: []gpu.Sample{
			{Op: "ld32", Active: 3, Addr: []uint32{0, 128, 256}, Cycles: 2.031},
			{Op: "st64", Active: 1, Addr: []uint32{8}, Cycles: 2},
		},
	}
	var plain, packed bytes.Buffer
	if err := Write(&plain, want); err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(&packed)
	z.Write(plain.Bytes())
	z.Close()
	for name, b := range map[string]*bytes.Buffer{"plain": &plain, "gzip": &packed} {
		m, err := Open(b, "r.csv")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, m.Recording()); diff != "" {
			t.Errorf("%s: read back otherwise (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{"ld32", "st64"}, m.Ops()); diff != "" {
			t.Errorf("%s: ops (-want +got):\n%s", name, diff)
		}
	}
	want.Constant = true
	if err := Write(&plain, want); err == nil {
		t.Error("a recording with a meter's constant was written as unit_cycles")
	}
}

func TestMeasure(t *testing.T) {
	m := open(t, "op,mask,addresses,cycles\nld32,3,0 128 7,3.1\nld32,3,0 128 9,2.9\nld32,1,0,\nst32,3,0 128,2.2\n")
	if !m.Recording().Constant || len(m.Recording().Samples) != 3 {
		t.Errorf("recording %+v, want 3 samples with a constant", m.Recording())
	}
	samples := []gpu.Sample{
		{Op: "st32", Active: 3, Addr: []uint32{0, 128}},
		{Op: "ld32", Active: 3, Addr: []uint32{0, 128, 55}}, // the inactive lane does not matter
	}
	if err := m.Measure(context.Background(), samples); err != nil {
		t.Fatal(err)
	}
	if samples[0].Cycles != 2.2 || samples[1].Cycles != 2.9 {
		t.Errorf("cycles %g and %g, want 2.2, and 2.9 as the least of two", samples[0].Cycles, samples[1].Cycles)
	}
	var missing *gpu.NotRecordedError
	for _, s := range []gpu.Sample{
		{Op: "ld32", Active: 1, Addr: []uint32{0}},
		{Op: "ld64", Active: 3, Addr: []uint32{0, 128}},
		{Op: "ld32", Active: 3, Addr: []uint32{128, 0}},
	} {
		if err := m.Measure(context.Background(), []gpu.Sample{s}); !errors.As(err, &missing) {
			t.Errorf("%v: got %v, want a NotRecordedError", s, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if err := m.Measure(ctx, samples); !errors.Is(err, cause) {
		t.Errorf("cancelled: got %v, want the cause", err)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no cycles", "op,mask,addresses,cycles\nld32,1,0,\n", "r.csv: error: got no row with cycles"},
		{"both kinds", "op,mask,addresses,cycles,unit_cycles\nld32,1,0,,1\nld32,1,0,1.9,\n", "r.csv:3: error: got rows with cycles"},
		{"no pattern file", "hello\n", "r.csv:1:1: error: got header"},
		{"broken row", "op,mask,addresses,cycles\nld32,1\n", "r.csv:2: error: got 2 fields"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Open(strings.NewReader(tt.text), "r.csv")
			var d *diag.Diagnostic
			if !errors.As(err, &d) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want a diagnostic %s", err, tt.want)
			}
		})
	}
	var d *diag.Diagnostic
	if _, err := Open(bytes.NewReader([]byte{0x1f, 0x8b, 0}), "r.csv"); !errors.As(err, &d) {
		t.Errorf("a broken gzip header: %v, want a diagnostic", err)
	}
}

// The first recording of an H200 has a constant and no notes.
func TestOpenFirstRecording(t *testing.T) {
	file, err := os.Open("../../pattern/testdata/h200_patterns.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := Open(file, "h200_patterns.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Recording(); len(r.Samples) != 49588 || !r.Constant || r.Info.Name != "" || len(m.Ops()) != 29 {
		t.Errorf("%d samples of %d ops, constant %v, device %q; want 49588 of 29 with a constant and no device",
			len(r.Samples), len(m.Ops()), r.Constant, r.Info.Name)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("# device: x\n# date: 2026\nop,mask,addresses,unit_cycles\nld32,3,0 4,1.03\natomaddf,1,8,\n"))
	f.Add([]byte("op,mask,addresses,cycles\nst64,ff,0 8 16 24 32 40 48 56,2.2\n"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Open(bytes.NewReader(text), "f.csv")
		if err != nil {
			return
		}
		r := m.Recording()
		if err := m.Measure(context.Background(), r.Samples); err != nil {
			t.Errorf("a recording does not know its own samples: %v", err)
		}
		if r.Constant {
			return
		}
		var back bytes.Buffer
		if err := Write(&back, r); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(&back, "f.csv"); err != nil {
			t.Errorf("what was written is refused: %v", err)
		}
	})
}
