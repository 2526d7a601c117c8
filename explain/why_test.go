package explain_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shmoo/arch"
	"shmoo/bankmap"
	"shmoo/explain"
	"shmoo/smem"
)

func TestWhy(t *testing.T) {
	u := arch.MustLookup("sm_90").Unit
	tests := []struct {
		name string
		r    *smem.Request
		want string
	}{
		{"column of a 32 x 32 float tile", request(smem.Load, 4, full, func(lane int) int { return 128 * lane }),
			"lanes step 32 words (gcd with 32 banks: 32), so all 32 lanes meet in bank 0 on rows 0-31: " +
				"32 wavefronts instead of 1"},
		{"the same, padded", request(smem.Load, 4, full, func(lane int) int { return 132 * lane }),
			"lanes step 33 words (gcd with 32 banks: 1), so each bank serves at most one word: " +
				"1 wavefront, the ideal for this 32-bit load"},
		{"16 x 16 block, column", request(smem.Load, 4, full, func(lane int) int { return lane%16*64 + lane/16*4 }),
			"lanes step 16 words in runs of 16 and 1 word from run to run, so lanes 0, 2, ..., 14 meet in bank 0 on rows 0-7 " +
				"(and as many in 3 more banks): 8 wavefronts instead of 1"},
		{"float4 rows", request(smem.Load, 16, full, func(lane int) int { return 256 * lane }),
			"lanes step 64 words (gcd with 32 banks: 32), so lanes 0-7 (all of group 0) meet in banks 0-3 on " +
				"rows 0, 2, ..., 14: 32 wavefronts instead of 4 (4 groups, 8 passes each)"},
		{"float4, adjacent", request(smem.Store, 16, full, func(lane int) int { return 16 * lane }),
			"4 groups of lanes, one wavefront each, no bank serves two words in one group: 4 wavefronts, the ideal for this " +
				"128-bit store"},
		{"float4 by two", request(smem.Load, 16, full, func(lane int) int { return lane / 2 * 16 }),
			"the lanes pair, which leaves 2 groups of lanes, one wavefront each, no bank serves two words in one group: " +
				"2 wavefronts, the ideal for this 128-bit load"},
		{"broadcast", request(smem.Load, 4, full, func(int) int { return 64 }),
			"all 32 lanes have one address and share what it holds: 1 wavefront, the ideal for this 32-bit load"},
		{"bytes", request(smem.Load, 1, full, func(lane int) int { return lane }),
			"lanes step 1 byte, so lanes that meet in a bank are on one word and share it: 1 wavefront, the ideal for this " +
				"8-bit load"},
		{"backwards", request(smem.Load, 4, full, func(lane int) int { return (31 - lane) * 128 }),
			"lanes step -32 words (gcd with 32 banks: 32), so all 32 lanes meet in bank 0 on rows 0-31: " +
				"32 wavefronts instead of 1"},
		{"one counter for all", request(smem.Atomic, 4, full, func(int) int { return 128 }),
			"all 32 lanes have one address, so they all meet in bank 0 on row 1: 32 wavefronts instead of 1 " +
				"(this operation serves one lane per bank and pass, even on one word)"},
		{"compare and swap", request(smem.CompareSwap, 4, 0b11, func(int) int { return 0 }),
			"all 2 lanes have one address, so they all meet in bank 0 on row 0: 4 wavefronts instead of 2 " +
				"(this operation serves one lane per bank and pass, even on one word; each pass takes 2)"},
		{"scattered", request(smem.Load, 4, 0b1111, func(lane int) int { return []int{0, 4, 128, 1280}[lane%4] }),
			"lanes 0, 2 and 3 meet in bank 0 on rows 0, 1 and 10: 3 wavefronts instead of 1"},
		{"one lane", request(smem.Store, 8, 1<<5, func(int) int { return 8 }),
			"only lane 5 takes part: 1 wavefront, the ideal for this 64-bit store"},
		{"nobody", request(smem.Load, 4, 0, func(int) int { return 0 }),
			"no lane takes part, so there is nothing to serve"},
		{"ldmatrix on rows of 128 bytes", request(smem.LoadMatrix, 16, full, func(lane int) int { return 128 * lane }),
			"lanes step 32 words (gcd with 32 banks: 32), so lanes 0-7 (all of matrix 0) meet in banks 0-3 on rows 0-7: " +
				"32 wavefronts instead of 4 (4 matrices, 8 passes each)"},
		{"misaligned", request(smem.Load, 8, full, func(lane int) int { return 4 * lane }),
			(&smem.Fault{Kind: smem.Misaligned, Lane: 1, Addr: 4, Bytes: 8}).Error()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := explain.Why(u, test.r); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestWhyIsTrue takes every sentence apart and holds each claim against the literal form of the unit.
func TestWhyIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, r := drawRequest(t)
		walk, err := u.Walk(r)
		if err != nil {
			t.Fatal(err)
		}
		sentence := explain.Why(u, r)
		c := &checker{T: t, u: u, r: r, walk: walk, sentence: sentence, lanes: bankmap.Lanes(r.Addressing()).List()}
		for _, form := range forms {
			if m := form.pattern.FindStringSubmatch(sentence); m != nil {
				form.check(c, m[1:])
				return
			}
		}
		t.Fatalf("no form fits %q", sentence)
	})
}

// checker holds what a sentence must agree with.
type checker struct {
	*rapid.T
	u        *smem.Unit
	r        *smem.Request
	walk     *smem.Walk
	sentence string
	lanes    []int
}

// claim fails unless ok.
func (c *checker) claim(ok bool, format string, args ...any) {
	if !ok {
		c.Fatalf("%q is false: %s", c.sentence, fmt.Sprintf(format, args...))
	}
}

const (
	steps = `(?:(lanes step .*?|lanes in runs of .*?|all \d+ lanes have one address), so )?`
	list  = `(all \d+ lanes|they all|lanes [0-9,. and-]+?)`
	ideal = `: (\d+) wavefronts?, the ideal for this (\S+(?: \S+)?)$`
)

var forms = []struct {
	pattern *regexp.Regexp
	check   func(*checker, []string)
}{
	{regexp.MustCompile(`^no lane takes part, so there is nothing to serve$`), func(c *checker, _ []string) {
		c.claim(len(c.lanes) == 0, "lanes %v take part", c.lanes)
	}},
	{regexp.MustCompile(`^only lane (\d+) takes part` + ideal), func(c *checker, m []string) {
		c.claim(len(c.lanes) == 1 && c.lanes[0] == c.int(m[0]), "lanes %v take part", c.lanes)
		c.free(m[1], m[2])
	}},
	{regexp.MustCompile(`^(all \d+ lanes have one address)(?: and share what it holds|, and lanes on one word share it)` + ideal),
		func(c *checker, m []string) {
			c.steps(m[0])
			c.claim(c.walk.Rule.Shares, "the rule does not let lanes share")
			c.free(m[1], m[2])
		}},
	{regexp.MustCompile(`^` + steps + `each bank serves at most one word` + ideal), func(c *checker, m []string) {
		c.steps(m[0])
		c.claim(c.wordsPerBank() <= 1, "a bank serves %d words", c.wordsPerBank())
		c.free(m[1], m[2])
	}},
	{regexp.MustCompile(`^` + steps + `lanes that meet in a bank are on one word and share it` + ideal),
		func(c *checker, m []string) {
			c.steps(m[0])
			c.claim(c.wordsPerBank() == 1 && c.walk.Rule.Shares, "a bank has %d words", c.wordsPerBank())
			c.claim(c.shared(), "no two lanes are on one word")
			c.free(m[1], m[2])
		}},
	{regexp.MustCompile(`^(the lanes pair, which leaves )?(\d+) groups of lanes, one (wavefront|pass of \d+ wavefronts) each, ` +
		`no bank serves two words in one group` + ideal), func(c *checker, m []string) {
		c.claim((m[0] != "") == c.walk.Outcome.Paired, "paired is %v", c.walk.Outcome.Paired)
		c.claim(len(c.passes()) == c.int(m[1]), "there are %d groups", len(c.passes()))
		if per := c.walk.Rule.PerPass; per > 1 {
			c.claim(m[2] == fmt.Sprintf("pass of %d wavefronts", per), "a pass takes %d", per)
		}
		c.free(m[3], m[4])
	}},
	{regexp.MustCompile(`^the row addresses of the (\d+) matrices fall in banks of their own or share a row's words, ` +
		`one wavefront each` + ideal), func(c *checker, m []string) {
		c.claim(len(c.passes()) == c.int(m[0]), "there are %d groups", len(c.passes()))
		c.free(m[1], m[2])
	}},
	{regexp.MustCompile(`^` + steps + list + `(?: \(all of (group|matrix) (\d+)\))? meet in banks? (\d+)(?:-(\d+))? on rows? ` +
		`([0-9,. and-]+?)(?: \(and as many in (\d+) more (bank|banks|set of \d+ banks|sets of \d+ banks)\))?` +
		`: (\d+) wavefronts? instead of (\d+)(?: \((.*)\))?$`), (*checker).conflict},
}

func (c *checker) conflict(m []string) {
	c.steps(m[0])
	o := &c.walk.Outcome
	c.claim(o.Wavefronts == c.int(m[9]) && o.Ideal == c.int(m[10]) && o.Conflicts() > 0, "%d wavefronts, ideal %d",
		o.Wavefronts, o.Ideal)
	lanes := c.lanes
	if n, ok := strings.CutPrefix(m[1], "all "); ok {
		c.claim(c.int(strings.TrimSuffix(n, " lanes")) == len(c.lanes), "%d lanes take part", len(c.lanes))
	} else if m[1] != "they all" {
		lanes = c.numbers(strings.TrimPrefix(m[1], "lanes "))
	}
	bank, words := c.int(m[4]), 1
	if m[5] != "" {
		words = c.int(m[5]) - bank + 1
	}
	group := int(o.Group[lanes[0]])
	passes := map[int8]bool{}
	var rows []int
	for _, lane := range lanes {
		p := c.walk.Place[lane]
		c.claim(slices.Contains(c.lanes, lane), "lane %d does not take part", lane)
		c.claim(p.Bank == bank && p.Words == words, "lane %d is in banks %d-%d", lane, p.Bank, p.Bank+p.Words-1)
		c.claim(int(o.Group[lane]) == group, "lane %d is in group %d, not %d", lane, o.Group[lane], group)
		passes[o.Pass[lane]] = true
		rows = append(rows, p.Row)
	}
	c.claim(len(passes) == len(lanes) && len(lanes) == o.Ways, "%d lanes in %d passes, %d ways", len(lanes), len(passes),
		o.Ways)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	c.claim(slices.Equal(rows, c.numbers(m[6])), "the rows are %v", rows)
	if m[3] != "" {
		c.claim(group == c.int(m[3]) && (m[2] == "matrix") == c.r.Op.IsMatrix(), "it is group %d", group)
		c.claim(c.active(group) == len(lanes), "group %d has %d lanes", group, c.active(group))
	}
	more := 0
	if m[7] != "" {
		more = c.int(m[7])
	}
	c.claim(c.busiest(group, o.Ways) == more+1, "%d banks or sets of banks are as busy", c.busiest(group, o.Ways))
	for _, detail := range strings.Split(m[11], "; ") {
		c.detail(detail)
	}
}

var eachGroup = regexp.MustCompile(`^(\d+) (?:groups|matrices), (at most )?(\d+) pass(?:es)? each$`)

func (c *checker) detail(s string) {
	o := &c.walk.Outcome
	if m := eachGroup.FindStringSubmatch(s); m != nil {
		passes := c.passes()
		c.claim(len(passes) == c.int(m[1]), "there are %d groups", len(passes))
		for _, n := range passes {
			c.claim(n == c.int(m[3]) || m[2] != "" && n < c.int(m[3]), "a group takes %d passes", n)
		}
		return
	}
	switch s {
	case "":
		c.claim(len(c.passes()) == 1 && c.walk.Rule.Shares && c.walk.Rule.PerPass == 1, "something goes unsaid")
	case "this operation serves one lane per bank and pass, even on one word":
		c.claim(!c.walk.Rule.Shares, "lanes share")
	case fmt.Sprintf("each pass takes %d", c.walk.Rule.PerPass):
		c.claim(o.Wavefronts%c.walk.Rule.PerPass == 0, "it does not")
	default:
		c.Fatalf("%q has a detail without a check: %q", c.sentence, s)
	}
}

var (
	stride   = regexp.MustCompile(`^lanes step (-?\d+) (words?|bytes?)(?: \(gcd with (\d+) banks: (\d+)\))?$`)
	tiled    = regexp.MustCompile(`^lanes step (-?\d+) (words?|bytes?) in runs of (\d+) and (-?\d+) (words?|bytes?) from run to run$`)
	repeated = regexp.MustCompile(`^lanes step (-?\d+) (words?|bytes?) in runs of (\d+) that repeat one another's addresses$`)
	runs     = regexp.MustCompile(`^lanes in runs of (\d+) have one address and step (-?\d+) (words?|bytes?) from run to run$`)
	same     = regexp.MustCompile(`^all (\d+) lanes have one address$`)
)

// steps checks the pattern that a sentence begins with.
func (c *checker) steps(s string) {
	if s == "" {
		return
	}
	if m := stride.FindStringSubmatch(s); m != nil {
		step := c.bytes(m[1], m[2])
		c.follows(1, 0, step)
		if m[3] != "" {
			words := max(step, -step) / c.u.BankBytes
			g := c.int(m[4])
			c.claim(c.int(m[3]) == c.u.Banks && words%g == 0 && c.u.Banks%g == 0, "%d is no common divisor", g)
			for d := g + 1; d <= c.u.Banks; d++ {
				c.claim(words%d != 0 || c.u.Banks%d != 0, "%d is a greater common divisor", d)
			}
		}
		return
	}
	if m := tiled.FindStringSubmatch(s); m != nil {
		c.follows(c.int(m[3]), c.bytes(m[1], m[2]), c.bytes(m[4], m[5]))
		return
	}
	if m := repeated.FindStringSubmatch(s); m != nil {
		c.follows(c.int(m[3]), c.bytes(m[1], m[2]), 0)
		return
	}
	if m := runs.FindStringSubmatch(s); m != nil {
		c.follows(c.int(m[1]), 0, c.bytes(m[2], m[3]))
		return
	}
	if m := same.FindStringSubmatch(s); m != nil {
		c.claim(c.int(m[1]) == len(c.lanes), "%d lanes take part", len(c.lanes))
		c.follows(1, 0, 0)
		return
	}
	c.Fatalf("%q begins with a pattern without a check: %q", c.sentence, s)
}

// follows claims that the address is lane%run*step + lane/run*across, from the first lane on.
func (c *checker) follows(run, step, across int) {
	at := func(lane int) int { return lane%run*step + lane/run*across }
	for _, lane := range c.lanes {
		got := int(c.r.Addr[lane]) - int(c.r.Addr[c.lanes[0]])
		want := at(lane) - at(c.lanes[0])
		c.claim(got == want, "lane %d is %d bytes from lane %d, not %d", lane, got, c.lanes[0], want)
	}
}

// free checks a request without conflicts.
func (c *checker) free(wavefronts, what string) {
	o := &c.walk.Outcome
	c.claim(o.Wavefronts == c.int(wavefronts) && o.Conflicts() == 0 && o.Ways <= 1, "%d wavefronts, %d conflicts",
		o.Wavefronts, o.Conflicts())
	want := fmt.Sprintf("%d-bit %s", 8*c.r.Width, c.r.Op)
	if c.r.Op.IsMatrix() {
		want = fmt.Sprintf("%s.x%d", c.r.Op, c.r.Width/4)
	}
	c.claim(what == want, "it is a %s", want)
}

// wordsPerBank returns the largest number of distinct words in one bank, groups aside.
func (c *checker) wordsPerBank() int {
	words := map[int]map[int]bool{}
	most := 0
	for _, lane := range c.lanes {
		p := c.walk.Place[lane]
		for i := range p.Words {
			if words[p.Bank+i] == nil {
				words[p.Bank+i] = map[int]bool{}
			}
			words[p.Bank+i][p.Row] = true
			most = max(most, len(words[p.Bank+i]))
		}
	}
	return most
}

func (c *checker) shared() bool {
	seen := map[[2]int]bool{}
	for _, lane := range c.lanes {
		key := [2]int{c.walk.Place[lane].Bank, c.walk.Place[lane].Row}
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// passes returns the passes of each group with active lanes.
func (c *checker) passes() []int {
	var all []int
	last := -1
	for _, front := range c.walk.Wavefronts {
		if front.Group != last {
			all = append(all, 0)
			last = front.Group
		}
		all[len(all)-1]++
	}
	return all
}

func (c *checker) active(group int) int {
	n := 0
	for _, lane := range c.lanes {
		if int(c.walk.Outcome.Group[lane]) == group {
			n++
		}
	}
	return n
}

// busiest counts the banks, or sets of banks that one access covers, which a group needs in the given number of passes.
func (c *checker) busiest(group, ways int) int {
	words := max(1, c.r.Bytes()/c.u.BankBytes)
	n := 0
	for bank := 0; bank < c.u.Banks; bank += words {
		busy := 0
		for _, front := range c.walk.Wavefronts {
			if front.Group == group && front.Row[bank] >= 0 {
				busy++
			}
		}
		if busy == ways {
			n++
		}
	}
	return n
}

func (c *checker) int(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		c.Fatalf("%q: %v", c.sentence, err)
	}
	return n
}

func (c *checker) bytes(n, unit string) int {
	if strings.HasPrefix(unit, "word") {
		return c.int(n) * c.u.BankBytes
	}
	return c.int(n)
}

// numbers expands "0-3", "1, 2 and 5" and "0, 4, ..., 28".
func (c *checker) numbers(s string) []int {
	var all []int
	parts := strings.Split(strings.ReplaceAll(s, " and ", ", "), ", ")
	for i, part := range parts {
		if part == "..." {
			step := all[len(all)-1] - all[len(all)-2]
			for end := c.int(parts[i+1]); all[len(all)-1]+step < end; {
				all = append(all, all[len(all)-1]+step)
			}
			continue
		}
		lo, hi, ok := strings.Cut(part, "-")
		if !ok {
			hi = lo
		}
		for n := c.int(lo); n <= c.int(hi); n++ {
			all = append(all, n)
		}
	}
	return all
}

func TestAnalyzeRefuses(t *testing.T) {
	u := arch.MustLookup("sm_70").Unit
	_, err := explain.Analyze(u, request(smem.StoreMatrix, 16, full, func(int) int { return 0 }))
	if _, ok := errors.AsType[*smem.UnsupportedError](err); !ok {
		t.Errorf("stmatrix on sm_70: %v, want an unsupported error", err)
	}
}

func BenchmarkWhy(b *testing.B) {
	u := arch.MustLookup("sm_90").Unit
	r := request(smem.Load, 4, full, func(lane int) int { return lane * lane * 37 % 1000 * 4 })
	for b.Loop() {
		explain.Why(u, r)
	}
}
