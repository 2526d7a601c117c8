package sketch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// programs writes random kernels with loops, branches, calls, early exits and accesses that depend on the lane.
type programs struct {
	t     *rapid.T
	b     strings.Builder
	loops int // open loops
	names int
	level int
}

func (g *programs) pick(list ...string) string { return rapid.SampledFrom(list).Draw(g.t, "pick") }

func (g *programs) expr(depth int) string {
	if depth == 0 {
		return g.pick("lane", "a", "b", "c", "1", "3", "7")
	}
	x, y := g.expr(depth-1), g.expr(depth-1)
	switch g.pick("op", "cond", "call", "shift", "short", "array") {
	case "cond":
		return "(" + g.expr(depth-1) + " & 1 ? " + x + " : " + y + ")"
	case "call":
		return "pick(" + x + ", " + y + ")"
	case "shift":
		return "(" + x + " >> (" + y + " & 7))"
	case "short":
		return "(" + x + " & 2 " + g.pick("&&", "||") + " s[" + y + " & 63] == 0 * (a++) ? 1 : 2)"
	case "array":
		return "table[" + x + " & 3]"
	}
	return "(" + x + " " + g.pick("+", "-", "*", "^", "&", "|", "<", "==") + " " + y + ")"
}

// known is an expression without shared contents, fit for a condition.
func (g *programs) known() string {
	e := g.expr(2)
	for strings.Contains(e, "s[") {
		e = g.expr(1)
	}
	return e
}

func (g *programs) block(n int) {
	g.level++
	for range n {
		g.statement()
	}
	g.level--
}

func (g *programs) statement() {
	p := func(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }
	var kinds []string // rapid prefers what comes first
	if g.loops > 0 {
		kinds = append(kinds, "break", "continue")
	}
	if g.level < 4 {
		kinds = append(kinds, "for", "if", "while", "switch")
	}
	kinds = append(kinds, "assign", "access", "store", "assign", "access")
	switch g.pick(kinds...) {
	case "access":
		p("s[(%s) & 63];", g.known())
	case "store":
		p("s[(%s) & 63] = %s;", g.known(), g.known())
	case "assign":
		p("%s %s %s;", g.pick("a", "b", "c", "table[lane & 3]", "table[1]"), g.pick("=", "+=", "^="), g.known())
	case "if":
		p("if ((%s) & 1) {", g.known())
		g.block(2)
		if g.pick("else", "") == "else" {
			p("} else {")
			g.block(1)
		}
		p("}")
	case "for":
		g.names++
		i := "i" + strconv.Itoa(g.names)
		p("for (int %s = 0; %s < ((%s) & 3); %s++) {", i, i, g.known(), i)
		g.loops++
		g.block(2)
		g.loops--
		p("}")
	case "while":
		g.names++
		i := "w" + strconv.Itoa(g.names)
		p("int %s = (%s) & 3;", i, g.known())
		p("do { %s--;", i)
		g.loops++
		g.block(1)
		g.loops--
		p("} while (%s > 0);", i)
	case "switch":
		p("switch ((%s) & 3) {", g.known())
		for k := range 3 {
			p("case %d: {", k)
			g.block(1)
			p("}")
			if g.pick("break", "") == "break" {
				p("break;")
			}
		}
		p("default: c++; }")
	case "break":
		p("if ((%s) & 1) break;", g.known())
	case "continue":
		p("if ((%s) & 1) continue;", g.known())
	}
}

// step is one access of a lane: site and address.
type laneStep struct{ site, addr int }

// Diverging lanes do what each would do alone: a warp of 32 is compared with 32 blocks of one lane.
func TestLanesDoWhatTheyWouldDoAlone(t *testing.T) {
	const lanes = 32
	rapid.Check(t, func(t *rapid.T) {
		g := &programs{t: t}
		g.block(4)
		src := `__device__ int pick(int x, int y) {
	if (x & 4) return y + 1;
	for (int i = 0; i < 3; i++) { if ((x + i) % 3 == 0) continue; if (i == (y & 3)) return i; x += 2; }
	return x;
}
__global__ void k() {
	__shared__ int s[64];
	int lane = threadIdx.x + blockIdx.x;
	int a = lane, b = lane * 5, c = 2;
	int table[4] = {lane, 1, 2, c};
` + g.b.String() + "s[(a ^ b ^ c ^ table[0] ^ table[3]) & 63];\n}\n"
		together := make([][]laneStep, lanes)
		for _, a := range accesses(t, src, lanes, 1) {
			for lane, steps := range together {
				if a.active.Has(lane) {
					together[lane] = append(steps, laneStep{a.site, int(a.addr[lane])})
				}
			}
		}
		alone := make([][]laneStep, lanes)
		for _, a := range accesses(t, src, 1, lanes) {
			alone[a.block] = append(alone[a.block], laneStep{a.site, int(a.addr[0])})
		}
		for lane := range lanes {
			if !slices.Equal(alone[lane], together[lane]) {
				t.Fatalf("lane %d\nalone    %v\ntogether %v\n%s", lane, alone[lane], together[lane], src)
			}
		}
	})
}

type flatAccess struct {
	site   int
	block  int
	active laneMask
	addr   []uint32
}

// accesses runs the given number of blocks of the given number of lanes.
func accesses(t *rapid.T, src string, lanes, blocks int) []flatAccess {
	p, err := Parse("r.cu", []byte(src), Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	s, err := p.Source(Launch{Block: [3]int{lanes, 1, 1}, Grid: [3]int{blocks, 1, 1}, AllBlocks: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	var out []flatAccess
	for a, err := range s.Accesses(context.Background()) {
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if a.Unresolved != "" {
			t.Fatalf("unresolved: %s\n%s", a.Unresolved, src)
		}
		out = append(out, flatAccess{a.Site, a.Block, a.Request.Active, append([]uint32(nil), a.Request.Addr...)})
	}
	return out
}
