package emu

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"shmoo/arch"
)

// TestDependent runs a kernel on data that is not given, and on the same data given: accesses that depend on it are unresolved with a
// reason and bounds, the others exact; bounds hold for what happens with any data.
func TestDependent(t *testing.T) {
	for _, target := range []string{"80", "90", "120"} {
		t.Run("sm_"+target, func(t *testing.T) {
			p := programOf(t, readCubin(t, "testdata/kernels.sm_"+target+".cubin.gz"), "dependent")
			unit := arch.MustLookup("sm_" + target).Unit
			launch := line(1, 256, Pointer(), Pointer(), Int32(256))
			unknown, err := Run(context.Background(), p, launch, Options{Unit: unit}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(unknown.Branches) == 0 {
				t.Error("no branch on unknown data")
			}
			reasons := map[string]bool{}
			var exact, unresolved, maybe, unbounded int
			for i, s := range unknown.Sites {
				if s.Requests > 0 {
					exact++
				}
				if s.Unresolved == 0 {
					continue
				}
				unresolved++
				if s.Maybe > 0 {
					maybe++
				}
				if s.Unbounded {
					unbounded++
				}
				reasons[s.Why] = true
				if !strings.HasPrefix(s.Why, "depends on ") {
					t.Errorf("pc 0x%x: reason %q", p.Sites()[i].PC, s.Why)
				}
				if s.Low > s.High || s.High == 0 {
					t.Errorf("pc 0x%x: bounds %d to %d", p.Sites()[i].PC, s.Low, s.High)
				}
			}
			if exact < 3 || maybe < 1 || unresolved-maybe < 1 || unbounded < 1 {
				t.Errorf("%d sites exact, %d unresolved, %d of them with known addresses, %d unbounded: %+v", exact, unresolved, maybe,
					unbounded, unknown.Sites)
			}
			// With data given every access is exact, and what was exact before happens alike.
			for seed := range uint32(5) {
				in, out := random(256, seed), make([]byte, 1024)
				if seed == 4 {
					in = words(256, func(int) uint32 { return 0 }) // no branch taken, no loop
				}
				launch.Args = []Arg{Buffer(in), Buffer(out), Int32(256)}
				given, err := Run(context.Background(), p, launch, Options{Unit: unit}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if given.Exact() != 1 {
					t.Errorf("seed %d: %.2f exact, want all", seed, given.Exact())
				}
				for i, s := range unknown.Sites {
					if s.Unresolved == 0 && given.Sites[i].Requests != s.Requests {
						t.Errorf("seed %d: pc 0x%x: %d requests, without data %d exact ones", seed, p.Sites()[i].PC,
							given.Sites[i].Requests, s.Requests)
					}
				}
				for i := range 256 {
					if got, want := word(out, i), dependentWant(in, i); got != want {
						t.Fatalf("seed %d: out[%d] = %d, want %d", seed, i, got, want)
					}
				}
			}
		})
	}
}

func dependentWant(in []byte, t int) uint32 {
	var s [256]uint32
	for i := range s {
		s[i] = uint32(i)
	}
	for i := range s {
		if i&31 < 4 {
			s[i*32&255]++
		}
	}
	for i := range s {
		s[word(in, i)&255]++
	}
	for i := range s {
		if word(in, i) > 10 {
			s[255-i] = 7
		}
	}
	if m := word(in, 0) & 7; m > 0 {
		return m - 1 // the last round writes every word
	}
	return s[t]
}

// TestKnownStays checks that a value computed before a branch on unknown data is still known behind it, and one that both sides change is not.
func TestKnownStays(t *testing.T) {
	p := programOf(t, readCubin(t, "testdata/kernels.sm_80.cubin.gz"), "dependent")
	last := -1
	_, err := Run(context.Background(), p, line(1, 256, Pointer(), Pointer(), Int32(256)), Options{}, func(e *Event) bool {
		if e.Exact() {
			last = e.Site
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(p.Sites()) - 1; last != want {
		t.Errorf("the last exact access is at site %d, want the kernel's last one, %d", last, want)
	}
}

// TestWithheld runs the own kernels without their input, or with words of it unknown here and there. Whatever the emulator still calls exact
// or known must be what happens with the input: exact accesses are among those of the full run, and known bytes of the output
// are the right ones.
func TestWithheld(t *testing.T) {
	for _, target := range targets {
		img := readCubin(t, fmt.Sprintf("testdata/kernels.sm_%d.cubin.gz", target))
		for _, c := range ownCases {
			if target < c.since || c.kernel == "locks" {
				continue
			}
			p := programOf(t, img, c.kernel)
			full, _, _ := c.launch()
			all := requests(t, p, full)
			for _, one := range []int{0, 2, 40} {
				t.Run(fmt.Sprintf("sm_%d/%s/%d", target, c.kernel, one), func(t *testing.T) { withheld(t, p, c, maps.Clone(all), one) })
			}
		}
	}
}

// withheld runs a case with its input unknown: all of it if one is 0, else one word in so many, at random.
func withheld(t *testing.T, p *Program, c ownCase, all map[requestKey]int, one int) {
	launch, out, want := c.launch()
	r := rand.New(rand.NewPCG(5, uint64(one)))
	lost := map[int][]bool{}
	buffer := 0
	for i, a := range launch.Args {
		switch {
		case a.kind != argBuffer:
		case &a.data[0] == &out[0]:
			buffer = i
		case one == 0:
			launch.Args[i] = Pointer()
		default:
			data := bytes.Clone(a.data)
			lost[i] = make([]bool, len(data))
			for k := range data {
				if lost[i][k] = k%4 != 0 && lost[i][k-1] || k%4 == 0 && r.IntN(one) == 0; lost[i][k] {
					data[k] ^= 0x5a
				}
			}
			launch.Args[i] = Buffer(data)
		}
	}
	m, err := newMachine(p, launch, Limits{Steps: 2_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lost {
		m.memory.find(m.argAddr[i], 0).lost = l
	}
	b := newBlock(m, func(e *Event) bool {
		if !e.Exact() {
			return true
		}
		k := keyOf(p, e)
		if all[k]--; all[k] < 0 {
			t.Errorf("pc 0x%x: an exact access that the full run does not make: %+v", p.Sites()[e.Site].PC, k)
			return false
		}
		return true
	})
	for _, index := range launch.Blocks {
		if err := b.run(context.Background(), index); err != nil {
			t.Fatal(err)
		}
	}
	if b.counts.assumedAliases > 0 {
		return // memory is known only under that assumption
	}
	mem := m.memory.find(m.argAddr[buffer], 4)
	for i := range len(out) / 4 {
		if v, known := mem.load(m.argAddr[buffer]+uint64(4*i), 4); known && v != want(i) {
			t.Errorf("word %d is taken for 0x%x, but is 0x%x", i, v, want(i))
			break
		}
	}
}
