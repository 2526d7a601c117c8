package arch

import "shmoo/smem"

const kib = 1024

const (
	measured   = "measured on an H200 with a clock probe and the hardware's wavefront and conflict counters"
	fromHopper = "assumed equal to the H200's measured rules"
	pairing7x  = "assumed equal to the H200's measured rules; NVIDIA staff described the pairing of wide loads for " +
		"compute capability 7.x on the developer forum"
	sharkGuide = "AMD shark-ai kernel optimization guide, LDS phase tables"
)

// nvidia fills what the NVIDIA generations have in common. perBlock and perSM are in bytes.
func nvidia(name, title string, perBlock, perSM int, a Arch, rules map[smem.Key]smem.Rule) Arch {
	a.Name, a.Title = name, title
	a.Unit = unit(name, 32, 32, perBlock, rules)
	a.StaticShared = 48 * kib
	a.SharedPerSM = perSM
	a.ThreadsPerBlock = 1024
	return a
}

// unit makes a unit of the table, whose rules are known to be sound.
func unit(name string, lanes, banks, size int, rules map[smem.Key]smem.Rule) *smem.Unit {
	u, err := smem.NewUnit(name, lanes, banks, 4, size, rules)
	if err != nil {
		panic(err)
	}
	return u
}

func amd(name, title string, banks, size int, rules map[smem.Key]smem.Rule) Arch {
	return Arch{
		Name: name, Title: title,
		Unit:         unit(name, 64, banks, size, rules),
		StaticShared: size, SharedPerSM: size, SharedGranule: 512,
		MaxBlocksPerSM: 32, MaxWarpsPerSM: 32, ThreadsPerBlock: 1024,
		Provenance: sharkGuide,
	}
}

// What blocks take and multiprocessors hold: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability" and the shared-memory sections of each compute capability.
var (
	volta   = Arch{SharedGranule: 256, MaxBlocksPerSM: 32, MaxWarpsPerSM: 64, Provenance: pairing7x}
	turing  = Arch{SharedGranule: 256, MaxBlocksPerSM: 16, MaxWarpsPerSM: 32, Provenance: pairing7x}
	big     = Arch{SharedGranule: 128, SharedReserved: kib, MaxBlocksPerSM: 32, MaxWarpsPerSM: 64, Provenance: fromHopper}
	small   = Arch{SharedGranule: 128, SharedReserved: kib, MaxBlocksPerSM: 16, MaxWarpsPerSM: 48, Provenance: fromHopper}
	small24 = Arch{SharedGranule: 128, SharedReserved: kib, MaxBlocksPerSM: 24, MaxWarpsPerSM: 48,
		Provenance: fromHopper}
	h200 = Arch{SharedGranule: 128, SharedReserved: kib, MaxBlocksPerSM: 32, MaxWarpsPerSM: 64, Provenance: measured}
)

var table = []Arch{
	nvidia("sm_70", "Volta (V100)", 96*kib, 96*kib, volta, neighbour(beforeTuring, true)),
	nvidia("sm_72", "Volta (Xavier)", 96*kib, 96*kib, volta, neighbour(beforeTuring, true)),
	nvidia("sm_75", "Turing (T4, RTX 20)", 64*kib, 64*kib, turing, neighbour(beforeAmpere, true)),
	nvidia("sm_80", "Ampere (A100)", 163*kib, 164*kib, big, neighbour(beforeHopper, false)),
	nvidia("sm_86", "Ampere (A10, RTX 30)", 99*kib, 100*kib, small, neighbour(beforeHopper, false)),
	nvidia("sm_87", "Ampere (Orin)", 163*kib, 164*kib, small, neighbour(beforeHopper, false)),
	nvidia("sm_89", "Ada (L4, L40, RTX 40)", 99*kib, 100*kib, small24, neighbour(beforeHopper, false)),
	nvidia("sm_90", "Hopper (H100, H200)", 227*kib, 228*kib, h200, hopper()),
	nvidia("sm_100", "Blackwell (B100, B200)", 227*kib, 228*kib, big, neighbour(nil, false)),
	nvidia("sm_103", "Blackwell (B300)", 227*kib, 228*kib, big, neighbour(nil, false)),
	nvidia("sm_110", "Blackwell (Thor)", 227*kib, 228*kib, small24, neighbour(nil, false)),
	nvidia("sm_120", "Blackwell (RTX 50)", 99*kib, 100*kib, small24, neighbour(nil, false)),
	nvidia("sm_121", "Blackwell (GB10)", 99*kib, 100*kib, small24, neighbour(nil, false)),
	amd("gfx942", "CDNA 3 (MI300)", 32, 64*kib,
		cdna(runs(32), runs(16), mi300Read128, runs(8), smem.Documented)),
	amd("gfx950", "CDNA 4 (MI350)", 64, 160*kib,
		cdna(runs(64), runs(32), mi350Read128, runs(16), smem.Assumed)),
}
