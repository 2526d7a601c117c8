//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"shmoo/gpu"
)

// fakeManagement stands in for NVML on a device that has the given processes and no power meter.
type fakeManagement struct {
	pids   []uint32
	status map[string]int
}

func (f *fakeManagement) open(t *testing.T) *management {
	t.Helper()
	var names []string
	l, err := bind("fake NVML", "fake.so", nvmlCalls, explainManagement, func(name string) (uintptr, error) {
		names = append(names, name)
		return uintptr(len(names)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l.invoke = func(address uintptr, a ...uintptr) uintptr {
		name := names[address-1]
		if status := f.status[name]; status != 0 {
			return uintptr(status)
		}
		switch name {
		case "nvmlDeviceGetClockInfo":
			*at[uint32](a[2]) = map[int32]uint32{clockSM: 1980, clockMemory: 3201}[int32(a[1])]
		case "nvmlDeviceGetTemperature":
			*at[uint32](a[2]) = 36
		case "nvmlDeviceGetPowerUsage":
			return nvmlNotSupported
		case "nvmlDeviceGetCurrentClocksThrottleReasons":
			*at[uint64](a[1]) = 0x1 | 0x4 | 0x20 // idle, power, thermal
		case "nvmlDeviceGetComputeRunningProcesses_v3":
			room := unsafe.Slice(at[process](a[2]), int(*at[uint32](a[1])))
			for i, pid := range f.pids {
				room[i].pid = pid
			}
			*at[uint32](a[1]) = uint32(len(f.pids))
		case "nvmlErrorString":
			return uintptr(unsafe.Pointer(cString["something failed"]))
		}
		return 0
	}
	return &management{lib: l}
}

func TestManagementState(t *testing.T) {
	if size := unsafe.Sizeof(process{}); size != 24 {
		t.Errorf("nvmlProcessInfo_t has %d bytes, want 24", size)
	}
	f := &fakeManagement{pids: []uint32{77, uint32(os.Getpid()), 0, 12}}
	m := f.open(t)
	// The device shows this process as 500 once it is ready: a container's view from outside.
	err := m.learnOwn(func() error {
		f.pids = append(f.pids, 500)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.pids = append(f.pids, 501)
	got, err := m.state()
	want := gpu.State{ClockMHz: 1980, MemoryMHz: 3201, Temperature: 36, Limits: []string{"power cap", "thermal"},
		Others: []int{12, 77, 501}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("state, %v (-want +got):\n%s", err, diff)
	}
	f.status = map[string]int{"nvmlDeviceGetClockInfo": 15}
	if _, err := m.state(); err == nil || err.Error() != "nvmlDeviceGetClockInfo: something failed (status 15)" {
		t.Errorf("a lost device: %v", err)
	}
	if err := m.learnOwn(func() error { return fmt.Errorf("no") }); err == nil || err.Error() != "no" {
		t.Errorf("work that fails: %v", err)
	}
}
