package fix_test

import (
	"context"
	"fmt"

	"shmoo/arch"
	"shmoo/fix"
	"shmoo/sketch"
)

func Example() {
	in := fix.Input{
		Name: "tile.cu",
		Text: []byte(`__shared__ float tile[32][32];
tile[threadIdx.y][threadIdx.x] = 1;
float y = tile[threadIdx.x][threadIdx.y];
`),
		Launch: sketch.Launch{Block: [3]int{32, 32, 1}},
	}
	ctx := context.Background()
	program, err := sketch.Parse(in.Name, in.Text, in.Options)
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := program.Source(in.Launch)
	if err != nil {
		fmt.Println(err)
		return
	}
	problems, err := fix.Problems(ctx, source, arch.MustLookup("sm_90"), fix.Block{Threads: 1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := fix.Search(ctx, problems[0], fix.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Pareto {
		fmt.Println(c.Transform, c.Wavefronts, c.Bytes, c.Instructions)
	}
	fmt.Println(result.Reason)
	patch, err := fix.PatchSketch(ctx, in, result, result.Best)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(patch.Diff)
	// Output:
	// pad(+4 per 128 bytes) 64 4224 0
	// Swizzle<5,2,5> 64 4096 2
	// id 1056 4096 0
	// 64 of 1056 wavefronts remain, the fewest any layout can have
	// --- a/tile.cu
	// +++ b/tile.cu
	// @@ -1,3 +1,3 @@
	// -__shared__ float tile[32][32];
	// +__shared__ float tile[32][33];
	//  tile[threadIdx.y][threadIdx.x] = 1;
	//  float y = tile[threadIdx.x][threadIdx.y];
}
