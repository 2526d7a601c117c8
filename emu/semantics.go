package emu

import "shmoo/sass"

// semantics says what an operation does. An operation with a fold is computed lane by lane from its operands; one with an exec
// acts on the whole warp. prepare may choose a faster exec for one instruction, or reject what is not modelled by setting
// exec to unsupported.
type semantics struct {
	fold    func(*inst, *values)
	exec    func(*warp, *inst)
	prepare func(*machine, *inst)
	form    form
	probes  probe
	uniform bool   // uniform datapath: computed once per warp
	pairs   string // operands among a, b, c that are 64 bits wide whatever the encoding says
}

// wide reports whether operand 'a', 'b' or 'c' is 64 bits wide by the operation.
func (s *semantics) wide(in *sass.Inst, which byte) bool {
	for k := range len(s.pairs) {
		if s.pairs[k] == which {
			return true
		}
	}
	return in.Has(sass.ModWide) && s.form == formInt && s.fold != nil
}

// tables are the rows of all topics.
var tables = []map[string]semantics{
	integerOps, logicOps, compareOps, convertOps, floatOps, moveOps, warpOps, controlOps, memoryOps, ignoredOps, asyncOps,
}

// semanticsByOp is the table by operation, made once from the named rows of the topic files.
var semanticsByOp = func() map[sass.Op]*semantics {
	table := map[sass.Op]*semantics{}
	byName := map[string]sass.Op{}
	for op := sass.Op(1); op.String() != sass.OpInvalid.String(); op++ {
		byName[op.String()] = op
	}
	for _, rows := range tables {
		for name, s := range rows {
			if op, ok := byName[name]; ok {
				table[op] = &s
			}
		}
	}
	return table
}()

func semanticsOf(op sass.Op) (*semantics, bool) {
	s, ok := semanticsByOp[op]
	return s, ok
}

// ignoredOps have no effect on values, addresses or control flow.
var ignoredOps = func() map[string]semantics {
	rows := map[string]semantics{}
	for _, name := range []string{
		"NOP", "PMTRIG", "NANOSLEEP", "ERRBAR", "CGAERRBAR", "CCTL", "CCTLL", "PREEXIT", "ACQBULK", "MEMBAR", "FENCE", "LDGDEPBAR",
		"DEPBAR", "ENDCOLLECTIVE", "WARPGROUP", "USETMAXREG", "USETSHMSZ", "UTMAPF", "UBLKPF", "UTMACMDFLUSH", "UTMACCTL",
		"UTMAREDG", "UTMASTG", "UCGABAR_ARV", "UCGABAR_WAIT", "ARRIVES", "IDE", "UVIRTCOUNT",
	} {
		rows[name] = semantics{exec: func(*warp, *inst) {}}
	}
	return rows
}()
