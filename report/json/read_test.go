package json_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shmoo/internal/golden"
	"shmoo/internal/reporttest"
	"shmoo/report"
	"shmoo/report/json"
)

func write(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) { golden.Check(t, c.Name+".json", []byte(write(t, c.Report))) })
	}
}

// TestRoundTrip: a report that was read writes the document it was read from, but for the texts of faults.
func TestRoundTrip(t *testing.T) {
	for _, c := range reporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			want := json.From(c.Report)
			got, err := json.Read(strings.NewReader(write(t, c.Report)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range want.Sites {
				want.Sites[i].Fault = ""
			}
			if diff := cmp.Diff(want, json.From(got)); diff != "" {
				t.Errorf("-written +read:\n%s", diff)
			}
		})
	}
}

// TestReadErrors changes a good document in one place each.
func TestReadErrors(t *testing.T) {
	good := write(t, reporttest.Cases(t)[0].Report)
	if _, err := json.Read(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"empty", good, "", "unexpected end of JSON input"},
		{"no JSON", good, "requests,wavefronts", "1:1: invalid character 'r'"},
		{"not an object", good, "[]", "cannot unmarshal array"},
		{"cut off", "\n}\n", "", "unexpected end of JSON input"},
		{"another schema", "shmoo.report/1", "shmoo.report/2", `schema: got "shmoo.report/2", want "shmoo.report/1"`},
		{"unknown field", `"arch": "sm_90"`, `"arch": "sm_90", "arhc": "sm_80"`, `unknown field "arhc"`},
		{"no architecture", `"arch": "sm_90"`, `"arch": ""`, "arch: got nothing"},
		{"sites are null", good[strings.Index(good, `"sites"`):], `"sites": null}`, "sites: got nothing"},
		{"wrong type", `"line": 6`, `"line": "six"`, "cannot unmarshal string"},
		{"unknown operation", `"op": "load"`, `"op": "laod"`, `sites[1]: op: got "laod"`},
		{"unknown basis", `"basis": "measured"`, `"basis": "guessed"`, `basis: got "guessed"`},
		{"negative count", `"ideal": 8,`, `"ideal": -8,`, "sites[0]: ideal: got -8"},
		{"conflicts do not add up", `"conflicts": 0`, `"conflicts": 1`, "sites[0]: conflicts: got 1, want wavefronts - ideal = 0"},
		{"unresolved without a reason", `"unresolved": 0`, `"unresolved": 4`, "unresolved: got 4"},
		{"totals do not add up", `"requests": 16`, `"requests": 17`, "totals: got"},
		{"launch without threads", "\"block\": [\n      32,", "\"block\": [\n      0,", "launch: got extent 0"},
		{"unknown severity", `"severity": "warning"`, `"severity": "fatal"`, `severity: got "fatal"`},
		{"bounds turned round", `"basis": "measured"`, `"basis": "measured", "bounds": {"low": 3, "high": 2}`, "sites[0]: bounds: got 3 to 2"},
		{"more behind it", "\n}\n", "\n}\n{}", "invalid character '{' after top-level value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := strings.Replace(good, test.old, test.new, 1)
			if bad == good {
				t.Fatalf("%q is not in the document", test.old)
			}
			_, err := json.Read(strings.NewReader(bad))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	var schema *json.SchemaError
	if _, err := json.Read(strings.NewReader(`{"schema": "shmoo.pad/1"}`)); !errors.As(err, &schema) || schema.Got != "shmoo.pad/1" {
		t.Errorf("got %v, want a *SchemaError", err)
	}
}

// FuzzRead: no document crashes the reader, and what it takes it writes the same.
func FuzzRead(f *testing.F) {
	for _, c := range reporttest.Cases(f) {
		f.Add([]byte(write(f, c.Report)))
	}
	f.Add([]byte(`{"schema":"shmoo.report/1","arch":"x","sites":[{"op":"load","basis":"measured"}],"totals":{"basis":"measured"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := json.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		again, err := json.Read(strings.NewReader(write(t, r)))
		if err != nil {
			t.Fatalf("cannot read what was written: %v", err)
		}
		if diff := cmp.Diff(json.From(r), json.From(again)); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
	})
}
