package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"shmoo/diag"
	"shmoo/space"
)

// LogSchema is the version of the log's format.
const LogSchema = "shmoo.sweep-log/1"

// maxLogBytes bounds a log that is read back.
var maxLogBytes int64 = 1 << 30 // a variable for the test

// A Log is a file that samples are appended to as they are taken: JSON, one object a line, each written at once. The first
// line says what is measured; a log is only taken up by the same sweep. A last line without its end, left by a process that
// was killed, is cut off.
type Log struct {
	file    *os.File
	samples map[string][]float64
	failure map[string]string
}

// header is the first line.
type header struct {
	Schema string `json:"schema"`
	Space  string `json:"space"`
	What   string `json:"what"`
}

// entry is any other line.
type entry struct {
	Point   string  `json:"point"`
	Seconds float64 `json:"seconds,omitempty"`
	Failure string  `json:"failure,omitempty"`
}

// OpenLog opens the log at path, or makes one. what says what is measured, such as a hash of the sources and the device's
// name. A log of another sweep, or one that is broken before its last line, gives a *diag.Diagnostic. The caller closes it.
func OpenLog(path string, s *space.Space, what string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file, samples: map[string][]float64{}, failure: map[string]string{}}
	if err := l.read(path, header{LogSchema, s.String(), what}); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *Log) read(path string, want header) error {
	text, err := io.ReadAll(io.LimitReader(l.file, maxLogBytes+1))
	if err != nil {
		return err
	}
	if int64(len(text)) > maxLogBytes { // cut, it would look like a log with a broken last line, which is mended
		return diag.Errorf("sweep/log", diag.Span{Pos: diag.Pos{File: path}}, "got a log of more than %d bytes, want at most that: name another file",
			maxLogBytes)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole < len(text) {
		if err := l.file.Truncate(int64(whole)); err != nil {
			return err
		}
		text = text[:whole]
	}
	if len(text) == 0 {
		return l.write(want)
	}
	line := 0
	fail := func(format string, args ...any) error {
		return diag.Errorf("sweep/log", diag.Span{Pos: diag.Pos{File: path, Line: line}}, format, args...)
	}
	for piece := range bytes.Lines(text) {
		line++
		if line == 1 {
			var got header
			if err := json.Unmarshal(piece, &got); err != nil || got.Schema != LogSchema {
				return fail("got %.80q, want the first line of a log of %s", piece, LogSchema)
			}
			if got != want {
				return fail("got a log of %q over %s, want one of %q over %s: name another file, or delete this one",
					got.What, got.Space, want.What, want.Space)
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(piece, &e); err != nil || e.Point == "" || (e.Seconds > 0) == (e.Failure != "") {
			return fail("got %.80q, want a point with its seconds or its failure", piece)
		}
		if e.Failure != "" {
			l.failure[e.Point] = e.Failure
		} else {
			l.samples[e.Point] = append(l.samples[e.Point], e.Seconds)
		}
	}
	return nil
}

// write appends a line in one call, so that it is there whole or, on a crash, without its end.
func (l *Log) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("sweep log: %w", err)
	}
	return nil
}

func (l *Log) sample(point string, seconds float64) error {
	return l.write(entry{Point: point, Seconds: seconds})
}

func (l *Log) fail(point, why string) error { return l.write(entry{Point: point, Failure: why}) }

// Fail notes that a point failed before its first sample, so that it is not tried again.
func (l *Log) Fail(p Point, why string) error {
	l.failure[p.String()] = why
	return l.fail(p.String(), why)
}

// Failure returns why a point failed, "" when the log has no failure of it.
func (l *Log) Failure(p Point) string { return l.failure[p.String()] }

// known returns what the log had of a point when it was opened.
func (l *Log) known(point string) (samples []float64, failure string) {
	return append([]float64(nil), l.samples[point]...), l.failure[point]
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
