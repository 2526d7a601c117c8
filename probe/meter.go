package probe

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"shmoo/gpu"
	"shmoo/pattern"
	"shmoo/smem"
)

// maxBlocks is how many patterns are measured by one launch.
const maxBlocks = 1 << 16

// clockMeter times patterns on a device by its clock.
type clockMeter struct {
	device  gpu.Device
	module  gpu.Module
	kernels map[string]gpu.Kernel
	ops     []string
	shape   shape

	words            []byte // patterns, then cycles, as the device has them
	patterns, cycles gpu.Memory
	sink             gpu.Memory
}

// NewMeter returns a meter that times patterns on a device with kernels of its own. The instructions that the device's
// generation lacks are left out. It returns an error when the driver's compiler dropped some of the instructions that are to
// be timed. Closing the device frees what the meter holds.
func NewMeter(ctx context.Context, device gpu.Device) (gpu.Meter, error) {
	m, err := newClockMeter(ctx, device, instructions, standard)
	if err != nil {
		return nil, err
	}
	return m, m.verify(ctx)
}

// verify checks that no copies of an instruction were dropped: a warp whose lanes access words in a row takes at least a
// cycle per 128 bytes.
func (m *clockMeter) verify(ctx context.Context) error {
	for _, op := range pattern.Ops() {
		if !slices.Contains(m.ops, op.Name) {
			continue
		}
		r := smem.Request{Op: op.Op, Width: op.Width}
		s := []gpu.Sample{{Op: op.Name, Active: smem.Lanes(0, lanes), Addr: make([]uint32, lanes)}}
		for lane := range s[0].Addr {
			s[0].Addr[lane] = uint32(lane * r.Bytes())
		}
		if err := m.Measure(ctx, s); err != nil {
			return err
		}
		if least := max(1, op.Width*lanes/rowBytes); s[0].Cycles < float64(least)-slack {
			return fmt.Errorf("probe: %s takes %.2f cycles on addresses in a row, want at least %d: the driver's compiler "+
				"dropped copies", op.Name, s[0].Cycles, least)
		}
	}
	return nil
}

// slack is what a measured time may be short of the true one, in cycles per instruction.
const slack = 0.05

func newClockMeter(ctx context.Context, device gpu.Device, table []instruction, s shape) (*clockMeter, error) {
	info := device.Info()
	var generation int
	if _, err := fmt.Sscanf(info.Arch, "sm_%d", &generation); err != nil {
		return nil, fmt.Errorf("probe: device %s is a %s, want an NVIDIA generation such as sm_90", info.Name, info.Arch)
	}
	if info.WarpLanes != lanes {
		return nil, fmt.Errorf("probe: device %s has warps of %d lanes, want %d", info.Name, info.WarpLanes, lanes)
	}
	m := &clockMeter{device: device, shape: s, kernels: map[string]gpu.Kernel{}}
	var text strings.Builder
	text.WriteString(ptxHeader(generation))
	for i := range table {
		if in := &table[i]; generation >= in.since {
			text.WriteString(kernelText(in, s))
			m.ops = append(m.ops, in.op)
		}
	}
	var err error
	if m.module, err = device.Load(ctx, "probe.ptx", []byte(text.String())); err != nil {
		return nil, err
	}
	for _, op := range m.ops {
		if m.kernels[op], err = m.module.Kernel(kernelName(op)); err != nil {
			return nil, err
		}
	}
	m.words = make([]byte, maxBlocks*patternLen*4)
	for _, a := range []struct {
		to   *gpu.Memory
		size int
	}{{&m.patterns, len(m.words)}, {&m.cycles, maxBlocks * 4}, {&m.sink, 4}} {
		if *a.to, err = device.Alloc(a.size); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *clockMeter) Info() gpu.Info { return m.device.Info() }

func (m *clockMeter) Ops() []string { return slices.Clone(m.ops) }

// Measure times the samples, one launch per run of equal ops: sorted by op they take the least time.
func (m *clockMeter) Measure(ctx context.Context, samples []gpu.Sample) error {
	for len(samples) > 0 {
		n := 1
		for n < len(samples) && n < maxBlocks && samples[n].Op == samples[0].Op {
			n++
		}
		if err := m.launch(ctx, samples[:n]); err != nil {
			return err
		}
		samples = samples[n:]
	}
	return nil
}

// launch times samples of one op.
func (m *clockMeter) launch(ctx context.Context, samples []gpu.Sample) error {
	op := samples[0].Op
	kernel, ok := m.kernels[op]
	if !ok {
		return fmt.Errorf("probe: no kernel for op %q on %s, want one of %s", op, m.Info().Arch, strings.Join(m.ops, " "))
	}
	words := m.words[:0]
	for i := range samples {
		s := &samples[i]
		if len(s.Addr) != lanes || s.Active>>lanes != 0 {
			return fmt.Errorf("probe: sample of %s with %d addresses and mask %x, want %d lanes", op, len(s.Addr),
				uint64(s.Active), lanes)
		}
		for _, a := range s.Addr {
			words = binary.LittleEndian.AppendUint32(words, a)
		}
		words = binary.LittleEndian.AppendUint32(words, uint32(s.Active))
	}
	if err := m.patterns.Write(0, words); err != nil {
		return err
	}
	// A block takes all shared memory of its multiprocessor, so that no two share the unit.
	l := gpu.Launch{Grid: gpu.Dim{X: len(samples)}, Block: gpu.Dim{X: threads}, Shared: m.Info().SharedPerBlock}
	if _, err := kernel.Launch(ctx, l, m.patterns, m.cycles, m.sink, uint32(0)); err != nil {
		return err
	}
	words = m.words[:4*len(samples)]
	if err := m.cycles.Read(0, words); err != nil {
		return err
	}
	executed := float64(warps * m.shape.copies * m.shape.loops)
	for i := range samples {
		samples[i].Cycles = float64(binary.LittleEndian.Uint32(words[4*i:])) / executed
	}
	return nil
}
