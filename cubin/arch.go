package cubin

import (
	"strconv"
	"strings"
)

// familyRule holds what the file format, not the code, changes between architectures. First and last are inclusive.
type familyRule struct {
	first, last    int
	paramBase      int // offset of the parameters in constant bank 0, used if the file does not say
	sharedReserved int // bytes of shared memory that the system keeps, in front of the kernel's own
}

// familyRules: parameter bases as the linked cubins of each target state them (CUDA 11.1 to 13.5); the reserve is the
// difference between .nv.shared sizes of one source compiled for sm_86 and for sm_90 and later.
var familyRules = []familyRule{
	{first: 0, last: 89, paramBase: 0x160},
	{first: 90, last: 99, paramBase: 0x210, sharedReserved: 1024},
	{first: 100, last: 1 << 30, paramBase: 0x380, sharedReserved: 1024},
}

func family(arch int) familyRule {
	for _, r := range familyRules {
		if arch >= r.first && arch <= r.last {
			return r
		}
	}
	return familyRule{}
}

// archFromFlags reads the architecture from e_flags. The old ABI keeps it in the low byte, the new one in the next;
// bit 11 of the old layout marks the "a" variant (LLVM ELF.h). The new layout does not mark it reliably.
func archFromFlags(abi byte, flags uint32) (arch, virtual int, suffix string) {
	if abi >= 8 {
		return int(flags >> 8 & 0xff), 0, ""
	}
	if flags&0x800 != 0 {
		suffix = "a"
	}
	return int(flags & 0xff), int(flags >> 16 & 0xff), suffix
}

// targetFromOptions finds the exact target in the option string that the tool left in the file: the only place that
// keeps the suffix of sm_120a.
func targetFromOptions(options string, arch int) string {
	want := "sm_" + strconv.Itoa(arch)
	for _, f := range strings.FieldsFunc(options, func(r rune) bool { return r == ' ' || r == '=' || r == ',' }) {
		if rest, ok := strings.CutPrefix(f, want); ok && (rest == "" || rest == "a" || rest == "f") {
			return f
		}
	}
	return ""
}
