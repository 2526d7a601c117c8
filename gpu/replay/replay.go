// Package replay plays recorded samples: a pattern file becomes a [gpu.Meter] that answers from its rows. Tests use it in
// place of a device, and it makes other people's measurements an input like one's own.
//
//	m, err := replay.Open(file, "h200.csv.gz")
//	lesson, err := probe.Learn(ctx, m.Recording())
//
// [Write] writes such a file. What it says about the device stands in comments before the header:
//
//	# device: NVIDIA H200
//	# arch: sm_90
//	# driver: 580.159.04
//	# date: 2026-11-30
//	op,mask,addresses,unit_cycles
//
// Limits: a recording is held in memory, at most MaxSamples rows; rows without cycles are passed over.
package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"shmoo/diag"
	"shmoo/gpu"
	"shmoo/pattern"
)

// MaxSamples is the most rows that a recording may have.
const MaxSamples = 1 << 20

// A Meter answers from a recording. It is safe for concurrent use.
type Meter struct {
	recording gpu.Recording
	ops       []string
	cycles    map[string]float64 // by key
}

var _ gpu.Meter = (*Meter)(nil)

// note is a comment that tells about the recording.
type note struct {
	key string
	at  func(*gpu.Recording) *string
}

var notes = []note{
	{"device", func(r *gpu.Recording) *string { return &r.Info.Name }},
	{"arch", func(r *gpu.Recording) *string { return &r.Info.Arch }},
	{"driver", func(r *gpu.Recording) *string { return &r.Info.Driver }},
	{"date", func(r *gpu.Recording) *string { return &r.Date }},
}

// headBytes is how far into a file its notes are looked for.
const headBytes = 4096

// Open reads the pattern file r, plain or gzipped, which it calls name in errors. A file that breaks the format, has no row
// with cycles, or mixes cycles with and without a meter's constant gives a *diag.Diagnostic.
func Open(r io.Reader, name string) (*Meter, error) {
	plain := bufio.NewReaderSize(r, headBytes)
	if magic, _ := plain.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(plain)
		if err != nil {
			return nil, diag.Errorf("replay", diag.Span{Pos: diag.Pos{File: name}}, "got broken gzip data (%v), want a gzip stream", err)
		}
		plain = bufio.NewReaderSize(unpacked, headBytes)
	}
	m := &Meter{recording: gpu.Recording{File: name}, cycles: map[string]float64{}}
	head, _ := plain.Peek(headBytes) // a failing reader fails again below
	m.readNotes(bytes.TrimPrefix(head, []byte("\ufeff")))
	patterns, err := pattern.NewReader(plain, name)
	if err != nil {
		return nil, err
	}
	return m, m.read(patterns)
}

func (m *Meter) readNotes(head []byte) {
	for line := range bytes.Lines(head) {
		text, isComment := strings.CutPrefix(strings.TrimSpace(string(line)), "#")
		if !isComment {
			return
		}
		key, value, _ := strings.Cut(text, ":")
		for _, n := range notes {
			if strings.TrimSpace(key) == n.key {
				*n.at(&m.recording) = strings.TrimSpace(value)
			}
		}
	}
}

func (m *Meter) read(patterns *pattern.Reader) error {
	rec := &m.recording
	fail := func(line int, format string, args ...any) error {
		return diag.Errorf("replay", diag.Span{Pos: diag.Pos{File: rec.File, Line: line}}, format, args...)
	}
	var p pattern.Pattern
	for {
		err := patterns.Read(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		cycles, constant := p.UnitCycles, false
		if cycles < 0 {
			cycles, constant = p.Cycles, true
		}
		if cycles < 0 {
			continue
		}
		if len(rec.Samples) > 0 && constant != rec.Constant {
			return fail(p.Line, "got rows with cycles and rows with unit_cycles, want one of the two in all")
		}
		if len(rec.Samples) == MaxSamples {
			return fail(p.Line, "got more than %d rows, want at most that", MaxSamples)
		}
		rec.Constant = constant
		rec.Samples = append(rec.Samples, gpu.Sample{
			Op: p.Op.Name, Active: p.Mask, Addr: slices.Clone(p.Addr), Cycles: cycles,
		})
		s := &rec.Samples[len(rec.Samples)-1]
		if !slices.Contains(m.ops, s.Op) {
			m.ops = append(m.ops, s.Op)
		}
		k := key(s)
		if known, ok := m.cycles[k]; !ok || cycles < known {
			m.cycles[k] = cycles
		}
	}
	if len(rec.Samples) == 0 {
		return fail(0, "got no row with cycles or unit_cycles, want at least one")
	}
	return nil
}

// key returns what tells a sample's pattern from others: the op, the mask, and the addresses of active lanes.
func key(s *gpu.Sample) string {
	b := append([]byte(s.Op), ' ')
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Active))
	for lane, a := range s.Addr {
		if s.Active.Has(lane) {
			b = binary.LittleEndian.AppendUint32(b, a)
		}
	}
	return string(b)
}

// Info describes the device that was measured, as far as the file says.
func (m *Meter) Info() gpu.Info { return m.recording.Info }

// Ops returns the instructions that were recorded.
func (m *Meter) Ops() []string { return slices.Clone(m.ops) }

// Recording returns all rows. The caller must not change them.
func (m *Meter) Recording() *gpu.Recording { return &m.recording }

// Measure fills in what was recorded; of several equal rows the least. A pattern that was not recorded gives a
// *gpu.NotRecordedError.
func (m *Meter) Measure(ctx context.Context, samples []gpu.Sample) error {
	for i := range samples {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		cycles, ok := m.cycles[key(&samples[i])]
		if !ok {
			return &gpu.NotRecordedError{File: m.recording.File, Sample: samples[i]}
		}
		samples[i].Cycles = cycles
	}
	return nil
}

// Write writes a recording as a pattern file. It refuses one whose meter has a constant, whose column is another.
func Write(w io.Writer, r *gpu.Recording) error {
	if r.Constant {
		return fmt.Errorf("recording %s: its meter adds a constant, want the unit's own cycles", r.File)
	}
	var comments []string
	for _, n := range notes {
		if value := *n.at(r); value != "" {
			comments = append(comments, n.key+": "+value)
		}
	}
	out := pattern.NewWriter(w, comments...)
	for i := range r.Samples {
		s := &r.Samples[i]
		if err := out.Write(s.Op, s.Active, s.Addr, s.Cycles); err != nil {
			return err
		}
	}
	return out.Flush()
}
