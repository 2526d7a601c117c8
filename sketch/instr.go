package sketch

import (
	"strconv"

	"shmoo/smem"
)

// widthSuffix is what SASS puts after an opcode for a width in bytes; 4 bytes have none.
var widthSuffix = map[int]string{1: ".U8", 2: ".U16", 8: ".64", 16: ".128"}

// name predicts the SASS instruction of a site. Inline assembly that says more has set instr.
func (s *siteRef) name() string {
	if s.instr != "" {
		return s.instr
	}
	suffix := widthSuffix[s.width]
	switch s.op {
	case smem.Load:
		return "LDS" + suffix
	case smem.Store:
		return "STS" + suffix
	case smem.LoadMatrix:
		return "LDSM.x" + strconv.Itoa(s.width/4)
	case smem.StoreMatrix:
		return "STSM.x" + strconv.Itoa(s.width/4)
	case smem.Atomic, smem.Reduce:
		return "ATOMS" + suffix
	case smem.CompareSwap:
		return "ATOMS.CAS" + suffix
	case smem.CopyAsync:
		return "LDGSTS" + suffix
	case smem.CopyAsyncCG:
		return "LDGSTS.BYPASS" + suffix
	}
	return ""
}
