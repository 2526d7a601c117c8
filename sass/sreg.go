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

// specialRegister is a name and the first generation that has it.
type specialRegister struct {
	name  string
	since Arch
}

// specialRegisters names the special registers by number.
var specialRegisters = [256]specialRegister{
	0:   {"SR_LANEID", SM70},
	1:   {"SR_CLOCK", SM70},
	2:   {"SR_VIRTCFG", SM70},
	3:   {"SR_VIRTID", SM70},
	15:  {"SR_ORDERING_TICKET", SM70},
	16:  {"SR_PRIM_TYPE", SM70},
	17:  {"SR_INVOCATION_ID", SM70},
	18:  {"SR_Y_DIRECTION", SM70},
	19:  {"SR_THREAD_KILL", SM70},
	20:  {"SM_SHADER_TYPE", SM70},
	21:  {"SR_DIRECTCBEWRITEADDRESSLOW", SM70},
	22:  {"SR_DIRECTCBEWRITEADDRESSHIGH", SM70},
	23:  {"SR_DIRECTCBEWRITEENABLED", SM70},
	24:  {"SR_SW_SCRATCH", SM70},
	25:  {"SR_MACHINE_ID_1", SM70},
	26:  {"SR_MACHINE_ID_2", SM70},
	27:  {"SR_MACHINE_ID_3", SM70},
	28:  {"SR_AFFINITY", SM70},
	29:  {"SR_INVOCATION_INFO", SM70},
	30:  {"SR_WSCALEFACTOR_XY", SM70},
	31:  {"SR_WSCALEFACTOR_Z", SM70},
	32:  {"SR_TID", SM70},
	33:  {"SR_TID.X", SM70},
	34:  {"SR_TID.Y", SM70},
	35:  {"SR_TID.Z", SM70},
	37:  {"SR_CTAID.X", SM70},
	38:  {"SR_CTAID.Y", SM70},
	39:  {"SR_CTAID.Z", SM70},
	40:  {"SR_NTID", SM70},
	41:  {"SR_CirQueueIncrMinusOne", SM70},
	42:  {"SR_NLATC", SM70},
	44:  {"SR_SM_SPA_VERSION", SM70},
	45:  {"SR_MULTIPASSSHADERINFO", SM70},
	46:  {"SR_LWINHI", SM70},
	47:  {"SR_SWINHI", SM70},
	48:  {"SR_SWINLO", SM70},
	49:  {"SR_SWINSZ", SM70},
	50:  {"SR_SMEMSZ", SM70},
	51:  {"SR_SMEMBANKS", SM70},
	52:  {"SR_LWINLO", SM70},
	53:  {"SR_LWINSZ", SM70},
	54:  {"SR_LMEMLOSZ", SM70},
	55:  {"SR_LMEMHIOFF", SM70},
	56:  {"SR_EQMASK", SM70},
	57:  {"SR_LTMASK", SM70},
	58:  {"SR_LEMASK", SM70},
	59:  {"SR_GTMASK", SM70},
	60:  {"SR_GEMASK", SM70},
	61:  {"SR_REGALLOC", SM70},
	62:  {"SR_BARRIERALLOC", SM70},
	64:  {"SR_GLOBALERRORSTATUS", SM70},
	65:  {"SR_CGAERRORSTATUS", SM90},
	66:  {"SR_WARPERRORSTATUS", SM70},
	67:  {"SR_VIRTUALSMID", SM70},
	68:  {"SR_VIRTUALENGINEID", SM70},
	80:  {"SR_CLOCKLO", SM70},
	81:  {"SR_CLOCKHI", SM70},
	82:  {"SR_GLOBALTIMERLO", SM70},
	83:  {"SR_GLOBALTIMERHI", SM70},
	84:  {"SR_ESR_PC", SM70},
	85:  {"SR_ESR_PC_HI", SM70},
	96:  {"SR_HWTASKID", SM70},
	97:  {"SR_CIRCULARQUEUEENTRYINDEX", SM70},
	98:  {"SR_CIRCULARQUEUEENTRYADDRESSLOW", SM70},
	99:  {"SR_CIRCULARQUEUEENTRYADDRESSHIGH", SM70},
	100: {"SR_PM0", SM70},
	101: {"SR_PM_HI0", SM70},
	102: {"SR_PM1", SM70},
	103: {"SR_PM_HI1", SM70},
	104: {"SR_PM2", SM70},
	105: {"SR_PM_HI2", SM70},
	106: {"SR_PM3", SM70},
	107: {"SR_PM_HI3", SM70},
	108: {"SR_PM4", SM70},
	109: {"SR_PM_HI4", SM70},
	110: {"SR_PM5", SM70},
	111: {"SR_PM_HI5", SM70},
	112: {"SR_PM6", SM70},
	113: {"SR_PM_HI6", SM70},
	114: {"SR_PM7", SM70},
	115: {"SR_PM_HI7", SM70},
	116: {"SR_SNAP_PM0", SM70},
	117: {"SR_SNAP_PM_HI0", SM70},
	118: {"SR_SNAP_PM1", SM70},
	119: {"SR_SNAP_PM_HI1", SM70},
	120: {"SR_SNAP_PM2", SM70},
	121: {"SR_SNAP_PM_HI2", SM70},
	122: {"SR_SNAP_PM3", SM70},
	123: {"SR_SNAP_PM_HI3", SM70},
	124: {"SR_SNAP_PM4", SM70},
	125: {"SR_SNAP_PM_HI4", SM70},
	126: {"SR_SNAP_PM5", SM70},
	127: {"SR_SNAP_PM_HI5", SM70},
	128: {"SR_SNAP_PM6", SM70},
	129: {"SR_SNAP_PM_HI6", SM70},
	130: {"SR_SNAP_PM7", SM70},
	131: {"SR_SNAP_PM_HI7", SM70},
	132: {"SR_VARIABLE_RATE", SM70},
	133: {"__HIR0X000", SM70},
	134: {"SR_WARPGROUP_INFO", SM90},
	135: {"SR_WARPGROUPID", SM90},
	136: {"SR_CgaCtaId", SM90},
	137: {"SR_GpcLocalCgaId", SM90},
	138: {"SR_CgaSize", SM100},
	139: {"SR_CTARegPoolSz", SM90},
	141: {"SR_TMemSz", SM100},
	142: {"SR_CONTEXT_SAVE_ADDR_LO", SM100},
	143: {"SR_CONTEXT_SAVE_ADDR_HI", SM100},
	255: {"SRZ", SM70},
}

// specialName returns the name of special register n.
func specialName(a Arch, n uint8) string {
	if r := &specialRegisters[n]; r.name != "" && a >= r.since {
		return r.name
	}
	return "SR" + strconv.Itoa(int(n))
}
