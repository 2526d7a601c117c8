package sass

import "strconv"

// Special registers whose value depends on the lane or the block.
const (
	SRLaneID   = 0
	SRTidX     = 33
	SRTidY     = 34
	SRTidZ     = 35
	SRCtaidX   = 37
	SRCtaidY   = 38
	SRCtaidZ   = 39
	SRSwinHi   = 47
	SREqMask   = 56
	SRLtMask   = 57
	SRLeMask   = 58
	SRGtMask   = 59
	SRGeMask   = 60
	SRCgaCtaID = 136
	SRZ        = 255
)

var specialNames = map[int]string{
	0: "SR_LANEID", 1: "SR_CLOCK", 2: "SR_VIRTCFG", 3: "SR_VIRTID", 32: "SR_TID", 33: "SR_TID.X", 34: "SR_TID.Y", 35: "SR_TID.Z",
	37: "SR_CTAID.X", 38: "SR_CTAID.Y", 39: "SR_CTAID.Z", 40: "SR_NTID", 46: "SR_LWINHI", 47: "SR_SWINHI", 48: "SR_SWINLO",
	49: "SR_SWINSZ", 50: "SR_SMEMSZ", 51: "SR_SMEMBANKS", 52: "SR_LWINLO", 53: "SR_LWINSZ", 54: "SR_LMEMLOSZ", 55: "SR_LMEMHIOFF",
	56: "SR_EQMASK", 57: "SR_LTMASK", 58: "SR_LEMASK", 59: "SR_GTMASK", 60: "SR_GEMASK", 61: "SR_REGALLOC", 62: "SR_BARRIERALLOC",
	64: "SR_GLOBALERRORSTATUS", 65: "SR_CGAERRORSTATUS", 66: "SR_WARPERRORSTATUS", 67: "SR_VIRTUALSMID", 80: "SR_CLOCKLO", 81: "SR_CLOCKHI", 82: "SR_GLOBALTIMERLO",
	83: "SR_GLOBALTIMERHI", 136: "SR_CgaCtaId", 137: "SR_GpcLocalCgaId", 138: "SR_CgaLinearMemorySlot", 139: "SR_CTARegPoolSz", 255: "SRZ",
}

func specialName(n int) string {
	if s, ok := specialNames[n]; ok {
		return s
	}
	return "SR" + strconv.Itoa(n)
}
