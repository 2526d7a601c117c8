package sass

// The operations.
const (
	OpInvalid     Op = iota
	NOP              // NOP
	MOV              // MOV
	IMAD             // IMAD
	IMADWide         // IMAD.WIDE
	IMADHi           // IMAD.HI
	IADD3            // IADD3
	IADD             // IADD
	VIADD            // VIADD
	VIADDMNMX        // VIADDMNMX
	LEA              // LEA
	SHF              // SHF
	LOP3             // LOP3
	PLOP3            // PLOP3
	PRMT             // PRMT
	SEL              // SEL
	FSEL             // FSEL
	ISETP            // ISETP
	FSETP            // FSETP
	IABS             // IABS
	IMNMX            // IMNMX
	VIMNMX           // VIMNMX
	VIMNMX3          // VIMNMX3
	IDP              // IDP
	BMSK             // BMSK
	SGXT             // SGXT
	BREV             // BREV
	FLO              // FLO
	POPC             // POPC
	I2F              // I2F
	I2FP             // I2FP
	F2I              // F2I
	F2F              // F2F
	I2I              // I2I
	MUFU             // MUFU
	FADD             // FADD
	FMUL             // FMUL
	FFMA             // FFMA
	HADD2            // HADD2
	HMUL2            // HMUL2
	HFMA2            // HFMA2
	HFMA2Mma         // HFMA2.MMA
	HSETP2           // HSETP2
	HSET2            // HSET2
	HMNMX2           // HMNMX2
	DADD             // DADD
	DMUL             // DMUL
	DFMA             // DFMA
	DSETP            // DSETP
	FMNMX            // FMNMX
	FCHK             // FCHK
	FSWZADD          // FSWZADD
	S2R              // S2R
	S2UR             // S2UR
	CS2R             // CS2R
	R2UR             // R2UR
	P2R              // P2R
	R2P              // R2P
	LDC              // LDC
	ULDC             // ULDC
	LDCU             // LDCU
	UMOV             // UMOV
	B2R              // B2R
	BMOV             // BMOV
	LEPC             // LEPC
	SHFL             // SHFL
	VOTE             // VOTE
	VOTEU            // VOTEU
	MATCH            // MATCH
	REDUX            // REDUX
	ELECT            // ELECT
	WARPSYNC         // WARPSYNC
	ENDCOLLECTIVE    // ENDCOLLECTIVE
	LDS              // LDS
	STS              // STS
	LDSM             // LDSM
	STSM             // STSM
	ATOMS            // ATOMS
	LDGSTS           // LDGSTS
	LDGDEPBAR        // LDGDEPBAR
	DEPBAR           // DEPBAR
	LDG              // LDG
	STG              // STG
	LD               // LD
	ST               // ST
	LDL              // LDL
	STL              // STL
	ATOM             // ATOM
	ATOMG            // ATOMG
	RED              // RED
	REDG             // REDG
	MEMBAR           // MEMBAR
	CCTL             // CCTL
	BAR              // BAR
	SYNCS            // SYNCS
	ARRIVES          // ARRIVES
	BRA              // BRA
	BRX              // BRX
	BRXU             // BRXU
	JMP              // JMP
	JMX              // JMX
	JMXU             // JMXU
	CALL             // CALL
	RET              // RET
	EXIT             // EXIT
	BSSY             // BSSY
	BSYNC            // BSYNC
	BREAK            // BREAK
	YIELD            // YIELD
	NANOSLEEP        // NANOSLEEP
	KILL             // KILL
	BPT              // BPT
	RTT              // RTT
	UIADD3           // UIADD3
	UIMAD            // UIMAD
	UIMADWide        // UIMAD.WIDE
	UIMADHi          // UIMAD.HI
	ULEA             // ULEA
	UISETP           // UISETP
	USEL             // USEL
	ULOP3            // ULOP3
	UPLOP3           // UPLOP3
	UPRMT            // UPRMT
	USHF             // USHF
	USGXT            // USGXT
	UBMSK            // UBMSK
	UBREV            // UBREV
	UFLO             // UFLO
	UPOPC            // UPOPC
	UP2UR            // UP2UR
	UR2UP            // UR2UP
	HMMA             // HMMA
	IMMA             // IMMA
	BMMA             // BMMA
	DMMA             // DMMA
	MOVM             // MOVM
)

var opNames = [...]string{
	OpInvalid:     "?",
	NOP:           "NOP",
	MOV:           "MOV",
	IMAD:          "IMAD",
	IMADWide:      "IMAD.WIDE",
	IMADHi:        "IMAD.HI",
	IADD3:         "IADD3",
	IADD:          "IADD",
	VIADD:         "VIADD",
	VIADDMNMX:     "VIADDMNMX",
	LEA:           "LEA",
	SHF:           "SHF",
	LOP3:          "LOP3",
	PLOP3:         "PLOP3",
	PRMT:          "PRMT",
	SEL:           "SEL",
	FSEL:          "FSEL",
	ISETP:         "ISETP",
	FSETP:         "FSETP",
	IABS:          "IABS",
	IMNMX:         "IMNMX",
	VIMNMX:        "VIMNMX",
	VIMNMX3:       "VIMNMX3",
	IDP:           "IDP",
	BMSK:          "BMSK",
	SGXT:          "SGXT",
	BREV:          "BREV",
	FLO:           "FLO",
	POPC:          "POPC",
	I2F:           "I2F",
	I2FP:          "I2FP",
	F2I:           "F2I",
	F2F:           "F2F",
	I2I:           "I2I",
	MUFU:          "MUFU",
	FADD:          "FADD",
	FMUL:          "FMUL",
	FFMA:          "FFMA",
	HADD2:         "HADD2",
	HMUL2:         "HMUL2",
	HFMA2:         "HFMA2",
	HFMA2Mma:      "HFMA2.MMA",
	HSETP2:        "HSETP2",
	HSET2:         "HSET2",
	HMNMX2:        "HMNMX2",
	DADD:          "DADD",
	DMUL:          "DMUL",
	DFMA:          "DFMA",
	DSETP:         "DSETP",
	FMNMX:         "FMNMX",
	FCHK:          "FCHK",
	FSWZADD:       "FSWZADD",
	S2R:           "S2R",
	S2UR:          "S2UR",
	CS2R:          "CS2R",
	R2UR:          "R2UR",
	P2R:           "P2R",
	R2P:           "R2P",
	LDC:           "LDC",
	ULDC:          "ULDC",
	LDCU:          "LDCU",
	UMOV:          "UMOV",
	B2R:           "B2R",
	BMOV:          "BMOV",
	LEPC:          "LEPC",
	SHFL:          "SHFL",
	VOTE:          "VOTE",
	VOTEU:         "VOTEU",
	MATCH:         "MATCH",
	REDUX:         "REDUX",
	ELECT:         "ELECT",
	WARPSYNC:      "WARPSYNC",
	ENDCOLLECTIVE: "ENDCOLLECTIVE",
	LDS:           "LDS",
	STS:           "STS",
	LDSM:          "LDSM",
	STSM:          "STSM",
	ATOMS:         "ATOMS",
	LDGSTS:        "LDGSTS",
	LDGDEPBAR:     "LDGDEPBAR",
	DEPBAR:        "DEPBAR",
	LDG:           "LDG",
	STG:           "STG",
	LD:            "LD",
	ST:            "ST",
	LDL:           "LDL",
	STL:           "STL",
	ATOM:          "ATOM",
	ATOMG:         "ATOMG",
	RED:           "RED",
	REDG:          "REDG",
	MEMBAR:        "MEMBAR",
	CCTL:          "CCTL",
	BAR:           "BAR",
	SYNCS:         "SYNCS",
	ARRIVES:       "ARRIVES",
	BRA:           "BRA",
	BRX:           "BRX",
	BRXU:          "BRXU",
	JMP:           "JMP",
	JMX:           "JMX",
	JMXU:          "JMXU",
	CALL:          "CALL",
	RET:           "RET",
	EXIT:          "EXIT",
	BSSY:          "BSSY",
	BSYNC:         "BSYNC",
	BREAK:         "BREAK",
	YIELD:         "YIELD",
	NANOSLEEP:     "NANOSLEEP",
	KILL:          "KILL",
	BPT:           "BPT",
	RTT:           "RTT",
	UIADD3:        "UIADD3",
	UIMAD:         "UIMAD",
	UIMADWide:     "UIMAD.WIDE",
	UIMADHi:       "UIMAD.HI",
	ULEA:          "ULEA",
	UISETP:        "UISETP",
	USEL:          "USEL",
	ULOP3:         "ULOP3",
	UPLOP3:        "UPLOP3",
	UPRMT:         "UPRMT",
	USHF:          "USHF",
	USGXT:         "USGXT",
	UBMSK:         "UBMSK",
	UBREV:         "UBREV",
	UFLO:          "UFLO",
	UPOPC:         "UPOPC",
	UP2UR:         "UP2UR",
	UR2UP:         "UR2UP",
	HMMA:          "HMMA",
	IMMA:          "IMMA",
	BMMA:          "BMMA",
	DMMA:          "DMMA",
	MOVM:          "MOVM",
}
