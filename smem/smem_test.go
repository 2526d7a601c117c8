package smem_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"shmoo/arch"
	"shmoo/smem"
)

// keys returns the rules of a unit in a fixed order.
func keys(u *smem.Unit) []smem.Key {
	var keys []smem.Key
	for op := smem.Load; op <= smem.CopyAsyncCG; op++ {
		for _, width := range []int{1, 2, 4, 8, 16} {
			if _, ok := u.Rules[smem.Key{Op: op, Width: width}]; ok {
				keys = append(keys, smem.Key{Op: op, Width: width})
			}
		}
	}
	return keys
}

// drawRequest draws an aligned request within 16 KiB. Lanes often share addresses, rows and partners, so that pairing and
// broadcast come up.
func drawRequest(t *rapid.T, u *smem.Unit) *smem.Request {
	key := rapid.SampledFrom(keys(u)).Draw(t, "rule")
	r := &smem.Request{Op: key.Op, Width: key.Width, Addr: make([]uint32, u.Lanes)}
	r.Active = u.FullMask()
	if rapid.Bool().Draw(t, "partial") {
		r.Active &= smem.Mask(rapid.Uint64().Draw(t, "active"))
	}
	size := uint32(r.Bytes())
	span := rapid.SampledFrom([]uint32{2, 8, 32, 256, 16 << 10}).Draw(t, "span") // in accesses
	repeat := rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "repeat")
	for lane := range r.Addr {
		if repeat != 0 && lane&repeat != 0 {
			r.Addr[lane] = r.Addr[lane&^repeat]
			continue
		}
		r.Addr[lane] = rapid.Uint32Range(0, min(span, 16<<10/size)-1).Draw(t, "index") * size
	}
	return r
}

func drawUnit(t *rapid.T) *smem.Unit {
	return arch.MustLookup(rapid.SampledFrom(arch.Names()).Draw(t, "arch")).Unit
}

func resolve(t interface{ Fatalf(string, ...any) }, u *smem.Unit, r *smem.Request) smem.Outcome {
	var out smem.Outcome
	if err := u.Resolve(&out, r); err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	return out
}

// sameOutcome compares what a caller can see of two outcomes.
func sameOutcome(a, b *smem.Outcome) bool {
	return a.Wavefronts == b.Wavefronts && a.Ideal == b.Ideal && a.Ways == b.Ways && a.Cycles == b.Cycles &&
		a.Paired == b.Paired && a.Basis == b.Basis && a.Group == b.Group && a.Pass == b.Pass
}

func TestResolveEqualsWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUnit(t)
		r := drawRequest(t, u)
		fast := resolve(t, u, r)
		walk, err := u.Walk(r)
		if err != nil {
			t.Fatalf("Walk: %v", err)
		}
		if !sameOutcome(&fast, &walk.Outcome) {
			t.Fatalf("%s %+v:\nfast    %+v\nliteral %+v", u.Name, r, fast, walk.Outcome)
		}
		if n := len(walk.Wavefronts) * walk.Rule.PerPass; n != fast.Wavefronts {
			t.Fatalf("%d recorded wavefronts, want %d", n, fast.Wavefronts)
		}
	})
}

func TestRowShiftChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUnit(t)
		r := drawRequest(t, u)
		before := resolve(t, u, r)
		shift := uint32(rapid.IntRange(0, 64).Draw(t, "rows") * u.RowBytes())
		for lane := range r.Addr {
			r.Addr[lane] += shift
		}
		after := resolve(t, u, r)
		if !sameOutcome(&before, &after) {
			t.Fatalf("shifted by %d bytes: %+v, want %+v", shift, after, before)
		}
	})
}

func TestWavefrontsAtLeastIdeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUnit(t)
		out := resolve(t, u, drawRequest(t, u))
		if out.Wavefronts < out.Ideal || out.Ways > out.Wavefronts || (out.Ideal == 0) != (out.Wavefronts == 0) {
			t.Fatalf("wavefronts %d, ideal %d, ways %d", out.Wavefronts, out.Ideal, out.Ways)
		}
	})
}

// TestFewerLanesNeverCostMore holds only where no pairing applies: taking a lane away can break up a pair.
func TestFewerLanesNeverCostMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUnit(t)
		r := drawRequest(t, u)
		if u.Rules[smem.Key{Op: r.Op, Width: r.Width}].Paired != nil || r.Active == 0 {
			t.Skip("pairs, or empty")
		}
		before := resolve(t, u, r)
		r.Active &= r.Active - 1
		if after := resolve(t, u, r); after.Wavefronts > before.Wavefronts {
			t.Fatalf("without the lowest lane %d wavefronts, with it %d", after.Wavefronts, before.Wavefronts)
		}
	})
}

// TestRepeatedWordIsFree: where lanes share words, a lane on another's word of its group costs nothing.
func TestRepeatedWordIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUnit(t)
		r := drawRequest(t, u)
		rule := u.Rules[smem.Key{Op: r.Op, Width: r.Width}]
		if !rule.Shares || rule.Paired != nil {
			t.Skip("lanes do not share, or pair")
		}
		group := rapid.SampledFrom(rule.Groups).Draw(t, "group") & r.Active
		if group.Count() < 2 {
			t.Skip("no two lanes")
		}
		first := group.Lowest()
		second := (group &^ (1 << uint(first))).Lowest()
		without := *r
		without.Active &^= 1 << uint(second)
		r.Addr[second] = r.Addr[first]
		if a, b := resolve(t, u, &without), resolve(t, u, r); a.Wavefronts != b.Wavefronts {
			t.Fatalf("repeating lane %d's word costs %d wavefronts, without it %d", first, b.Wavefronts, a.Wavefronts)
		}
	})
}

func TestFaults(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	top := uint32(u.Size)
	tests := []struct {
		name  string
		op    smem.Op
		width int
		lane  int
		addr  uint32
		want  smem.Fault
	}{
		{"half at odd byte", smem.Load, 2, 3, 7, smem.Fault{Kind: smem.Misaligned, Lane: 3, Addr: 7, Bytes: 2}},
		{"float4 at 8", smem.Store, 16, 31, 8, smem.Fault{Kind: smem.Misaligned, Lane: 31, Addr: 8, Bytes: 16}},
		{"matrix row at 4", smem.LoadMatrix, 4, 7, 4, smem.Fault{Kind: smem.Misaligned, Lane: 7, Addr: 4, Bytes: 16}},
		{"at the end", smem.Load, 4, 0, top, smem.Fault{Kind: smem.OutOfBounds, Addr: top, Bytes: 4, Limit: int(top)}},
		{"near the top of the address space", smem.Load, 4, 9, 0xffff_fffc,
			smem.Fault{Kind: smem.OutOfBounds, Lane: 9, Addr: 0xffff_fffc, Bytes: 4, Limit: int(top)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &smem.Request{Op: tt.op, Width: tt.width, Active: u.FullMask(), Addr: make([]uint32, 32)}
			r.Addr[tt.lane] = tt.addr
			var out smem.Outcome
			err := u.Resolve(&out, r)
			fault, ok := errors.AsType[*smem.Fault](err)
			if !ok || *fault != tt.want {
				t.Fatalf("Resolve: %v, want %v", err, &tt.want)
			}
			if _, err := u.Walk(r); err == nil || err.Error() != fault.Error() {
				t.Errorf("Walk: %v, want %v", err, fault)
			}
			r.Active &^= 1 << uint(tt.lane)
			if err := u.Resolve(&out, r); err != nil {
				t.Errorf("an inactive lane faults: %v", err)
			}
		})
	}
}

func TestMatrixIgnoresLanesPastTheLast(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	r := &smem.Request{Op: smem.LoadMatrix, Width: 8, Active: u.FullMask(), Addr: make([]uint32, 32)}
	for lane := 16; lane < 32; lane++ {
		r.Addr[lane] = 0xdeadbeef
	}
	if out := resolve(t, u, r); out.Wavefronts != 2 || out.Ideal != 2 {
		t.Errorf("ldmatrix.x2: %d wavefronts, ideal %d, want 2 and 2", out.Wavefronts, out.Ideal)
	}
}

func TestUnsupported(t *testing.T) {
	u := arch.MustLookup("sm_70").Unit
	var out smem.Outcome
	err := u.Resolve(&out, &smem.Request{Op: smem.LoadMatrix, Width: 4, Active: 1, Addr: []uint32{0}})
	if _, ok := errors.AsType[*smem.UnsupportedError](err); !ok {
		t.Errorf("ldmatrix on sm_70: %v, want an UnsupportedError", err)
	}
}

func TestShortAddresses(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	var out smem.Outcome
	r := &smem.Request{Op: smem.Load, Width: 4, Active: 0xff, Addr: make([]uint32, 7)}
	if err := u.Resolve(&out, r); err == nil {
		t.Error("8 active lanes with 7 addresses: no error")
	}
	r = &smem.Request{Op: smem.Load, Width: 4, Active: 1 << 40, Addr: make([]uint32, 64)}
	if err := u.Resolve(&out, r); err == nil {
		t.Error("lane 40 of a warp of 32: no error")
	}
}

func TestGenericAddresses(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	window := smem.Window{Base: 0x7f00_0000_0000, Size: 1 << 24}
	r := &smem.Request{Op: smem.Load, Width: 4, Active: 3}
	walk, err := u.WalkGeneric(r, []uint64{window.Base, window.Base + 132}, window)
	if err != nil {
		t.Fatal(err)
	}
	if p := walk.Place[1]; p.Offset != 132 || p.Bank != 1 || p.Row != 1 {
		t.Errorf("lane 1 at window + 132: %+v, want offset 132, bank 1, row 1", p)
	}
	if walk.Steps[1].Stage != smem.Convert {
		t.Errorf("second stage %v, want convert", walk.Steps[1].Stage)
	}
	if _, err := u.WalkGeneric(r, []uint64{window.Base, window.Base - 4}, window); err == nil {
		t.Error("address below the window: no error")
	}
}

// TestWalkStages checks the order of the recorded stages and that every lane is served exactly once.
func TestWalkStages(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	r := &smem.Request{Op: smem.Load, Width: 4, Active: 0x0000_ffff, Addr: make([]uint32, 32)}
	for lane := range r.Addr {
		r.Addr[lane] = uint32(lane) * 64 * 4
	}
	walk, err := u.Walk(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []smem.Stage{smem.Drop, smem.Check, smem.Decode, smem.Split}
	for range 16 {
		want = append(want, smem.Resolver, smem.BankRead, smem.Crossbar, smem.WriteBack)
	}
	want = append(want, smem.Retire)
	if len(walk.Steps) != len(want) {
		t.Fatalf("%d steps, want %d", len(walk.Steps), len(want))
	}
	served := smem.Mask(0)
	for i, step := range walk.Steps {
		if step.Stage != want[i] {
			t.Fatalf("step %d is %v, want %v", i, step.Stage, want[i])
		}
		if step.Stage == smem.Resolver {
			if step.Lanes&served != 0 {
				t.Errorf("step %d serves lanes %#x twice", i, step.Lanes&served)
			}
			served |= step.Lanes
			if step.Waiting != r.Active&^served {
				t.Errorf("step %d leaves %#x waiting, want %#x", i, step.Waiting, r.Active&^served)
			}
		}
	}
	if walk.Steps[0].Lanes != 0xffff_0000 || served != r.Active {
		t.Errorf("dropped %#x and served %#x, want %#x and %#x", walk.Steps[0].Lanes, served, 0xffff_0000, r.Active)
	}
}

// FuzzResolve compares the two forms of the unit on arbitrary bytes.
func FuzzResolve(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint64(0xffffffff), []byte{0, 1, 2, 3})
	f.Add(uint8(7), uint8(9), uint64(0x0f0f0f0f), []byte("some lanes share what others do not"))
	names := arch.Names()
	f.Fuzz(func(t *testing.T, archIndex, rule uint8, active uint64, data []byte) {
		u := arch.MustLookup(names[int(archIndex)%len(names)]).Unit
		all := keys(u)
		key := all[int(rule)%len(all)]
		r := &smem.Request{Op: key.Op, Width: key.Width, Active: smem.Mask(active) & u.FullMask()}
		r.Addr = make([]uint32, u.Lanes)
		for lane := range r.Addr {
			if len(data) > 1 {
				at := lane * 2 % (len(data) - 1)
				r.Addr[lane] = (uint32(data[at]) | uint32(data[at+1])<<8) * 2
			}
		}
		var fast smem.Outcome
		errFast := u.Resolve(&fast, r)
		walk, errWalk := u.Walk(r)
		if (errFast == nil) != (errWalk == nil) {
			t.Fatalf("fast: %v, literal: %v", errFast, errWalk)
		}
		if errFast == nil && !sameOutcome(&fast, &walk.Outcome) {
			t.Fatalf("%s %+v:\nfast    %+v\nliteral %+v", u.Name, r, fast, walk.Outcome)
		}
	})
}

// benchmarkRequests are the requests that both forms of the unit are timed on.
func benchmarkRequests() []struct {
	name string
	r    *smem.Request
} {
	random := rand.New(rand.NewPCG(1, 2))
	shapes := []struct {
		name string
		key  smem.Key
		addr func(lane int) uint32
	}{
		{"free32", smem.Key{Op: smem.Load, Width: 4}, func(lane int) uint32 { return uint32(lane) * 4 }},
		{"broadcast", smem.Key{Op: smem.Load, Width: 4}, func(int) uint32 { return 64 }},
		{"free128", smem.Key{Op: smem.Store, Width: 16}, func(lane int) uint32 { return uint32(lane) * 16 }},
		{"ldmatrix.x4", smem.Key{Op: smem.LoadMatrix, Width: 16}, func(lane int) uint32 { return uint32(lane) * 16 }},
		{"ways32", smem.Key{Op: smem.Load, Width: 4}, func(lane int) uint32 { return uint32(lane) * 128 }},
		// Rows that fold to the bits of the resolver's filter in pairs, so that lanes search for their row.
		{"ways32folded", smem.Key{Op: smem.Load, Width: 4}, func(lane int) uint32 { return uint32(lane) * 128 * 64 % (1 << 17) }},
		{"random", smem.Key{Op: smem.Load, Width: 4}, func(int) uint32 { return random.Uint32N(4096) * 4 }},
	}
	var out []struct {
		name string
		r    *smem.Request
	}
	for _, s := range shapes {
		r := &smem.Request{Op: s.key.Op, Width: s.key.Width, Active: smem.Lanes(0, 32), Addr: make([]uint32, 32)}
		for lane := range r.Addr {
			r.Addr[lane] = s.addr(lane)
		}
		out = append(out, struct {
			name string
			r    *smem.Request
		}{s.name, r})
	}
	return out
}

func BenchmarkResolve(b *testing.B) {
	u := arch.MustLookup("sm_90").Unit
	for _, bm := range benchmarkRequests() {
		b.Run(bm.name, func(b *testing.B) {
			var out smem.Outcome
			b.ReportAllocs()
			for b.Loop() {
				if err := u.Resolve(&out, bm.r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWalk times the literal form, which docs/performance.md compares with the fast one.
func BenchmarkWalk(b *testing.B) {
	u := arch.MustLookup("sm_90").Unit
	for _, bm := range benchmarkRequests() {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := u.Walk(bm.r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestResolveAllocatesNothing holds the promise that the hot path makes.
func TestResolveAllocatesNothing(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	var out smem.Outcome
	for _, bm := range benchmarkRequests() {
		if n := testing.AllocsPerRun(100, func() { _ = u.Resolve(&out, bm.r) }); n != 0 {
			t.Errorf("%s: %v allocations", bm.name, n)
		}
	}
}
