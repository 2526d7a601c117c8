package arch_test

import (
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/smem"
)

func TestLookup(t *testing.T) {
	for _, name := range []string{"sm_90", "sm_90a", "sm_100f", "sm_120a", "gfx942"} {
		a, err := arch.Lookup(name)
		if err != nil {
			t.Errorf("Lookup(%q): %v", name, err)
		} else if want := strings.TrimRight(name, "af"); strings.HasPrefix(name, "sm_") && a.Name != want {
			t.Errorf("Lookup(%q) = %s, want %s", name, a.Name, want)
		}
	}
	for _, name := range []string{"", "sm_", "sm_35", "90", "gfx"} {
		if _, err := arch.Lookup(name); err == nil || !strings.Contains(err.Error(), "sm_90") {
			t.Errorf("Lookup(%q): error %v, want one that lists the known names", name, err)
		}
	}
}

// TestBasis: only the H200's rules were measured; the pairing of wide loads is documented for compute capability 7.x;
// everything else is an assumption and says so.
func TestBasis(t *testing.T) {
	for _, name := range arch.Names() {
		for key, rule := range arch.MustLookup(name).Unit.Rules {
			var want smem.Basis
			switch {
			case strings.HasPrefix(name, "gfx"):
				continue
			case key.Op == smem.CopyAsyncCG:
				want = smem.Estimated
			case name == "sm_90":
				want = smem.Measured
			case strings.HasPrefix(name, "sm_7") && key.Op == smem.Load && key.Width >= 8:
				want = smem.Documented
			default:
				want = smem.Assumed
			}
			if rule.Basis != want {
				t.Errorf("%s %s of %d bytes: basis %s, want %s", name, key.Op, key.Width, rule.Basis, want)
			}
		}
	}
}

// TestOperations: ldmatrix came with Turing, cp.async with Ampere, stmatrix with Hopper.
func TestOperations(t *testing.T) {
	first := map[smem.Op]string{smem.LoadMatrix: "sm_75", smem.CopyAsync: "sm_80", smem.StoreMatrix: "sm_90"}
	for op, since := range first {
		has := false
		for _, name := range arch.Names() {
			if strings.HasPrefix(name, "gfx") {
				continue
			}
			has = has || name == since
			if _, ok := arch.MustLookup(name).Unit.Rules[smem.Key{Op: op, Width: 4}]; ok != has {
				t.Errorf("%s on %s: %v, want %v", op, name, ok, has)
			}
		}
	}
}

func TestBlocksPerSM(t *testing.T) {
	tests := []struct {
		arch            string
		shared, threads int
		want            int
	}{
		{"sm_90", 0, 1024, 2},            // 64 warps
		{"sm_90", 0, 32, 32},             // block slots
		{"sm_90", 100 << 10, 256, 2},     // 228 KiB hold two of 101 KiB
		{"sm_90", 227 << 10, 256, 1},     // the largest block
		{"sm_90", 227<<10 + 1, 256, 0},   // does not launch
		{"sm_75", 32 << 10, 256, 2},      // 64 KiB, nothing reserved
		{"sm_86", 48 << 10, 128, 2},      // 100 KiB hold two of 49 KiB
		{"sm_90", 56<<10 - 1024, 128, 4}, // four of 56 KiB with what the system takes
		{"sm_90", 1 << 10, 2048, 0},      // more threads than a block may have
	}
	for _, tt := range tests {
		if got := arch.MustLookup(tt.arch).BlocksPerSM(tt.shared, tt.threads); got != tt.want {
			t.Errorf("%s: %d bytes, %d threads: %d blocks, want %d", tt.arch, tt.shared, tt.threads, got, tt.want)
		}
	}
}
