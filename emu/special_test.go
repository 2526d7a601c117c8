package emu

import "testing"

// TestSpecialRegisters checks what S2R gives a lane of a three-dimensional block.
func TestSpecialRegisters(t *testing.T) {
	p := programOf(t, readCubin(t, "testdata/kernels.sm_80.cubin.gz"), "blocks3d")
	m, err := newMachine(p, Launch{Grid: [3]int{2, 3, 4}, Block: [3]int{5, 4, 3}, Args: []Arg{Pointer()}}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBlock(m, nil)
	b.at = [3]int{1, 2, 3}
	const lane = 9 // of warp 1: thread 41 of the block
	for _, c := range []struct {
		name string
		n    int
		want uint64
	}{
		{"lane", srLane, 9},
		{"tid.x", srTidX, 1},
		{"tid.y", srTidY, 0},
		{"tid.z", srTidZ, 2},
		{"tid", srTidPacked, 1 | 2<<26},
		{"ctaid.x", srCtaX, 1},
		{"ctaid.y", srCtaY, 2},
		{"ctaid.z", srCtaZ, 3},
		{"ntid", srNtidPacked, 5 | 4<<16 | 3<<26},
		{"eqmask", srEqMask, 0x200},
		{"ltmask", srLtMask, 0x1ff},
		{"lemask", srLeMask, 0x3ff},
		{"gtmask", srGtMask, 0xfffffc00},
		{"gemask", srGeMask, 0xfffffe00},
		{"cgactaid", srCgaRank, 0},
		{"zero", srZero, 0},
	} {
		if got, known := b.warps[1].special(c.n, lane); !known || got != c.want {
			t.Errorf("%s is 0x%x, known %t, want 0x%x", c.name, got, known, c.want)
		}
	}
	if _, known := b.warps[1].special(80, lane); known {
		t.Error("a clock is taken for known")
	}
}
