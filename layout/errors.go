package layout

import (
	"errors"
	"fmt"
)

// Error reports a text that is not a layout or transform, or parameters that no layout has. Line and Col count from 1
// and are 0 where no text was parsed; Col counts characters.
type Error struct {
	Line, Col int
	Msg       string // what was got and what was wanted
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return "layout: " + e.Msg
	}
	return fmt.Sprintf("layout:%d:%d: %s", e.Line, e.Col, e.Msg)
}

func errorf(format string, args ...any) error { return &Error{Msg: fmt.Sprintf(format, args...)} }

// ErrUndecided says that a question would need a look at more than MaxExhaustive indices.
var ErrUndecided = errors.New("layout: undecided: not linear, not nested strides, and too large to check index by index")
