package emu

import (
	"context"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/cubin"
	"shmoo/internal/half"
	"shmoo/smem"
)

// recorded is one launch of testdata/h200/*launches.txt, and what an H200 did with it.
type recorded struct {
	name   string // "histogram", or "triton_scan.cubin:scan"
	kernel string
	file   string
	launch Launch
	first  []byte // the buffer whose hash was recorded
	hash   string
}

// lcg is the generator that the recording filled buffers with.
type lcg uint32

func (x *lcg) next() uint32 {
	*x = *x*1664525 + 1013904223
	return uint32(*x)
}

// fillBuffer makes a buffer as the recording's runner does.
func fillBuffer(kind string, count int, how string) []byte {
	size := map[string]int{"i8": 1, "i16": 2, "f16": 2, "i32": 4, "f32": 4, "i64": 8}[kind]
	b := make([]byte, count*size)
	x := lcg(1)
	switch how {
	case "lcg":
		for i := 0; i+4 <= len(b); i += 4 {
			binary.LittleEndian.PutUint32(b[i:], x.next()>>8)
		}
	case "small", "iota":
		for i := range count {
			v := (x.next() >> 8) % 16
			if how == "iota" {
				v = uint32(i)
			}
			switch kind {
			case "f16":
				binary.LittleEndian.PutUint16(b[2*i:], half.To(float64(v)))
			case "f32":
				binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(v)))
			case "i8":
				b[i] = byte(v)
			case "i16":
				binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
			default:
				binary.LittleEndian.PutUint32(b[size*i:], v)
			}
		}
	}
	return b
}

func readRecorded(t *testing.T, prefix string) []recorded {
	t.Helper()
	dir := filepath.Join("testdata", "h200")
	outputs, err := os.ReadFile(filepath.Join(dir, prefix+"outputs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{}
	for line := range strings.Lines(string(outputs)) {
		name, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		hashes[name] = hash
	}
	text, err := os.ReadFile(filepath.Join(dir, prefix+"launches.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []recorded
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, ";")
		r := recorded{name: parts[0], kernel: parts[0], file: "kernels.cubin.gz", hash: hashes[parts[0]]}
		if file, kernel, ok := strings.Cut(parts[0], ":"); ok {
			r.file, r.kernel = file, kernel
		}
		fmt.Sscan(parts[1], &r.launch.Grid[0], &r.launch.Grid[1], &r.launch.Grid[2])
		fmt.Sscan(parts[2], &r.launch.Block[0], &r.launch.Block[1], &r.launch.Block[2])
		fmt.Sscan(parts[3], &r.launch.DynamicShared)
		for _, arg := range strings.Fields(parts[4]) {
			kind, value, _ := strings.Cut(arg, "=")
			kind, count, isBuffer := strings.Cut(kind, "[")
			if !isBuffer {
				n, err := strconv.Atoi(value)
				if err != nil {
					t.Fatal(err)
				}
				r.launch.Args = append(r.launch.Args, Int32(int32(n)))
				continue
			}
			n, err := strconv.Atoi(strings.TrimSuffix(count, "]"))
			if err != nil {
				t.Fatal(err)
			}
			b := fillBuffer(kind, n, value)
			if r.first == nil {
				r.first = b
			}
			r.launch.Args = append(r.launch.Args, Buffer(b))
		}
		for b := range r.launch.Grid[0] * r.launch.Grid[1] * r.launch.Grid[2] {
			r.launch.Blocks = append(r.launch.Blocks, b)
		}
		list = append(list, r)
	}
	return list
}

func (r *recorded) program(t *testing.T, images map[string]*cubin.Image) *Program {
	img := images[r.file]
	if img == nil {
		img = readCubin(t, filepath.Join("testdata", "h200", r.file))
		images[r.file] = img
	}
	return programOf(t, img, r.kernel)
}

// tensorResults are kernels whose output comes from tensor instructions: there is no memory to compare.
var tensorResults = map[string]bool{"mma_plain": true, "mma_swizzle": true, "triton_matmul.cubin:matmul": true}

// mufuResults are kernels whose output depends on the last places of the special function unit.
var mufuResults = map[string]bool{"triton_softmax.cubin:softmax": true}

// TestRecordedMemory runs what an H200 ran and compares the memory that it left.
func TestRecordedMemory(t *testing.T) {
	images := map[string]*cubin.Image{}
	for _, prefix := range []string{"", "triton_", "tilelang_"} {
		for _, r := range readRecorded(t, prefix) {
			t.Run(r.name, func(t *testing.T) {
				if tensorResults[r.name] || mufuResults[r.name] {
					t.Skip("result of an instruction that is not emulated bit by bit")
				}
				result, err := Run(context.Background(), r.program(t, images), r.launch, Options{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if result.UnknownBytes[0] > 0 {
					t.Skipf("stores %d bytes of shared memory that it never wrote", result.UnknownBytes[0])
				}
				h := fnv.New64a()
				h.Write(r.first)
				if got := fmt.Sprintf("%016x", h.Sum64()); got != r.hash {
					t.Errorf("memory hash %s, the H200 left %s", got, r.hash)
				}
				if result.Exact() != 1 {
					t.Errorf("%.1f%% of accesses exact, want all: %+v", 100*result.Exact(), result)
				}
			})
		}
	}
}

// sourceRow is what Nsight Compute says of one instruction.
type sourceRow struct {
	instruction                 string
	executed, wavefronts, ideal int64
}

func readSource(t *testing.T, prefix string) map[string]map[uint64]sourceRow {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "h200", prefix+"source.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]map[uint64]sourceRow{}
	for _, row := range rows[1:] {
		pc, err := strconv.ParseUint(strings.TrimPrefix(row[1], "0x"), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		n := func(s string) int64 {
			v, _ := strconv.ParseInt(s, 10, 64)
			return v
		}
		if table[row[0]] == nil {
			table[row[0]] = map[uint64]sourceRow{}
		}
		table[row[0]][pc] = sourceRow{row[2], n(row[3]), n(row[4]), n(row[5])}
	}
	return table
}

// paired are kernels in which the lanes of wide loads pair: ncu's source counters do not know that, the hardware's do.
var paired = map[string]bool{"paired_loads": true}

// TestRecordedSource compares, instruction by instruction, how often the H200 executed each shared-memory instruction, and
// its wavefronts.
func TestRecordedSource(t *testing.T) {
	images := map[string]*cubin.Image{}
	unit := arch.MustLookup("sm_90").Unit
	for _, prefix := range []string{"", "triton_", "tilelang_"} {
		source := readSource(t, prefix)
		for _, r := range readRecorded(t, prefix) {
			t.Run(r.name, func(t *testing.T) {
				p := r.program(t, images)
				type tally struct{ requests, wavefronts, ideal int64 }
				tallies := make([]tally, len(p.Sites()))
				var req smem.Request
				var out smem.Outcome
				result, err := Run(context.Background(), p, r.launch, Options{}, func(e *Event) bool {
					site := &p.Sites()[e.Site]
					if !e.Exact() {
						t.Fatalf("pc 0x%x: not exact: %s", site.PC, e.Why)
					}
					req = smem.Request{Op: site.Op, Width: site.Width, Active: smem.Mask(e.Active), Addr: e.Addr[:]}
					if err := unit.Resolve(&out, &req); err != nil {
						t.Fatalf("pc 0x%x: %v", site.PC, err)
					}
					x := &tallies[e.Site]
					x.requests++
					x.wavefronts += int64(out.Wavefronts)
					x.ideal += int64(out.Ideal)
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				seen := 0
				for i, site := range p.Sites() {
					row, ok := source[r.kernel][site.PC]
					if !ok {
						if tallies[i].requests > 0 && site.Op != smem.CopyAsync {
							t.Errorf("pc 0x%x %s: %d requests, ncu has no row", site.PC, site.Instr, tallies[i].requests)
						}
						continue
					}
					seen++
					if got := tallies[i].requests + result.Sites[i].Skipped; got != row.executed {
						t.Errorf("pc 0x%x %s (%s): executed %d times, by the H200 %d times", site.PC, site.Instr, row.instruction,
							got, row.executed)
					}
					if tallies[i].wavefronts != row.wavefronts && !paired[r.kernel] {
						t.Errorf("pc 0x%x %s (%s): %d wavefronts, ncu's source counter has %d", site.PC, site.Instr,
							row.instruction, tallies[i].wavefronts, row.wavefronts)
					}
				}
				if seen == 0 && len(source[r.kernel]) > 0 {
					t.Error("no site compared")
				}
			})
		}
	}
}

// counters are the hardware's wavefronts of one kernel by operation.
type counters struct{ loads, stores, atomics int64 }

func readCounters(t *testing.T, prefix string) map[string]counters {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "h200", prefix+"counters.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	table := map[string]counters{}
	for _, row := range rows[1:] {
		n := func(name string) int64 {
			v, err := strconv.ParseInt(row[column[name]], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		table[row[0]] = counters{n("wavefronts_ld"), n("wavefronts_st"), n("wavefronts_atom")}
	}
	return table
}

// arbitration is what the hardware counted on stores beyond the bank model and ncu's source counters: two instructions in flight
// met in the store path.
var arbitration = map[string]int64{"row_sums": 6}

// TestRecordedCounters compares wavefronts with the hardware's counters, kernel by kernel.
func TestRecordedCounters(t *testing.T) {
	images := map[string]*cubin.Image{}
	unit := arch.MustLookup("sm_90").Unit
	for _, prefix := range []string{"", "triton_", "tilelang_"} {
		table := readCounters(t, prefix)
		for _, r := range readRecorded(t, prefix) {
			t.Run(r.name, func(t *testing.T) {
				want, ok := table[r.kernel]
				if !ok {
					t.Fatal("no counters recorded")
				}
				p := r.program(t, images)
				var got counters
				var req smem.Request
				var out smem.Outcome
				_, err := Run(context.Background(), p, r.launch, Options{}, func(e *Event) bool {
					site := &p.Sites()[e.Site]
					req = smem.Request{Op: site.Op, Width: site.Width, Active: smem.Mask(e.Active), Addr: e.Addr[:]}
					if err := unit.Resolve(&out, &req); err != nil {
						t.Fatal(err)
					}
					n := int64(out.Wavefronts)
					switch {
					case strings.HasPrefix(site.Instr, "ATOMS"):
						got.atomics += n
					case site.Op == smem.Load || site.Op == smem.LoadMatrix:
						got.loads += n
					case site.Op == smem.Store || site.Op == smem.StoreMatrix:
						got.stores += n
					}
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				want.stores -= arbitration[r.kernel]
				if got != want {
					t.Errorf("wavefronts %+v, the H200 counted %+v", got, want)
				}
			})
		}
	}
}

// TestRecordedWithheld runs the recorded launches without their input: what is still exact must be among the accesses that happen
// with it.
func TestRecordedWithheld(t *testing.T) {
	images := map[string]*cubin.Image{}
	for _, prefix := range []string{"", "triton_"} {
		for _, r := range readRecorded(t, prefix) {
			t.Run(r.name, func(t *testing.T) {
				p := r.program(t, images)
				all := requests(t, p, r.launch)
				for i, a := range r.launch.Args {
					if a.kind == argBuffer {
						r.launch.Args[i] = Pointer()
					}
				}
				_, err := Run(context.Background(), p, r.launch, Options{}, func(e *Event) bool {
					if !e.Exact() {
						return true
					}
					k := keyOf(p, e)
					if all[k]--; all[k] < 0 {
						t.Errorf("pc 0x%x: an exact access that does not happen: %+v", p.Sites()[e.Site].PC, k)
						return false
					}
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
