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

// imadSuffix names what IMAD is used for: listings call RZ * B + C a move, A * 2^n + RZ a shift and A * 1 + C an addition.
func imadSuffix(i *Inst, dst []byte) []byte {
	if i.Op == IMAD && !i.Has(ModX) {
		a, b, c := i.Arg(RoleA), i.Arg(RoleB), i.Arg(RoleC)
		switch {
		case a.Reg == RZ && b.Kind == KindReg && c.Kind != KindUReg:
			dst = append(dst, ".MOV"...)
		case b.Kind == KindImm && b.Imm == 1:
			dst = append(dst, ".IADD"...)
		case b.Kind == KindImm && powerOfTwo(uint32(b.Imm)) && b.Imm != 1<<16 && c.Kind == KindReg && c.Reg == RZ:
			dst = append(dst, ".SHL"...)
		}
	}
	if !i.Signed() {
		dst = append(dst, ".U32"...)
	}
	if i.Has(ModX) {
		dst = append(dst, ".X"...)
	}
	return dst
}

func powerOfTwo(v uint32) bool { return v != 0 && v&(v-1) == 0 }
