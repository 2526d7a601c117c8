// Package cuda drives NVIDIA GPUs: the driver, the run-time compiler NVRTC, and the management library NVML, each loaded
// when it is first needed. Nothing of them is needed to build or to start the program, neither headers nor cgo.
//
//	dev, err := cuda.Open(ctx, 0)      // *gpu.NoDriverError where there is no driver or no GPU
//	cubin, err := cuda.NewCompiler()   // likewise, without NVRTC
//
// Each library is a table of calls (calls.go): a name and a letter per argument. A call is looked up when its library is
// loaded, converts its arguments by the table, and turns its status into a *gpu.CallError. All calls of a device are made
// from one goroutine that is locked to its thread, since CUDA contexts belong to threads.
//
// The build tag nogpu leaves all of it out and makes Open fail; the program is then fully static. So it is on platforms
// without the driver.
//
// Limits: a context of its own per device, which a fault destroys and another Open makes anew, and one stream. A kernel that hangs cannot be stopped from inside the process
// (CUDA has no call for it): Launch gives up, and the kernel ends with the process.
package cuda
