package emu

// Values under an unknown guard.
//
// An instruction whose guard is unknown may or may not write its result, so the register is unknown from then on. But compilers give one
// guard to several instructions in a row: an address is computed, and used, under @P0. There the value is the new one
// wherever the guard holds. A guarded value remembers that.

// guarded says that a row holds a known value in lanes where a guard holds, until the guard's predicate or the row is
// written again.
type guarded struct {
	row   int32
	lanes uint32
	guard predRef
}

// rowKnown returns the lanes where a row is known to the running instruction.
func (w *warp) rowKnown(row int32) uint32 {
	known := w.known[row]
	if w.weak == 0 || len(w.guardeds) == 0 {
		return known
	}
	for i := range w.guardeds {
		if g := &w.guardeds[i]; g.row == row && g.guard == w.guard {
			known |= g.lanes & w.weak
		}
	}
	return known
}

// guardValue remembers a value written under the running instruction's unknown guard.
func (w *warp) guardValue(row int32, lane uint32) {
	for i := range w.guardeds {
		if g := &w.guardeds[i]; g.row == row {
			if g.guard != w.guard {
				g.guard, g.lanes = w.guard, 0
			}
			g.lanes |= lane
			return
		}
	}
	w.guardeds = append(w.guardeds, guarded{row: row, lanes: lane, guard: w.guard})
}

// dropRow forgets guarded values of a row that is written.
func (w *warp) dropRow(row int32) {
	kept := w.guardeds[:0]
	for _, g := range w.guardeds {
		if g.row != row {
			kept = append(kept, g)
		}
	}
	w.guardeds = kept
}

// dropGuard forgets values guarded by a predicate that is written.
func (w *warp) dropGuard(p uint8, uniform bool) {
	kept := w.guardeds[:0]
	for _, g := range w.guardeds {
		if g.guard.index != p || g.guard.uniform != uniform {
			kept = append(kept, g)
		}
	}
	w.guardeds = kept
}
