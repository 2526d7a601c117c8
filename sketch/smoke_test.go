package sketch

import (
	"context"
	"fmt"
	"os"
	"testing"

	"shmoo/arch"
	"shmoo/report"
)

func TestSmoke(t *testing.T) {
	for _, f := range []string{"__shared__ float t[32][33]; t[threadIdx.x][0];", `
#define TILE 32
__global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  for (int j = 0; j < TILE; j += 8) out[(y+j)*n+x] = tile[threadIdx.x][threadIdx.y + j];
}`, os.Getenv("SK")} {
		if f == "" { continue }
		p, err := Parse("k.cu", []byte(f), Options{})
		if err != nil { t.Fatal(err) }
		s, err := p.Source(Launch{Block: [3]int{32, 8, 1}})
		if err != nil { t.Fatal(err) }
		r, err := report.Collect(context.Background(), s, arch.MustLookup("sm_90").Unit)
		if err != nil { t.Fatal(err) }
		for _, s := range r.Sites {
			fmt.Println(s.Pos, s.Array, s.Op, s.Instr, s.Text, s.Tally)
		}
		fmt.Println(s.Arrays(), s.Warnings())
	}
}
