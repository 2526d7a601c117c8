package predict

import "math"

// The constants of the time model.
const (
	// Overlap is the exponent P: 1 would be no overlap of the three resources, infinity a perfect one.
	Overlap = 2.0
	// Efficiency is the share of the data sheet's bandwidth that a kernel which only copies reaches.
	Efficiency = 0.9
	// Launch is what a kernel takes that does nothing, in seconds.
	Launch = 2.5e-6

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
}

// floors returns the floors of some work. A multiprocessor gets whole blocks, so the busiest has a share rounded up.
func (m *Machine) floors(w Work) Floors {
	perSM := math.Ceil(float64(w.Blocks)/float64(m.SMs)) / math.Max(1, float64(w.Blocks))
	hertz := float64(m.ClockMHz) * 1e6
	f := Floors{
		Shared: (w.Wavefronts + w.Bytes/bytesPerPass) * perSM / hertz,
		Issue:  w.Instructions / schedulers * perSM / hertz,
	}
	if m.Memory > 0 {
		f.Memory = w.Bytes / (m.Memory * Efficiency)
	}
	return f
}

// time returns the time of work with these floors.
func (f Floors) time() float64 {
	p := math.Pow(f.Memory, Overlap) + math.Pow(f.Shared, Overlap) + math.Pow(f.Issue, Overlap)
	return Launch + math.Pow(p, 1/Overlap)
}

// limit names the largest floor.
func (f Floors) limit() string {
	switch {
	case f.Shared > f.Memory && f.Shared >= f.Issue:
		return "shared"
	case f.Issue > f.Memory:
		return "issue"
	}
	return "memory"
}
