//go:build !nogpu && (linux || windows) && (amd64 || arm64)

package cuda

import (
	"fmt"

	"shmoo/gpu"
)

// memory is a range of device memory.
type memory struct {
	device  *device
	address uint64
	size    int
}

func (d *device) Alloc(size int) (gpu.Memory, error) {
	if size <= 0 {
		return nil, fmt.Errorf("alloc: got %d bytes, want at least 1", size)
	}
	m := &memory{device: d, size: size}
	err := d.must(func() error { return d.lib.call(cuMemAlloc, pointer(&m.address), uint64(size)) })
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *memory) Size() int { return m.size }

// check refuses a copy of n bytes at offset that leaves the memory.
func (m *memory) check(offset, n int) error {
	if offset < 0 || n > m.size-offset {
		return fmt.Errorf("copy of %d bytes at offset %d: want a range inside %d bytes", n, offset, m.size)
	}
	return nil
}

func (m *memory) Write(offset int, p []byte) error {
	if err := m.check(offset, len(p)); err != nil || len(p) == 0 {
		return err
	}
	return m.device.must(func() error {
		return m.device.lib.call(cuMemcpyHtoD, m.address+uint64(offset), bytesOf(p), uint64(len(p)))
	})
}

func (m *memory) Read(offset int, p []byte) error {
	if err := m.check(offset, len(p)); err != nil || len(p) == 0 {
		return err
	}
	return m.device.must(func() error {
		return m.device.lib.call(cuMemcpyDtoH, bytesOf(p), m.address+uint64(offset), uint64(len(p)))
	})
}

func (m *memory) Fill(b byte) error {
	return m.device.must(func() error { return m.device.lib.call(cuMemset, m.address, uint32(b), uint64(m.size)) })
}

func (m *memory) Free() error {
	return m.device.must(func() error { return m.device.lib.call(cuMemFree, m.address) })
}
