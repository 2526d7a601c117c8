// Package predict says how long a compiled kernel takes on a GPU, without running it there.
//
//	m, err := predict.Lookup("H200")
//	p, err := predict.Run(ctx, m, predict.Point{Name: "scan.cubin", Cubin: cubin, Kernel: "scan", Launch: l, Bytes: 1 << 30})
//	fmt.Println(p.Ways, p.Seconds, p.Limit, p.Matters())
//
// Four floors lie under the time: device memory moves the bytes, the shared-memory pipes serve the wavefronts that the
// emulator counts in a few blocks, the schedulers issue the warp instructions that it executes, and the waves of blocks follow
// each other, each at least a trip to device memory long. Did all of it happen at the same moments, the largest floor would
// be the time; did it happen one after the other, it would be the sum. Blocks load, compute and store in turns, and other
// blocks fill the gaps in part, so the truth lies between:
//
//	time = launch + (memory^P + shared^P + issue^P + latency^P)^(1/P)
//
// P grows from 1.5, for a grid whose blocks all run at once and so do the same at the same time, to 3 for many waves of
// blocks. The constants are in model.go, with the measurements that they come from.
//
// Limits: a block is taken to make one trip to device memory, so a kernel whose loads wait for each other, or that has few
// bytes under way, is predicted too fast. Caches are not modelled, so a kernel that reads the same data again needs its
// bytes given. Blocks are taken to be alike: those that are run stand for the
// grid.
package predict
