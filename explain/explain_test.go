package explain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/bankmap"
	"shmoo/diag"
	"shmoo/explain"
	"shmoo/internal/golden"
	"shmoo/smem"
)

func TestTextGolden(t *testing.T) {
	site := &access.Site{
		Pos:   diag.Span{Pos: diag.Pos{File: "tile.cu", Line: 3, Col: 14}},
		Array: "tile", Op: smem.Load, Width: 4, Text: "tile[threadIdx.x][k]",
	}
	tests := []struct {
		name    string
		arch    string
		r       *smem.Request
		site    *access.Site
		options bankmap.TextOptions
	}{
		{"column", "sm_90", request(smem.Load, 4, full, func(lane int) int { return 128 * lane }), site,
			bankmap.TextOptions{Width: 100}},
		{"paired", "sm_90", request(smem.Load, 16, full, func(lane int) int { return lane / 2 % 2 * 32 * (lane/4 + 1) }), nil,
			bankmap.TextOptions{Width: 140, ASCII: true}},
		{"profiler-differs", "sm_90", request(smem.Load, 8, full, func(lane int) int { return lane / 2 % 4 * 512 }), nil,
			bankmap.TextOptions{Width: 100}},
		{"part-of-a-warp", "sm_90", request(smem.Load, 16, 0x00ff00ff, func(lane int) int { return 16 * lane }), nil,
			bankmap.TextOptions{Width: 120}},
		{"ldmatrix", "sm_80", request(smem.LoadMatrix, 8, full, func(lane int) int { return 64 * lane }), nil,
			bankmap.TextOptions{Width: 140}},
		{"atomic", "sm_90", request(smem.Atomic, 4, 0xff, func(lane int) int { return lane / 4 * 4 }), nil,
			bankmap.TextOptions{Width: 80}},
		{"bypass", "sm_90", request(smem.CopyAsyncCG, 16, 0xf, func(lane int) int { return 144 * lane }), nil,
			bankmap.TextOptions{Width: 140}},
		{"color", "sm_90", request(smem.Store, 4, 0xf, func(lane int) int { return 64 * lane }), nil,
			bankmap.TextOptions{Width: 140, Color: true}},
		{"misaligned", "sm_90", request(smem.Load, 16, full, func(lane int) int { return 24 * lane }), site,
			bankmap.TextOptions{Width: 80}},
		{"out-of-bounds", "sm_90", request(smem.Store, 4, full, func(lane int) int { return 232448 - 64 + 4*lane }), nil,
			bankmap.TextOptions{Width: 80}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := arch.MustLookup(test.arch)
			d, err := explain.New(a.Unit, test.r, explain.Options{Site: test.site, Warp: 2, Provenance: a.Provenance})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := explain.Text(&b, d, test.options); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, test.name+".txt", b.Bytes())
		})
	}
}

func TestJSON(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	d, err := explain.New(u, request(smem.Load, 4, 0b111, func(lane int) int { return 128 * lane }), explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "explain.json", append(data, '\n'))
}

func TestNewRefusesUnknownOperations(t *testing.T) {
	r := request(smem.StoreMatrix, 16, full, func(int) int { return 0 })
	_, err := explain.New(arch.MustLookup("sm_70").Unit, r, explain.Options{})
	if _, ok := errors.AsType[*smem.UnsupportedError](err); !ok {
		t.Errorf("stmatrix on sm_70: %v, want an unsupported error", err)
	}
	if _, err := explain.New(arch.MustLookup("sm_90").Unit, &smem.Request{Op: smem.Load, Width: 4, Active: 3},
		explain.Options{}); err == nil {
		t.Error("a request with lanes but no addresses is explained, want an error")
	}
}

func TestFaults(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	tests := []struct {
		name string
		r    *smem.Request
		want explain.Fault
	}{
		{"misaligned", request(smem.Load, 8, full, func(lane int) int { return 12 * lane }),
			explain.Fault{Kind: "misaligned", Lane: 1, Address: 12, Bytes: 8}},
		{"out of bounds", request(smem.Load, 8, full, func(lane int) int { return u.Size - 24 + 8*lane }),
			explain.Fault{Kind: "out of bounds", Lane: 3, Address: uint32(u.Size), Bytes: 8, Limit: u.Size}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := explain.New(u, test.r, explain.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d.Fault == nil || d.Picture != nil || d.Reason != nil {
				t.Fatalf("fault %v, picture %v, reason %v: want a fault alone", d.Fault, d.Picture, d.Reason)
			}
			got := *d.Fault
			if got.Text != d.Why || got.Advice == "" {
				t.Errorf("text %q, advice %q, why %q", got.Text, got.Advice, d.Why)
			}
			got.Text, got.Advice = "", ""
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestDataIsWhole explains any request and checks the parts against each other and the text against its terminal.
func TestDataIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, r := drawRequest(t)
		d, err := explain.New(u, r, explain.Options{})
		if err != nil {
			t.Fatal(err)
		}
		walk, err := u.Walk(r)
		if err != nil {
			t.Fatal(err)
		}
		if d.Why != explain.Why(u, r) {
			t.Errorf("why %q, want %q", d.Why, explain.Why(u, r))
		}
		if d.Pairing.Pairs != walk.Outcome.Paired {
			t.Errorf("pairs %v, the unit says %v", d.Pairing.Pairs, walk.Outcome.Paired)
		}
		if p := d.Pairing; p.Possible && !p.Pairs {
			for i, pair := range p.Breaks {
				a, b := pair[0], pair[1]
				if a^b != i+1 || r.Addr[a] == r.Addr[b] || !r.Active.Has(a) || !r.Active.Has(b) {
					t.Errorf("lanes %v do not break the pairing at distance %d", pair, i+1)
				}
			}
		}
		if len(d.Steps) != len(walk.Steps) {
			t.Fatalf("%d steps, want %d", len(d.Steps), len(walk.Steps))
		}
		for i, s := range d.Steps {
			if s.Text == "" || s.Stage != walk.Steps[i].Stage.String() {
				t.Errorf("step %d is %q, %q; want stage %s and a text", i, s.Stage, s.Text, walk.Steps[i].Stage)
			}
			if s.Pass >= 0 && smem.Mask(d.Picture.Passes[s.Pass].Lanes) != walk.Wavefronts[s.Pass].Lanes {
				t.Errorf("step %d is of pass %d, whose lanes differ", i, s.Pass)
			}
		}
		width := rapid.IntRange(60, 160).Draw(t, "width")
		var b bytes.Buffer
		if err := explain.Text(&b, d, bankmap.TextOptions{Width: width, ASCII: true}); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			foreign := strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' })
			if n := utf8.RuneCountInString(line); n > width || foreign {
				t.Errorf("line of %d columns, want %d, in ASCII: %q", n, width, line)
			}
		}
	})
}
