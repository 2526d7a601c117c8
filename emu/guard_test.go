package emu

import "testing"

// TestGuardedValues checks when a value written under an unknown guard is known: to instructions under the same guard, until the row or the
// guard's predicate is written.
func TestGuardedValues(t *testing.T) {
	p := programOf(t, readCubin(t, "testdata/kernels.sm_80.cubin.gz"), "hash")
	m, err := newMachine(p, line(1, 32, Pointer(), Int32(1)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w := newBlock(m, nil).warps[0]
	const row, lanes = 2, 0xff
	p0, notP0, p1 := predRef{index: 0}, predRef{index: 0, neg: true}, predRef{index: 1}
	write := func() {
		w.act, w.weak, w.guard = allLanes, lanes, p0
		for lane := range 8 {
			w.putWord(row, lane, 42, true, 0)
		}
	}
	under := func(g predRef) uint32 {
		w.weak, w.guard = lanes, g
		return w.rowKnown(row) & lanes
	}
	write()
	if got := under(p0); got != lanes {
		t.Errorf("under the same guard known in 0x%x, want 0x%x", got, uint32(lanes))
	}
	for name, g := range map[string]predRef{"the opposite guard": notP0, "another guard": p1} {
		if got := under(g); got != 0 {
			t.Errorf("under %s known in 0x%x, want none", name, got)
		}
	}
	if w.weak = 0; w.rowKnown(row)&lanes != 0 {
		t.Error("known without a guard")
	}
	for name, forget := range map[string]func(){
		"its predicate is written": func() { w.weak = 0; w.putPred(0, 0, 0, because(whyData, 1)) },
		"it is written":            func() { w.weak = 0; w.putWord(row, 0, 7, true, 0) },
		"it is poisoned":           func() { w.weak = 0; w.poisonRows(&inst{dst: row, words: 1}, because(whyData, 1)) },
	} {
		write()
		forget()
		if got := under(p0) &^ 1; got != 0 {
			t.Errorf("known in 0x%x after %s, want none", got, name)
		}
	}
}
