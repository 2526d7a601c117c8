package sass

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// nvdisasm returns the foreign disassembler, from SHMOO_NVDISASM or the path.
func nvdisasm(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("SHMOO_NVDISASM"); p != "" {
		return p
	}
	p, err := exec.LookPath("nvdisasm")
	if err != nil {
		t.Skip("NOT COMPARED: no nvdisasm in PATH and SHMOO_NVDISASM is not set; the recorded vectors are still checked")
	}
	return p
}

var (
	listingLine = regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;`)
	annotation  = regexp.MustCompile(`\s*\(\*.*\*\)$`)
)

// allowedDifference reports why got may differ from the disassembler's text, or "".
func allowedDifference(i *Inst, want, got string) string {
	strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
	switch {
	case strip(want) == strip(got):
		return "blanks"
	case strings.Contains(want, "INVALID") || strings.Contains(want, "???"):
		return "encodings that the disassembler itself calls invalid"
	case strings.Contains(want, "[-0x") && strings.Contains(want, "c["):
		return "offsets above 32 KiB in a constant bank are unsigned here"
	}
	return ""
}

// TestLive gives the words of all vectors to nvdisasm and compares its text now with ours.
func TestLive(t *testing.T) {
	tool := nvdisasm(t)
	byArch := map[Arch][]vector{}
	for _, v := range allVectors(t) {
		byArch[v.arch] = append(byArch[v.arch], v)
	}
	for arch, vs := range byArch {
		var code []byte
		for _, v := range vs {
			code = binary.LittleEndian.AppendUint64(code, v.word.Lo)
			code = binary.LittleEndian.AppendUint64(code, v.word.Hi)
		}
		path := filepath.Join(t.TempDir(), "code")
		if err := os.WriteFile(path, code, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(tool, "-b", liveTarget(arch), path)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", cmd, err)
			continue
		}
		compared := 0
		for _, line := range strings.Split(string(out), "\n") {
			m := listingLine.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			pc := parseHex(t, line, m[1])
			v := vs[pc/Size]
			want := annotation.ReplaceAllString(m[2], "")
			var i Inst
			if err := DecodeWord(&i, arch, v.word); err != nil {
				t.Errorf("%s: %v, want %q", v.where, err, want)
				continue
			}
			compared++
			if got := string(i.AppendText(nil, pc)); !sameText(got, want) && allowedDifference(&i, want, got) == "" {
				t.Errorf("%s: %s\n got %s\nwant %s", v.where, arch, got, want)
			}
		}
		if compared < len(vs) {
			t.Errorf("%s: the disassembler listed %d of %d vectors", arch, compared, len(vs))
		}
		t.Logf("%s: %d instructions compared", arch, compared)
	}
}

// liveTarget is the name under which the disassembler accepts all instructions of the family.
func liveTarget(a Arch) string {
	name := fmt.Sprintf("SM%d", a)
	if a == SM90 || a == SM100 || a == SM120 {
		name += "a"
	}
	return name
}
