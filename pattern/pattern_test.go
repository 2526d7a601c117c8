package pattern

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/diag"
	"shmoo/internal/golden"
	"shmoo/smem"
)

const recording = "testdata/h200_patterns.csv.gz"

func hopper() *smem.Unit { return arch.MustLookup("sm_90").Unit }

// replay compares the text of a pattern file with the Hopper unit.
func replay(t *testing.T, text string) (*Result, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "p.csv")
	if err != nil {
		return nil, err
	}
	return Replay(context.Background(), r, hopper())
}

// recorded returns the rows of the recording without its header, split at commas.
func recorded(t *testing.T) (header string, rows [][]string) {
	t.Helper()
	file, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines[1:] {
		rows = append(rows, strings.Split(line, ","))
	}
	return lines[0], rows
}

func join(header string, rows [][]string) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, row := range rows {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return b.String()
}

// Every pattern that an H200 was probed with is explained, and so is every one that its counters counted.
func TestReplayExplainsTheRecording(t *testing.T) {
	file, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := NewReader(file, "h200_patterns.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Replay(context.Background(), r, hopper())
	if err != nil {
		t.Fatal(err)
	}
	want := Tally{Patterns: 49588, Agree: 49588, Bounded: 690, Counted: 879, NcuDiffers: 30}
	if got.Tally != want {
		t.Errorf("tally %+v, want %+v\nfirst disagreements: %+v", got.Tally, want, got.Disagreements)
	}
	if len(got.Ops) != 29 {
		t.Errorf("%d ops, want 29", len(got.Ops))
	}
}

// A recording that is off by one cycle anywhere is found out, row by row.
func TestReplayFindsShiftedCycles(t *testing.T) {
	header, rows := recorded(t)
	rows = slices.DeleteFunc(rows, func(row []string) bool { return opTable[lookup([]byte(row[0]))].Loop })
	for _, shift := range []float64{-1, 1} {
		t.Run(fmt.Sprintf("%+g", shift), func(t *testing.T) {
			shifted := make([][]string, len(rows))
			for i, row := range rows {
				cycles, err := strconv.ParseFloat(row[3], 64)
				if err != nil {
					t.Fatal(err)
				}
				shifted[i] = slices.Clone(row)
				shifted[i][3] = fmt.Sprintf("%.3f", max(0, cycles+shift))
			}
			got, err := replay(t, join(header, shifted))
			if err != nil {
				t.Fatal(err)
			}
			if got.Disagree != len(rows) || len(got.Disagreements) != MaxDisagreements {
				t.Errorf("%d of %d rows disagree, %d kept; want all, and %d kept",
					got.Disagree, len(rows), len(got.Disagreements), MaxDisagreements)
			}
		})
	}
}

// A change of one figure or address of a row of the recording makes that row disagree, in what was changed.
func TestReplayFindsTampering(t *testing.T) {
	const header = "op,mask,addresses,cycles,wavefronts,conflicts,unit_cycles\n"
	lanes := func(stride int) []string {
		var s []string
		for lane := range 32 {
			s = append(s, fmt.Sprint(lane*stride))
		}
		return s
	}
	moved := lanes(4)
	moved[7] = "1024" // joins lane 0's bank
	for _, tt := range []struct {
		name, row string
		in        string // "" when it agrees
	}{
		{"genuine", "ld32,ffffffff," + strings.Join(lanes(4), " ") + ",1.88,1,0", ""},
		{"address", "ld32,ffffffff," + strings.Join(moved, " ") + ",1.88,1,0", "cycles wavefronts conflicts"},
		{"address of an inactive lane", "ld32,ffffff7f," + strings.Join(moved, " ") + ",1.88,1,0", ""},
		{"mask", "ld32,0000000f," + strings.Join(lanes(128), " ") + ",3.9,3,2", "cycles wavefronts conflicts"},
		{"wavefronts", "ld32,ffffffff," + strings.Join(lanes(4), " ") + ",1.88,2,0", "wavefronts"},
		{"conflicts", "ld32,ffffffff," + strings.Join(lanes(4), " ") + ",1.88,1,1", "conflicts"},
		{"op", "ld128,ffffffff," + strings.Join(lanes(16), " ") + ",32.88,,", "cycles"},
		{"misaligned", "ld64,ffffffff," + strings.Join(lanes(4), " ") + ",2.88,,", "addresses"},
		{"out of bounds", "ld32,ffffffff," + strings.Join(lanes(1<<20), " ") + ",32.88,,", "addresses"},
		{"cas, conflicts once per pass", "atomcas,ffffffff," + strings.Join(lanes(8), " ") + ",4.8,4,1", ""},
		{"cas, conflicts per wavefront", "atomcas,ffffffff," + strings.Join(lanes(8), " ") + ",4.8,4,2", "conflicts"},
		{"unit cycles, no constant", "ld32,ffffffff," + strings.Join(lanes(8), " ") + ",,,,2.04", ""},
		{"unit cycles with a constant", "ld32,ffffffff," + strings.Join(lanes(8), " ") + ",,,,2.88", "unit_cycles"},
		{"unit cycles below", "ld32,ffffffff," + strings.Join(lanes(8), " ") + ",,,,1.4", "unit_cycles"},
		{"unit cycles at the floor", "ld128,00000007," + strings.Join(lanes(16), " ") + ",,,,4.02", ""},
		{"unit cycles at the floor of a pair", "ld128,00000001," + strings.Join(lanes(16), " ") + ",,,,2.02", ""},
		{"unit cycles below the floor", "ld128,00000007," + strings.Join(lanes(16), " ") + ",,,,3.02", "unit_cycles"},
		{"loop, unit cycles below its bound", "atomaddf,ffffffff," + strings.Join(lanes(8), " ") + ",,,,3.2", "unit_cycles"},
		{"loop above its bound", "atomaddf,ffffffff," + strings.Join(lanes(8), " ") + ",300,,", ""},
		{"loop below its bound", "atomaddf,ffffffff," + strings.Join(lanes(8), " ") + ",3.9,,", "cycles"},
		{"misaligned loop", "atomadd64,ffffffff," + strings.Join(lanes(4), " ") + ",300,,", "addresses"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := replay(t, header+tt.row+strings.Repeat(",", 6-strings.Count(tt.row, ",")))
			if err != nil {
				t.Fatal(err)
			}
			in := ""
			if len(got.Disagreements) > 0 {
				in = strings.Join(got.Disagreements[0].In, " ")
			}
			if in != tt.in || got.Agree+got.Disagree != 1 || (got.Disagree == 1) != (tt.in != "") {
				t.Errorf("differs in %q with tally %+v, want %q", in, got.Tally, tt.in)
			}
		})
	}
}

func TestReplayCountsWhatItCannotJudge(t *testing.T) {
	volta := arch.MustLookup("sm_70").Unit
	const text = "op,mask,addresses,cycles\nld32,1,0,1.9\nldm1,ff,0 16 32 48 64 80 96 112,1.9\nst32,1,0,\natomaddf,1,0,\n"
	r, err := NewReader(strings.NewReader(text), "p.csv")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Replay(context.Background(), r, volta)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Tally{Patterns: 4, Agree: 1, Unsupported: 1, Unmeasured: 2}); got.Tally != want {
		t.Errorf("tally %+v, want %+v", got.Tally, want)
	}
}

func TestReplayGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/mixed.csv")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(text), "mixed.csv")
	if err != nil {
		t.Fatal(err)
	}
	result, err := Replay(context.Background(), r, hopper())
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	if err := result.WriteText(&plain); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "golden/mixed.txt", plain.Bytes())
	golden.Check(t, "golden/mixed.json", append(asJSON, '\n'))
}

func TestReaderForms(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"plain", "op,mask,addresses,cycles,wavefronts\nld32,3,0 4,1.5,1\n"},
		{"no last line end", "op,mask,addresses,cycles,wavefronts\nld32,3,0 4,1.5,1"},
		{"windows line ends and byte order mark", "\ufeffop,mask,addresses,cycles,wavefronts\r\nld32,3,0 4,1.5,1\r\n"},
		{"other order, unknown column", "note,wavefronts,cycles,addresses,mask,op\nx,1,1.5,0 4,3,ld32\n"},
		{"comments and empty lines", "# probe\n\nop,mask,addresses,cycles,wavefronts\n  # row\n\nld32,0x3,0 4,1.5,1\n"},
		{"quotes", `"op","mask","say ""x"", y",addresses,cycles,wavefronts` + "\n" + `ld32,3,"a,b","0 4","1.5",1` + "\n"},
		{"spaces", "op, Mask ,addresses,cycles,wavefronts\nld32, 3,  0  4 ,1.5 , 1\n"},
		{"gzip", pack("op,mask,addresses,cycles,wavefronts\nld32,3,0 4,1.5,1\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := NewReader(strings.NewReader(tt.text), "p.csv")
			if err != nil {
				t.Fatal(err)
			}
			var p Pattern
			if err := r.Read(&p); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintln(p.Op.Name, p.Mask, p.Addr, p.Cycles, p.Wavefronts, p.Conflicts, p.NcuWavefronts)
			if want := "ld32 3 [0 4] 1.5 1 -1 -1\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if err := r.Read(&p); !errors.Is(err, io.EOF) {
				t.Errorf("second read: %v, want io.EOF", err)
			}
		})
	}
}

func TestReaderErrors(t *testing.T) {
	const header = "op,mask,addresses,cycles,wavefronts,conflicts\n"
	packed := pack(header + strings.Repeat("ld32,1,0,1.9,,\n", 1000))
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "p.csv:1: error: got an empty file, want a header that names the columns op, mask, addresses"},
		{"only comments", "# x\n", "p.csv:1: error: got an empty file, want a header that names the columns op, mask, addresses"},
		{"no header", "ld32,1,0\n", `p.csv:1:1: error: got header "ld32,1,0", want a column op`},
		{"missing column", "op,mask\n", `p.csv:1:1: error: got header "op,mask", want a column addresses`},
		{"column twice", "op,mask,addresses,op\n", "p.csv:1: error: got column op twice, want it once"},
		{"no rows", header, "p.csv:1: error: got a header without rows, want at least one pattern"},
		{"few fields", header + "ld32,1,0\n", "p.csv:2: error: got 3 fields, want 6 as in the header"},
		{"many fields", header + "ld32,1,0,,,,\n", "p.csv:2: error: got 7 fields, want 6 as in the header"},
		{"op", header + "ld48,1,0,1,,\n", `p.csv:2:1: error: column op: got "ld48", want one of ld8 st8`},
		{"mask", header + "ld32,xyz,0,1,,\n", `p.csv:2:6: error: column mask: got "xyz", want the active lanes as 1 to 16 hex digits`},
		{"no mask", header + "ld32,,0,1,,\n", `p.csv:2:6: error: column mask: got "", want`},
		{"mask with sign", header + "ld32,+1,0,1,,\n", `column mask: got "+1"`},
		{"mask with underscore", header + "ld32,1_1,0,1,,\n", `column mask: got "1_1"`},
		{"address", header + "ld32,1,0x10,1,,\n", `p.csv:2:8: error: column addresses: got "0x10", want 1 to 64 byte offsets below 2^32`},
		{"negative address", header + "ld32,1,-4,1,,\n", `column addresses: got "-4"`},
		{"large address", header + "ld32,1,4294967296,1,,\n", `column addresses: got "4294967296"`},
		{"no addresses", header + "ld32,1,,1,,\n", `column addresses: got ""`},
		{"65 addresses", header + "ld32,1," + strings.Repeat("0 ", 65) + ",1,,\n", `column addresses: got "0 0`},
		{"active lane without address", header + "ld32,ff,0 4 8,1,,\n",
			"p.csv:2: error: column addresses: got 3 byte offsets, want at least 8: lane 7 is active"},
		{"too many lanes for the unit", header + "ld32,100000000," + strings.Repeat("0 ", 33) + ",1,,\n",
			"p.csv:2: error: column mask: got 0x100000000, want lanes of a warp of 32"},
		{"cycles", header + "ld32,1,0,fast,,\n", `p.csv:2:10: error: column cycles: got "fast", want a number of cycles, or nothing`},
		{"negative cycles", header + "ld32,1,0,-1,,\n", `column cycles: got "-1"`},
		{"cycles not a number", header + "ld32,1,0,NaN,,\n", `column cycles: got "NaN"`},
		{"infinite cycles", header + "ld32,1,0,1e999,,\n", `column cycles: got "1e999"`},
		{"wavefronts", header + "ld32,1,0,1,1.5,\n", `p.csv:2:12: error: column wavefronts: got "1.5", want a whole number of wavefronts`},
		{"conflicts", header + "ld32,1,0,1,1,x\n", `p.csv:2:14: error: column conflicts: got "x", want a whole number of conflicts`},
		{"nul bytes", header + "ld32,\x00\x00,0,1,,\n", `column mask: got "\x00\x00"`},
		{"open quote", header + `ld32,"1,0,1,,` + "\n", "p.csv:2: error: got a field in quotes without end, want a closing quote"},
		{"text after quote", header + `"ld32"x,1,0,1,,` + "\n", `p.csv:2: error: got "x,1,0,1,," after a closing quote, want a comma`},
		{"long field", header + "ld32," + strings.Repeat("f", 1000) + ",0,1,,\n", `got "` + strings.Repeat("f", 40) + `"..., want`},
		{"long line", header + strings.Repeat("x", 10<<20), "p.csv:2: error: got a line of more than 65536 bytes"},
		{"many columns", strings.Repeat(",", 1000), "p.csv:1: error: got more than 256 fields"},
		{"broken gzip header", "\x1f\x8b\x08", "p.csv:1: error: got broken gzip data"},
		{"cut gzip", packed[:len(packed)/2], "error: got broken gzip data (unexpected EOF), want a whole gzip stream"},
		{"bad gzip data", packed[:20] + "\xff\xff\xff\xff" + packed[24:], "error: got broken gzip data"},
		{"bomb without line end", pack(strings.Repeat("x", 100<<20)), "p.csv:1: error: got a line of more than 65536 bytes"},
		{"bomb of line ends", pack(strings.Repeat("\n", 100<<20)), "error: got more than 16777216 bytes of comments and empty lines"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := replay(t, tt.text)
			if err == nil {
				t.Fatalf("got %+v, want error %q", result.Tally, tt.want)
			}
			var d *diag.Diagnostic
			if !errors.As(err, &d) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q (%T), want a diagnostic with %q", err, err, tt.want)
			}
		})
	}
}

// A failing device is not the file's fault.
func TestReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("disk on fire")
	r, err := NewReader(io.MultiReader(strings.NewReader("op,mask,addresses\n"), failing{broken}), "p.csv")
	if err != nil {
		t.Fatal(err)
	}
	var p Pattern
	if err := r.Read(&p); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "p.csv: ") {
		t.Errorf("error %v, want p.csv: %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func pack(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text) // a bytes.Buffer does not fail
	w.Close()
	return b.String()
}

func source(t *testing.T, text string) *Source {
	t.Helper()
	s, err := NewSource(context.Background(), "p.csv", func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSource(t *testing.T) {
	s := source(t, "op,mask,addresses\nst64,1,8\nld128,3,16 16\natomaddf,1,4\nst64,2,0 16\n")
	var got []string
	for a, err := range s.Accesses(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		site := s.Sites()[a.Site]
		r := a.Request
		got = append(got, fmt.Sprintf("%s %s %s/%d %x %v x%d %s", site.Pos.String(), site.Instr, r.Op, r.Width, r.Active, r.Addr, a.Count,
			a.Unresolved))
	}
	want := []string{
		"p.csv:2 STS.64 store/8 1 [8] x1 ",
		"p.csv:3 LDS.128 load/16 3 [16 16] x1 ",
		"p.csv:4 ATOMS.CAST.SPIN atomic/4 1 [] x1 " + UnresolvedLoop,
		"p.csv:2 STS.64 store/8 2 [0 16] x1 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if sites := s.Sites(); len(sites) != 3 {
		t.Errorf("%d sites, want 3", len(sites))
	}
}

func TestSourceStops(t *testing.T) {
	s := source(t, "op,mask,addresses\n"+strings.Repeat("st64,1,8\n", 5000))
	n := 0
	for range s.Accesses(context.Background()) {
		if n++; n == 10 {
			break
		}
	}
	if n != 10 {
		t.Errorf("%d steps, want 10", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	n = 0
	for _, err := range s.Accesses(ctx) {
		cancel()
		n++
		last = err
	}
	if !errors.Is(last, context.Canceled) || n > 2*cancelRows {
		t.Errorf("cancelled walk ended after %d steps with %v, want %v soon", n, last, context.Canceled)
	}
}

func TestSourceNoticesAChangedFile(t *testing.T) {
	text := "op,mask,addresses\nst64,1,8\n"
	s, err := NewSource(context.Background(), "p.csv", func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text += "ld32,1,8\n"
	var last error
	var accesses []access.Access
	for a, err := range s.Accesses(context.Background()) {
		if last = err; err == nil {
			accesses = append(accesses, *a)
		}
	}
	if last == nil || len(accesses) != 1 || !strings.Contains(last.Error(), "p.csv:3: error: got op ld32") {
		t.Errorf("%d accesses and error %v, want 1 and one about line 3", len(accesses), last)
	}
}

// Whatever the bytes, reading ends with io.EOF or a diagnostic, and what is read is well formed.
func FuzzReader(f *testing.F) {
	f.Add([]byte("op,mask,addresses,cycles,wavefronts,conflicts\nld64,ff,0 8 16 24 32 40 48 56,1.9,1,0\n"))
	f.Add([]byte("# c\n\"op\",mask,\"addresses\"\natomaddf,0x1,\"0\"\n"))
	f.Add([]byte(pack("op,mask,addresses\nstm4t,ffffffff,0 16\n")))
	mixed, err := os.ReadFile("testdata/mixed.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(mixed)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data), "f")
		for err == nil {
			var p Pattern
			if err = r.Read(&p); err == nil && (p.Op == nil || len(p.Addr) == 0 || p.Mask>>uint(len(p.Addr)) != 0) {
				t.Fatalf("line %d: got %+v, want an op, and an address for every active lane", p.Line, p)
			}
		}
		var d *diag.Diagnostic
		if !errors.Is(err, io.EOF) && !errors.As(err, &d) {
			t.Fatalf("error %v (%T), want io.EOF or a diagnostic", err, err)
		}
		if r, err := NewReader(bytes.NewReader(data), "f"); err == nil {
			Replay(context.Background(), r, hopper()) // must not crash
		}
	})
}

func BenchmarkReplay(b *testing.B) {
	packed, err := os.ReadFile(recording)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(packed), "h200")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Replay(context.Background(), r, hopper()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWriterIsReadBack(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, "device: a\nb")
	for _, err := range []error{
		w.Write("ld32", 0x3, []uint32{0, 4294967292}, 1.0004),
		w.Write("st64", 0xffffffff, make([]uint32, 32), -1),
		w.Write("atomadd", 1, []uint32{8}, math.Inf(1)),
		w.Flush(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := NewReader(&b, "w.csv")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	var p Pattern
	for err = r.Read(&p); err == nil; err = r.Read(&p) {
		fmt.Fprintln(&got, p.Line, p.Op.Name, p.Mask, len(p.Addr), p.Addr[len(p.Addr)-1], p.Cycles, p.UnitCycles)
	}
	if want := "3 ld32 3 2 4294967292 -1 1\n4 st64 4294967295 32 0 -1 -1\n5 atomadd 1 1 8 -1 -1\n"; got.String() != want ||
		!errors.Is(err, io.EOF) {
		t.Errorf("read back %q with %v, want %q", got.String(), err, want)
	}
}
