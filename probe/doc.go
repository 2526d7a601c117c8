// Package probe verifies or learns the shared-memory unit of a GPU by timing access patterns on it.
//
// A [Generate]d pattern is an instruction and an address per lane. The meter of [NewMeter] runs it on the device: 32 warps
// of one block repeat the instruction, and the clock says how many cycles one takes, which is what a saturated unit needs.
// [Compare] holds that against a unit; [Learn] does without one: among stated hypotheses it picks those that explain every
// sample.
//
//	dev, err := cuda.Open(ctx, 0)
//	meter, err := probe.NewMeter(ctx, dev)
//	rec := &gpu.Recording{Info: meter.Info(), Samples: probe.Generate(meter.Ops(), probe.Options{Patterns: 20000})}
//	err = meter.Measure(ctx, rec.Samples)
//	result, err := probe.Compare(ctx, rec, arch.MustLookup("sm_90").Unit) // result.Disagree == 0
//	lesson, err := probe.Learn(ctx, rec)
//
// No toolkit is needed: the kernels are PTX text that the driver compiles.
//
// Limits: NVIDIA GPUs. Latency, and what the unit does between instructions of different kinds, are not measured.
package probe
