package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shmoo/cubin"
	"shmoo/smem"
)

// requestSet is how often a kernel makes each request, by hash.
type requestSet struct {
	counts map[uint64]int64
	total  int64
	words  uint64 // sum of hashes of every word that a lane touches: the same however accesses are merged to wider ones
	writes uint64 // the same for stores and atomics alone
	clean  bool   // ran to its end without branches on unknown data
}

// common returns how many requests two sets share.
func (a *requestSet) common(b *requestSet) int64 {
	var n int64
	for k, x := range a.counts {
		n += min(x, b.counts[k])
	}
	return n
}

// TestLibraryTargets runs the kernels of a real library that exist for two targets and compares their shared-memory requests: the
// same source, another instruction selection, register allocation, uniform datapath and convergence code. Of the libggml-cuda.so of
// @node-llama-cpp/linux-x64-cuda 3.22.1 it compares 1,425 kernels: 1,406 are identical, the others differ as counted.
func TestLibraryTargets(t *testing.T) {
	path := os.Getenv(libraryEnv)
	if path == "" {
		t.Skip("set " + libraryEnv + " to a CUDA library to compare its targets")
	}
	f, err := cubin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	budget := 15 * time.Minute
	if s := os.Getenv("SHMOO_CUDA_BUDGET"); s != "" {
		budget, _ = time.ParseDuration(s)
	}
	start := time.Now()
	seed := maphash.MakeSeed()
	type key struct {
		fatbin int
		kernel string
	}
	var mu sync.Mutex
	waiting := map[key]*requestSet{}
	match := os.Getenv("SHMOO_CUDA_KERNEL")
	var identical, merged, reloaded, nearly, half, below, branching, silent int
	var same, all int64
	var exceptions []string
	err = f.Each(context.Background(), cubin.EachOptions{Select: func(e *cubin.Entry) bool {
		return e.Kind == cubin.KindELF && (e.Arch == 86 || e.Arch == 120)
	}}, func(i int, img *cubin.Image) error {
		for _, k := range img.Kernels {
			if time.Since(start) > budget {
				return nil
			}
			if !strings.Contains(k.Name, match) {
				continue
			}
			set := runLibraryKernel(k, seed)
			if set == nil {
				continue
			}
			id := key{img.Entry.Fatbin, k.Name}
			mu.Lock()
			other := waiting[id]
			if other == nil {
				waiting[id] = set
				mu.Unlock()
				continue
			}
			delete(waiting, id)
			switch {
			case !set.clean || !other.clean:
				branching++
			case set.total == 0 && other.total == 0:
				silent++
			default:
				n, most := set.common(other), max(set.total, other.total)
				same += n
				all += most
				switch share := float64(n) / float64(most); {
				case n == most:
					identical++
				case set.words == other.words:
					merged++
				case set.writes == other.writes:
					reloaded++ // loads are dropped, repeated or made without their guard
				case share >= 0.9:
					nearly++
				case share >= 0.5:
					half++
				default:
					below++
				}
				if n != most && set.writes != other.writes {
					exceptions = append(exceptions, fmt.Sprintf("%5.1f%% of %d: %s", 100*float64(n)/float64(most), most, k.Name))
				}
			}
			mu.Unlock()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(exceptions)
	t.Logf("exact on both targets: %d kernels identical, %d touch the same words in wider or narrower accesses, %d write the same words and load differently, %d share at least 90%%, "+
		"%d at least 50%%, %d below; %d branch on unknown data or end early, %d make no request", identical, merged, reloaded, nearly, half, below, branching, silent)
	t.Logf("%d of %d requests equal (%.2f%%)", same, all, 100*float64(same)/float64(max(all, 1)))
	t.Logf("exceptions:\n%s", strings.Join(exceptions[:min(len(exceptions), 60)], "\n"))
	if all := identical + merged + reloaded + nearly + half + below; all > 0 && float64(identical+merged+reloaded) < 0.99*float64(all) {
		t.Errorf("%d of %d kernels agree, want 99%%", identical+merged+reloaded, all)
	}
}

// runLibraryKernel runs a kernel with an assumed launch; nil means that it has no shared memory.
func runLibraryKernel(k *cubin.Kernel, seed maphash.Seed) *requestSet {
	p, err := NewProgram(codeOf(k))
	if err != nil || len(p.Sites()) == 0 {
		return nil
	}
	set := &requestSet{counts: map[uint64]int64{}}
	var buf []byte
	result, err := Run(context.Background(), p, assumedLaunch(k), Options{Limits: Limits{Steps: 60_000}}, func(e *Event) bool {
		site := &p.Sites()[e.Site]
		buf = append(buf[:0], byte(site.Op), byte(site.Width))
		if site.Op == smem.CopyAsyncCG {
			buf[0] = byte(smem.CopyAsync)
		}
		buf = binary.LittleEndian.AppendUint32(buf, e.Active)
		for i := range warpLanes {
			if e.Active>>uint(i)&1 != 0 {
				buf = binary.LittleEndian.AppendUint32(buf, e.Addr[i])
			}
		}
		for i := range warpLanes {
			for off := uint32(0); e.Active>>uint(i)&1 != 0 && int(off) < site.Width; off += 4 {
				var word [10]byte
				word[0], word[1] = buf[0], byte(i)
				binary.LittleEndian.PutUint32(word[2:], e.Addr[i]+off)
				binary.LittleEndian.PutUint32(word[6:], uint32(min(site.Width, 4)))
				h := maphash.Bytes(seed, word[:])
				set.words += h
				if site.Op.Writes() {
					set.writes += h
				}
			}
		}
		set.counts[maphash.Bytes(seed, buf)]++
		set.total++
		return true
	})
	set.clean = err == nil && len(result.Branches) == 0 && result.Exact() == 1
	if !set.clean {
		set.counts = nil
	}
	return set
}
