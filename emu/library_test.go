package emu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"shmoo/cubin"
)

// libraryEnv names a CUDA library, such as libggml-cuda.so of the npm package @node-llama-cpp/linux-x64-cuda, whose kernels the
// tests of this file run with assumed launches.
const libraryEnv = "SHMOO_CUDA_LIB"

// assumedLaunch makes up a launch: 128 threads or what the bounds allow, a grid of 8x4x2, block (1,0,0), null pointers (valid ones to
// unknown data with SHMOO_CUDA_POINTERS=valid: optional arguments decide which code runs), and small powers of two for scalars.
func assumedLaunch(k *cubin.Kernel) Launch {
	l := Launch{Grid: [3]int{8, 4, 2}, Block: [3]int{128, 1, 1}, DynamicShared: (98<<10 - k.SharedStatic) &^ 1023, Blocks: []int{1}}
	if k.MaxThreads[0] > 0 {
		n := k.MaxThreads[0] * k.MaxThreads[1] * k.MaxThreads[2]
		l.Block[0] = min(n, 1024)
		if readsTidY(k) && n%32 == 0 {
			l.Block = [3]int{32, min(n/32, 32), 1}
		}
	}
	if k.ReqThreads[0] > 0 {
		l.Block = k.ReqThreads
	}
	types := k.ParamTypes()
	for i, p := range k.Params {
		l.Args = append(l.Args, assumedArg(p, types, i))
	}
	return l
}

func assumedArg(p cubin.Param, types []string, i int) Arg {
	pointer := Null()
	if os.Getenv("SHMOO_CUDA_POINTERS") == "valid" {
		pointer = Pointer()
	}
	typ := ""
	if types != nil {
		typ = types[i]
	}
	value := int64(1) << (i * 3 % 11)
	switch {
	case strings.HasSuffix(typ, "*"), strings.HasSuffix(typ, "* __restrict__"):
		return pointer
	case p.Size == 8 && typ == "":
		return pointer
	case typ == "uint3": // ggml's fast division: multiplier, shift, divisor
		return Bytes([]byte{1, 0, 0, 0, byte(i % 4), 0, 0, 0, 1 << (i % 4), 0, 0, 0})
	case p.Size == 8:
		return Int64(value)
	case typ == "float":
		return Float32(1)
	case p.Size == 4:
		return Int32(int32(value))
	case p.Size == 2:
		return Bytes([]byte{byte(value), byte(value >> 8)})
	case p.Size == 1:
		return Bytes([]byte{1})
	}
	b := make([]byte, p.Size)
	for k := 0; k+4 <= len(b); k += 4 {
		b[k] = 1 << (k / 4 % 4)
	}
	return Bytes(b)
}

func readsTidY(k *cubin.Kernel) bool {
	p, err := NewProgram(codeOf(k))
	if err != nil {
		return false
	}
	for i := range p.insts {
		if s := p.insts[i].Op.String(); (s == "S2R" || s == "S2UR") && p.insts[i].Args[1].Imm == srTidY {
			return true
		}
	}
	return false
}

// libraryTotals adds up a run over a library.
type libraryTotals struct {
	kernels, run, clean, branching, limited int
	faults                                  map[string]int
	exact, maybe, unknown, instructions     int64
	unsupported                             map[string]int64
	reasons                                 map[string]int64
}

// TestLibrary runs every kernel of one target of a real library with an assumed launch: none may crash or hang, and nearly
// all shared accesses that are executed must have exact addresses. Of the libggml-cuda.so of @node-llama-cpp/linux-x64-cuda 3.22.1
// for sm_86, 3,620 kernels use shared memory; 99.77% of their accesses have.
func TestLibrary(t *testing.T) {
	path := os.Getenv(libraryEnv)
	if path == "" {
		t.Skip("set " + libraryEnv + " to a CUDA library to run its kernels")
	}
	target := 86
	if s := os.Getenv("SHMOO_CUDA_ARCH"); s != "" {
		target, _ = strconv.Atoi(s)
	}
	f, err := cubin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	total := libraryTotals{faults: map[string]int{}, unsupported: map[string]int64{}, reasons: map[string]int64{}}
	var mu sync.Mutex
	match := os.Getenv("SHMOO_CUDA_KERNEL")
	start := time.Now()
	budget := 8 * time.Minute
	if s := os.Getenv("SHMOO_CUDA_BUDGET"); s != "" {
		budget, _ = time.ParseDuration(s)
	}
	err = f.Each(context.Background(), cubin.EachOptions{Select: func(e *cubin.Entry) bool {
		return e.Kind == cubin.KindELF && e.Arch == target
	}}, func(_ int, img *cubin.Image) error {
		for _, k := range img.Kernels {
			if time.Since(start) > budget {
				return nil
			}
			if match != "" && !strings.Contains(k.Name, match) {
				continue
			}
			mu.Lock()
			total.kernels++
			mu.Unlock()
			p, err := NewProgram(codeOf(k))
			if err != nil {
				return err
			}
			if len(p.Sites()) == 0 {
				continue
			}
			begin := time.Now()
			result, err := Run(context.Background(), p, assumedLaunch(k), Options{Limits: Limits{Steps: 100_000}}, nil)
			took := time.Since(begin)
			mu.Lock()
			total.add(k, result, err)
			mu.Unlock()
			if took > 30*time.Second {
				t.Errorf("%s: took %v: %v, %d instructions", k.Name, took, err, result.Instructions)
			}
			if match != "" {
				t.Logf("%s: %v %+v", k.Name, err, result)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total.log(t)
	t.Logf("%v, %.1f million warp instructions a second", time.Since(start).Round(time.Second),
		float64(total.instructions)/time.Since(start).Seconds()/1e6)
	if share := total.known(); share < 0.995 {
		t.Errorf("%.2f%% of the shared accesses have exact addresses, want 99.5%%", 100*share)
	}
}

func (x *libraryTotals) add(k *cubin.Kernel, r *Result, err error) {
	x.run++
	var limit *LimitError
	var fault *Fault
	switch {
	case errors.As(err, &limit):
		x.limited++
	case errors.As(err, &fault):
		x.faults[fault.Kind.String()]++
		if x.faults[fault.Kind.String()] <= 3 {
			x.faults["  "+err.Error()] = 0
		}
	case err != nil:
		x.faults[err.Error()]++
	}
	if r == nil {
		return
	}
	x.instructions += r.Instructions
	for _, s := range r.Sites {
		x.exact += s.Requests
		x.maybe += s.Maybe
		if n := s.Unresolved - s.Maybe; n > 0 {
			x.unknown += n
			x.reasons[k.Name[:min(len(k.Name), 60)]+": "+s.Why] += n
		}
	}
	if len(r.Branches) > 0 {
		x.branching++
	} else if err == nil {
		x.clean++
	}
	for _, u := range r.Unsupported {
		x.unsupported[u.Op] += u.Count
	}
}

// known returns the share of accesses whose addresses are known.
func (x *libraryTotals) known() float64 {
	return float64(x.exact+x.maybe) / float64(max(x.exact+x.maybe+x.unknown, 1))
}

func (x *libraryTotals) log(t *testing.T) {
	t.Logf("%d kernels, %d with shared memory: %d without unknown branches, %d with, %d stopped by the limit", x.kernels, x.run,
		x.clean, x.branching, x.limited)
	t.Logf("accesses: %d exact, %d with known addresses under unknown branches, %d with unknown addresses (%.3f%% known)", x.exact,
		x.maybe, x.unknown, 100*x.known())
	var names []string
	for name := range x.unsupported {
		names = append(names, fmt.Sprintf("%s x%d", name, x.unsupported[name]))
	}
	slices.Sort(names)
	t.Logf("without semantics: %s", strings.Join(names, ", "))
	names = names[:0]
	for name, n := range x.reasons {
		names = append(names, fmt.Sprintf("%9d %s", n, name))
	}
	slices.Sort(names)
	slices.Reverse(names)
	t.Logf("unknown addresses:\n%s", strings.Join(names[:min(len(names), 20)], "\n"))
	names = names[:0]
	for name := range x.faults {
		names = append(names, fmt.Sprintf("%6d %s", x.faults[name], name))
	}
	slices.Sort(names)
	t.Logf("faults:\n%s", strings.Join(names, "\n"))
}
