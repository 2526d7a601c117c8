package predict

import (
	"fmt"
	"strings"

	"shmoo/arch"
	"shmoo/gpu"
)

// A Machine is what a prediction needs to know of a GPU.
type Machine struct {
	Name     string
	Arch     *arch.Arch
	SMs      int     // multiprocessors
	ClockMHz int     // highest clock of the multiprocessors
	Memory   float64 // bytes per second between the chip and device memory by the data sheet; 0 when unknown
}

// registersPerSM is the 32-bit registers of a multiprocessor of every generation from Volta to Blackwell, registerGranule the
// step in which a warp gets them (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; CUDA
// occupancy calculator).
const (
	registersPerSM  = 65536
	registerGranule = 256
)

// A board is a row of the table of known machines.
type board struct {
	name, arch    string
	sms, clockMHz int
	memory        float64
}

// boards are GPUs by name: multiprocessors, boost clock and memory bandwidth as NVIDIA's data sheets and architecture
// white papers state them. The first of an architecture stands for it.
var boards = []board{
	{"H200", "sm_90", 132, 1980, 4.8e12},
	{"H100", "sm_90", 132, 1980, 3.35e12},
	{"A100", "sm_80", 108, 1410, 2.039e12},
	{"RTX 3090", "sm_86", 82, 1695, 0.936e12},
	{"RTX 4090", "sm_89", 128, 2520, 1.008e12},
	{"L40S", "sm_89", 142, 2520, 0.864e12},
	{"B200", "sm_100", 148, 1965, 8e12},
	{"RTX 5090", "sm_120", 170, 2407, 1.792e12},
	{"V100", "sm_70", 80, 1530, 0.9e12},
	{"T4", "sm_75", 40, 1590, 0.32e12},
}

// Names returns the names that Lookup knows.
func Names() []string {
	var names []string
	for _, b := range boards {
		names = append(names, b.name)
	}
	return names
}

// Lookup returns a known GPU by its name, such as "H200", or the first one of an architecture, such as "sm_90".
func Lookup(name string) (*Machine, error) {
	for _, b := range boards {
		if strings.EqualFold(name, b.name) || name == b.arch {
			a, err := arch.Lookup(b.arch)
			if err != nil {
				return nil, err
			}
			return &Machine{b.name, a, b.sms, b.clockMHz, b.memory}, nil
		}
	}
	return nil, fmt.Errorf("unknown GPU %q, want one of %s, or an architecture of theirs", name, strings.Join(Names(), ", "))
}

// Of returns the machine that a device is. The driver does not tell the bandwidth of its memory: Memory is 0 for a device that
// is none of Names.
func Of(info gpu.Info) (*Machine, error) {
	a, err := arch.Lookup(info.Arch)
	if err != nil {
		return nil, err
	}
	m := &Machine{Name: info.Name, Arch: a, SMs: info.Multiprocessors, ClockMHz: info.ClockMHz}
	if m.SMs < 1 || m.ClockMHz < 1 {
		return nil, fmt.Errorf("%s: got %d multiprocessors at %d MHz, want some of both", info.Name, m.SMs, m.ClockMHz)
	}
	for _, b := range boards {
		if strings.Contains(info.Name, b.name) && b.arch == info.Arch {
			m.Memory = b.memory
			break
		}
	}
	return m, nil
}

// Resident returns how many blocks a multiprocessor holds at once: threads, shared bytes and registers a thread are those of
// the block. 0 means that not even one fits.
func (m *Machine) Resident(threads, shared, registers int) int {
	blocks := m.Arch.BlocksPerSM(shared, threads)
	warps := (threads + m.Arch.Unit.Lanes - 1) / m.Arch.Unit.Lanes
	perWarp := (registers*m.Arch.Unit.Lanes + registerGranule - 1) / registerGranule * registerGranule
	if perWarp*warps > 0 {
		blocks = min(blocks, registersPerSM/(perWarp*warps))
	}
	return blocks
}
