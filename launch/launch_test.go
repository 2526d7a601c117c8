package launch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contents returns the bytes that a fill writes.
func contents(t *testing.T, typeName string, count int, how string) []byte {
	t.Helper()
	elem, err := lookupType(typeName)
	if err != nil {
		t.Fatal(err)
	}
	write, err := parseFill(how, count)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, count*elem.bytes)
	if err := write(elem, b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFills(t *testing.T) {
	tests := []struct {
		elem, how string
		want      []byte
	}{
		{"i16", ":iota", []byte{0, 0, 1, 0, 2, 0}},
		{"f16", ":iota", []byte{0, 0, 0, 0x3c, 0, 0x40}},
		{"f32", ":value=-1.5", []byte{0, 0, 0xc0, 0xbf, 0, 0, 0xc0, 0xbf, 0, 0, 0xc0, 0xbf}},
		{"bf16", ":value=3", []byte{0x40, 0x40, 0x40, 0x40, 0x40, 0x40}},
		{"u8", ":value=255", []byte{255, 255, 255}},
		{"i32", ":zero", make([]byte, 12)},
		// 1*1664525 + 1013904223 = 0x3c88596c, and so on from there
		{"i32", ":lcg", []byte{0x59, 0x88, 0x3c, 0x0, 0x85, 0x88, 0x5e, 0x0, 0x1, 0x16, 0x81, 0x0}},
	}
	for _, tt := range tests {
		t.Run(tt.elem+tt.how, func(t *testing.T) {
			if got := contents(t, tt.elem, 3, tt.how); !bytes.Equal(got, tt.want) {
				t.Errorf("got % x, want % x", got, tt.want)
			}
		})
	}
	a, b := contents(t, "f32", 100, ":random"), contents(t, "f32", 100, ":random")
	if !bytes.Equal(a, b) {
		t.Error("two random fills differ: runs would not repeat")
	}
	for i := 0; i < len(a); i += 4 {
		if v := math.Float32frombits(binary.LittleEndian.Uint32(a[i:])); v < 0 || v > 1 {
			t.Fatalf("random element %d is %v, want 0 to 1", i/4, v)
		}
	}
}

func TestFile(t *testing.T) {
	folder := t.TempDir()
	npy := func(descr, order string) []byte {
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (2,), }\n", descr, order)
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
		return append(append(b, header...), 1, 0, 0, 0, 2, 0, 0, 0)
	}
	tests := []struct {
		name string
		data []byte
		want string // of the error
	}{
		{"ok.npy", npy("<i4", "False"), ""},
		{"raw.bin", []byte{1, 0, 0, 0, 2, 0, 0, 0}, ""},
		{"big.npy", npy(">i4", "False"), "big endian"},
		{"wide.npy", npy("<i8", "False"), "elements of 8 bytes, want 4"},
		{"column.npy", npy("<i4", "True"), "column-major"},
		{"short.npy", npy("<i4", "False")[:80], "bytes of data, want the 8"},
		{"cut.npy", []byte("\x93NUMPY\x01\x00\xff\xff"), "header"},
		{"long.bin", make([]byte, 9), "9 bytes of data, want the 8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(folder, tt.name)
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			a, err := ParseArg("i32[2]:file=" + path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Value()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestArgErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "want TYPE=VALUE",
		"f32":                "want TYPE=VALUE",
		"f31=1":              `unknown type "f31"`,
		"i32=x":              `"x" is not an integer`,
		"i8=300":             "does not fit 8 bits",
		"f32[0]:zero":        "elements, want 1 to",
		"f32[99999999999]:z": "elements, want 1 to",
		"f32[8":              "is not closed",
		"f32[8]":             "want :zero",
		"f32[8]:full":        `unknown fill "full"`,
		"-1:i32=1":           "position -1",
		"bytes=0g":           "not hexadecimal",
	} {
		if _, err := ParseArg(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseArg(%q): %v, want %q", text, err, want)
		}
	}
}

func TestPositions(t *testing.T) {
	var l Launch
	for _, text := range []string{"i32=1", "3:ptr", "null"} {
		if err := l.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	for _, a := range l.Args {
		got = append(got, a.Index)
	}
	if fmt.Sprint(got) != "[0 3 4]" {
		t.Errorf("positions %v, want 0 3 4", got)
	}
	if err := l.Add("3:i32=2"); err == nil {
		t.Error("position 3 is taken twice without an error")
	}
	if _, err := l.Values(4); err == nil || !strings.Contains(err.Error(), "the kernel has 4 parameters") {
		t.Errorf("argument 4 of 4 parameters: %v", err)
	}
}

func TestParse(t *testing.T) {
	good := []string{
		"kernel = \"k\"\ngrid = [4, 2]\nblock = [32, 8]\nshared = 64\nargs = [\"i32=1\", \"ptr\"]\n",
		`{"kernel": "k", "grid": [4, 2], "block": [32, 8], "shared": 64, "args": ["i32=1", "ptr"]}`,
	}
	for _, text := range good {
		l, err := Parse("l", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if l.Kernel != "k" || l.Grid != [3]int{4, 2, 1} || l.Block != [3]int{32, 8, 1} || l.DynamicShared != 64 || len(l.Args) != 2 {
			t.Errorf("got %+v", l)
		}
	}
	for text, want := range map[string]string{
		"blok = [1]":         "unknown key blok",
		`{"blok": [1]}`:      "blok",
		"block = [1,2,3,4]":  "block has 4 extents",
		"grid = [0]":         "positive extents",
		"shared = -1":        "shared = -1",
		"block = [":          "line 1",
		"args = [\"i32=x\"]": "not an integer",
		"{":                  "EOF",
	} {
		if _, err := Parse("l", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", text, err, want)
		}
	}
}

func TestParseTriton(t *testing.T) {
	l, err := Parse("k.json", []byte(`{"name": "softmax", "num_warps": 4, "shared": 16, "num_stages": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	if l.Kernel != "softmax" || l.Block != [3]int{128, 1, 1} || l.DynamicShared != 16 {
		t.Errorf("got %+v", l)
	}
	for _, text := range []string{`{}`, `{"num_warps": 4}`, `{"num_warps": 0, "shared": 1}`, `[`} {
		if _, err := ParseTriton("k.json", []byte(text)); err == nil {
			t.Errorf("ParseTriton(%s): no error", text)
		}
	}
}

const details = `==PROF== Connected to process 544
"ID","Process ID","Kernel Name","Block Size","Grid Size","Section Name","Metric Name","Metric Unit","Metric Value"
"0","544","transpose","(32, 8, 1)","(4, 4, 1)","x","l1tex__data_pipe_lsu_wavefronts_mem_shared.sum","","17,168"
"0","544","transpose","(32, 8, 1)","(4, 4, 1)","Launch","Dynamic Shared Memory Per Block","Kbyte/block","8.45"
"0","544","transpose","(32, 8, 1)","(4, 4, 1)","Launch","Function Cache Configuration","","CachePreferNone"
"1","544","scan","(64, 1, 1)","(2, 1, 1)","x","l1tex__data_pipe_lsu_wavefronts_mem_shared.sum","","12"
`

const source = `"Kernel Name","transpose",
"Address","Source","Instructions Executed","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"
"0x7fd6ad7a0000","      MOV R1, c[0x0][0x28]","16","0","0"
"0x7fd6ad7a0010","      LDS R7, [R7]","512","16384","512"
`

func TestReadProfiles(t *testing.T) {
	profiles, err := ReadProfiles("p.csv", strings.NewReader(details))
	if err != nil {
		t.Fatal(err)
	}
	if len(profiles) != 2 {
		t.Fatalf("%d launches, want 2", len(profiles))
	}
	p := profiles[0]
	if p.Launch.Kernel != "transpose" || p.Launch.Block != [3]int{32, 8, 1} || p.Launch.Grid != [3]int{4, 4, 1} ||
		p.Launch.DynamicShared != 8450 || p.Metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] != 17168 {
		t.Errorf("got %+v", p)
	}
	profiles, err = ReadProfiles("s.csv", strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	want := SourceRow{0x10, "LDS R7, [R7]", 512, 16384, 512}
	if len(profiles) != 1 || len(profiles[0].Source) != 2 || profiles[0].Source[1] != want {
		t.Errorf("got %+v, want the last row %+v", profiles[0], want)
	}
	for _, text := range []string{"", "hello\n", "\"a", "\"Address\",\"Source\"\n00", `"Kernel Name","Metric Name"` + "\n"} {
		if _, err := ReadProfiles("x.csv", strings.NewReader(text)); err == nil {
			t.Errorf("ReadProfiles(%q): no error", text)
		}
	}
}

func FuzzReadProfiles(f *testing.F) {
	f.Add(details)
	f.Add(source)
	f.Fuzz(func(_ *testing.T, text string) {
		profiles, err := ReadProfiles("x", strings.NewReader(text))
		if err == nil && len(profiles) == 0 {
			panic("no profiles and no error")
		}
	})
}

func FuzzParseArg(f *testing.F) {
	f.Add("2:f32[16]:random")
	f.Add("i32=0x10")
	f.Fuzz(func(_ *testing.T, text string) {
		if a, err := ParseArg(text); err == nil && !strings.Contains(text, "file=") && len(text) < 12 {
			_, _ = a.Value() // it must return, with an error or not
		}
	})
}
