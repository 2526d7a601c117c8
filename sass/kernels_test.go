package sass

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kernel is the code of one kernel with what the compiler's attributes say about it.
type kernel struct {
	name      string
	where     string
	arch      Arch
	registers int
	exits     []uint64
	warpOps   []uint64
	indirect  map[uint64][]uint64
	code      []Word
}

func readKernels(t testing.TB) []kernel {
	t.Helper()
	files, err := filepath.Glob("testdata/kernels/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernel files: %v", err)
	}
	var out []kernel
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var k kernel
		sc := bufio.NewScanner(strings.NewReader(string(data)))
		for sc.Scan() {
			w := strings.Fields(sc.Text())
			if len(w) == 0 || w[0] == "#" {
				continue
			}
			var nums []uint64
			if slices.Contains([]string{"exits", "warpops", "indirect"}, w[0]) {
				for _, s := range w[1:] {
					nums = append(nums, parseHex(t, path, s))
				}
			}
			switch w[0] {
			case "kernel":
				k = kernel{name: w[1], where: path + ": " + w[1], indirect: map[uint64][]uint64{}}
			case "arch":
				if k.arch, err = ParseArch(w[1]); err != nil {
					t.Fatal(err)
				}
			case "registers":
				for _, c := range w[1] {
					k.registers = k.registers*10 + int(c-'0')
				}
			case "exits":
				k.exits = nums
			case "warpops":
				k.warpOps = nums
			case "indirect":
				k.indirect[nums[0]] = nums[1:]
			case "end":
				out = append(out, k)
			default:
				k.code = append(k.code, Word{parseHex(t, path, w[0]), parseHex(t, path, w[1])})
			}
		}
	}
	return out
}

// TestKernels checks decoded kernels against what is known without any disassembler: branch targets are instructions of the kernel,
// EXITs stand where the attributes say, register numbers stay below the count, wide operands are aligned.
func TestKernels(t *testing.T) {
	collective := []Op{SHFL, VOTE, VOTEU, MATCH, REDUX, CREDUX, WARPSYNC, BAR, ELECT, BRA, CALL, NOP, UCGABAR_ARV, UCGABAR_WAIT, ENDCOLLECTIVE, R2UR}
	for _, k := range readKernels(t) {
		t.Run(filepath.Base(k.where), func(t *testing.T) {
			size := uint64(len(k.code) * Size)
			var exits []uint64
			targets := map[uint64]bool{}
			for n, w := range k.code {
				pc := uint64(n * Size)
				var i Inst
				if err := DecodeWord(&i, k.arch, w); err != nil {
					t.Fatalf("%#x: %016x %016x: %v", pc, w.Lo, w.Hi, err)
				}
				checkTarget(t, &i, pc, size)
				checkRegisters(t, &i, pc, k.registers)
				switch i.Op {
				case EXIT:
					exits = append(exits, pc)
				case BRX, BRXU:
					if k.indirect[pc] == nil {
						t.Errorf("%#x: %s is not in the list of indirect branches", pc, i.String())
					}
				}
				if slices.Contains(k.warpOps, pc) && !slices.Contains(collective, i.Op) {
					t.Errorf("%#x: %s is listed as an operation of the whole warp", pc, i.String())
				}
				targets[pc] = true
			}
			for _, pc := range k.exits {
				if !slices.Contains(exits, pc) {
					t.Errorf("no EXIT at %#x, which the attributes list", pc)
				}
			}
			for at, list := range k.indirect {
				for _, to := range list {
					if !targets[to] {
						t.Errorf("indirect branch at %#x: target %#x is not an instruction", at, to)
					}
				}
			}
		})
	}
}

func checkTarget(t *testing.T, i *Inst, pc, size uint64) {
	t.Helper()
	to, ok := i.Target(pc)
	if !ok {
		return
	}
	if i.Arg(RoleA) != nil { // register-relative: the base is the start of the section
		if to != 0 {
			t.Errorf("%#x: %s: base %#x, want 0", pc, i.String(), to)
		}
		return
	}
	if to%Size != 0 || to >= size {
		t.Errorf("%#x: %s: target %#x is not an instruction of %#x bytes", pc, i.String(), to, size)
	}
}

func checkRegisters(t *testing.T, i *Inst, pc uint64, count int) {
	t.Helper()
	if i.Op == NOP {
		return
	}
	for n := range i.Args[:i.NArgs] {
		o := &i.Args[n]
		if o.Kind != KindReg && o.Kind != KindAddr || o.Reg == RZ || o.Count == 0 {
			continue
		}
		if count > 0 && int(o.Reg)+int(o.Count) > count {
			t.Errorf("%#x: %s: operand %d uses R%d to R%d of %d registers", pc, i.String(), n, o.Reg, int(o.Reg)+int(o.Count)-1, count)
		}
		if align := int(o.Count); align == 2 || align == 4 {
			if int(o.Reg)%align != 0 && !i.unalignedOperand(o) {
				t.Errorf("%#x: %s: operand %d is %d registers at R%d", pc, i.String(), n, o.Count, o.Reg)
			}
		}
	}
}

// unalignedOperand lists what may stand at any register: nothing but operands of four registers that need even ones only.
func (i *Inst) unalignedOperand(o *Operand) bool {
	return o.Count == 4 && o.Reg%2 == 0 && (i.Op == HMMA || i.Op == IMMA || i.Op == DMMA || i.Op == BMMA || i.Op == HGMMA)
}
