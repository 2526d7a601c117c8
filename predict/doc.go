// Package predict says how long a compiled kernel takes on a GPU, without running it there.
//
//	m, err := predict.Lookup("H200")
//	p, err := predict.Run(ctx, m, predict.Point{Name: "scan.cubin", Cubin: cubin, Kernel: "scan", Launch: l, Bytes: 1 << 30})
//	fmt.Println(p.Ways, p.Seconds, p.Limit, p.Matters())
//
// Three resources each set a floor under the time: device memory moves the bytes, the shared-memory pipes serve the
// wavefronts that the emulator counts in a few blocks, and the schedulers issue the warp instructions that it executes. Were
// the three used at the same moments, the largest floor would be the time; were they used one after the other, it would be
// the sum. Blocks load, compute and store in turns, and other blocks fill the gaps in part, so the truth lies between:
//
//	time = launch + (memory^P + shared^P + issue^P)^(1/P)
//
// P grows from 1.5, for a grid whose blocks all run at once and so do the same at the same time, to 3 for many waves of
// blocks. The constants are in model.go, with the measurements that they come from.
//
// Limits: latency is not modelled, so a launch with few warps a multiprocessor is predicted too fast; caches are not either, so a
// kernel that reads the same data again needs its bytes given. Blocks are taken to be alike: those that are run stand for the
// grid.
package predict
