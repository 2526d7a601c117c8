package emu

// asyncOps are memory barriers, the tensor memory accelerator and warp-group matrix instructions. They are modelled as far as addresses
// need: waits succeed at once, and what arrives in shared memory is unknown data.
var asyncOps = func() map[string]semantics {
	rows := map[string]semantics{
		"SYNCS":   {exec: execSYNCS},
		"ELECT.U": {exec: execELECT},
	}
	for _, name := range []string{"UBLKCP", "UBLKRED", "UTMALDG", "UTMACCTL", "STAS", "REDAS", "UTMALDG.IM2COL", "UMEMSETS"} {
		rows[name] = semantics{exec: execArrival}
	}
	for _, name := range []string{"HGMMA", "IGMMA", "QGMMA", "BGMMA", "UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA", "UTCCP", "UTCBAR",
		"UTCATOMSWS", "UTCSHIFT", "LDTM", "STTM", "LDT", "STT"} {
		rows[name] = semantics{exec: execTensor}
	}
	for _, name := range []string{"TEX", "TLD", "TLD4", "TMML", "TXD", "TXQ", "SULD", "SUATOM", "SURED", "SUST", "SUQUERY", "LDTRAM",
		"AL2P", "ALD", "AST", "OUT", "PIXLD", "IPA"} {
		rows[name] = semantics{exec: execData}
	}
	return rows
}()

// execSYNCS acts on a memory barrier. Waits succeed: producers that the emulator does not run would else never arrive.
func execSYNCS(w *warp, o *inst) {
	w.block.counts.assumedWaits++
	why := because(whyData, int(o.index))
	w.poisonRows(o, why)
	w.putPred(o.pu, allLanes, allLanes, why)
}

// execArrival marks the block's shared memory unknown: a copy of unknown data lands somewhere in it.
func execArrival(w *warp, o *inst) {
	w.block.shared.poison(because(whyData, int(o.index)))
	w.poison(o, because(whyData, int(o.index)))
}

// execData makes the result unknown: it comes from memory that was not given.
func execData(w *warp, o *inst) { w.poison(o, because(whyData, int(o.index))) }
