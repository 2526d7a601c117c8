//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"

	"shmoo/gpu"
)

// Device attributes (enum CUdevice_attribute).
const (
	attrClockKHz        = int32(13)
	attrMultiprocessors = int32(16)
	attrWarpLanes       = int32(10)
	attrL2Bytes         = int32(38)
	attrMajor           = int32(75)
	attrMinor           = int32(76)
	attrSharedPerSM     = int32(81)
	attrSharedPerBlock  = int32(97) // after opting in
)

// start initialises the driver and returns how many devices it has.
func start(l *library) (int, error) {
	if err := l.call(cuInit, uint32(0)); err != nil {
		return 0, &gpu.NoDriverError{Reason: "the CUDA driver does not start", Err: err}
	}
	var count int32
	if err := l.call(cuDeviceGetCount, pointer(&count)); err != nil {
		return 0, err
	}
	if count == 0 {
		return 0, &gpu.NoDriverError{Reason: "the driver has no device"}
	}
	return int(count), nil
}

func explainDriver(l *library, status int) (name, text string) {
	var at uintptr
	if s, err := l.status(cuGetErrorName, int32(status), pointer(&at)); s == 0 && err == nil {
		name = textAt(at)
	}
	at = 0
	if s, err := l.status(cuGetErrorString, int32(status), pointer(&at)); s == 0 && err == nil {
		text = textAt(at)
	}
	return name, text
}

// Devices returns the GPUs that the driver offers, in its order, which is that of Open.
func Devices(ctx context.Context) ([]gpu.Info, error) {
	l, err := load("NVIDIA's CUDA driver", driverFiles, driverCalls, explainDriver)
	if err != nil {
		return nil, err
	}
	count, err := start(l)
	if err != nil {
		return nil, err
	}
	infos := make([]gpu.Info, count)
	for i := range infos {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if infos[i], err = describe(l, int32(i)); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// describe returns what device number index is.
func describe(l *library, index int32) (gpu.Info, error) {
	var info gpu.Info
	var device int32
	if err := l.call(cuDeviceGet, pointer(&device), index); err != nil {
		return info, err
	}
	var name [256]byte
	if err := l.call(cuDeviceGetName, pointer(&name), int32(len(name)), device); err != nil {
		return info, err
	}
	var major, minor, clockKHz int
	for _, a := range []struct {
		to        *int
		attribute int32
	}{
		{&major, attrMajor}, {&minor, attrMinor}, {&clockKHz, attrClockKHz},
		{&info.Multiprocessors, attrMultiprocessors}, {&info.WarpLanes, attrWarpLanes}, {&info.L2Bytes, attrL2Bytes},
		{&info.SharedPerSM, attrSharedPerSM}, {&info.SharedPerBlock, attrSharedPerBlock},
	} {
		var v int32
		if err := l.call(cuDeviceGetAttribute, pointer(&v), a.attribute, device); err != nil {
			return info, err
		}
		*a.to = int(v)
	}
	var memory uint64
	if err := l.call(cuDeviceTotalMem, pointer(&memory), device); err != nil {
		return info, err
	}
	var version int32
	if err := l.call(cuDriverGetVersion, pointer(&version)); err != nil {
		return info, err
	}
	info.Name = text(name[:])
	info.Arch = fmt.Sprintf("sm_%d%d", major, minor)
	info.ClockMHz = clockKHz / 1000
	info.MemoryBytes = int64(memory)
	info.UUID = uuid(l, device)
	info.Driver = fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10)
	if m, err := openManagement(info.UUID); err == nil {
		info.Driver = m.driver
	}
	return info, nil
}

// uuid returns the identifier of a device as nvidia-smi prints it, or "".
func uuid(l *library, device int32) string {
	var id [16]byte
	if !l.has(cuDeviceGetUUID) || l.call(cuDeviceGetUUID, pointer(&id), device) != nil {
		return ""
	}
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
