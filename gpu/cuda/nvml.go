//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"errors"
	"os"
	"slices"

	"shmoo/gpu"
)

// Arguments of NVML (enums nvmlClockType_t and nvmlTemperatureSensors_t; buffer size of the driver's version).
const (
	clockSM           = int32(1)
	clockMemory       = int32(2)
	sensorGPU         = int32(0)
	driverVersionSize = 80
)

// limits are the reasons for a clock below its highest (nvmlClocksEventReason*), without idleness.
var limits = []struct {
	bit  uint64
	name string
}{
	{0x2, "application clocks"}, {0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x10, "sync boost"},
	{0x20, "thermal"}, {0x40, "hardware thermal"}, {0x80, "power brake"}, {0x100, "display clocks"},
}

// management is NVML's view of one device.
type management struct {
	lib    *library
	handle uint64
	driver string // version
	own    []int  // process ids of this process: inside a container NVML may name it by one of the outside
}

// learnOwn makes the device ready by work and takes what processes it then sees in addition for this one.
func (m *management) learnOwn(work func() error) error {
	m.own = []int{os.Getpid()}
	before, seen := m.others()
	if err := work(); err != nil || seen != nil {
		return err
	}
	after, seen := m.others()
	if seen != nil {
		return nil // a list that cannot be had is not needed either
	}
	for _, pid := range after {
		if !slices.Contains(before, pid) {
			m.own = append(m.own, pid)
		}
	}
	return nil
}

// openManagement finds the device with the given UUID in NVML.
func openManagement(uuid string) (*management, error) {
	l, err := load("NVML", nvmlFiles, nvmlCalls, explainManagement)
	if err != nil {
		return nil, err
	}
	if err := l.call(nvmlInit); err != nil {
		return nil, err
	}
	m := &management{lib: l}
	if err := l.call(nvmlDeviceGetHandleByUUID, uuid, pointer(&m.handle)); err != nil {
		return nil, err
	}
	var version [driverVersionSize]byte
	if err := l.call(nvmlSystemGetDriverVersion, pointer(&version), uint32(len(version))); err != nil {
		return nil, err
	}
	m.driver = text(version[:])
	return m, nil
}

func explainManagement(l *library, status int) (name, text string) {
	at, err := l.raw(nvmlErrorString, int32(status))
	if err != nil {
		return "", ""
	}
	return "", textAt(at)
}

func (m *management) state() (gpu.State, error) {
	var s gpu.State
	for _, f := range []struct {
		to   *int
		call call
		args []any
	}{
		{&s.ClockMHz, nvmlDeviceGetClock, []any{clockSM}},
		{&s.MemoryMHz, nvmlDeviceGetClock, []any{clockMemory}},
		{&s.Temperature, nvmlDeviceGetTemperature, []any{sensorGPU}},
		{&s.Milliwatts, nvmlDeviceGetPowerUsage, nil},
	} {
		var v uint32
		args := append(append([]any{m.handle}, f.args...), pointer(&v))
		if err := m.optional(f.call, args...); err != nil {
			return s, err
		}
		*f.to = int(v)
	}
	var reasons uint64
	if err := m.optional(nvmlDeviceGetClockLimits, m.handle, pointer(&reasons)); err != nil {
		return s, err
	}
	for _, l := range limits {
		if reasons&l.bit != 0 {
			s.Limits = append(s.Limits, l.name)
		}
	}
	var err error
	s.Others, err = m.others()
	return s, err
}

// Statuses of NVML (enum nvmlReturn_t).
const (
	nvmlNotSupported = 3
	nvmlSmallBuffer  = 7
)

// optional is a call whose figure some devices do not have: it is then left as it is.
func (m *management) optional(c call, args ...any) error {
	if !m.lib.has(c) {
		return nil
	}
	err := m.lib.call(c, args...)
	var failed *gpu.CallError
	if errors.As(err, &failed) && failed.Code == nvmlNotSupported {
		return nil
	}
	return err
}

// process is nvmlProcessInfo_t. Only its number is of use here; the rest is its memory and its instance.
type process struct {
	pid uint32
	_   [5]uint32
}

// others returns the processes other than this one that compute on the device, in order.
func (m *management) others() ([]int, error) {
	var found [256]process
	count := uint32(len(found))
	err := m.optional(nvmlDeviceGetComputeProcesses, m.handle, pointer(&count), pointer(&found))
	var failed *gpu.CallError
	if errors.As(err, &failed) && failed.Code == nvmlSmallBuffer {
		count, err = uint32(len(found)), nil
	}
	if err != nil || !m.lib.has(nvmlDeviceGetComputeProcesses) {
		return nil, err
	}
	var pids []int
	for _, p := range found[:min(int(count), len(found))] {
		if p.pid != 0 && !slices.Contains(m.own, int(p.pid)) {
			pids = append(pids, int(p.pid))
		}
	}
	slices.Sort(pids)
	return pids, nil
}
