package sass

// Space is the memory an instruction accesses.
type Space uint8

const (
	SpaceNone    Space = iota
	SpaceShared        // the block's shared memory
	SpaceGlobal        // global memory
	SpaceGeneric       // decided by the address: may be shared, local or global
	SpaceLocal         // per-thread memory
	SpaceConst         // constant banks
	SpaceCluster       // shared memory of any block of the cluster
)

// AccessKind is what an access does.
type AccessKind uint8

const (
	Load AccessKind = iota
	Store
	Atomic    // reads, modifies, writes, and returns the old value
	Reduction // the same without a result
	AsyncCopy // global to shared without passing registers
	Engine    // a copy or matrix engine that makes its own addresses: no lane addresses
	Barrier   // operation on a barrier object in shared memory
)

// Access describes the memory access of an instruction.
//
// Bytes is the number of bytes each lane transfers, by the address of its own lane. Matrix accesses (LDSM, STSM) are
// different: lanes 8m to 8m+7 give the addresses of the eight rows of matrix m, Rows = 8 * Matrices lanes take part, and
// each address stands for Bytes = 16 bytes; Matrices is zero for all others. Bytes is zero for engines.
// A 16x16 matrix of bytes (LDSM.MT1616) counts as two.
type Access struct {
	Space    Space
	Kind     AccessKind
	Bytes    int
	Matrices int
	Addr     Role // the operand with the address in Space; RoleNone for engines that take descriptors
}

type accessClass struct {
	space Space
	kind  AccessKind
	size  accessSize
}

type accessSize uint8

const (
	byWidth  accessSize = iota // ModWidth
	byType                     // ModAtomType
	byMatrix                   // ModNum
	fixed8                     // 8 bytes
	unsized
)

var accessClasses = [numOps]accessClass{
	LDS:           {SpaceShared, Load, byWidth},
	STS:           {SpaceShared, Store, byWidth},
	LDSM:          {SpaceShared, Load, byMatrix},
	STSM:          {SpaceShared, Store, byMatrix},
	ATOMS:         {SpaceShared, Atomic, byType},
	LDGSTS:        {SpaceShared, AsyncCopy, byWidth},
	LDG:           {SpaceGlobal, Load, byWidth},
	STG:           {SpaceGlobal, Store, byWidth},
	ATOMG:         {SpaceGlobal, Atomic, byType},
	REDG:          {SpaceGlobal, Reduction, byType},
	RED:           {SpaceGeneric, Reduction, byType},
	ATOM:          {SpaceGeneric, Atomic, byType},
	LD:            {SpaceGeneric, Load, byWidth},
	ST:            {SpaceGeneric, Store, byWidth},
	LDL:           {SpaceLocal, Load, byWidth},
	STL:           {SpaceLocal, Store, byWidth},
	LDC:           {SpaceConst, Load, byWidth},
	ULDC:          {SpaceConst, Load, byWidth},
	LDCU:          {SpaceConst, Load, byWidth},
	STAS:          {SpaceCluster, Store, byWidth},
	REDAS:         {SpaceCluster, Reduction, unsized},
	SYNCSArrive:   {SpaceShared, Barrier, fixed8},
	SYNCSPhasechk: {SpaceShared, Barrier, fixed8},
	SYNCSExch:     {SpaceShared, Barrier, fixed8},
	SYNCSCas:      {SpaceShared, Barrier, fixed8},
	SYNCSLd:       {SpaceShared, Barrier, fixed8},
	SYNCSCctl:     {SpaceShared, Barrier, unsized},
	ARRIVES:       {SpaceShared, Barrier, fixed8},
	UBLKCP:        {SpaceCluster, Engine, unsized},
	UBLKRED:       {SpaceCluster, Engine, unsized},
	UTMALDG:       {SpaceCluster, Engine, unsized},
	UTMASTG:       {SpaceShared, Engine, unsized},
	UTMAREDG:      {SpaceShared, Engine, unsized},
	HGMMA:         {SpaceShared, Engine, unsized},
	IGMMA:         {SpaceShared, Engine, unsized},
	UTCMMA:        {SpaceShared, Engine, unsized},
	UTCCP:         {SpaceShared, Engine, unsized},
	UTCBAR:        {SpaceShared, Barrier, unsized},
	UMEMSETS:      {SpaceShared, Engine, unsized},
	LDGMC:         {SpaceGlobal, Load, byType},
}

var typeBytes = [...]uint8{TypeU8: 1, TypeS8: 1, TypeU16: 2, TypeS16: 2, TypeU32: 4, TypeS32: 4, TypeU64: 8, TypeS64: 8, TypeF16: 2, TypeF32: 4,
	TypeF64: 8, TypeBF16: 2, TypeF16x2: 4, TypeBF16x2: 4, TypeB128: 16, TypeOther: 0}

// Access returns what memory i accesses, and whether it accesses any. Generic accesses are not shared accesses before their address
// is known. A constant operand of an ordinary instruction is not an access.
func (i *Inst) Access() (Access, bool) {
	if i.Op >= numOps {
		return Access{}, false
	}
	c := &accessClasses[i.Op]
	if c.space == SpaceNone {
		return Access{}, false
	}
	a := Access{Space: c.space, Kind: c.kind, Addr: RoleAddr}
	if c.kind == Engine && i.Arg(RoleAddr) == nil { // matrix engines read shared memory through descriptors
		a.Addr = RoleNone
	}
	switch c.size {
	case byWidth:
		a.Bytes = i.Width().Bytes()
	case byType:
		a.Bytes = int(typeBytes[i.Mods[ModAtomType]&15])
	case byMatrix:
		a.Matrices = int(i.Mods[ModNum])
		a.Bytes = 16
	case fixed8:
		a.Bytes = 8
	}
	if c.space == SpaceConst {
		a.Addr = RoleB
	}
	return a, true
}

// SharedAccess returns the access of i if it is certain to be one of shared memory with addresses given lane by lane: LDS, STS, LDSM,
// STSM, ATOMS and LDGSTS. These are the accesses that can conflict in banks.
func (i *Inst) SharedAccess() (Access, bool) {
	a, ok := i.Access()
	return a, ok && a.Space == SpaceShared && a.Kind <= AsyncCopy
}
