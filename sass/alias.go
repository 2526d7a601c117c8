package sass

// aliasKind names a way in which the text of a row differs from its columns.
type aliasKind uint8

const (
	aliasNone aliasKind = iota
	aliasImad           // IMAD as move, shift and add
	aliasRel            // register, then displacement
	aliasRet            // register, then absolute base
	numAlias
)

// aliasText appends what stands between mnemonic and modifiers.
var aliasText = [numAlias]func(*Inst, []byte) []byte{
	aliasImad: imadSuffix,
	aliasRel:  noSuffix,
	aliasRet:  noSuffix,
}

func noSuffix(_ *Inst, dst []byte) []byte { return dst }

// imadSuffix names what IMAD is used for: listings call RZ * RZ + C a move, A * 2^n + RZ a shift and A * 1 + C an addition.
func imadSuffix(i *Inst, dst []byte) []byte {
	if i.Has(ModX) {
		if i.Op == IMAD {
			return append(dst, ".X"...)
		}
		return dst
	}
	if i.Op == IMAD {
		a, b, c := i.Arg(RoleA), i.Arg(RoleB), i.Arg(RoleC)
		zeroB := b.Kind == KindReg && b.Reg == RZ
		switch {
		case a.Reg == RZ && zeroB && c.Kind != KindUReg:
			dst = append(dst, ".MOV"...)
		case b.Kind == KindImm && b.Imm == 1 && i.Signed():
			return append(dst, ".IADD"...)
		case b.Kind == KindImm && b.Imm != 1 && b.Imm != 0x10000 && uint32(b.Imm)&uint32(b.Imm-1) == 0 && b.Imm != 0 && c.Kind == KindReg && c.Reg == RZ:
			dst = append(dst, ".SHL"...)
		}
	}
	if !i.Signed() {
		dst = append(dst, ".U32"...)
	}
	return dst
}
