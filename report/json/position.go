package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// located adds line and column to the errors of encoding/json that know an offset.
func located(data []byte, err error) error {
	offset := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
	}
	if offset < 0 {
		return err
	}
	line, col := position(data, offset)
	return fmt.Errorf("%d:%d: %w", line, col, err)
}

// position returns line and column, counted from 1, of the byte before offset.
func position(data []byte, offset int64) (line, col int) {
	before := data[:max(0, min(offset, int64(len(data)))-1)]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
