package smem_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/smem"
)

// lanes gives the byte address of a lane.
type lanes func(lane int) int

// stride is lanes that stand so many bytes apart.
func stride(bytes int) lanes { return func(lane int) int { return lane * bytes } }

// list is the addresses of the first lanes; the others have 0 and are left inactive by the masks used with it.
func list(addresses ...int) lanes {
	return func(lane int) int {
		if lane < len(addresses) {
			return addresses[lane]
		}
		return 0
	}
}

// swizzle moves the address bits 7 to 7+bits-1 onto the bits from 4, as CuTe's Swizzle<bits,4,3> on byte addresses does.
func swizzle(bits int, f lanes) lanes {
	return func(lane int) int {
		addr := f(lane)
		return addr ^ addr>>7&(1<<bits-1)<<4
	}
}

const (
	all   = smem.Mask(0xffffffff)
	whole = smem.Mask(0xffffffffffffffff) // a wave of 64
)

type rule struct {
	name       string // a number is that of the public case it restates
	arch       string // "" for sm_90
	op         smem.Op
	width      int
	active     smem.Mask
	addr       lanes
	wavefronts int
	ideal      int
	cycles     float32 // 0: as many as wavefronts
}

// The answers were worked out by hand from the rules as documented; for many of them the reporter printed a counter that
// agrees.
var rules = []rule{
	// Words and banks.
	{"contiguous words", "", smem.Load, 4, all, stride(4), 1, 1, 0},
	{"one word for all: broadcast", "", smem.Load, 4, all, stride(0), 1, 1, 0},
	{"two words in two banks: multicast", "", smem.Load, 4, all, func(l int) int { return l % 2 * 4 }, 1, 1, 0},
	{"two words in one bank", "", smem.Load, 4, all, func(l int) int { return l % 2 * 128 }, 2, 1, 0},
	{"one column", "", smem.Load, 4, all, stride(128), 32, 1, 0},
	{"one column, store", "", smem.Store, 4, all, stride(128), 32, 1, 0},
	{"inactive lanes are dropped first", "", smem.Load, 4, 0x11111111, stride(128), 8, 1, 0},
	{"no lane takes part", "", smem.Load, 4, 0, stride(128), 0, 0, 0},
	{"the order of lanes does not matter", "", smem.Load, 4, all, func(l int) int { return (31 - l) * 4 }, 1, 1, 0},

	// Groups of wide accesses.
	{"8 bytes, contiguous", "", smem.Load, 8, all, stride(8), 2, 2, 0},
	{"8 bytes, an empty half adds nothing", "", smem.Load, 8, 0x0000ffff, stride(8), 1, 1, 2},
	{"8 bytes, two lanes of different halves in one bank", "", smem.Store, 8, 0x00010001, func(l int) int { return l * 256 }, 2, 2, 0},
	{"8 bytes, two lanes of one half in one bank", "", smem.Store, 8, 0x00000101, func(l int) int { return l * 256 }, 2, 1, 0},
	{"store of 8 bytes takes 2 cycles at least", "", smem.Store, 8, 0x1, stride(8), 1, 1, 2},
	{"16 bytes, contiguous", "", smem.Load, 16, all, stride(16), 4, 4, 0},
	{"16 bytes, one quarter", "", smem.Load, 16, 0xff, stride(16), 1, 1, 4},
	{"16 bytes, lane 8 in a bank of lanes 0 to 2", "", smem.Load, 16, 0x107, stride(16), 2, 2, 4},
	{"16 bytes, paired lanes of one half", "", smem.Load, 16, 0xff, stride(0), 1, 1, 2},
	{"8 bytes, paired lanes of one half", "", smem.Load, 8, 0xff, stride(0), 1, 1, 0},
	{"store of 16 bytes takes 4 cycles at least", "", smem.Store, 16, 0x1, stride(16), 1, 1, 4},

	// Pairing of wide loads.
	{"8 bytes, neighbours share: one group", "", smem.Load, 8, all, func(l int) int { return l / 2 * 8 }, 1, 1, 0},
	{"8 bytes, lanes two apart share", "", smem.Load, 8, all, func(l int) int { return (l/4*2 + l%2) * 8 }, 1, 1, 0},
	{"8 bytes, lanes three apart share: no pair", "", smem.Load, 8, all,
		func(l int) int { return min(l, l^3) * 8 }, 2, 2, 0},
	{"8 bytes, lanes four apart share: no pair", "", smem.Load, 8, all, func(l int) int { return l &^ 4 * 8 }, 2, 2, 0},
	{"8 bytes, lanes sixteen apart share: no pair", "", smem.Load, 8, all, func(l int) int { return l % 16 * 8 }, 2, 2, 0},
	{"8 bytes, one lane breaks the pairing", "", smem.Load, 8, all, func(l int) int {
		if l == 31 {
			return 8
		}
		return l / 2 * 8
	}, 2, 2, 0},
	{"8 bytes, inactive partners agree", "", smem.Load, 8, 0x55555555, stride(8), 2, 1, 0},
	{"8 bytes, one lane pairs with nobody", "", smem.Load, 8, 0x1, stride(8), 1, 1, 0},
	{"16 bytes, neighbours share: two groups", "", smem.Load, 16, all, func(l int) int { return l / 2 * 16 }, 2, 2, 0},
	{"16 bytes, lanes 0 and 8 alone pair, and meet in their half", "", smem.Load, 16, 0x101, stride(16), 2, 1, 0},
	{"stores never pair", "", smem.Store, 8, all, func(l int) int { return l / 2 * 8 }, 2, 2, 0},
	{"stores of 16 bytes never pair", "", smem.Store, 16, all, func(l int) int { return l / 2 * 16 }, 4, 4, 0},

	// Matrices.
	{"ldmatrix.x1, rows next to each other", "", smem.LoadMatrix, 4, all, stride(16), 1, 1, 0},
	{"ldmatrix.x1, rows 128 bytes apart", "", smem.LoadMatrix, 4, all, stride(128), 8, 1, 0},
	{"ldmatrix.x2, rows 128 bytes apart", "", smem.LoadMatrix, 8, all, stride(128), 16, 2, 0},
	{"stmatrix.x4, rows 144 bytes apart", "", smem.StoreMatrix, 16, all, stride(144), 4, 4, 0},

	// Atomics.
	{"atomic, contiguous", "", smem.Atomic, 4, all, stride(4), 1, 1, 0},
	{"atomic, one word: every lane on its own", "", smem.Atomic, 4, all, stride(0), 32, 1, 0},
	{"atomic without result, one word", "", smem.Reduce, 4, 0xff, stride(0), 8, 1, 0},
	{"atomic, lanes in one bank", "", smem.Atomic, 4, all, stride(8), 2, 1, 0},
	{"compare and swap: twice the passes", "", smem.CompareSwap, 4, all, stride(4), 2, 2, 0},
	{"compare and swap, one word", "", smem.CompareSwap, 4, all, stride(0), 64, 2, 0},

	// cp.async through L1.
	{"cp.async of 4 bytes does not merge", "", smem.CopyAsync, 4, all, stride(0), 32, 1, 0},
	{"cp.async of 8 bytes, contiguous", "", smem.CopyAsync, 8, all, stride(8), 2, 2, 3},
	{"cp.async of 16 bytes", "", smem.CopyAsync, 16, all, stride(16), 4, 4, 0},
	{"cp.async of 16 bytes does not merge", "", smem.CopyAsync, 16, all, stride(0), 32, 4, 0},
	{"64-bit exchange, no lane in one half", "", smem.Atomic, 8, 0xffff, stride(8), 1, 1, 2},
	{"64-bit compare and swap, one word", "", smem.CompareSwap, 8, all, stride(0), 64, 4, 0},

	// Public cases, by number.
	{"1: shm[4 i]", "", smem.Load, 4, all, stride(16), 4, 1, 0},
	{"2: buf[t]", "", smem.Load, 4, all, stride(4), 1, 1, 0},
	{"2: buf[2 t], load", "", smem.Load, 4, all, stride(8), 2, 1, 0},
	{"2: buf[2 t], store", "", smem.Store, 4, all, stride(8), 2, 1, 0},
	{"3: int transpose, store a column", "", smem.Store, 4, all, stride(32 * 4), 32, 1, 0},
	{"3: int transpose, load a row", "", smem.Load, 4, all, stride(4), 1, 1, 0},
	{"3: int transpose, pitch 33", "", smem.Store, 4, all, stride(33 * 4), 1, 1, 0},
	{"3: int transpose, column ty replaced by tx^ty", "", smem.Store, 4, all,
		func(tx int) int { return (tx*32 + (tx ^ 5)) * 4 }, 1, 1, 0},
	{"3: int transpose, the row of tx^ty", "", smem.Load, 4, all, func(tx int) int { return (5*32 + (tx ^ 5)) * 4 }, 1, 1, 0},
	{"4: tile[32][32], read a column", "", smem.Load, 4, all, func(tx int) int { return (tx*32 + 7) * 4 }, 32, 1, 0},
	{"4: tile[32][33], read a column", "", smem.Load, 4, all, func(tx int) int { return (tx*33 + 7) * 4 }, 1, 1, 0},
	{"4: tile[32][33], write a row", "", smem.Store, 4, all, func(tx int) int { return (7*33 + tx) * 4 }, 1, 1, 0},
	{"5: 16x16 block, transposed, no pad", "", smem.Load, 4, all, block16(16), 8, 1, 0},
	{"5: 16x16 block, transposed, pad 1: two rows meet", "", smem.Load, 4, all, block16(17), 2, 1, 0},
	{"13: bytes 0 and 4", "", smem.Load, 4, 3, list(0, 4), 1, 1, 0},
	{"13: bytes 0 and 132", "", smem.Load, 4, 3, list(0, 132), 1, 1, 0},
	{"13: bytes 0 and 128", "", smem.Load, 4, 3, list(0, 128), 2, 1, 0},
	{"13: bytes 0 and 1", "", smem.Load, 1, 3, list(0, 1), 1, 1, 0},
	{"13: bytes 0 and 3", "", smem.Load, 1, 3, list(0, 3), 1, 1, 0},
	{"17: four floats a lane, one at a time", "", smem.Load, 4, all, stride(16), 4, 1, 0},
	{"17: four floats a lane at once", "", smem.Load, 16, all, stride(16), 4, 4, 0},
	{"20: 64-bit, S = 64 words", "", smem.Load, 8, all, stride(256), 32, 2, 0},
	{"20: 64-bit, S = 36 words", "", smem.Load, 8, all, stride(144), 4, 2, 0},
	{"20: 128-bit, gcd 8", "", smem.Load, 16, all, stride(4 * 72), 8, 4, 0},
	{"20: 128-bit, gcd 16", "", smem.Load, 16, all, stride(4 * 80), 16, 4, 0},
	{"20: 128-bit, gcd 32", "", smem.Load, 16, all, stride(4 * 96), 32, 4, 0},
	{"21: 16 bit at bytes 0 and 2", "", smem.Load, 2, 3, list(0, 2), 1, 1, 0},
	{"21: 16 bit at bytes 0 and 130", "", smem.Load, 2, 3, list(0, 130), 2, 1, 0},
	{"21: contiguous 64 bit", "", smem.Load, 8, all, stride(8), 2, 2, 0},
	{"21: four bytes of one word", "", smem.Load, 1, 0xf, stride(1), 1, 1, 0},
	{"22: column of float[32][32]", "", smem.Load, 4, all, stride(128), 32, 1, 0},
	{"22: column of bool[32][32]", "", smem.Load, 1, all, stride(32), 8, 1, 0},
	{"22: 8x8 floats written transposed", "", smem.Store, 4, all, func(l int) int { return (l%8*8 + l/8) * 4 }, 2, 1, 0},
	{"22: 8x8 floats written along the lanes", "", smem.Store, 4, all, stride(4), 1, 1, 0},
	{"22, 49: float4 stored 32 words apart", "", smem.Store, 16, all, stride(128), 32, 4, 0},
	{"22, 49: scalars 4 words apart", "", smem.Load, 4, all, stride(16), 4, 1, 0},
	{"22, 49: scalars 2 words apart", "", smem.Load, 4, all, stride(8), 2, 1, 0},
	{"22, 33: float2 column 64 words apart", "", smem.Load, 8, all, stride(256), 32, 2, 0},
	{"26: char[L]", "", smem.Load, 1, all, stride(1), 1, 1, 0},
	{"26: four chars a lane", "", smem.Load, 4, all, stride(4), 1, 1, 0},
	{"37: the bad layout, 32 wavefronts an instruction", "", smem.Load, 16, all, stride(128), 32, 4, 0},
	{"37: the good layout, 4 wavefronts", "", smem.Load, 16, all, stride(16), 4, 4, 0},
	{"40: float4 of s_b[8][128]", "", smem.Load, 16, all, stride(16), 4, 4, 0},
	{"41: 16-byte writes to two pages of 64 columns", "", smem.Store, 16, all,
		func(l int) int { return l/16*128 + l%8*16 + l%16/8*8192 }, 4, 4, 0},
	{"43: int4 copy by consecutive lanes", "", smem.Store, 16, all, stride(16), 4, 4, 0},
	{"43: ldmatrix.x4, rows of 256 bytes", "", smem.LoadMatrix, 16, all, stride(256), 32, 4, 0},
	{"43: ldmatrix.x4, rows of 272 bytes", "", smem.LoadMatrix, 16, all, stride(272), 4, 4, 0},
	{"45: 64 floats a lane", "", smem.Load, 16, all, func(l int) int { return 256*l + 16*3 }, 32, 4, 0},
	{"45: 64 floats a lane, chunk xor lane", "", smem.Load, 16, all, func(l int) int { return 256*l + 16*(3^l%8) }, 4, 4, 0},
	{"52: ldmatrix.x4 of bf16[16][16]", "", smem.LoadMatrix, 16, all, rows16, 8, 4, 0},
	{"53: ldmatrix.x2 of a 16x8 piece of half[16][16]", "", smem.LoadMatrix, 8, all, stride(32), 4, 2, 0},
	{"58: rows of 128 bytes", "", smem.LoadMatrix, 16, all, matrices(128), 32, 4, 0},
	{"58: rows of 128 bytes, 128-byte swizzle", "", smem.LoadMatrix, 16, all, swizzle(3, matrices(128)), 4, 4, 0},
	{"58: rows of 64 bytes", "", smem.LoadMatrix, 16, all, matrices(64), 16, 4, 0},
	{"58: rows of 64 bytes, 64-byte swizzle", "", smem.LoadMatrix, 16, all, swizzle(2, matrices(64)), 4, 4, 0},
	{"58: rows of 32 bytes", "", smem.LoadMatrix, 16, all, rows16, 8, 4, 0},
	{"58: rows of 32 bytes, 32-byte swizzle", "", smem.LoadMatrix, 16, all, swizzle(1, rows16), 4, 4, 0},
	{"59: float column, pitch 64", "", smem.Load, 4, all, stride(64 * 4), 32, 1, 0},
	{"59: float column, pitch 16", "", smem.Load, 4, all, stride(16 * 4), 16, 1, 0},
	{"59: float column, pitch 33", "", smem.Load, 4, all, stride(33 * 4), 1, 1, 0},
	{"59: <5,0,5>", "", smem.Load, 4, all, columnXOR(5), 1, 1, 0},
	{"59: <3,0,5>", "", smem.Load, 4, all, columnXOR(3), 4, 1, 0},
	{"59: <2,0,5>", "", smem.Load, 4, all, columnXOR(2), 8, 1, 0},
	{"60: rows of 16 halves", "", smem.LoadMatrix, 16, all, rows16, 8, 4, 0},
	{"60: rows of 16 halves, <2,3,3>", "", smem.LoadMatrix, 16, all, swizzle(2, rows16), 4, 4, 0},
	{"60: rows of 64 halves, <3,3,3>", "", smem.LoadMatrix, 16, all, swizzle(3, matrices(128)), 4, 4, 0},
	{"60: rows of 64 halves, <2,3,3>", "", smem.LoadMatrix, 16, all, swizzle(2, matrices(128)), 8, 4, 0},
	{"61: 8x8 of a 128-byte mode, on the absolute address", "", smem.LoadMatrix, 4, all, swizzle(3, stride(128)), 1, 1, 0},
	{"62: stmatrix.x4 into rows of 128 bytes", "", smem.StoreMatrix, 16, all, matrices(128), 32, 4, 0},
	{"62: stmatrix.x4 into rows of 128 bytes, swizzled", "", smem.StoreMatrix, 16, all, swizzle(3, matrices(128)), 4, 4, 0},
	{"63: ldmatrix, rows of 6 units of 16 bytes", "", smem.LoadMatrix, 16, all, stride(6 * 16), 8, 4, 0},
	{"63: ldmatrix, rows of 3 units of 16 bytes", "", smem.LoadMatrix, 16, all, stride(3 * 16), 4, 4, 0},

	// AMD: the groups of 128-bit reads are not runs of lanes.
	{"75: MI300, contiguous 16 bytes", "gfx942", smem.Load, 16, whole, stride(16), 8, 8, 0},
	{"75: MI300, lanes 0-3 and 20-23 read together", "gfx942", smem.Load, 16, 0x00f0000f, stride(16), 1, 1, 0},
	{"75: MI300, lanes 0-3 and 20-23 write apart", "gfx942", smem.Store, 16, 0x00f0000f, stride(16), 2, 2, 0},
	{"75: MI300, lanes 0 and 20 in one bank", "gfx942", smem.Load, 16, 0x00100001, stride(128), 2, 1, 0},
	{"75: MI300, lanes 0 and 4 in one bank", "gfx942", smem.Load, 16, 0x00000011, stride(128), 2, 2, 0},
	{"75: MI300, 64 lanes of 4 bytes", "gfx942", smem.Load, 4, whole, stride(4), 2, 2, 0},
	{"75: MI300, 8 bytes by sixteens", "gfx942", smem.Load, 8, whole, stride(8), 4, 4, 0},
	{"75: MI350, a group of sixteen reads together", "gfx950", smem.Load, 16, 0x0ff0f00f, stride(16), 1, 1, 0},
	{"75: MI350, contiguous 16 bytes", "gfx950", smem.Load, 16, whole, stride(16), 4, 4, 0},
	{"76: MI350, 32 rows of 64 bytes", "gfx950", smem.Load, 16, whole, func(l int) int { return l%32*64 + l/32*16 }, 16, 4, 0},
	{"76: MI350, 32 rows of 128 bytes", "gfx950", smem.Load, 16, whole, func(l int) int { return l%32*128 + l/32*16 }, 32, 4, 0},
	{"76: MI350, 16 rows of 64 bytes", "gfx950", smem.Load, 16, whole, func(l int) int { return l%16*64 + l/16*16 }, 8, 4, 0},
	{"76: MI350, 16 rows of 128 bytes", "gfx950", smem.Load, 16, whole, func(l int) int { return l%16*128 + l/16*16 }, 16, 4, 0},
}

// block16 is the first warp of a 16x16 block that reads its tile of the given pitch transposed.
func block16(pitch int) lanes { return func(l int) int { return (l%16*pitch + l/16) * 4 } }

// rows16 is ldmatrix.x4 of 16x16 elements of 2 bytes in rows of 32 bytes: left and right half, upper and lower.
func rows16(l int) int { return (l%8+l/16*8)*32 + l/8%2*16 }

// matrices is ldmatrix.x4 of four matrices side by side in rows of the given bytes.
func matrices(pitch int) lanes { return func(l int) int { return l%8*pitch + l/8*16 } }

// columnXOR is a column of float[32][32] whose column index is xored with the low bits of the row.
func columnXOR(bits int) lanes { return func(l int) int { return (l*32 + l&(1<<bits-1)) * 4 } }

func request(r *rule, unit *smem.Unit) *smem.Request {
	addr := make([]uint32, unit.Lanes)
	for lane := range addr {
		addr[lane] = uint32(r.addr(lane))
	}
	return &smem.Request{Op: r.op, Width: r.width, Active: r.active, Addr: addr}
}

func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range rules {
		if seen[tt.name] {
			t.Errorf("two rules are called %q", tt.name)
		}
		seen[tt.name] = true
		if tt.arch == "" {
			tt.arch = "sm_90"
		}
		if tt.cycles == 0 {
			tt.cycles = float32(tt.wavefronts)
		}
		t.Run(tt.name, func(t *testing.T) {
			unit := arch.MustLookup(tt.arch).Unit
			r := request(&tt, unit)
			got := resolve(t, unit, r)
			if got.Wavefronts != tt.wavefronts || got.Ideal != tt.ideal || got.Cycles != tt.cycles {
				t.Errorf("Resolve: %d wavefronts, ideal %d, %g cycles; want %d, %d, %g",
					got.Wavefronts, got.Ideal, got.Cycles, tt.wavefronts, tt.ideal, tt.cycles)
			}
			walk, err := unit.Walk(r)
			if err != nil {
				t.Fatal(err)
			}
			if o := &walk.Outcome; o.Wavefronts != tt.wavefronts || o.Ideal != tt.ideal || o.Cycles != tt.cycles {
				t.Errorf("Walk: %d wavefronts, ideal %d, %g cycles; want %d, %d, %g",
					o.Wavefronts, o.Ideal, o.Cycles, tt.wavefronts, tt.ideal, tt.cycles)
			}
		})
	}
}

// Case 12: the offsets that scan kernels add against conflicts, at every step of the up-sweep. Plain shifts by 4 or 5 only
// move the conflict to later steps; the long form has none.
func TestScanOffsets(t *testing.T) {
	unit := arch.MustLookup("sm_90").Unit
	for _, tt := range []struct {
		name   string
		offset func(i int) int
		want   string // wavefronts at d = 1, 2, 4, ..., 64
	}{
		{"none", func(int) int { return 0 }, "2 4 8 16 32 32 32"},
		{"i>>4", func(i int) int { return i >> 4 }, "2 2 2 1 2 4 8"},
		{"i>>5", func(i int) int { return i >> 5 }, "1 1 1 1 1 2 4"},
		{"(i>>5)+(i>>10)", func(i int) int { return i>>5 + i>>10 }, "1 1 1 1 1 1 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for d := 1; d <= 64; d *= 2 {
				r := request(&rule{op: smem.Load, width: 4, active: all, addr: func(l int) int {
					i := d*(2*l+1) - 1
					return 4 * (i + tt.offset(i))
				}}, unit)
				out := resolve(t, unit, r)
				got = append(got, fmt.Sprint(out.Wavefronts))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("wavefronts %v, want %s", got, tt.want)
			}
		})
	}
}

// Case 82: the groups of AMD's 128-bit reads, written as the lanes that span them under xor, are those of the tables.
func TestAMDGroupsAsXORBases(t *testing.T) {
	for _, tt := range []struct {
		arch  string
		bases []int
	}{
		{"gfx942", []int{1, 2, 4 ^ 16}},
		{"gfx950", []int{1, 2, 4 ^ 8, 4 ^ 16}},
	} {
		t.Run(tt.arch, func(t *testing.T) {
			span := []int{0}
			for _, base := range tt.bases {
				for _, lane := range slices.Clone(span) {
					span = append(span, lane^base)
				}
			}
			want := map[smem.Mask]bool{}
			for lane := range smem.MaxLanes {
				var group smem.Mask
				for _, other := range span {
					group |= 1 << uint(lane^other)
				}
				want[group] = true
			}
			got := arch.MustLookup(tt.arch).Unit.Rules[smem.Key{Op: smem.Load, Width: 16}].Groups
			if len(got) != len(want) {
				t.Errorf("%d groups, want %d", len(got), len(want))
			}
			for _, group := range got {
				if !want[group] {
					t.Errorf("group %#x is no coset of the bases %v", uint64(group), tt.bases)
				}
			}
		})
	}
}

// A row must hold one access: Resolve and Walk count columns of a whole access each.
func TestUnitRefusesNarrowRows(t *testing.T) {
	rule := map[smem.Key]smem.Rule{{Op: smem.Load, Width: 16}: {Groups: []smem.Mask{smem.Lanes(0, 32)}, PerPass: 1}}
	if _, err := smem.NewUnit("narrow", 32, 2, 4, 1024, rule); err == nil || !strings.Contains(err.Error(), "at least the 16") {
		t.Errorf("got %v, want an error that rows of 8 bytes cannot hold an access of 16", err)
	}
	if _, err := smem.NewUnit("enough", 32, 4, 4, 1024, rule); err != nil {
		t.Error(err)
	}
}
