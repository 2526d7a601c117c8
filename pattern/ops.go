package pattern

import (
	"fmt"

	"shmoo/smem"
)

// An Op is an instruction that a pattern file can record.
type Op struct {
	Name  string  // in the op column, such as "ld64"
	Instr string  // as machine code has it, such as "LDS.64"
	Op    smem.Op // what the unit does
	Width int     // bytes per lane, as in smem.Request
	// Loop marks an operation without an instruction of its own: the compiler makes it a loop around compare and swap,
	// whose count depends on contention and cannot be read off the addresses.
	Loop bool
	// probe is the constant that the clock probe adds to the unit's cycles.
	probe probe
}

// A window is the range of cycles that the clock probe adds to a pattern: at least low, less than high.
type window struct{ low, high float64 }

func (w window) holds(offset float64) bool { return offset >= w.low && offset < w.high }

// probe holds the windows for a pattern of all lanes, for one of fewer lanes, and for one that takes its rule's floor.
type probe struct{ full, partial, floored window }

// window returns the window for a pattern: of all lanes or fewer, and above its wavefronts by the rule's floor or not.
func (p *probe) window(full, floored bool) window {
	switch {
	case floored:
		return p.floored
	case full:
		return p.full
	}
	return p.partial
}

// The probe runs 32 warps of one block over 128 copies of an instruction and divides. What is left above the unit's
// cycles, measured on an H200 over 49,588 patterns: for loads, ldmatrix and atomics that return a value 0.69 to 1.26 with
// all lanes active, 0.79 to 1.53 with fewer, and 0.42 to 0.61 where a load takes its rule's floor; for stores, stmatrix and
// reductions 0.13 to 0.26. The windows are no wider than one cycle, so a prediction that is off by one never passes.
var (
	returns = probe{full: window{0.5, 1.5}, partial: window{0.65, 1.65}, floored: window{0.3, 1.3}}
	silent  = probe{full: window{0, 0.5}, partial: window{0, 0.5}, floored: window{0, 0.5}}
)

// saturated is the window of a meter without a constant (unit_cycles), whose figures are the unit's to within 0.1.
var saturated = window{-0.5, 0.5}

// opTable lists the ops; a Reader gives pointers into it.
var opTable = buildOps()

func buildOps() []Op {
	ops := []Op{}
	for _, bits := range []int{8, 16, 32, 64, 128} {
		ops = append(ops,
			Op{Name: fmt.Sprint("ld", bits), Instr: "LDS" + suffix(bits), Op: smem.Load, Width: bits / 8, probe: returns},
			Op{Name: fmt.Sprint("st", bits), Instr: "STS" + suffix(bits), Op: smem.Store, Width: bits / 8, probe: silent})
	}
	for _, n := range []int{1, 2, 4} {
		for _, t := range []struct{ name, instr string }{{"", ""}, {"t", ".trans"}} {
			ops = append(ops,
				Op{Name: fmt.Sprint("ldm", n, t.name), Instr: fmt.Sprint("LDSM.x", n, t.instr), Op: smem.LoadMatrix,
					Width: 4 * n, probe: returns},
				Op{Name: fmt.Sprint("stm", n, t.name), Instr: fmt.Sprint("STSM.x", n, t.instr), Op: smem.StoreMatrix,
					Width: 4 * n, probe: silent})
		}
	}
	return append(ops,
		Op{Name: "atomadd", Instr: "ATOMS.ADD", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atommax", Instr: "ATOMS.MAX", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atomexch", Instr: "ATOMS.EXCH", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "redadd", Instr: "RED.ADD", Op: smem.Reduce, Width: 4, probe: silent},
		Op{Name: "redmax", Instr: "RED.MAX", Op: smem.Reduce, Width: 4, probe: silent},
		Op{Name: "redinc", Instr: "RED.INC", Op: smem.Reduce, Width: 4, probe: silent},
		Op{Name: "atommin", Instr: "ATOMS.MIN", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atominc", Instr: "ATOMS.INC", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atomdec", Instr: "ATOMS.DEC", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atomand", Instr: "ATOMS.AND", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atomor", Instr: "ATOMS.OR", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atomxor", Instr: "ATOMS.XOR", Op: smem.Atomic, Width: 4, probe: returns},
		Op{Name: "atomcas", Instr: "ATOMS.CAS", Op: smem.CompareSwap, Width: 4, probe: returns},
		Op{Name: "atomexch64", Instr: "ATOMS.EXCH.64", Op: smem.Atomic, Width: 8, probe: returns},
		Op{Name: "atomcas64", Instr: "ATOMS.CAS.64", Op: smem.CompareSwap, Width: 8, probe: returns},
		Op{Name: "atomaddf", Instr: "ATOMS.CAST.SPIN", Op: smem.Atomic, Width: 4, Loop: true},
		Op{Name: "atomadd64", Instr: "ATOMS.CAST.SPIN.64", Op: smem.Atomic, Width: 8, Loop: true},
	)
}

// suffix returns the width as machine code writes it: nothing for 32 bit.
func suffix(bits int) string {
	switch {
	case bits < 32:
		return fmt.Sprint(".U", bits)
	case bits == 32:
		return ""
	}
	return fmt.Sprint(".", bits)
}

// Ops returns the ops that a pattern file may name.
func Ops() []Op { return append([]Op(nil), opTable...) }

// lookup returns the index in opTable of the op with the given name, or -1.
func lookup(name []byte) int {
	for i := range opTable {
		if opTable[i].Name == string(name) {
			return i
		}
	}
	return -1
}
