package pprof_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"shmoo/diag"
	"shmoo/internal/golden"
	"shmoo/internal/reporttest"
	"shmoo/report"
	"shmoo/report/pprof"
)

func write(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestProfile compares the profiles, decoded, with golden texts.
func TestProfile(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			data := write(t, c.Report)
			if !bytes.Equal(data, write(t, c.Report)) {
				t.Error("the same report gives two profiles")
			}
			p, err := profile.ParseData(data)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, c.Name+".txt", []byte(p.String()))
		})
	}
}

// TestSums: a profile has the totals of its report in every value.
func TestSums(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			p := pprof.Profile(c.Report)
			sums := map[string]int64{}
			for _, s := range p.Sample {
				for i, v := range s.Value {
					sums[p.SampleType[i].Type] += v
				}
			}
			totals := c.Report.Totals()
			want := map[string]int64{
				"requests": totals.Requests, "wavefronts": totals.Wavefronts, "ideal": totals.Ideal, "conflicts": totals.Conflicts(),
				"unresolved": totals.UnresolvedRequests(),
			}
			for name, n := range want {
				if sums[name] != n {
					t.Errorf("%s: got %d, want %d", name, sums[name], n)
				}
			}
		})
	}
}

// goTool runs "go tool pprof" on the profile of a report, in a folder that has its source.
func goTool(t *testing.T, c *reporttest.Case, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "shmoo.pb.gz")
	if err := os.WriteFile(file, write(t, c.Report), 0o644); err != nil {
		t.Fatal(err)
	}
	if c.Lines != nil {
		var text strings.Builder
		for at := (diag.Pos{File: c.Name + ".cu", Line: 1}); ; at.Line++ {
			line, ok := c.Lines(at)
			if !ok {
				break
			}
			text.WriteString(line + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, c.Name+".cu"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", append(append([]string{"tool", "pprof"}, args...), file)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+dir, "PPROF_BINARY_PATH="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// TestGoTool: what users run works on our profiles.
func TestGoTool(t *testing.T) {
	cases := map[string]reporttest.Case{}
	for _, c := range reporttest.Cases(t) {
		cases[c.Name] = c
	}
	for _, test := range []struct {
		name, report string
		args, want   []string
	}{
		{"conflicts come first", "transpose", []string{"-top"},
			[]string{"Type: conflicts", "LDS tile[threadIdx.x][threadIdx.y] at transpose.cu:6:43", "transpose.cu:6", "100%  transpose"}},
		{"other values", "transpose", []string{"-top", "-sample_index=wavefronts"}, []string{"Type: wavefronts", "STS tile"}},
		{"wavefronts where nothing conflicts", "clean", []string{"-top"}, []string{"Type: wavefronts", "copy"}},
		{"inlined calls", "machine", []string{"-tree", "-sample_index=wavefronts"},
			[]string{"LDS.128 at 0x01a0", "/src/gemm.cu:7", "/src/tile.cuh:40", "gemm<float, (Layout)2>(float*)"}},
		{"annotated source", "transpose", []string{"-list=^transpose$"},
			[]string{".        248      6:    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];"}},
		{"by array", "transpose", []string{"-top", "-tagfocus=array=tile"}, []string{"tile[threadIdx.x]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := cases[test.report]
			out := goTool(t, &c, test.args...)
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("got\n%s\nwant %q in it", out, want)
				}
			}
		})
	}
}
