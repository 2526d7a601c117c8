package probe

import (
	"bufio"
	"compress/gzip"
	"os"
	"strconv"
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/smem"
)

// Recordings of what goes beyond the unit of one block: asynchronous copies, which also read global memory, and accesses
// to the shared memory of another block. The tests state what the recordings prove, and no more.

// A copied is a recorded cp.async.
type copied struct {
	op             string
	active         smem.Mask
	shared, global []uint32
	cycles         float64
}

func recordedCopies(t *testing.T) []copied {
	t.Helper()
	file, err := os.Open("testdata/h200_cpasync.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(s string) []uint32 {
		var all []uint32
		for _, field := range strings.Fields(s) {
			n, err := strconv.ParseUint(field, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, uint32(n))
		}
		return all
	}
	var all []copied
	for lines := bufio.NewScanner(text); lines.Scan(); {
		fields := strings.Split(lines.Text(), ",")
		if len(fields) != 5 || fields[0] == "op" || fields[0][0] == '#' {
			continue
		}
		mask, err1 := strconv.ParseUint(fields[1], 16, 32)
		cycles, err2 := strconv.ParseFloat(fields[4], 64)
		if err1 != nil || err2 != nil {
			t.Fatal(lines.Text())
		}
		all = append(all, copied{fields[0], smem.Mask(mask), numbers(fields[2]), numbers(fields[3]), cycles})
	}
	return all
}

// cp.async through L1, with global addresses in a row, takes the wavefronts of a store whose lanes do not share words, and 2
// to 3 cycles at least.
func TestCopyAsyncThroughL1(t *testing.T) {
	unit := arch.MustLookup("sm_90").Unit
	var out smem.Outcome
	n := map[string]int{}
	for _, c := range recordedCopies(t) {
		bits, ok := strings.CutPrefix(c.op, "cpca")
		if !ok {
			continue
		}
		n[c.op]++
		width, err := strconv.Atoi(bits)
		if err != nil {
			t.Fatal(err)
		}
		r := smem.Request{Op: smem.CopyAsync, Width: width, Active: c.active, Addr: c.shared}
		if err := unit.Resolve(&out, &r); err != nil {
			t.Fatal(err)
		}
		low, high := float64(out.Cycles), float64(out.Cycles)+0.3
		if out.Wavefronts == 1 {
			low = 2
		}
		if c.cycles < low || c.cycles > high {
			t.Errorf("%s mask %08x shared %v: %.3f cycles, want %g to %g for %d wavefronts", c.op, uint64(c.active), c.shared,
				c.cycles, low, high, out.Wavefronts)
		}
	}
	if n["cpca4"] != 3181 || n["cpca8"] != 3213 || n["cpca16"] != 3196 {
		t.Errorf("samples %v, want 3181, 3213 and 3196", n)
	}
}

// cp.async past L1 moves 32-byte sectors. A full warp that copies whole 128-byte lines into whole rows takes 3.2 to 6.3
// cycles. One that sends the two halves of every sector of global memory to different sectors of shared memory takes at least
// 14, and nine times in ten 28 to 38, whatever the banks.
func TestCopyAsyncPastL1(t *testing.T) {
	const sector, line = 32, 128
	whole, split, slow := 0, 0, 0
	for _, c := range recordedCopies(t) {
		if c.op != "cpcg16" || c.active != smem.Lanes(0, lanes) {
			continue
		}
		sectors, lines, rows := map[[2]uint32]bool{}, map[[2]uint32]bool{}, map[uint32]bool{}
		cells, read := map[uint32]bool{}, map[uint32]bool{}
		for lane := range c.shared {
			sectors[[2]uint32{c.global[lane] / sector, c.shared[lane] / sector}] = true
			lines[[2]uint32{c.global[lane] / line, c.shared[lane] / line}] = true
			rows[c.shared[lane]/line] = true
			cells[c.shared[lane]] = true
			read[c.global[lane]] = true
		}
		if len(cells) < lanes || len(read) < lanes {
			continue
		}
		switch {
		case len(sectors) == lanes/2 && len(lines) == lanes/8 && adjacent(&c, line):
			whole++
			if c.cycles < 3.2 || c.cycles > 6.4 {
				t.Errorf("whole lines: %.3f cycles, want 3.2 to 6.4: shared %v global %v", c.cycles, c.shared, c.global)
			}
		case len(sectors) == lanes:
			split++
			if c.cycles < 14 || c.cycles > 38.5 {
				t.Errorf("split sectors: %.3f cycles, want 14 to 38.5: shared %v global %v", c.cycles, c.shared, c.global)
			}
			if c.cycles >= 28 {
				slow++
			}
		}
	}
	if whole < 100 || split < 100 || slow < split*9/10 {
		t.Errorf("%d samples of whole lines and %d of split sectors, want at least 100 of each; %d slow, want nine in ten",
			whole, split, slow)
	}
}

// adjacent reports whether the lanes of a line are next to each other.
func adjacent(c *copied, line uint32) bool {
	for lane := range c.global {
		if c.global[lane]/line != c.global[lane&^7]/line || c.shared[lane]/line != c.shared[lane&^7]/line {
			return false
		}
	}
	return true
}

// An access to the other block of a cluster takes at least 1.5 cycles for each 32-byte sector that it touches, and mostly
// just that: it moves sectors, and the banks of the other block do not show.
func TestDistributedSharedMemory(t *testing.T) {
	const sector = 32
	least := map[string]float64{"ld32": 3, "ld64": 3, "ld128": 4.1, "st32": 2, "st128": 5.1}
	total, exact := map[string]int{}, map[string]int{}
	for _, s := range recording(t, "testdata/h200_cluster.csv.gz").Samples {
		if least[s.Op] == 0 {
			continue // atomics take longer, and no rule was found
		}
		sectors := map[uint32]bool{}
		for lane, a := range s.Addr {
			if s.Active.Has(lane) {
				sectors[a/sector] = true
			}
		}
		bound := 1.5 * float64(len(sectors))
		if s.Cycles < bound-0.15 {
			t.Errorf("%s: %.3f cycles for %d sectors, want at least %g", s.Op, s.Cycles, len(sectors), bound)
		}
		total[s.Op]++
		if s.Cycles < max(bound, least[s.Op])+0.3 {
			exact[s.Op]++
		}
	}
	for op := range least {
		if total[op] != 800 || exact[op] < total[op]*3/4 {
			t.Errorf("%s: %d of %d at the bound, want three quarters of 800", op, exact[op], total[op])
		}
	}
}
