// Package unitfile reads and writes the unit of a GPU as a text file, so that rules learned on one machine can be used,
// reviewed and edited on another.
//
// A unit file is TOML. It gives the geometry, where the rules come from, and a rule per operation and width:
//
//	schema = "shmoo.unit/1"
//	name = "sm_90"
//	lanes = 32           # of a warp
//	banks = 32
//	bank_bytes = 4       # that a bank delivers per wavefront
//	size = 232448        # bytes of shared memory that a block can address
//
//	[origin]
//	device = "NVIDIA H200"
//	driver = "580.159.04"
//	date = "2026-11-30"
//	samples = 49588
//
//	[[rule]]
//	op = "load"
//	width = 16           # bytes per lane; 4 per matrix for ldmatrix and stmatrix
//	groups = ["0-7", "8-15", "16-23", "24-31"]
//	paired = ["0-15", "16-31"]
//	shares = true
//	floor = 4
//	paired_floor = 2
//	basis = "measured"
//	samples = 6841
//
// A group is ranges of lanes with spaces between: "0-3 20-23". Without paired, loads of that width do not pair; shares is
// false, per_pass 1, the floors and extra 0 when left out. What each means is said at [smem.Rule]. undecided lists what the
// samples of a rule leave open.
//
//	f, err := unitfile.Read(file, "h200.toml")
//	f.Unit.Resolve(&out, &request)
//
// Limits: 256 KiB and a rule per operation and width. Keys are strict: an unknown one is an error that names its line.
package unitfile
