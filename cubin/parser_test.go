package cubin

import (
	"strings"
	"testing"
)

func FuzzAttributes(f *testing.F) {
	f.Add([]byte{4, 0x17, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x21, 0, 3, 0x19, 8, 0, 1, 0x3e, 0, 0, 2, 0x4c, 1, 0})
	f.Add([]byte{4, 0x34, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0, 32, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		k := &Kernel{Code: make([]byte, 256)}
		lim := Limits{MaxParams: 10}
		if err := readKernelInfo(k, "s", data, &lim); err == nil && len(k.Params) > 10 {
			t.Errorf("%d parameters, limit 10", len(k.Params))
		}
		_, _ = readModuleInfo("s", data, 4)
	})
}

// lineFile is an ELF file with a line section and nothing else.
func lineFile(data []byte) *elfFile {
	return &elfFile{
		data: make([]byte, 1024),
		sections: []section{{}, {name: ".text.k", size: 64, data: make([]byte, 64)}, {name: ".debug_line", data: data},
			{name: ".debug_str", data: []byte("_Z1fv\x00_Z1gv\x00")}},
		symbols: []symbol{{}, {name: "k", section: 1}},
	}
}

// lineHeader is the header of a line program of version 2 with one file and a base for function names.
var lineHeader = []byte{2, 0, 27, 0, 0, 0, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0}

func lineProgram(ops ...byte) []byte {
	head := append([]byte(nil), lineHeader...)
	head[2] = byte(len(head) - 6)
	body := append(head, ops...)
	return append([]byte{byte(len(body)), 0, 0, 0}, body...)
}

func TestLineProgram(t *testing.T) {
	address := []byte{0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0}
	ops := func(b ...byte) []byte { return append(append([]byte(nil), address...), b...) }
	tests := []struct {
		name string
		ops  []byte
		want string // error, "" for none
		rows int
	}{
		{"one row", ops(1, 2, 64, 0, 1, 1), "", 1},
		{"special opcodes", ops(1, 0xf3, 0x0a+6, 2, 48, 0, 1, 1), "", 3},
		{"a repeated row is one row", ops(1, 1, 1, 2, 64, 0, 1, 1), "", 1},
		{"inlined", ops(1, 0, 3, 0x90, 1, 0, 3, 5, 1, 2, 64, 0, 1, 1), "", 2},
		{"unknown extended opcode", ops(1, 0, 4, 0x77, 9, 9, 9, 2, 64, 0, 1, 1), "", 1},
		{"inlined at itself", ops(0, 3, 0x90, 1, 0, 1, 0, 1, 1), "row 1: inlined at row 1, want an earlier one", 0},
		{"inlined at a later row", ops(1, 0, 3, 0x90, 9, 0, 3, 1, 1, 0, 1, 1), "row 2: inlined at row 9", 0},
		{"addresses run back", append(ops(2, 32, 1), append(ops(3, 1, 1), 0, 1, 1)...), "row 2: address 0x0 behind 0x20", 0},
		{"no end", ops(1), "sequence without end", 0},
		{"file", ops(4, 2, 1, 0, 1, 1), "row 1: file 2 of 1", 0},
		{"line below zero", ops(3, 0x70, 1, 0, 1, 1), "row 1: line -15", 0},
		{"function name", ops(1, 0, 3, 0x90, 1, 99, 1), "function 1: name offset 0x63: table has 0xc bytes", 0},
		{"number without end", ops(2, 0x80), "got 0 bytes, want 1", 0},
		{"number too long", ops(2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1), "more than 64 bits", 0},
		{"extended opcode cut", ops(0, 50, 2), "extended opcode of 50 bytes: 1 are left", 0},
		{"extended opcode of no bytes", ops(0, 0), "extended opcode of 0 bytes", 0},
		{"address of 3 bytes", []byte{0, 4, 2, 0, 0, 0}, "address of 3 bytes, want 4 or 8", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lim := DefaultLimits()
			_, seqs, err := readLines(lineFile(lineProgram(tt.ops...)), nil, &lim)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want an error with %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(seqs[1]) != 1 || len(seqs[1][0].rows) != tt.rows || seqs[1][0].end != 64 {
				t.Errorf("got %+v, want %d rows that end at 64", seqs, tt.rows)
			}
		})
	}
}

func TestLineProgramLimits(t *testing.T) {
	lim := DefaultLimits()
	lim.MaxLineRows = 2
	_, _, err := readLines(lineFile(lineProgram(1, 0xf3, 0xf3, 0, 1, 1)), nil, &lim)
	if err == nil || !strings.Contains(err.Error(), "more than 2 rows") {
		t.Errorf("got %v, want an error on the rows", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add(lineProgram(0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xf3, 0, 3, 0x90, 1, 0, 3, 5, 1, 2, 32, 0, 1, 1))
	f.Add(lineProgram(9, 1, 0, 8, 5, 7, 4, 1, 12, 1, 2, 16, 0, 1, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		lim := Limits{MaxLineRows: 1000, MaxRelocs: 10}
		table, seqs, err := readLines(lineFile(data), nil, &lim)
		if err != nil {
			return
		}
		for _, list := range seqs {
			l := &Lines{seqs: list, table: table}
			for pc := range uint32(64) {
				if n := len(l.AppendAt(nil, pc)); n > 1001 {
					t.Errorf("%d frames at %d", n, pc)
				}
			}
		}
	})
}
