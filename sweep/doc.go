// Package sweep measures every point of a parameter space and decides, with statistics, which is best.
//
// A [Bench] makes points ready and takes samples: [Kernel] compiles and runs CUDA C++ on a device, [Recorded] plays what was
// measured before. [Run] takes the samples in rounds, each point once a round in random order, so that a drift of clocks or
// temperature meets all points alike, until every interval is tight. What it has measured goes into a [Log] sample by sample:
// a sweep that was killed goes on where it stopped.
//
//	s, err := space.Parse("CHUNK=16,32,64,PAD=0..8*2")
//	log, err := sweep.OpenLog("scan.jsonl", s, "scan.cu on NVIDIA H200")
//	result, err := sweep.Run(ctx, s, bench, sweep.Options{Log: log})
//	err = result.WriteText(os.Stdout) // the table, medians with intervals; points that tie with the best are marked
//
// A point that does not compile, faults, hangs or gives wrong results is a row with its reason, and the sweep goes on; since
// a fault or a hang leaves the device unusable for its process, [Supervise] runs the sweep in children. Two
// points differ when a Mann-Whitney test says so at [Options.Alpha], corrected for the number of pairs (Holm), and their
// medians are more than [Options.Effect] apart; otherwise they tie.
//
// Limits: points are measured one after another on one device. Times are what the device's events say, so work on the host
// does not count.
package sweep
