package probe

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"shmoo/arch"
	"shmoo/gpu"
	"shmoo/gpu/replay"
	"shmoo/internal/golden"
	"shmoo/pattern"
	"shmoo/smem"
	"shmoo/unitfile"
)

// The recordings: the first was made with a meter that adds a constant, the second with this package's on the same GPU.
const (
	firstRecording = "../pattern/testdata/h200_patterns.csv.gz"
	ownRecording   = "testdata/h200_probe.csv.gz"
)

func recording(t testing.TB, path string) *gpu.Recording {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := replay.Open(file, filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	return m.Recording()
}

func learn(t testing.TB, r *gpu.Recording) *Lesson {
	t.Helper()
	l, err := Learn(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// From the recording of an H200 alone, every rule of the table is found, and nothing is left open.
func TestLearnRecoversTheTable(t *testing.T) {
	l := learn(t, recording(t, ownRecording))
	var text bytes.Buffer
	if err := l.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "h200_lesson.txt", text.Bytes())
	if !l.Decided() {
		t.Error("the lesson is not decided")
	}
	f, err := l.Unit()
	if err != nil {
		t.Fatal(err)
	}
	table := arch.MustLookup("sm_90").Unit
	if f.Unit.Size != table.Size || f.Unit.Banks != 32 || f.Unit.BankBytes != 4 {
		t.Errorf("unit of %d bytes and %d banks of %d, want %d and 32 of 4", f.Unit.Size, f.Unit.Banks, f.Unit.BankBytes,
			table.Size)
	}
	if len(f.Unit.Rules) != 21 {
		t.Errorf("%d rules, want 21: all but cp.async", len(f.Unit.Rules))
	}
	for key, got := range f.Unit.Rules {
		if diff := cmp.Diff(table.Rules[key], got); diff != "" {
			t.Errorf("%s of %d bytes: not the rule of the table (-want +got):\n%s", key.Op, key.Width, diff)
		}
	}
}

// The first recording's constant hides the smaller floors: they must be undecided, not wrong, and all else as in the table.
func TestLearnFromMeterWithConstant(t *testing.T) {
	r := recording(t, firstRecording)
	l := learn(t, r)
	f, err := l.Unit()
	if err != nil {
		t.Fatal(err)
	}
	for key, got := range f.Unit.Rules {
		want := arch.MustLookup("sm_90").Unit.Rules[key]
		for _, aspect := range f.Evidence[key].Undecided {
			switch aspect {
			case aspectFloor:
				got.Floor = want.Floor
			case aspectPairedFloor:
				got.PairedFloor = want.PairedFloor
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s of %d bytes: not the rule of the table (-want +got):\n%s", key.Op, key.Width, diff)
		}
	}
	var undecided []string
	for _, rule := range l.Rules {
		for aspect := range rule.Undecided {
			undecided = append(undecided, rule.Ops[0]+" "+aspect)
		}
	}
	slices.Sort(undecided)
	if diff := cmp.Diff([]string{"ld128 paired floor", "ld64 floor"}, undecided); diff != "" {
		t.Errorf("undecided (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"atomadd64", "atomaddf"}, slices.Sorted(slices.Values(l.Loops))); diff != "" {
		t.Errorf("loops (-want +got):\n%s", diff)
	}
}

// A learned unit survives its file and explains every sample it was learned from.
func TestLearnedUnitExplainsItsSamples(t *testing.T) {
	r := recording(t, ownRecording)
	f, err := learn(t, r).Unit()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := unitfile.Write(&text, f); err != nil {
		t.Fatal(err)
	}
	back, err := unitfile.Read(&text, "learned.toml")
	if err != nil {
		t.Fatal(err)
	}
	want := unitfile.Origin{Device: "NVIDIA H200", Driver: "580.159.04", Date: "2026-11-30", Samples: 19968,
		Source: "h200_probe.csv.gz"}
	if diff := cmp.Diff(want, back.Origin); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
	result, err := Compare(context.Background(), r, back.Unit)
	if err != nil {
		t.Fatal(err)
	}
	if result.Patterns != 19968 || result.Agree != 19968 || result.Bounded != 700 {
		t.Errorf("tally %+v, want all 19968 to agree, 700 of them loops", result.Tally)
	}
}

// docs/model.md: the figure is 0.03 to 0.08 cycles above the unit's, to two decimals. Compare's window is half a cycle to either side,
// so shifted to the ends of that range all samples must still agree.
func TestProbeAddsNextToNothing(t *testing.T) {
	unit := arch.MustLookup("sm_90").Unit
	for _, shift := range []float64{0.5 - 0.085, -0.5 - 0.025} {
		r := recording(t, ownRecording)
		shifted := slices.Clone(r.Samples)
		for i := range shifted {
			shifted[i].Cycles += shift
		}
		result, err := Compare(context.Background(), &gpu.Recording{Samples: shifted}, unit)
		if err != nil {
			t.Fatal(err)
		}
		if exact := len(shifted) - result.Bounded; result.Disagree != 0 || exact != 19268 {
			t.Errorf("shifted by %.3f: %d of %d disagree, want none of 19268: %+v", shift, result.Disagree, exact, result.Disagreements)
		}
	}
}

// Compare must be able to fail: a cycle more or less, or a rule without pairing or floor, is found out.
func TestCompareFindsDifferences(t *testing.T) {
	r := recording(t, ownRecording)
	unit := arch.MustLookup("sm_90").Unit
	exact := slices.DeleteFunc(slices.Clone(r.Samples), func(s gpu.Sample) bool {
		return s.Op == "atomaddf" || s.Op == "atomadd64"
	})
	for _, shift := range []float64{-1, 1} {
		shifted := slices.Clone(exact)
		for i := range shifted {
			shifted[i].Cycles += shift
		}
		result, err := Compare(context.Background(), &gpu.Recording{Samples: shifted}, unit)
		if err != nil {
			t.Fatal(err)
		}
		if result.Disagree != len(exact) || result.Disagreements[0].In[0] != "unit_cycles" {
			t.Errorf("shifted by %g: %d of %d disagree", shift, result.Disagree, len(exact))
		}
	}
	for name, spoil := range map[string]func(*smem.Rule){
		"pairing": func(r *smem.Rule) { r.Paired = nil },
		"floor":   func(r *smem.Rule) { r.Floor = 0 },
		"paired":  func(r *smem.Rule) { r.PairedFloor = 0 },
		"sharing": func(r *smem.Rule) { r.Shares = false },
	} {
		key := smem.Key{Op: smem.Load, Width: 16}
		rules := map[smem.Key]smem.Rule{key: unit.Rules[key]}
		rule := rules[key]
		spoil(&rule)
		rules[key] = rule
		spoiled, err := smem.NewUnit("spoiled", 32, 32, 4, unit.Size, rules)
		if err != nil {
			t.Fatal(err)
		}
		result, err := Compare(context.Background(), r, spoiled)
		if err != nil {
			t.Fatal(err)
		}
		if result.Disagree == 0 || result.Agree == 0 {
			t.Errorf("%s spoiled: tally %+v, want some of ld128 to disagree", name, result.Tally)
		}
	}
}

// A fataler is a test, or a check of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// simulated is a recording of a unit that the program makes up.
func simulated(t fataler, u *smem.Unit, ops []string, patterns int, seed uint64) *gpu.Recording {
	t.Helper()
	r := &gpu.Recording{Info: gpu.Info{Name: "made up", SharedPerBlock: u.Size},
		Samples: Generate(ops, Options{Patterns: patterns, Seed: seed})}
	byName := map[string]pattern.Op{}
	for _, op := range pattern.Ops() {
		byName[op.Name] = op
	}
	var out smem.Outcome
	for i := range r.Samples {
		s := &r.Samples[i]
		op := byName[s.Op]
		if err := u.Resolve(&out, &smem.Request{Op: op.Op, Width: op.Width, Active: s.Active, Addr: s.Addr}); err != nil {
			t.Fatal(err)
		}
		s.Cycles = float64(out.Cycles)
	}
	return r
}

// Whatever unit the samples come from, it is the one that is learned.
func TestLearnFindsAnyUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := smem.Key{Op: smem.Load, Width: rapid.SampledFrom([]int{8, 16}).Draw(t, "width")}
		plain := rapid.SampledFrom(groupings[1:6]).Draw(t, "groups")
		rule := smem.Rule{Groups: plain.groups, Shares: rapid.Bool().Draw(t, "shares"),
			PerPass: rapid.IntRange(1, 2).Draw(t, "wavefronts per pass")}
		if rapid.Bool().Draw(t, "floor") {
			rule.Floor = float32(len(rule.Groups) * rule.PerPass)
		}
		// With every second lane in a group, lanes that leave a group empty have no neighbours and always pair.
		if !strings.Contains(plain.name, "lane") && rapid.Bool().Draw(t, "pairs") {
			rule.Paired = groupings[0].groups
		}
		columns := 128 / key.Width
		if len(rule.Groups)*columns > smem.MaxLanes {
			t.Skip("more groups than a unit tracks")
		}
		u, err := smem.NewUnit("u", lanes, 32, 4, 64<<10, map[smem.Key]smem.Rule{key: rule})
		if err != nil {
			t.Fatal(err)
		}
		op := map[int]string{8: "ld64", 16: "ld128"}[key.Width]
		seed := rapid.Uint64().Draw(t, "seed")
		l, err := Learn(context.Background(), simulated(t, u, []string{op}, 4000, seed))
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.Unit()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rule, f.Unit.Rules[key]); diff != "" || !l.Decided() {
			t.Errorf("decided %v, undecided %v, learned another rule (-want +got):\n%s", l.Decided(), l.Rules[0].Undecided, diff)
		}
	})
}

// What the samples cannot tell is undecided; what nothing explains is said to be so.
func TestLearnSaysWhatItDoesNotKnow(t *testing.T) {
	hopper := arch.MustLookup("sm_90").Unit
	full := simulated(t, hopper, []string{"ld64"}, 4000, 1)
	full.Samples = slices.DeleteFunc(full.Samples, func(s gpu.Sample) bool {
		distinct := map[uint32]bool{}
		for _, a := range s.Addr {
			distinct[a] = true
		}
		return s.Active != smem.Lanes(0, lanes) || len(distinct) < lanes
	})
	l := learn(t, full)
	if got := l.Rules[0]; got.Exceptions != 0 || got.Undecided[aspectPairing] == nil || got.Undecided[aspectSharing] == nil ||
		got.Undecided[aspectFloor] == nil || got.Undecided[aspectGroups] != nil {
		t.Errorf("full warps on distinct words: %d exceptions, undecided %v; want pairing, sharing and floor but not groups",
			got.Exceptions, got.Undecided)
	}
	f, err := l.Unit()
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Unit.Rules[smem.Key{Op: smem.Load, Width: 8}].Basis; got != smem.Estimated {
		t.Errorf("a rule with open questions is %s, want estimated", got)
	}

	odd := simulated(t, hopper, []string{"ld64", "st64"}, 2000, 1)
	odd.Samples[7].Cycles += 3
	l = learn(t, odd)
	if got := l.Rules[0]; got.Exceptions != 1 || !strings.HasPrefix(got.First, "ld64 mask ") || l.Decided() {
		t.Errorf("one sample off: %d exceptions, first %q; want that one", got.Exceptions, got.First)
	}
	if got := l.Rules[1]; got.Exceptions != 0 || got.rule.Basis != smem.Measured {
		t.Errorf("the other op: %d exceptions, basis %s; want none and measured", got.Exceptions, got.rule.Basis)
	}
	var text bytes.Buffer
	if err := l.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "unexplained: load of 8 bytes: no hypothesis explains all samples, the best leaves 1 of") {
		t.Errorf("the text does not tell of the exception:\n%s", text.String())
	}
}

func TestLearnErrors(t *testing.T) {
	addr := make([]uint32, lanes)
	for name, tt := range map[string]struct {
		samples []gpu.Sample
		want    string
	}{
		"empty":      {nil, "recording has no sample of an instruction"},
		"only loops": {[]gpu.Sample{{Op: "atomaddf", Active: 1, Addr: addr}}, "recording has no sample of an instruction"},
		"op":         {[]gpu.Sample{{Op: "ld48", Active: 1, Addr: addr}}, `sample 0 has op "ld48"`},
		"addresses":  {[]gpu.Sample{{Op: "ld32", Active: 1, Addr: addr[:3]}}, "sample 0 has 3 addresses"},
		"mask":       {[]gpu.Sample{{Op: "ld32", Active: 1 << 40, Addr: addr}}, "mask 10000000000, want 32 lanes"},
	} {
		_, err := Learn(context.Background(), &gpu.Recording{Samples: tt.samples})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := Learn(ctx, recording(t, ownRecording)); !errors.Is(err, cause) {
		t.Errorf("cancelled: got %v, want the cause", err)
	}
}

func BenchmarkLearn(b *testing.B) {
	r := recording(b, ownRecording)
	for b.Loop() {
		learn(b, r)
	}
}
