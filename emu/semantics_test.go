package emu

import (
	"testing"

	"shmoo/sass"
)

// TestSemanticsTable checks that every operation of the decoder has a row, that no operation has two, and that every row names an
// operation of the decoder.
func TestSemanticsTable(t *testing.T) {
	rows := map[string]int{}
	for _, table := range tables {
		for name, s := range table {
			rows[name]++
			if s.fold == nil && s.exec == nil && s.prepare == nil {
				t.Errorf("%s: an empty row", name)
			}
		}
	}
	for op := sass.Op(1); op.String() != sass.OpInvalid.String(); op++ {
		if n := rows[op.String()]; n != 1 {
			t.Errorf("%s has %d rows, want 1", op, n)
		}
		delete(rows, op.String())
	}
	for name := range rows {
		t.Errorf("%s is no operation of the decoder", name)
	}
}
