// Package diag holds source positions and the diagnostics that every part of the program reports the same way.
//
// A diagnostic has a stable id, a span, a message in lower case that says what was got and what was wanted, and may carry
// notes and alternative fixes:
//
//	d := diag.Errorf("sketch/type", span, "unknown type %q, want a CUDA scalar or vector type", name)
//	fmt.Println(d) // tile.cu:3:14: error: unknown type "foo", want a CUDA scalar or vector type
//
// Limits: a span lies in one file. Columns count bytes from 1.
package diag

import (
	"fmt"
	"io"
	"strings"
)

// A Pos is a place in a source. Line and Col count from 1; zero means unknown.
type Pos struct {
	File string
	Line int
	Col  int // in bytes
}

// IsValid reports whether the position names a line.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String returns "file:line:col", leaving out what is unknown.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// A Span is a stretch of one line.
type Span struct {
	Pos
	Len int // in bytes; 0 marks a point
}

// Severity ranks diagnostics.
type Severity uint8

// The severities.
const (
	Error   Severity = iota // the input has no answer, or not the one asked for
	Warning                 // the answer stands; something about it deserves a look
	Note                    // background to another diagnostic
)

var severityNames = [...]string{"error", "warning", "note"}

// String returns "error", "warning" or "note".
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return fmt.Sprintf("severity(%d)", uint8(s))
}

// A Related is a place that helps to understand a diagnostic.
type Related struct {
	Span    Span
	Message string
}

// A Fix is one way to mend what a diagnostic reports. A diagnostic's fixes are alternatives.
type Fix struct {
	Message string // a verb phrase: "pad each row by 1 element"
	Edits   []Edit
}

// An Edit replaces the bytes of a span.
type Edit struct {
	Span    Span
	NewText string
}

// A Diagnostic is one thing to tell the user.
type Diagnostic struct {
	ID       string // stable, such as "sketch/type"
	Severity Severity
	Span     Span
	Message  string
	Related  []Related
	Fixes    []Fix
}

// Errorf returns a diagnostic of severity Error.
func Errorf(id string, span Span, format string, args ...any) *Diagnostic {
	return &Diagnostic{ID: id, Severity: Error, Span: span, Message: fmt.Sprintf(format, args...)}
}

// Warningf returns a diagnostic of severity Warning.
func Warningf(id string, span Span, format string, args ...any) *Diagnostic {
	return &Diagnostic{ID: id, Severity: Warning, Span: span, Message: fmt.Sprintf(format, args...)}
}

// Error makes a diagnostic an error: "file:line:col: error: message".
func (d *Diagnostic) Error() string {
	if place := d.Span.Pos.String(); place != "" {
		return fmt.Sprintf("%s: %s: %s", place, d.Severity, d.Message)
	}
	return fmt.Sprintf("%s: %s", d.Severity, d.Message)
}

// A List is the diagnostics of one run, in the order in which they were found.
type List []*Diagnostic

// Error joins the diagnostics, one a line.
func (l List) Error() string {
	var b strings.Builder
	for i, d := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.Error())
	}
	return b.String()
}

// Err returns the list as an error, or nil when nothing in it is an error.
func (l List) Err() error {
	for _, d := range l {
		if d.Severity == Error {
			return l
		}
	}
	return nil
}

// Write prints a diagnostic with the source line it points into and a marker under the span. lines returns a line of a
// file, or false when it is not to be had; it may be nil.
func (d *Diagnostic) Write(w io.Writer, lines func(Pos) (string, bool)) error {
	var b strings.Builder
	b.WriteString(d.Error())
	b.WriteByte('\n')
	excerpt(&b, d.Span, lines)
	for _, r := range d.Related {
		fmt.Fprintf(&b, "%s: note: %s\n", r.Span.Pos, r.Message)
		excerpt(&b, r.Span, lines)
	}
	for _, f := range d.Fixes {
		fmt.Fprintf(&b, "  fix: %s\n", f.Message)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// excerptBytes bounds a quoted source line: longer ones are cut around the span.
const excerptBytes = 160

func excerpt(b *strings.Builder, s Span, lines func(Pos) (string, bool)) {
	if lines == nil || !s.IsValid() || s.Col == 0 {
		return
	}
	line, ok := lines(s.Pos)
	if !ok || s.Col-1 > len(line) {
		return
	}
	start := 0
	if s.Col > excerptBytes {
		start = s.Col - excerptBytes/2
	}
	line = line[start:min(len(line), start+excerptBytes)]
	column := s.Col - 1 - start
	fmt.Fprintf(b, "    %s\n    %s^%s\n", clean(line), blank(line[:min(column, len(line))]),
		strings.Repeat("~", max(0, min(s.Len-1, len(line)-column-1))))
}

// clean replaces bytes that would disturb a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r == 0x7f || r == '\uFFFD') {
			return '?'
		}
		return r
	}, s)
}

// blank returns white space as wide as s on a terminal, keeping tabs.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}
