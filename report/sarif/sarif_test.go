package sarif_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/internal/golden"
	"shmoo/internal/reporttest"
	"shmoo/report"
	"shmoo/report/sarif"
	"shmoo/smem"
)

func write(t *testing.T, c *reporttest.Case) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := sarif.Write(&b, c.Report, sarif.Options{Lines: c.Lines}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) { golden.Check(t, c.Name+".sarif", write(t, &c)) })
	}
}

// The parts of a document that the checks look at.
type document struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name  string
				Rules []struct{ ID string }
			}
		}
		Invocations []struct {
			ExecutionSuccessful        *bool
			ToolExecutionNotifications []struct{ Message struct{ Text string } }
		}
		Results []result
	}
}

type result struct {
	RuleID              string `json:"ruleId"`
	RuleIndex           int
	Level               string
	Message             struct{ Text string }
	PartialFingerprints map[string]string
	Locations           []struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           *struct{ StartLine, StartColumn, EndColumn int }
		}
	}
}

func decode(t *testing.T, data []byte) *document {
	t.Helper()
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

var fingerprint = regexp.MustCompile(`^[0-9a-f]{16}:[1-9][0-9]*$`)

// TestStructure checks what code scanning needs, with no schema at hand.
func TestStructure(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			d := decode(t, write(t, &c))
			if d.Version != "2.1.0" || !strings.Contains(d.Schema, "sarif-schema-2.1.0") || len(d.Runs) != 1 {
				t.Fatalf("version %q, schema %q, %d runs: want SARIF 2.1.0 with one run", d.Version, d.Schema, len(d.Runs))
			}
			run := d.Runs[0]
			if len(run.Invocations) != 1 || run.Invocations[0].ExecutionSuccessful == nil {
				t.Error("the invocation does not say whether it succeeded")
			}
			seen := map[string]bool{}
			for i, r := range run.Results {
				if err := check(&r, len(run.Tool.Driver.Rules)); err != nil {
					t.Errorf("result %d: %v", i, err)
				} else if id := run.Tool.Driver.Rules[r.RuleIndex].ID; id != r.RuleID {
					t.Errorf("result %d: rule %s at index %d, which is %s", i, r.RuleID, r.RuleIndex, id)
				}
				print := r.PartialFingerprints["primaryLocationLineHash"]
				if seen[print] {
					t.Errorf("result %d: fingerprint %s is another result's too", i, print)
				}
				seen[print] = true
			}
		})
	}
}

func check(r *result, rules int) error {
	switch {
	case r.RuleIndex < 0 || r.RuleIndex >= rules:
		return fmt.Errorf("rule index %d of %d", r.RuleIndex, rules)
	case r.Level != "error" && r.Level != "warning" && r.Level != "note":
		return fmt.Errorf("level %q", r.Level)
	case r.Message.Text == "" || len([]rune(r.Message.Text)) > 1024:
		return fmt.Errorf("message of %d characters", len([]rune(r.Message.Text)))
	case len(r.Locations) != 1:
		return fmt.Errorf("%d locations", len(r.Locations))
	case !fingerprint.MatchString(r.PartialFingerprints["primaryLocationLineHash"]):
		return fmt.Errorf("fingerprints %v", r.PartialFingerprints)
	}
	at := r.Locations[0].PhysicalLocation
	if _, err := url.Parse(at.ArtifactLocation.URI); err != nil || at.ArtifactLocation.URI == "" {
		return fmt.Errorf("uri %q: %v", at.ArtifactLocation.URI, err)
	}
	if at.Region != nil && (at.Region.StartLine < 1 || at.Region.EndColumn != 0 && at.Region.EndColumn <= at.Region.StartColumn) {
		return fmt.Errorf("region %+v", *at.Region)
	}
	return nil
}

func prints(d *document) []string {
	var list []string
	for _, r := range d.Runs[0].Results {
		list = append(list, r.RuleID+" "+r.PartialFingerprints["primaryLocationLineHash"])
	}
	return list
}

// TestFingerprintsStayWhenLinesMove: a comment above the kernel must not make every finding a new one.
func TestFingerprintsStayWhenLinesMove(t *testing.T) {
	const kernel = `__global__ void k(float *out) {
    __shared__ float t[32][32];
    t[threadIdx.x][0] = 1;
    t[threadIdx.x][0] = 2;
    out[0] = t[threadIdx.x][1];
}
`
	block := [3]int{32, 1, 1}
	before := reporttest.Sketch(t, "a", kernel, block)
	moved := reporttest.Sketch(t, "b", "// A comment.\n\n"+strings.ReplaceAll(kernel, "    t[", "        t["), block)
	want, got := prints(decode(t, write(t, &before))), prints(decode(t, write(t, &moved)))
	if len(want) != 3 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("fingerprints %q became %q, want three that stay", want, got)
	}
	other := reporttest.Sketch(t, "c", strings.ReplaceAll(kernel, "[1]", "[2]"), block)
	if got := prints(decode(t, write(t, &other))); fmt.Sprint(got) == fmt.Sprint(want) {
		t.Error("another access has the same fingerprint")
	}
}

// TestEverySiteIsReported: the analysis explains three sites; the review gets all.
func TestEverySiteIsReported(t *testing.T) {
	var text strings.Builder
	text.WriteString("__global__ void k() {\n    __shared__ float t[32][32];\n")
	const sites = 7
	for i := range sites {
		fmt.Fprintf(&text, "    t[threadIdx.x][%d] = 0;\n", i)
	}
	text.WriteString("}\n")
	c := reporttest.Sketch(t, "k", text.String(), [3]int{32, 1, 1})
	if got := len(decode(t, write(t, &c)).Runs[0].Results); got != sites {
		t.Errorf("%d results, want %d: one per site with conflicts", got, sites)
	}
}

// many is a source of n sites with a 2-way conflict each.
func many(t *testing.T, n int) *report.Report {
	t.Helper()
	r := &report.Report{Arch: "sm_90", Kernel: "k"}
	for i := range n {
		r.Sites = append(r.Sites, report.Site{
			Site: access.Site{Pos: diag.Span{Pos: diag.Pos{File: "k.cu", Line: i + 1, Col: 1}, Len: 1}, Op: smem.Load,
				Width: 4, Text: strings.Repeat("x", 2000)},
			Tally: report.Tally{Requests: 1, Wavefronts: int64(2 + i), Ideal: 1},
		})
	}
	return r
}

// TestLimits: what review tools cut is cut here, with the most expensive kept and the rest counted.
func TestLimits(t *testing.T) {
	c := reporttest.Case{Report: many(t, 6000)}
	data := write(t, &c)
	run := decode(t, data).Runs[0]
	if len(run.Results) != 5000 {
		t.Errorf("%d results, want 5000", len(run.Results))
	}
	if got := run.Results[0].Locations[0].PhysicalLocation.Region.StartLine; got != 6000 {
		t.Errorf("the first result is line %d, want the site with the most conflicts, 6000", got)
	}
	notes := run.Invocations[0].ToolExecutionNotifications
	if len(notes) != 1 || !strings.Contains(notes[0].Message.Text, "1000 of 6000") {
		t.Errorf("notifications %v, want one that counts the 1000 left out", notes)
	}
	if len(data) > 10<<20 {
		t.Errorf("%d bytes, want at most the 10 MiB that GitHub takes", len(data))
	}
}

// TestColumns: columns count UTF-16 code units where the line is at hand.
func TestColumns(t *testing.T) {
	const line = "    /* \u00e9\U0001F600 */ t[threadIdx.x][0] = 0;"
	c := reporttest.Sketch(t, "k", "__global__ void k() {\n    __shared__ float t[32][32];\n"+line+"\n}\n", [3]int{32, 1, 1})
	region := decode(t, write(t, &c)).Runs[0].Results[0].Locations[0].PhysicalLocation.Region
	// 4 blanks, "/* ", one unit, two units, " */ ": the access starts behind 14 units.
	if region.StartColumn != 15 || region.EndColumn != 15+len("t[threadIdx.x][0]") {
		t.Errorf("columns %d to %d, want 15 to %d", region.StartColumn, region.EndColumn, 15+len("t[threadIdx.x][0]"))
	}
}

// TestUnrolledLoop: the instructions of one line are one finding, with their sums.
func TestUnrolledLoop(t *testing.T) {
	r := many(t, 40)
	for i := range r.Sites {
		s := &r.Sites[i]
		s.Pos.Line, s.PC, s.Text, s.Instr = 1+i/20, uint64(16*i), "", "LDS"
	}
	c := reporttest.Case{Report: r}
	results := decode(t, write(t, &c)).Runs[0].Results
	if len(results) != 2 {
		t.Fatalf("%d results, want one for each of 2 lines", len(results))
	}
	const want = "LDS at 0x0140 and 19 more instructions of this line: 630 wavefronts in 20 requests, ideal 20: 610 conflicts"
	if got := results[0].Message.Text; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
