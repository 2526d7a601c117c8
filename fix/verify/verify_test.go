package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/fix"
	"shmoo/fix/verify"
	"shmoo/smem"
)

// tile is a source of one array, written by rows and read by columns of the given width.
type tile struct {
	elem, rows, cols, width int
	pad                     int // columns more in the declaration
}

func (t tile) Sites() []access.Site {
	return []access.Site{{Text: "row", Op: smem.Store, Width: t.elem}, {Text: "column", Op: smem.Load, Width: t.width}}
}

func (t tile) Arrays() []access.Array {
	return []access.Array{{Name: "tile", Size: t.elem * t.rows * (t.cols + t.pad), ElemBytes: t.elem, Dims: []int{t.rows, t.cols + t.pad}}}
}

func (t tile) Accesses(context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		pitch := t.elem * (t.cols + t.pad)
		for row := range t.rows {
			a := access.Access{Request: smem.Request{Op: smem.Store, Width: t.elem, Active: smem.Lanes(0, 32)}}
			for l := range 32 {
				a.Request.Addr = append(a.Request.Addr, uint32(row*pitch+l%t.cols*t.elem))
			}
			if !yield(&a, nil) {
				return
			}
		}
		for col := range t.elem * t.cols / t.width {
			a := access.Access{Site: 1, Request: smem.Request{Op: smem.Load, Width: t.width, Active: smem.Lanes(0, 32)}}
			for l := range 32 {
				a.Request.Addr = append(a.Request.Addr, uint32(l%t.rows*pitch+col*t.width))
			}
			if !yield(&a, nil) {
				return
			}
		}
	}
}

func certificate(t *testing.T, source access.Source, o fix.Options) (*fix.Result, []byte) {
	t.Helper()
	problems, err := fix.Problems(context.Background(), source, arch.MustLookup("sm_90"), fix.Block{Threads: 256})
	if err != nil {
		t.Fatal(err)
	}
	r, err := fix.Search(context.Background(), problems[0], o)
	if err != nil {
		t.Fatal(err)
	}
	return r, write(t, r, &r.Pareto[0])
}

func write(t *testing.T, r *fix.Result, c *fix.Candidate) []byte {
	t.Helper()
	cert, err := r.Certificate(c)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := fix.WriteCertificate(&b, cert); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func check(t *testing.T, data []byte) *verify.Outcome {
	t.Helper()
	o, err := verify.Check(context.Background(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

var cases = []struct {
	name    string
	tile    tile
	options fix.Options
}{
	{"transpose", tile{4, 32, 32, 4, 0}, fix.Options{}},
	{"transpose by XOR", tile{4, 32, 32, 4, 0}, fix.Options{Allow: []fix.Family{fix.XOR}}},
	{"float4 columns", tile{4, 32, 32, 16, 0}, fix.Options{}},
	{"bytes, odd rows", tile{1, 24, 40, 1, 0}, fix.Options{}},
	{"no room for a pad, rows no power of two", tile{4, 32, 24, 4, 0}, fix.Options{MaxBytes: 32 * 24 * 4, Limited: true}},
	{"linear", tile{2, 32, 64, 8, 0}, fix.Options{Allow: []fix.Family{fix.LinearF}}},
	{"a pad of the wrong size is there", tile{4, 32, 32, 4, 2}, fix.Options{}},
	{"four rows of 32 bytes in a row of banks", tile{2, 16, 16, 8, 0}, fix.Options{}},
}

func TestCertificatesHold(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, data := certificate(t, c.tile, c.options)
			o := check(t, data)
			if !o.OK() {
				t.Errorf("%s\n%s", r.Reason, o)
			}
			if r.OptimalInGeneral != strings.Contains(o.String(), "best of all") {
				t.Errorf("general: the result says %v\n%s", r.OptimalInGeneral, o)
			}
		})
	}
}

// TestForgeriesFail changes one field of a sound certificate at a time. Every change must be noticed.
func TestForgeriesFail(t *testing.T) {
	r, sound := certificate(t, tile{4, 32, 32, 4, 0}, fix.Options{})
	worse := write(t, r, &r.Before)
	if o := check(t, worse); !o.OK() {
		t.Fatalf("the array as it is, without a claim: %s", o)
	}
	for _, test := range []struct {
		name string
		from []byte
		edit func(map[string]any)
		want string // the finding that fails, or the error
	}{
		{"a pad that does not help", sound, set("transform", "pad(+128 per 128 bytes)"), "inside"},
		{"no layout at all", sound, set("transform", "id"), "counts"},
		{"other counts", sound, set("transform", "pad(+4 per 128 bytes) o Swizzle<5,2,5>"), "counts"},
		{"breaks granules", sound, set("transform", "pad(+2 per 64 bytes)"), "in one piece"},
		{"another present", sound, set("present", "pad(+4 per 128 bytes)"), "counts"},
		{"no present", sound, set("present", "what"), "present layout"},
		{"a smaller size", sound, set("bytes", 4100), "inside"},
		{"beyond the budget", sound, set("budget", 4100), "fits"},
		{"fewer wavefronts", sound, set("after", 63), "counts"},
		{"more before", sound, set("before", 2000), "counts"},
		{"a lower bound at a site", sound, siteField("bound", 31), "bound"},
		{"a count at a site", sound, siteField("after", 31), "counts"},
		{"a higher bound", sound, set("bound", 65), "bound"},
		{"general without the bound", worse, claim("general", true), "best of all"},
		{"best of a family that has better", worse, claim("pads", map[string]any{"pitches": []int{128}, "step": 4, "max": 128}), "best pad"},
		{"another schema", sound, set("schema", "shmoo.certificate/0"), "got schema"},
		{"another architecture", sound, set("arch", "sm_1"), "unknown architecture"},
		{"no requests", sound, set("requests", []any{}), "0 requests"},
		{"a pitch of zero", worse, claim("pads", map[string]any{"pitches": []int{0}, "step": 4, "max": 128}), "pitch of 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var fields map[string]any
			if err := json.Unmarshal(test.from, &fields); err != nil {
				t.Fatal(err)
			}
			test.edit(fields)
			data, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			o, err := verify.Check(context.Background(), bytes.NewReader(data))
			switch {
			case err != nil:
				if test.want == "" || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got error %v, want %q", err, test.want)
				}
			case o.OK():
				t.Errorf("accepted:\n%s", o)
			case !slices.ContainsFunc(o.Findings, func(f verify.Finding) bool {
				return f.Verdict == verify.Fails && f.Name == test.want
			}):
				t.Errorf("want %q to fail:\n%s", test.want, o)
			}
		})
	}
}

func set(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

func claim(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m["claims"].(map[string]any)[name] = value }
}

func siteField(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m["sites"].([]any)[0].(map[string]any)[name] = value }
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"schema":"shmoo.certificate/1","arch":"sm_90","array":"a","present":"id","array_bytes":128,"bytes":128,"budget":128,"granule":4,` +
		`"transform":"id","sites":[{"site":"s","before":1,"after":1,"ideal":1,"bound":1}],"before":1,"after":1,"bound":1,` +
		`"claims":{"general":true,"swizzles":{"low_bit":2,"bits":7}},"requests":[{"site":0,"op":"load","width":4,"mask":"1","addr":[0],"count":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, err := verify.Check(context.Background(), bytes.NewReader(data)); err == nil && o == nil {
			t.Error("neither outcome nor error")
		}
	})
}
