package emu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"shmoo/sass"
)

// TestFastPaths compares every instruction of the test kernels that has a fast path with its fold: the same rows, predicates and
// knowledge, from random states with all, some and no lanes known and active.
func TestFastPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for _, target := range targets {
		img := readCubin(t, fmt.Sprintf("testdata/kernels.sm_%d.cubin.gz", target))
		for _, k := range img.Kernels {
			p, err := NewProgram(codeOf(k))
			if err != nil {
				t.Fatal(err)
			}
			launch := line(1, 128)
			for range k.Params {
				launch.Args = append(launch.Args, Arg{})
			}
			m, err := newMachine(p, launch, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			b := newBlock(m, nil)
			fast, slow := b.warps[0], b.warps[1]
			for i := range m.code {
				o := &m.code[i]
				s, ok := semanticsOf(o.in.Op)
				if !ok || s.fold == nil || s.prepare == nil || s.uniform || o.fold == nil {
					continue
				}
				for range 3 {
					randomState(r, fast)
					copyState(slow, fast)
					o.exec(fast, o)
					foldLanes(slow, o)
					seen[o.in.Op.String()]++
					if diff := differ(fast, slow); diff != "" {
						t.Fatalf("sm_%d %s: %s: active 0x%08x: %s", target, k.Name, o.in.String(), fast.act, diff)
					}
				}
			}
		}
	}
	for _, op := range []string{"MOV", "IADD3", "IADD", "IMAD", "IMAD.WIDE", "LEA", "LOP3", "SHF", "ISETP", "SEL", "FSEL", "FADD", "FMUL", "FFMA", "HFMA2"} {
		if seen[op] == 0 {
			t.Errorf("no %s compared", op)
		}
	}
}

// randomState fills a warp's registers with values that often coincide with edges, and with patterns of knowledge.
func randomState(r *rand.Rand, w *warp) {
	lanesOf := func() uint32 {
		switch r.IntN(4) {
		case 0:
			return r.Uint32()
		case 1:
			return 0
		}
		return allLanes
	}
	w.act = lanesOf()
	if w.act == 0 {
		w.act = 1 << r.IntN(32)
	}
	w.mask, w.weak = allLanes, 0
	for row := range w.rows {
		if int32(row) == w.m.zeroRow {
			continue
		}
		w.known[row], w.why[row] = lanesOf(), because(whyData, row)
		for i := range w.rows[row] {
			v := r.Uint32()
			switch r.IntN(6) {
			case 0:
				v = 0
			case 1:
				v = allLanes << r.IntN(32)
			case 2:
				v &= 0xff
			}
			w.rows[row][i] = v
		}
	}
	for p := range sass.PT {
		w.preds[p], w.pknown[p] = r.Uint32(), lanesOf()
		w.upreds[p], w.upknown[p] = r.IntN(2) == 0, r.IntN(3) > 0
	}
	for u := range sass.URZ {
		w.uregs[u], w.uknown[u] = r.Uint32(), r.IntN(3) > 0
	}
}

func copyState(to, from *warp) {
	copy(to.rows, from.rows)
	copy(to.known, from.known)
	copy(to.why, from.why)
	to.preds, to.pknown, to.upreds, to.upknown = from.preds, from.pknown, from.upreds, from.upknown
	to.uregs, to.uknown = from.uregs, from.uknown
	to.act, to.mask, to.weak = from.act, from.mask, from.weak
}

// differ says where two states differ in what is known.
func differ(a, b *warp) string {
	for row := range a.rows {
		if int32(row) >= a.sink {
			break
		}
		if a.known[row] != b.known[row] {
			return fmt.Sprintf("row %d known in 0x%08x, by the fold in 0x%08x", row, a.known[row], b.known[row])
		}
		for i := range warpLanes {
			if a.known[row]>>i&1 != 0 && a.rows[row][i] != b.rows[row][i] {
				return fmt.Sprintf("row %d lane %d is 0x%x, by the fold 0x%x", row, i, a.rows[row][i], b.rows[row][i])
			}
		}
	}
	for p := range sass.PT {
		if a.pknown[p] != b.pknown[p] || (a.preds[p]^b.preds[p])&a.pknown[p] != 0 {
			return fmt.Sprintf("P%d is 0x%08x known in 0x%08x, by the fold 0x%08x in 0x%08x", p, a.preds[p], a.pknown[p],
				b.preds[p], b.pknown[p])
		}
	}
	return ""
}
