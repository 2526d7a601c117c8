package bankmap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"shmoo/bankmap"
	"shmoo/internal/golden"
	"shmoo/smem"
)

// TestPanelAgreesWithWalk rebuilds the panel from the literal form of the unit.
func TestPanelAgreesWithWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, r := drawRequest(t)
		p, err := bankmap.New(u, r, "")
		if err != nil {
			t.Fatal(err)
		}
		walk, err := u.Walk(r)
		if err != nil {
			t.Fatal(err)
		}
		o := walk.Outcome
		want := bankmap.Totals{
			Wavefronts: o.Wavefronts, Ideal: o.Ideal, Conflicts: o.Conflicts(), Ways: o.Ways, Cycles: o.Cycles,
			Basis: o.Basis.String(),
		}
		if diff := cmp.Diff(want, p.Totals); diff != "" {
			t.Errorf("totals (-want +got):\n%s", diff)
		}
		if got := len(p.Passes) * p.PerPass; got != o.Wavefronts {
			t.Errorf("%d passes of %d wavefronts, want %d wavefronts", len(p.Passes), p.PerPass, o.Wavefronts)
		}
		if len(p.Passes) != len(walk.Wavefronts) {
			t.Fatalf("%d passes, want %d", len(p.Passes), len(walk.Wavefronts))
		}
		type key struct{ pass, bank int }
		got := map[key]bankmap.Lanes{}
		rows := map[key]int{}
		for _, row := range p.Rows {
			for _, c := range row.Cells {
				if c.Word != row.Row*u.Banks+c.Bank {
					t.Errorf("cell of word %d is in row %d, bank %d", c.Word, row.Row, c.Bank)
				}
				for _, s := range c.Serves {
					got[key{s.Pass, c.Bank}] |= s.Lanes
					if old, ok := rows[key{s.Pass, c.Bank}]; ok {
						t.Errorf("pass %d accesses rows %d and %d of bank %d", s.Pass, old, row.Row, c.Bank)
					}
					rows[key{s.Pass, c.Bank}] = row.Row
				}
			}
		}
		cells := 0
		for i, front := range walk.Wavefronts {
			if p.Passes[i].Lanes != bankmap.Lanes(front.Lanes) {
				t.Errorf("pass %d serves lanes %s, want %s", i, p.Passes[i].Lanes, bankmap.Lanes(front.Lanes))
			}
			for bank, row := range front.Row[:u.Banks] {
				if row < 0 {
					continue
				}
				cells++
				if got[key{i, bank}] != bankmap.Lanes(front.BankLanes[bank]) || rows[key{i, bank}] != int(row) {
					t.Errorf("pass %d, bank %d: lanes %s in row %d, want %s in row %d", i, bank, got[key{i, bank}],
						rows[key{i, bank}], bankmap.Lanes(front.BankLanes[bank]), row)
				}
			}
		}
		if cells != len(got) {
			t.Errorf("%d cells are served, want %d", len(got), cells)
		}
	})
}

// TestLanesAppearOnce checks that every lane is in each word that it touches, served by one pass, and nowhere else.
func TestLanesAppearOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, r := drawRequest(t)
		p, err := bankmap.New(u, r, "")
		if err != nil {
			t.Fatal(err)
		}
		type key struct{ lane, word int }
		seen := map[key]int{}
		for _, row := range p.Rows {
			for _, c := range row.Cells {
				all := bankmap.Lanes(0)
				for _, s := range c.Serves {
					for _, lane := range s.Lanes.List() {
						seen[key{lane, c.Word}]++
					}
					all |= s.Lanes
				}
				if all != c.Lanes {
					t.Errorf("word %d: lanes %s, its passes serve %s", c.Word, c.Lanes, all)
				}
			}
		}
		want := 0
		for _, lane := range bankmap.Lanes(r.Addressing()).List() {
			first := int(r.Addr[lane]) / u.BankBytes
			last := (int(r.Addr[lane]) + r.Bytes() - 1) / u.BankBytes
			for word := first; word <= last; word++ {
				want++
				if n := seen[key{lane, word}]; n != 1 {
					t.Errorf("lane %d is served %d times in word %d, want once", lane, n, word)
				}
			}
		}
		if len(seen) != want {
			t.Errorf("%d lanes in cells, want %d", len(seen), want)
		}
		ways := 0
		for _, c := range p.Counts {
			ways = max(ways, c.Ways)
		}
		if ways != p.Totals.Ways {
			t.Errorf("the busiest bank needs %d ways, want %d", ways, p.Totals.Ways)
		}
	})
}

// TestRuns checks that runs cover the cells of a row without gap or overlap.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, r := drawRequest(t)
		p, err := bankmap.New(u, r, "")
		if err != nil {
			t.Fatal(err)
		}
		previous := -1
		for _, row := range p.Rows {
			if previous >= 0 && row.Gap != row.Row-previous-1 {
				t.Errorf("row %d after %d has gap %d", row.Row, previous, row.Gap)
			}
			previous = row.Row
			for i := 0; i < len(row.Cells); {
				c := row.Cells[i]
				if c.Run != max(1, r.Bytes()/u.BankBytes) {
					t.Fatalf("row %d, bank %d begins a run of %d cells", row.Row, c.Bank, c.Run)
				}
				for k := 1; k < c.Run; k++ {
					next := row.Cells[i+k]
					if next.Run != 0 || next.Bank != c.Bank+k || next.Lanes != c.Lanes {
						t.Errorf("row %d, bank %d does not continue the run from bank %d", row.Row, next.Bank, c.Bank)
					}
				}
				i += c.Run
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	r := request(smem.Load, 8, func(lane int) int { return 4 * lane })
	_, err := bankmap.New(unit(), r, "")
	fault, ok := errors.AsType[*smem.Fault](err)
	if !ok || fault.Lane != 1 {
		t.Fatalf("New: %v, want a fault of lane 1", err)
	}
	var b bytes.Buffer
	p := bankmap.Refused(unit(), r, "pad 1", err)
	if err := bankmap.Text(&b, []*bankmap.Panel{p}, bankmap.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "pad 1\nload of 8 bytes per lane, lanes 0-31: refused: " + err.Error() + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text of a refused panel (-want +got):\n%s", diff)
	}
	if _, err := bankmap.New(unit(), &smem.Request{Op: smem.LoadMatrix, Width: 2}, ""); err == nil {
		t.Error("New accepts ldmatrix of 2 bytes, want an error")
	}
}

func TestPictureJSON(t *testing.T) {
	p := panel(t, "lane % 3", request(smem.Load, 8, func(lane int) int { return lane % 3 * 128 }))
	data, err := json.MarshalIndent(bankmap.NewPicture("sm_90", "three rows", []*bankmap.Panel{p}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "picture.json", append(data, '\n'))
	var back bankmap.Picture
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, back.Panels[0]); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

func TestEmptyPanelHasArrays(t *testing.T) {
	r := request(smem.Load, 4, func(int) int { return 0 })
	r.Active = 0
	data, err := json.Marshal(panel(t, "", r))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("null")) {
		t.Errorf("the JSON of an empty panel has a null: %s", data)
	}
}

func TestLanes(t *testing.T) {
	tests := []struct {
		lanes       bankmap.Lanes
		text, short string
		json        string
	}{
		{0, "none", "", "[]"},
		{1, "0", "0", "[0]"},
		{0b11, "0, 1", "0,1", "[0,1]"},
		{0b111, "0-2", "0-2", "[0,1,2]"},
		{0b1011_0111, "0-2, 4, 5, 7", "0-2,4,5,7", "[0,1,2,4,5,7]"},
		{1 << 63, "63", "63", "[63]"},
	}
	for _, test := range tests {
		if got := test.lanes.String(); got != test.text {
			t.Errorf("String of %#x = %q, want %q", uint64(test.lanes), got, test.text)
		}
		if got := test.lanes.Short(); got != test.short {
			t.Errorf("Short of %#x = %q, want %q", uint64(test.lanes), got, test.short)
		}
		data, err := json.Marshal(test.lanes)
		if err != nil || string(data) != test.json {
			t.Errorf("JSON of %#x = %s, %v, want %s", uint64(test.lanes), data, err, test.json)
		}
		var back bankmap.Lanes
		if err := json.Unmarshal(data, &back); err != nil || back != test.lanes {
			t.Errorf("%s reads back as %#x, %v", data, uint64(back), err)
		}
	}
	for _, bad := range []string{"[64]", "[-1]", `"0-3"`} {
		var l bankmap.Lanes
		if err := json.Unmarshal([]byte(bad), &l); err == nil {
			t.Errorf("lanes %s read as %s, want an error", bad, l)
		}
	}
}

func TestPassColors(t *testing.T) {
	contrast := func(a, b bankmap.Color) float64 {
		x, y := a.Luminance()+0.05, b.Luminance()+0.05
		return max(x, y) / min(x, y)
	}
	for n := 1; n <= smem.MaxLanes; n++ {
		for i := range n {
			c := bankmap.PassColor(i, n)
			if got := contrast(c, c.Ink()); got < 4.5 {
				t.Errorf("pass %d of %d: contrast of ink on %v is %.2f, want 4.5", i, n, c, got)
			}
			if i > 0 && c.Luminance() >= bankmap.PassColor(i-1, n).Luminance() {
				t.Errorf("pass %d of %d is not darker than the one before", i, n)
			}
		}
	}
}
