package cubin

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers branch on, to be found with [errors.Is].
var (
	// ErrFormat marks a file that contradicts itself or ends too early.
	ErrFormat = errors.New("malformed file")
	// ErrLimit marks a file that asks for more than [Limits] allows.
	ErrLimit = errors.New("limit exceeded")
	// ErrUnrecognised marks a file of no kind that this package reads.
	ErrUnrecognised = errors.New("not a file with GPU code")
	// ErrNotELF marks an entry without machine code: PTX text or intermediate code.
	ErrNotELF = errors.New("entry holds no machine code")
)

// Error is what every failure on a file's content returns: the place, and what was wrong there. Fields that do not
// apply are empty, or -1 for Entry and Offset.
type Error struct {
	File    string // path, or path(member) in an archive
	Entry   int    // index into File.Entries
	Section string // section of the cubin or of the host file
	Offset  int64  // bytes from the start of Section, or of the entry or file if Section is empty
	Err     error  // cause; wraps one of the Err values of this package
}

// Error writes the place from the outside in, then the cause.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	if e.Entry >= 0 {
		fmt.Fprintf(&b, "entry %d: ", e.Entry)
	}
	if e.Section != "" {
		fmt.Fprintf(&b, "section %s: ", e.Section)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, "offset %#x: ", e.Offset)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// formatError builds an ErrFormat at a place inside a cubin; the entry and the file are filled in further out.
func formatError(section string, offset int64, format string, args ...any) error {
	return &Error{Entry: -1, Section: section, Offset: offset, Err: kindError{ErrFormat, fmt.Sprintf(format, args...)}}
}

// limitError is formatError for ErrLimit.
func limitError(section string, offset int64, format string, args ...any) error {
	return &Error{Entry: -1, Section: section, Offset: offset, Err: kindError{ErrLimit, fmt.Sprintf(format, args...)}}
}

// kindError carries a message of its own and still answers errors.Is for its kind.
type kindError struct {
	kind error
	text string
}

func (e kindError) Error() string { return e.text }
func (e kindError) Unwrap() error { return e.kind }

// at adds file and entry to an error from further in.
func at(err error, file string, entry int) error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{File: file, Entry: entry, Offset: -1, Err: err}
	}
	c := *e
	if c.File == "" {
		c.File = file
	}
	if c.Entry < 0 {
		c.Entry = entry
	}
	return &c
}
