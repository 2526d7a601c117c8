package sass

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var printMissing = flag.Bool("missing", false, "list the table rows that no vector reaches")

// vector is one line of testdata/vectors: two 64-bit words, low word first, and the text of a foreign disassembler at byte offset pc.
type vector struct {
	arch  Arch
	pc    uint64
	word  Word
	text  string
	where string
}

// readVectors reads "LO HI [@PC] | TEXT" lines; the file name gives the architecture.
func readVectors(t testing.TB, path string) []vector {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	arch, err := ParseArch(strings.TrimSuffix(filepath.Base(path), ".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		line, _, _ := strings.Cut(sc.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		v := vector{arch: arch, where: fmt.Sprintf("%s:%d", path, n)}
		code, text, ok := strings.Cut(line, "|")
		w := strings.Fields(code)
		if !ok || len(w) < 2 || len(w) > 3 {
			t.Fatalf("%s: want LO HI [@PC] | TEXT", v.where)
		}
		v.word.Lo = parseHex(t, v.where, w[0])
		v.word.Hi = parseHex(t, v.where, w[1])
		if len(w) == 3 {
			v.pc = parseHex(t, v.where, strings.TrimPrefix(w[2], "@"))
		}
		v.text = strings.TrimSpace(text)
		out = append(out, v)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func parseHex(t testing.TB, where, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	return v
}

func allVectors(t testing.TB) []vector {
	t.Helper()
	files, err := filepath.Glob("testdata/vectors/sm_*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vector files: %v", err)
	}
	var out []vector
	for _, f := range files {
		out = append(out, readVectors(t, f)...)
	}
	return out
}

// sameText compares disassembly: runs of blanks count as one.
func sameText(a, b string) bool {
	return slices.Equal(strings.Fields(a), strings.Fields(b))
}

func TestVectors(t *testing.T) {
	for _, v := range allVectors(t) {
		var i Inst
		if err := DecodeWord(&i, v.arch, v.word); err != nil {
			t.Errorf("%s: %s: %v, want %q", v.where, v.arch, err, v.text)
			continue
		}
		if got := string(i.AppendText(nil, v.pc)); !sameText(got, v.text) {
			t.Errorf("%s: %s\n got %s\nwant %s", v.where, v.arch, got, v.text)
		}
	}
}

// TestRowCoverage counts which rows the vectors reach in which family. Rows that no compiler output at hand contains are decoded
// from notes alone; their number may fall, not rise.
func TestRowCoverage(t *testing.T) {
	const maxUnreached = 180
	reached := make([]bool, len(rowTab))
	for _, v := range allVectors(t) {
		var i Inst
		if DecodeWord(&i, v.arch, v.word) == nil {
			reached[i.Row] = true
		}
	}
	missing := 0
	for n := 1; n < len(rowTab); n++ {
		if !reached[n] {
			missing++
			if *printMissing {
				t.Logf("row %d: opcode %x %s", n, rowTab[n].op13, rowTab[n].name)
			}
		}
	}
	t.Logf("%d of %d rows reached by vectors", len(rowTab)-1-missing, len(rowTab)-1)
	if missing > maxUnreached {
		t.Errorf("%d rows are reached by no vector, want at most %d (-missing lists them)", missing, maxUnreached)
	}
}
