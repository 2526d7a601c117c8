package predict

import "math"

// The constants of the time model, as one H200 (driver 580, SM clock 1980 MHz) gave them with the kernels of examples/sweeps;
// docs/tables.md has the measurements.
const (
	// Efficiency is the share of the data sheet's bandwidth that a kernel which only copies reaches: copy.cu with 16 bytes a
	// lane takes 258.7 us for 1 GiB.
	Efficiency = 0.875
	// Launch is what a kernel takes that does next to nothing, in seconds: broken.cu takes 3.2 to 3.4 us.
	Launch = 3.3e-6

	// Trip is the least time that a block with accesses to device memory takes, in seconds: bringing data in, a barrier, sending
	// data out. transpose.cu with 1024 threads a block and one load a thread takes 1.14 us a wave.
	Trip = 1.1e-6

	// With many waves of blocks the phases of different blocks overlap, and the times add up with the exponent manyWaves;
	// with one wave all blocks load, compute and store at the same time, and little overlaps. Both were chosen on scan.cu
	// (19 to 62 waves) and chunk56.cu (0.7 to 1.5 waves); width.cu had no part in it.
	manyWaves = 3.0
	oneWave   = 1.5

	schedulers   = 4   // warp instructions per cycle and multiprocessor, since Volta
	bytesPerPass = 128 // a pass of the data stage moves 128 bytes, of shared memory or on the way to and from device memory
)

// Work is what a launch asks of the machine.
type Work struct {
	Blocks       int
	Bytes        float64 // between chip and device memory
	Wavefronts   float64 // of shared memory, in the whole grid
	Instructions float64 // warp instructions, in the whole grid
}

// Floors are the times in seconds that the resources need for the work, each alone.
type Floors struct {
	Memory float64 // device memory moves the bytes
	Shared float64 // the data stage serves wavefronts, of shared memory and of the bytes
	Issue  float64 // the schedulers issue the instructions
	// Latency is what the waves of blocks take one after the other if a block takes a trip to device memory, and its own
	// wavefronts and instructions alone.
	Latency float64
}

// floors returns the floors of some work, of whose blocks a multiprocessor holds resident ones at once. A multiprocessor gets
// whole blocks, so the busiest has a share rounded up.
func (m *Machine) floors(w Work, resident int) Floors {
	perSM := math.Ceil(float64(w.Blocks)/float64(m.SMs)) / math.Max(1, float64(w.Blocks))
	hertz := float64(m.ClockMHz) * 1e6
	f := Floors{
		Shared: (w.Wavefronts + w.Bytes/bytesPerPass) * perSM / hertz,
		Issue:  w.Instructions / schedulers * perSM / hertz,
	}
	block := (w.Wavefronts + w.Instructions/schedulers) / math.Max(1, float64(w.Blocks)) / hertz
	if w.Bytes > 0 {
		block += Trip
	}
	f.Latency = m.waves(w.Blocks, resident) * block
	if m.Memory > 0 {
		f.Memory = w.Bytes / (m.Memory * Efficiency)
	}
	return f
}

// waves returns how often the resident blocks of all multiprocessors make the grid.
func (m *Machine) waves(blocks, resident int) float64 {
	return float64(blocks) / float64(m.SMs*resident)
}

// overlap returns the exponent for a grid that takes the given number of waves of resident blocks.
func overlap(waves float64) float64 {
	if waves <= 0 {
		return oneWave
	}
	return min(manyWaves, max(oneWave, manyWaves-2/waves))
}

// time returns the time of work with these floors in a number of waves.
func (f Floors) time(waves float64) float64 {
	p := overlap(waves)
	sum := math.Pow(f.Memory, p) + math.Pow(f.Shared, p) + math.Pow(f.Issue, p) + math.Pow(f.Latency, p)
	return Launch + math.Pow(sum, 1/p)
}

// limit names the largest floor.
func (f Floors) limit() string {
	most, name := f.Memory, "memory"
	for _, other := range []struct {
		seconds float64
		name    string
	}{{f.Shared, "shared"}, {f.Issue, "issue"}, {f.Latency, "latency"}} {
		if other.seconds > most {
			most, name = other.seconds, other.name
		}
	}
	return name
}
