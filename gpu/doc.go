// Package gpu says what the program asks of a GPU: a [Device] that loads and runs kernels, a [Compiler] for CUDA C++, and a
// [Meter] that times access patterns. Package gpu/cuda implements them on NVIDIA's driver, package gpu/replay plays a
// recording.
//
//	dev, err := cuda.Open(ctx, 0)
//	if errors.As(err, new(*gpu.NoDriverError)) {
//		return 4 // no GPU here: trying again elsewhere can help
//	}
//	defer dev.Close()
//	module, err := dev.Load(ctx, "copy.ptx", ptx)
//	kernel, err := module.Kernel("copy")
//	in, err := dev.Alloc(4096)
//	timing, err := kernel.Launch(ctx, gpu.Launch{Grid: gpu.Dim{X: 132}, Block: gpu.Dim{X: 256}}, in, uint32(1024))
//
// Sizes are bytes and times are [time.Duration] unless a name says otherwise. A device and what was made from it may be used
// from any goroutine; calls run one after another. Whoever makes a thing frees it: closing a device frees everything made
// from it.
//
// Limits: one stream of work per device; no graphs, no textures, no memory shared between devices.
package gpu
