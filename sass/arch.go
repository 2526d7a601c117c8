package sass

import (
	"fmt"
	"strconv"
	"strings"
)

// Arch is a generation of machine code, as the number in sm_NN. The zero value is no generation.
type Arch uint8

// The generations this package decodes.
const (
	SM70  Arch = 70
	SM72  Arch = 72
	SM75  Arch = 75
	SM80  Arch = 80
	SM86  Arch = 86
	SM87  Arch = 87
	SM88  Arch = 88
	SM89  Arch = 89
	SM90  Arch = 90
	SM100 Arch = 100
	SM101 Arch = 101
	SM103 Arch = 103
	SM110 Arch = 110
	SM120 Arch = 120
	SM121 Arch = 121
)

// String returns the sm_NN form.
func (a Arch) String() string { return "sm_" + strconv.Itoa(int(a)) }

// Known reports whether a can be decoded.
func (a Arch) Known() bool { return family(a) != 0 }

// ParseArch reads sm_NN, compute_NN or NN, with or without an architecture-specific suffix (sm_90a, sm_100f).
func ParseArch(s string) (Arch, error) {
	t := strings.TrimPrefix(strings.TrimPrefix(s, "sm_"), "compute_")
	t = strings.TrimRight(t, "af")
	n, err := strconv.ParseUint(t, 10, 8)
	if err != nil || !Arch(n).Known() {
		return 0, fmt.Errorf("sass: architecture %q: want sm_70 to sm_121", s)
	}
	return Arch(n), nil
}

// WideUniform reports whether uniform register fields have 8 bits (sm_100 and later); before, 6.
func (a Arch) WideUniform() bool { return a >= SM100 }

// Families share table rows: one decode index per family.
const (
	famNone = iota
	fam70
	fam75
	fam80
	fam90
	fam100
	fam120
	numFam
)

func family(a Arch) int {
	switch a {
	case SM70, SM72:
		return fam70
	case SM75:
		return fam75
	case SM80, SM86, SM87, SM88, SM89:
		return fam80
	case SM90:
		return fam90
	case SM100, SM101, SM103, SM110:
		return fam100
	case SM120, SM121:
		return fam120
	}
	return famNone
}
