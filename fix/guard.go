package fix

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"shmoo/layout"
	"shmoo/smem"
)

// GuardForm is a language that a guard test can be written in.
type GuardForm string

// The guard forms.
const (
	GuardGo     GuardForm = "go"
	GuardPytest GuardForm = "pytest"
)

// GuardForms returns all of them.
func GuardForms() []GuardForm { return []GuardForm{GuardGo, GuardPytest} }

// maxGuarded bounds the distinct requests per site that go into a guard test: those made most often.
const maxGuarded = 8

// EmitGuard writes a self-contained test that fails if the writer's and the reader's index functions disagree, if an
// access is torn apart, or if the layout is lost and wavefronts rise. The test holds the requests of the source, as
// lanes that the hardware serves together, and two index functions to point at the kernel's own.
func EmitGuard(w io.Writer, r *Result, c *Candidate, form GuardForm) error {
	write, ok := map[GuardForm]func(*guard) string{GuardGo: (*guard).golang, GuardPytest: (*guard).pytest}[form]
	if !ok {
		return &FormError{Form(form), fmt.Sprintf("unknown form, want one of %v", GuardForms())}
	}
	if len(c.Narrowed) > 0 {
		return &FormError{Form(form), "the layout breaks up wide accesses"}
	}
	e, err := newEmission(r, c, Form(form))
	if err != nil {
		return err
	}
	g := guard{emission: e}
	if err := g.collect(); err != nil {
		return err
	}
	_, err = io.WriteString(w, write(&g))
	return err
}

type guard struct {
	*emission
	requests []guarded
}

// guarded is a request as the test holds it.
type guarded struct {
	site       string
	writes     bool
	bytes      int // of one access
	shares     bool
	perPass    int
	wavefronts int
	groups     [][]uint32 // byte offsets in the array before the change
}

func (g *guard) collect() error {
	p := g.result.Problem
	u := p.Arch.Unit
	same := func([]uint32, smem.Mask) {}
	switch t := g.c.Transform.(type) {
	case layout.Pad:
		if n := commonPeriod(g.result.pads, p.granule()); len(t) > 0 {
			same = modAdd(n)
		}
	case layout.Swizzle, layout.Linear:
		same = modXor(max(p.granule(), 4))
	}
	var out smem.Outcome
	for site := range p.Sites {
		seen := 0
		for _, q := range firsts(p.Requests, site, same) {
			if seen++; seen > maxGuarded {
				break
			}
			moved := q.Request
			moved.Addr = make([]uint32, len(q.Addr))
			for l, a := range q.Addr {
				moved.Addr[l] = g.c.Transform.Map(a)
			}
			if err := u.Resolve(&out, &moved); err != nil {
				return err
			}
			rule := u.Rules[smem.Key{Op: q.Op, Width: q.Width}]
			x := guarded{site: siteName(&p.Sites[site]), writes: q.Op.Writes(), bytes: q.Bytes(), shares: rule.Shares, perPass: rule.PerPass,
				wavefronts: out.Wavefronts}
			for _, m := range out.Groups {
				var lanes []uint32
				for l, a := range q.Addr {
					if (m & q.Addressing()).Has(l) {
						lanes = append(lanes, a)
					}
				}
				if lanes != nil {
					x.groups = append(x.groups, lanes)
				}
			}
			g.requests = append(g.requests, x)
		}
	}
	return nil
}

// firsts returns the requests of a site, one of each class, the classes met most often first.
func firsts(requests []Request, site int, n normal) []*Request {
	type kind struct {
		first *Request
		count int64
	}
	var kinds []kind
	for i := range requests {
		r := &requests[i]
		if r.Site != site {
			continue
		}
		k := slices.IndexFunc(kinds, func(k kind) bool { return alike(k.first, r, n) })
		if k < 0 {
			k = len(kinds)
			kinds = append(kinds, kind{first: r})
		}
		kinds[k].count += r.Count
		if len(kinds) > 16*maxGuarded { // without structure: enough to choose from
			break
		}
	}
	slices.SortStableFunc(kinds, func(a, b kind) int { return int(min(max(b.count-a.count, -1), 1)) })
	out := make([]*Request, len(kinds))
	for i, k := range kinds {
		out[i] = k.first
	}
	return out
}

func alike(a, b *Request, n normal) bool {
	if a.Op != b.Op || a.Width != b.Width || a.Addressing() != b.Addressing() || len(a.Addr) != len(b.Addr) {
		return false
	}
	x, y := slices.Clone(a.Addr), slices.Clone(b.Addr)
	n(x, a.Addressing())
	n(y, b.Addressing())
	return slices.Equal(x, y)
}

// comment says what the test guards.
func (g *guard) comment(prefix string) string {
	g.out.Reset()
	fmt.Fprintf(&g.out, "%s Guard for the layout of %s.\n", prefix, g.result.Problem.Array.Name)
	g.summary(prefix)
	return g.out.String()
}

func (g *guard) pytest() string {
	var b strings.Builder
	u := g.result.Problem.Arch.Unit
	value := expression(g.t, "i", "//")
	b.WriteString(g.comment("#"))
	fmt.Fprintf(&b, `# Point write_index and read_index at the index functions of the kernel: element number in the plain array -> element number in
# shared memory. The test fails if they disagree, tear an access apart, or lose the layout.


def write_index(i):
    return %s


def read_index(i):
    return %s


ELEM_BYTES = %d
ELEMENTS = %d  # of the plain array
SIZE = %d  # elements that the changed array has room for
BANKS, BANK_BYTES = %d, %d

# (site, writes, bytes of an access, lanes on one word share a pass, wavefronts of a pass, wavefronts promised,
#  lanes served together, each by the byte offset it has in the plain array)
REQUESTS = [
`, value, value, g.elem, elementsIn(g.result.Problem.Array.Size, g.elem), g.count, u.Banks, u.BankBytes)
	for _, r := range g.requests {
		fmt.Fprintf(&b, "    (%q, %s, %d, %s, %d, %d, [\n", r.site, title(r.writes), r.bytes, title(r.shares), r.perPass, r.wavefronts)
		for _, lanes := range r.groups {
			fmt.Fprintf(&b, "        %s,\n", list(lanes))
		}
		b.WriteString("    ]),\n")
	}
	b.WriteString(`]


def place(writes, byte):
    index = write_index if writes else read_index
    return index(byte // ELEM_BYTES) * ELEM_BYTES + byte % ELEM_BYTES


def test_writer_and_reader_agree():
    memory = {}
    for i in range(ELEMENTS):
        memory[write_index(i)] = i
    assert len(memory) == ELEMENTS, "two elements share a place"
    assert 0 <= min(memory) and max(memory) < SIZE, "an element lies outside the array"
    for i in range(ELEMENTS):
        assert memory.get(read_index(i)) == i, f"element {i} is read from where another was written"


def test_accesses_stay_in_one_piece():
    for site, writes, size, _, _, _, groups in REQUESTS:
        for byte in (byte for lanes in groups for byte in lanes):
            start = place(writes, byte)
            assert start % size == 0, f"{site}: offset {start} is no multiple of {size}"
            for k in range(size):
                assert place(writes, byte + k) == start + k, f"{site}: the access at {byte} is torn apart"


def wavefronts(writes, size, shares, per_pass, groups):
    total = 0
    for lanes in groups:
        words = [w for byte in lanes for start in [place(writes, byte)] for w in range(start // BANK_BYTES, (start + size - 1) // BANK_BYTES + 1)]
        banks = {}
        for w in set(words) if shares else words:
            banks[w % BANKS] = banks.get(w % BANKS, 0) + 1
        total += max(banks.values())
    return total * per_pass


def test_wavefronts():
    for site, writes, size, shares, per_pass, promised, groups in REQUESTS:
        got = wavefronts(writes, size, shares, per_pass, groups)
        assert got <= promised, f"{site}: {got} wavefronts, promised {promised}: is the layout still there?"
`)
	return b.String()
}

func (g *guard) golang() string {
	var b strings.Builder
	u := g.result.Problem.Arch.Unit
	value := expression(g.t, "i", "/")
	b.WriteString(g.comment("//"))
	fmt.Fprintf(&b, `// Point writeIndex and readIndex at the index functions of the kernel: element number in the plain array -> element number in
// shared memory. The test fails if they disagree, tear an access apart, or lose the layout.
package guard

import "testing"

func writeIndex(i int) int { return %s }

func readIndex(i int) int { return %s }

const (
	elemBytes = %d
	elements  = %d // of the plain array
	size      = %d // elements that the changed array has room for
	banks     = %d
	bankBytes = %d
)

var requests = []struct {
	site       string
	writes     bool
	bytes      int     // of an access
	shares     bool    // lanes on one word share a pass
	perPass    int     // wavefronts of a pass
	wavefronts int     // promised
	groups     [][]int // lanes served together, each by the byte offset it has in the plain array
}{
`, value, value, g.elem, elementsIn(g.result.Problem.Array.Size, g.elem), g.count, u.Banks, u.BankBytes)
	for _, r := range g.requests {
		fmt.Fprintf(&b, "\t{%q, %t, %d, %t, %d, %d, [][]int{\n", r.site, r.writes, r.bytes, r.shares, r.perPass, r.wavefronts)
		for _, lanes := range r.groups {
			text := list(lanes)
			fmt.Fprintf(&b, "\t\t{%s},\n", text[1:len(text)-1])
		}
		b.WriteString("\t}},\n")
	}
	b.WriteString(`}

func place(writes bool, b int) int {
	index := readIndex
	if writes {
		index = writeIndex
	}
	return index(b/elemBytes)*elemBytes + b%elemBytes
}

func TestWriterAndReaderAgree(t *testing.T) {
	memory := map[int]int{}
	for i := 0; i < elements; i++ {
		at := writeIndex(i)
		if at < 0 || at >= size {
			t.Fatalf("element %d goes to %d, outside the array of %d", i, at, size)
		}
		if other, taken := memory[at]; taken {
			t.Fatalf("elements %d and %d share place %d", other, i, at)
		}
		memory[at] = i
	}
	for i := 0; i < elements; i++ {
		if got, ok := memory[readIndex(i)]; !ok || got != i {
			t.Fatalf("element %d is read from where another was written", i)
		}
	}
}

func TestAccessesStayInOnePiece(t *testing.T) {
	for _, r := range requests {
		for _, lanes := range r.groups {
			for _, b := range lanes {
				start := place(r.writes, b)
				if start%r.bytes != 0 {
					t.Fatalf("%s: offset %d is no multiple of %d", r.site, start, r.bytes)
				}
				for k := 0; k < r.bytes; k++ {
					if place(r.writes, b+k) != start+k {
						t.Fatalf("%s: the access at %d is torn apart", r.site, b)
					}
				}
			}
		}
	}
}

func TestWavefronts(t *testing.T) {
	for _, r := range requests {
		total := 0
		for _, lanes := range r.groups {
			seen := map[int]bool{}
			passes := map[int]int{}
			most := 0
			for _, b := range lanes {
				start := place(r.writes, b)
				for w := start / bankBytes; w <= (start+r.bytes-1)/bankBytes; w++ {
					if r.shares && seen[w] {
						continue
					}
					seen[w] = true
					passes[w%banks]++
					if passes[w%banks] > most {
						most = passes[w%banks]
					}
				}
			}
			total += most * r.perPass
		}
		if total > r.wavefronts {
			t.Errorf("%s: %d wavefronts, promised %d: is the layout still there?", r.site, total, r.wavefronts)
		}
	}
}
`)
	return b.String()
}

// elementsIn returns how many elements hold the bytes.
func elementsIn(bytes, elem int) int { return (bytes + elem - 1) / elem }

func title(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

func list(n []uint32) string {
	parts := make([]string, len(n))
	for i, v := range n {
		parts[i] = fmt.Sprint(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
