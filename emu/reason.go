package emu

import "fmt"

// A reason says why a value is not known: a kind, and the instruction that the value came from. 0 is "known".
// It is index*numReasons + kind, so that making one costs nothing.
type reason uint32

type reasonKind uint32

const (
	whyNone    reasonKind = iota
	whyData               // loaded from memory whose contents were not given
	whyOp                 // made by an instruction without semantics
	whyInit               // never written
	whySpecial            // a special register or launch word that has no fixed value
	whyLane               // taken from a lane that does not take part
	whyJoin               // differs between the two sides of a branch on an unknown value
	whyLoop               // changed by a loop whose trip count is unknown
	whyTensor             // result of a tensor instruction
	whyArg                // an argument that was not given
	numReasons
)

func because(kind reasonKind, index int) reason {
	return reason(uint32(index)*uint32(numReasons) + uint32(kind))
}

func (r reason) kind() reasonKind { return reasonKind(uint32(r) % uint32(numReasons)) }
func (r reason) index() int       { return int(uint32(r) / uint32(numReasons)) }

var reasonText = [numReasons]string{
	whyNone:    "unknown",
	whyData:    "depends on data loaded at pc 0x%x",
	whyOp:      "depends on an instruction without semantics at pc 0x%x",
	whyInit:    "depends on a register or memory never written, read at pc 0x%x",
	whySpecial: "depends on a special register read at pc 0x%x",
	whyLane:    "depends on a lane that does not take part at pc 0x%x",
	whyJoin:    "depends on which side the branch on unknown data at pc 0x%x took",
	whyLoop:    "depends on the unknown trip count of the loop at pc 0x%x",
	whyTensor:  "depends on a tensor result at pc 0x%x",
	whyArg:     "depends on an argument that was not given, read at pc 0x%x",
}

// text returns the reason in words.
func (p *Program) reasonText(r reason) string {
	k := r.kind()
	if k == whyNone {
		return reasonText[k]
	}
	s := fmt.Sprintf(reasonText[k], r.index()*instSize)
	if k == whyOp {
		s += " (" + p.insts[r.index()].Op.String() + ")"
	}
	return s
}
