package sass

// Mod names one modifier of an instruction: a field of the encoding that changes what the instruction does. Modifiers that
// only matter to the text (cache hints, say) have no name here; AppendText reads them from the encoding.
type Mod uint8

const (
	ModNone      Mod = iota
	ModWidth         // memory access width: a Width
	ModCmp           // comparison: a Cmp (integer) or FCmp
	ModBool          // how a comparison is joined with Pp: a Bool
	ModSigned        // 1 = signed (S32), 0 = unsigned (U32)
	ModX             // .X: extended precision, adds carry-in predicates and complements instead of negating
	ModEx            // .EX: ISETP compares the high word and takes the low result from Pr
	ModWide          // .64: operands are register pairs
	ModHi            // .HI: high word of the result
	ModShiftLeft     // SHF: 1 = shift left
	ModShfType       // SHF: a ShfType
	ModWrap          // .W: shift amount wraps instead of clamping
	ModPrmt          // PRMT: a PrmtMode
	ModShfl          // SHFL: a ShflMode
	ModVote          // VOTE: a VoteMode
	ModMatchAll      // MATCH.ALL
	ModAtom          // atomics and reductions: an AtomOp
	ModAtomType      // atomics: a DataType
	ModBar           // BAR: a BarMode
	ModBarRed        // BAR.RED, B2R: 0 POPC, 1 AND, 2 OR
	ModRound         // rounding: a Round
	ModFtz           // flush denormals to zero
	ModSat           // clamp to [0,1]
	ModSrcType       // conversions: a DataType
	ModDstType       // conversions: a DataType
	ModMufu          // MUFU: a MufuOp
	ModNum           // LDSM, STSM: number of 8-row matrices, 1, 2, 4; UTMA*: dimensions
	ModTrans         // LDSM, STSM: 0 M88, 1 transposed, 2 M816 (STSM: MT168), 3 M832
	ModLayout        // LDSM, STSM, MOVM: element kind or expansion, raw, 0 = 16-bit elements
	ModZfill         // LDGSTS: fill with zero
	ModBra           // BRA: a BraMode
	ModWarpsync      // WARPSYNC: a WarpsyncMode
	ModRedux         // REDUX: a ReduxOp
	ModSh            // FLO.SH: distance from the top instead of the index
	ModOr            // R2UR.OR and PAND/POR of LOP3: 1 = OR for R2UR; 1 = PAND for LOP3
	ModMode          // operation-specific mode, raw
	ModByte          // P2R, R2P: byte of the register, 0 to 3; I2F of 8 and 16 bits: first byte of the source
	ModSx32          // LEA.HI.SX32
	ModRelu          // .RELU
	ModNtz           // F2I.NTZ
	ModE             // .E: 64-bit addresses
	ModClear         // BMOV.CLEAR
	ModPacked        // 16x2 integer forms (VIADD, VIMNMX): raw, 0 = 32-bit
	ModTry           // SYNCS.PHASECHK.TRYWAIT
	ModZd            // LDS.ZD: reports through Pu
	NumMods
)

// Mods holds the modifiers of an instruction by Mod; absent ones are zero.
type Mods [NumMods]uint8

// Width is the width of a memory access per lane.
type Width uint8

const (
	WidthU8 Width = iota
	WidthS8
	WidthU16
	WidthS16
	Width32
	Width64
	Width128
	Width256
)

var widthBytes = [...]uint8{1, 1, 2, 2, 4, 8, 16, 32}

// Bytes returns the number of bytes, or 0 for a value that is not a width.
func (w Width) Bytes() int {
	if int(w) >= len(widthBytes) {
		return 0
	}
	return int(widthBytes[w])
}

// Signed reports whether a narrow load sign-extends.
func (w Width) Signed() bool { return w == WidthS8 || w == WidthS16 }

// Cmp is an integer comparison.
type Cmp uint8

const (
	CmpF Cmp = iota
	CmpLT
	CmpEQ
	CmpLE
	CmpGT
	CmpNE
	CmpGE
	CmpT
)

// FCmp is a float comparison. Values 1 to 6 are ordered (false with a NaN) and mean what they mean in Cmp; 9 to 14 are the same,
// unordered (true with a NaN).
type FCmp uint8

const (
	FCmpF   FCmp = 0
	FCmpNUM FCmp = 7
	FCmpNAN FCmp = 8
	FCmpT   FCmp = 15
)

// Bool joins two predicates.
type Bool uint8

const (
	BoolAnd Bool = iota
	BoolOr
	BoolXor
)

// ShfType is the operand type of SHF.
type ShfType uint8

const (
	ShfS64 ShfType = iota
	ShfU64
	ShfS32
	ShfU32
)

// PrmtMode is the selector mode of PRMT.
type PrmtMode uint8

const (
	PrmtIdx PrmtMode = iota
	PrmtF4E
	PrmtB4E
	PrmtRC8
	PrmtECL
	PrmtECR
	PrmtRC16
)

// ShflMode is the lane selection of SHFL.
type ShflMode uint8

const (
	ShflIdx ShflMode = iota
	ShflUp
	ShflDown
	ShflBfly
)

// VoteMode is the operation of VOTE and VOTEU.
type VoteMode uint8

const (
	VoteAll VoteMode = iota
	VoteAny
	VoteEq
)

// AtomOp is the operation of an atomic or reduction.
type AtomOp uint8

const (
	AtomAdd AtomOp = iota
	AtomMin
	AtomMax
	AtomInc
	AtomDec
	AtomAnd
	AtomOr
	AtomXor
	AtomExch
	AtomArrive
	AtomPopcInc
	AtomCas
	AtomCast     // compare and store: writes the predicate-like result that the spin loop tests
	AtomCastSpin // the same inside a spin loop
	AtomSafeAdd
)

// DataType is an operand type of atomics and conversions.
type DataType uint8

const (
	TypeU8 DataType = iota
	TypeS8
	TypeU16
	TypeS16
	TypeU32
	TypeS32
	TypeU64
	TypeS64
	TypeF16
	TypeF32
	TypeF64
	TypeBF16
	TypeF16x2
	TypeBF16x2
	TypeB128
	TypeOther
)

// BarMode is the mode of BAR.
type BarMode uint8

const (
	BarSync BarMode = iota
	BarArrive
	BarRed
	BarScan
	BarSyncAll
)

// Round is a rounding mode.
type Round uint8

const (
	RoundNearest Round = iota // .RN, the default; for F2I: nearest even
	RoundDown                 // .RM, .FLOOR
	RoundUp                   // .RP, .CEIL
	RoundZero                 // .RZ, .TRUNC
)

// MufuOp is a function of the special function unit.
type MufuOp uint8

const (
	MufuCos MufuOp = iota
	MufuSin
	MufuEx2
	MufuLg2
	MufuRcp
	MufuRsq
	MufuRcp64H
	MufuRsq64H
	MufuSqrt
	MufuTanh
)

// BraMode is the condition of BRA on the set of running lanes.
type BraMode uint8

const (
	BraPlain BraMode = iota
	BraU
	BraDiv  // taken when the running lanes are not the whole mask
	BraConv // taken when they are
)

// WarpsyncMode is the mode of WARPSYNC.
type WarpsyncMode uint8

const (
	WarpsyncPlain WarpsyncMode = iota
	WarpsyncExclusive
	WarpsyncCollective
)

// ReduxOp is the operation of REDUX.
type ReduxOp uint8

const (
	ReduxAnd ReduxOp = iota
	ReduxOr
	ReduxXor
	ReduxSum
	ReduxMin
	ReduxMax
)

// Width returns the memory width. Only memory instructions have one.
func (i *Inst) Width() Width { return Width(i.Mods[ModWidth]) }

// Cmp returns the integer comparison.
func (i *Inst) Cmp() Cmp { return Cmp(i.Mods[ModCmp]) }

// FCmp returns the float comparison.
func (i *Inst) FCmp() FCmp { return FCmp(i.Mods[ModCmp]) }

// Bool returns how the comparison is joined with the predicate source.
func (i *Inst) Bool() Bool { return Bool(i.Mods[ModBool]) }

// Signed reports whether the instruction treats its integers as signed.
func (i *Inst) Signed() bool { return i.Mods[ModSigned] != 0 }

// Has reports whether the modifier m is present with a value other than zero.
func (i *Inst) Has(m Mod) bool { return i.Mods[m] != 0 }

// AtomOp returns the operation of an atomic or reduction.
func (i *Inst) AtomOp() AtomOp { return AtomOp(i.Mods[ModAtom]) }
