package emu

// asyncOps are memory barriers, the tensor memory accelerator and warp-group matrix instructions. They are modelled as far as addresses
// need: waits succeed at once, and what arrives in shared memory is unknown data.
var asyncOps = func() map[string]semantics {
	rows := map[string]semantics{
		"SYNCS.PHASECHK": {exec: execPhaseCheck},
		"SYNCS.LD":       {exec: execData},
	}
	for _, name := range []string{"SYNCS.ARRIVE", "SYNCS.CAS", "SYNCS.CCTL", "SYNCS.EXCH"} {
		rows[name] = semantics{exec: execBarrierObject}
	}
	for _, name := range []string{"UBLKCP", "UBLKRED", "UTMALDG", "STAS", "REDAS", "UMEMSETS", "UGETNEXTWORKID"} {
		rows[name] = semantics{exec: execArrival}
	}
	for _, name := range []string{"HGMMA", "IGMMA", "UTCMMA", "UTCCP", "UTCBAR", "UTCATOMSWS", "LDTM", "STTM"} {
		rows[name] = semantics{exec: execTensor}
	}
	for _, name := range []string{"TEX", "TLD", "TLD4", "SULD", "SUST", "LDGMC"} {
		rows[name] = semantics{exec: execData}
	}
	return rows
}()

// execPhaseCheck waits at a memory barrier. The wait succeeds: producers that the emulator does not run would else never arrive.
func execPhaseCheck(w *warp, o *inst) {
	w.block.counts.assumedWaits++
	w.putPred(o.pu, allLanes, allLanes, 0)
}

// execBarrierObject acts on a memory barrier in shared memory. Its state is not kept: nothing but waits, which succeed, reads it.
func execBarrierObject(w *warp, o *inst) { w.poison(o, because(whyData, int(o.index))) }

// execArrival marks the block's shared memory unknown: a copy of unknown data lands somewhere in it.
func execArrival(w *warp, o *inst) {
	w.block.shared.poison(because(whyData, int(o.index)))
	w.poison(o, because(whyData, int(o.index)))
}

// execData makes the result unknown: it comes from memory that was not given.
func execData(w *warp, o *inst) { w.poison(o, because(whyData, int(o.index))) }
