// Package fix searches the pad or swizzle that serves all accesses of a shared array best, and proves what it says.
//
// # A worked example
//
// A 32x32 float tile is written by rows and read by columns:
//
//	__shared__ float tile[32][32];
//	tile[threadIdx.y][threadIdx.x] = x;   // 1 wavefront
//	y = tile[threadIdx.x][threadIdx.y];   // 32 wavefronts
//
// [Problems] takes the requests of any [access.Source] apart by array, [Search] tries every candidate on all of them:
//
//	problems, err := fix.Problems(ctx, source, arch.MustLookup("sm_90"), fix.Block{Threads: 1024})
//	result, err := fix.Search(ctx, problems[0], fix.Options{})
//	result.Best.Transform   // pad(+4 per 128 bytes): 4224 bytes, no index instruction, 1 and 1 wavefronts
//	result.Pareto           // also Swizzle<5,2,5>: 4096 bytes, 2 index instructions, the same wavefronts
//	result.Bound.Wavefronts // 64 for the 64 requests: reached, so no layout whatever is better
//
// # Families
//
// Pads: after every row, and after every outer dimension, from one element to one row of banks. Swizzles: every
// Swizzle<B,M,S> on bytes within the array, both directions. Linear: every map that XORs row bits onto bank bits, and
// beyond those every linear map of addresses to banks, by rank arguments and branch and bound; they are tried only
// where pads and swizzles do not reach the bound, within a fixed amount of work, and the result says whether that
// sufficed. A candidate is legal if it keeps every access aligned and in one piece and fits the budget; it is judged on
// all sites of the array together, each request weighted by how often it is made.
//
// # Bounds
//
// Under any layout that keeps each aligned granule (the widest access) in one piece, a group of lanes that touches n
// granules at the same word inside them needs at least n / (granules in a row of banks) passes, rounded up; where lanes
// on one word do not merge, at least as many as meet there. The sum over groups is a bound for every layout, searched
// or not. Where the best candidate meets it, it is optimal in general; else it is optimal in the families that were
// exhausted.
//
// A certificate holds the requests, the layout and the claims; package fix/verify checks one with code of its own.
//
// # What comes out
//
// [WriteText] and JSON for people and programs; [PatchSketch], a unified diff of the sketch, run again and compared
// lane by lane before it is handed out; [Emit], the layout in CUDA C++, CuTe, Python or Triton; [EmitGuard], a test
// that fails when somebody takes the layout out again; [SearchSpace], the verdict on every point of a parameter space
// and the fewest rules that serve them all. [Evaluate] judges a layout that the user brings, [FromLayout] one in CuTe
// or Triton notation.
//
// # Limits
//
// An array is laid out alike for all its sites. A pad in the declaration is recognised by columns that no access
// touches; a pad inside index expressions is not, and counts as part of the row. Addresses a source cannot resolve are
// left out and counted. Bytes that are written through one array and read through another are not seen. Index
// instructions are the package layout's estimate.
package fix
