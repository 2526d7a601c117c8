package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shmoo"
	reportjson "shmoo/report/json"
)

func ask[Reply any](t *testing.T, name string, question any) *Reply {
	t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Call(t.Context(), name, body)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var r Reply
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func catalogue(t *testing.T) *Catalogue {
	t.Helper()
	c := ask[Catalogue](t, "examples", struct{}{})
	if len(c.Examples) == 0 || len(c.Archs) == 0 {
		t.Fatalf("%d examples and %d generations, want some", len(c.Examples), len(c.Archs))
	}
	return c
}

// The report inside a reply is the document of the command line, byte for byte once both are compact.
func TestEvaluateIsTheReportOfCheck(t *testing.T) {
	for _, e := range catalogue(t).Examples {
		t.Run(e.Title, func(t *testing.T) {
			got := ask[struct{ Report json.RawMessage }](t, "evaluate", e.Input)
			in, err := shmoo.Open(t.Context(), e.Name, strings.NewReader(e.Source), shmoo.Options{
				Block: e.Block, Grid: e.Grid, Defines: e.Defines, DynamicShared: e.Shared, Kernel: e.Kernel,
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := shmoo.Analyze(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var written, want bytes.Buffer
			if err := reportjson.Write(&written, r); err != nil {
				t.Fatal(err)
			}
			if err := json.Compact(&want, written.Bytes()); err != nil {
				t.Fatal(err)
			}
			// The writer of the command line leaves <, > and & as they are; the reply escapes them.
			var escaped bytes.Buffer
			json.HTMLEscape(&escaped, want.Bytes())
			if !bytes.Equal(got.Report, escaped.Bytes()) {
				t.Errorf("got\n%s\nwant\n%s", got.Report, escaped.Bytes())
			}
		})
	}
}

func TestViewShowsTheWorstRequestAndAnyOther(t *testing.T) {
	q := ViewQuestion{Input: Input{
		Source: "__shared__ float t[32][32];\nfor (int i = 0; i < 4; i++) t[threadIdx.x][0] = t[0][threadIdx.x * i];\n", Block: [3]int{64, 1, 1},
	}}
	sites := ask[Report](t, "evaluate", q.Input).Report.Sites
	load := 0
	for i, s := range sites {
		if s.Op == "load" {
			load = i
		}
	}
	q.Site = load
	v := ask[View](t, "view", q)
	if v.Warp != 0 || v.Execution != 2 { // strides 0, 1, 2, 3: only 2 conflicts
		t.Errorf("worst request: warp %d, execution %d, want 0 and 2", v.Warp, v.Execution)
	}
	if got := v.Warps[1].Wavefronts; len(v.Warps) != 2 || len(got) != 4 || got[2] < 2 || got[1] != 1 {
		t.Errorf("wavefronts of warp 1: %v, want 4 executions, the third with conflicts", got)
	}
	one := 1
	q.Warp, q.Execution = &one, &one
	if v = ask[View](t, "view", q); v.Warp != 1 || v.Execution != 1 || v.Explain.Picture.Totals.Wavefronts != 1 {
		t.Errorf("chosen request: warp %d, execution %d, want 1 and 1 with one wavefront", v.Warp, v.Execution)
	}
	far := 99
	q.Execution = &far
	if v = ask[View](t, "view", q); v.Warp != 1 || v.Execution != 2 {
		t.Errorf("an execution that is not there: warp %d, execution %d, want the worst of warp 1, 2", v.Warp, v.Execution)
	}
}

func TestViewTellsWhyThereIsNothing(t *testing.T) {
	v := ask[View](t, "view", ViewQuestion{Input: Input{Source: "__shared__ int t[32]; __shared__ int u[32];\nt[u[threadIdx.x]];\n"}, Site: 1})
	if v.Explain != nil && v.Reason != "" || v.Explain == nil && v.Reason == "" {
		t.Errorf("explanation %v and reason %q, want one of them", v.Explain != nil, v.Reason)
	}
}

func TestFixOptionsDoWhatTheyPromise(t *testing.T) {
	for _, e := range catalogue(t).Examples {
		if e.Title != "transpose" && e.Title != "scan_chunk" {
			continue
		}
		fixes := ask[struct {
			Arrays []struct {
				Array  string
				Result struct {
					Pareto []struct {
						Wavefronts int64
						Sites      []int64
					}
				}
				Options []Option
			}
		}](t, "fix", FixQuestion{Input: e.Input})
		for _, a := range fixes.Arrays {
			for i, o := range a.Options {
				if len(o.Forms) == 0 || (o.Source == "") == (o.Refused == "") {
					t.Errorf("%s %s candidate %d: %d forms, source of %d bytes, refused %q; want forms and one of the two", e.Title, a.Array, i,
						len(o.Forms), len(o.Source), o.Refused)
				}
				if o.Source == "" {
					continue
				}
				patched := e.Input
				patched.Source = o.Source
				if o.Shared > 0 {
					patched.Shared = o.Shared
				}
				var got int64
				for _, s := range ask[Report](t, "evaluate", patched).Report.Sites {
					if s.Array == a.Array {
						got += s.Wavefronts
					}
				}
				if want := a.Result.Pareto[i].Wavefronts; got != want {
					t.Errorf("%s %s candidate %d: the sketch has %d wavefronts, promised %d", e.Title, a.Array, i, got, want)
				}
			}
		}
	}
}

func TestSpaceEqualsSinglePoints(t *testing.T) {
	in := Input{Source: "__shared__ float t[64 * (N + P)];\nt[threadIdx.x * (N + P)];\n"}
	s := ask[Space](t, "space", SpaceQuestion{Input: in, Space: "P=0..2,N=8,16"})
	if len(s.Points) != 6 || s.Stopped {
		t.Fatalf("%d points, stopped %v, want 6 and not", len(s.Points), s.Stopped)
	}
	for i, defines := range [][]string{{"P=0", "N=8"}, {"P=0", "N=16"}, {"P=1", "N=8"}, {"P=1", "N=16"}, {"P=2", "N=8"}, {"P=2", "N=16"}} {
		in.Defines = defines
		want := ask[Report](t, "evaluate", in).Report.Totals
		if got := s.Points[i]; got.Wavefronts != want.Wavefronts || got.Ways != want.Ways || got.Error != "" {
			t.Errorf("point %v: %+v, want %d wavefronts and %d ways", defines, got, want.Wavefronts, want.Ways)
		}
	}
}

func TestSpaceStopsInTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	q, _ := json.Marshal(SpaceQuestion{Input: Input{
		Source: "__shared__ float t[32]; for (int i = 0; i < 3000 * N; i++) t[(i + threadIdx.x) % 32];",
	}, Space: "N=1..2000"})
	start := time.Now()
	data, err := Call(ctx, "space", q)
	if took := time.Since(start); took > 3*time.Second && !testing.Short() {
		t.Errorf("took %v, want about 150ms", took)
	}
	if err != nil {
		return // not even one point
	}
	var s Space
	if err := json.Unmarshal(data, &s); err != nil || !s.Stopped || len(s.Points) >= 2000 {
		t.Errorf("%d points, stopped %v, error %v; want fewer than 2000, stopped", len(s.Points), s.Stopped, err)
	}
}

// A sketch in a link must not make the server read its disk.
func TestSketchesReadNoFiles(t *testing.T) {
	header := filepath.Join(t.TempDir(), "width.h")
	if err := os.WriteFile(header, []byte("#define WIDTH 32\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", header, filepath.Join(filepath.Dir(header), "sketch.cu")} {
		body, err := json.Marshal(Input{Name: name, Source: fmt.Sprintf("#include %q\n#include \"width.h\"\n__shared__ float t[WIDTH];\nt[0];\n", header)})
		if err != nil {
			t.Fatal(err)
		}
		if data, err := Call(t.Context(), "evaluate", body); err == nil {
			t.Errorf("name %q: the header was read: %.200s", name, data)
		}
	}
}

func FuzzCall(f *testing.F) {
	for _, name := range Names() {
		f.Add(name, `{"source": "__shared__ float t[32][32]; t[threadIdx.x][0];", "block": [32,1,1], "grid": [0,0,0]}`)
	}
	f.Add("view", `{"source": "__shared__ float t[32]; t[0];", "site": -1, "pads": [1, 1000000]}`)
	f.Add("space", `{"source": "__shared__ float t[N]; t[0];", "space": "N=1..4"}`)
	f.Fuzz(func(t *testing.T, name, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		data, err := Call(ctx, name, []byte(body))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v, want about a second at most", took)
		}
		if err == nil && !json.Valid(data) {
			t.Errorf("the reply is no JSON: %.100q", data)
		}
	})
}
