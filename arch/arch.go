// Package arch is the table of GPU generations: the rules of each shared-memory unit, its limits, and where each figure
// comes from.
//
// A generation is data. Nothing outside this package and sass may branch on a generation's name or number:
//
//	a, err := arch.Lookup("sm_90a") // suffixes a and f name the same unit
//	a.Unit.Resolve(&out, &request)
//	a.BlocksPerSM(200*1024, 256)    // 1: shared memory is the limit
//
// Limits: figures are per block and per multiprocessor as the vendor documents them; a board may offer less.
package arch

import (
	"fmt"
	"strings"

	"shmoo/smem"
)

// Default is the generation assumed when none is named: the one whose rules were measured.
const Default = "sm_90"

// An Arch is one GPU generation. It is read-only.
type Arch struct {
	Name  string // "sm_90"
	Title string // "Hopper (H100, H200)"
	Unit  *smem.Unit

	// All sizes are in bytes.
	StaticShared    int // largest static shared memory of a block; more must be dynamic
	SharedPerSM     int // shared memory of a multiprocessor
	SharedReserved  int // taken by the system for every block
	SharedGranule   int // allocation step of a block's shared memory
	MaxBlocksPerSM  int
	MaxWarpsPerSM   int
	ThreadsPerBlock int

	Provenance string // where the unit's rules come from
}

// Lookup returns the generation with the given name: "sm_90", with or without a suffix ("sm_90a"), or "gfx942".
func Lookup(name string) (*Arch, error) {
	base := name
	if strings.HasPrefix(name, "sm_") {
		base = strings.TrimRight(name, "af")
	}
	for i := range table {
		if table[i].Name == base {
			return &table[i], nil
		}
	}
	return nil, fmt.Errorf("unknown architecture %q: want one of %s", name, strings.Join(Names(), ", "))
}

// MustLookup is like Lookup for names known to be in the table; it panics on others.
func MustLookup(name string) *Arch {
	a, err := Lookup(name)
	if err != nil {
		panic(err)
	}
	return a
}

// Names returns the names of all generations, oldest NVIDIA one first.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return names
}

// BlocksPerSM returns how many blocks of the given shared memory (bytes) and threads fit on a multiprocessor at once,
// registers left aside. It is 0 when not even one does.
func (a *Arch) BlocksPerSM(shared, threads int) int {
	if shared > a.Unit.Size || threads > a.ThreadsPerBlock {
		return 0
	}
	warps := max(1, (threads+a.Unit.Lanes-1)/a.Unit.Lanes)
	blocks := min(a.MaxBlocksPerSM, a.MaxWarpsPerSM/warps)
	if per := roundUp(shared+a.SharedReserved, a.SharedGranule); per > 0 {
		blocks = min(blocks, a.SharedPerSM/per)
	}
	return blocks
}

func roundUp(n, step int) int { return (n + step - 1) / step * step }
