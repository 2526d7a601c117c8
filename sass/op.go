package sass

// Op is the identity of an operation: what the mnemonic names, up to the modifiers that Mods holds. Forms with another set of
// operands or another width of result have their own Op (IMADWide beside IMAD). The numbers change when the table changes;
// do not store them.
type Op uint16

// String returns the mnemonic without modifiers, such as "IMAD.WIDE".
func (o Op) String() string {
	if o >= numOps {
		return opNames[OpInvalid]
	}
	return opNames[o]
}
