package pad

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shmoo/arch"
	"shmoo/internal/golden"
	"shmoo/smem"
	"shmoo/space"
)

func hopper() *smem.Unit { return arch.MustLookup("sm_90").Unit }

func dtype(t testing.TB, name string) DType {
	t.Helper()
	d, err := LookupDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func analyze(t *testing.T, chunk int, name string, o Options) *Case {
	t.Helper()
	if o.Unit == nil {
		o.Unit = hopper()
	}
	r, err := Analyze([]int{chunk}, []DType{dtype(t, name)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return &r.Cases[0]
}

func parseSpace(t testing.TB, text string) *space.Space {
	t.Helper()
	s, err := space.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// seed reads a table of the TileOPs page as rows of named numbers.
func seed(t *testing.T, name string) []map[string]float64 {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var table []map[string]float64
	for _, row := range rows[1:] {
		m := map[string]float64{}
		for i, field := range row {
			if m[rows[0][i]], err = strconv.ParseFloat(field, 64); err != nil {
				t.Fatal(err)
			}
		}
		table = append(table, m)
	}
	if len(table) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return table
}

// S and gcd(S, 32) of the two pads that the TileOPs rule chooses from.
func TestSeedChunkGCD(t *testing.T) {
	for _, row := range seed(t, "seed_chunk_gcd.csv") {
		c := analyze(t, int(row["chunk"]), "f16", Options{Step: 16, Max: 32})
		for k := 1; k <= 2; k++ {
			got := c.Candidates[k]
			if s, g := row[fmt.Sprint("s_k", k)], row[fmt.Sprint("gcd_k", k)]; got.Words != s || float64(got.GCD) != g {
				t.Errorf("chunk %d, k = %d: S = %g, gcd %d; want %g, %g", c.Chunk, k, got.Words, got.GCD, s, g)
			}
		}
	}
}

// The ways that the page predicts for element-wise reads of 16-bit elements, and its measured order: fewer ways, more
// bandwidth.
func TestSeedScan(t *testing.T) {
	for _, row := range seed(t, "seed_scan_fp16.csv") {
		c := analyze(t, int(row["chunk"]), "f16", Options{})
		got := c.Candidates[int(row["pad"])]
		if n := got.at(16); float64(n.Ways) != row["ways"] || float64(n.Formula) != row["ways"] {
			t.Errorf("chunk %d, pad %d: %d ways, formula %d; want %g", c.Chunk, got.Pad, n.Ways, n.Formula, row["ways"])
		}
	}
}

// The page's lower bounds per width, and which of its cells no hardware can run.
func TestSeedGCDWidth(t *testing.T) {
	c := analyze(t, 64, "f32", Options{})
	for _, row := range seed(t, "seed_gcd_width.csv") {
		pad := int(row["gcd"]) // the page pads by gcd words
		got := c.Candidates[pad]
		if got.GCD != pad {
			t.Errorf("pad %d: gcd %d, want the same", pad, got.GCD)
		}
		for _, bits := range []int{32, 64, 128} {
			n := got.at(bits)
			bound := int(row[fmt.Sprint("bound", bits)])
			if n.Formula != bound {
				t.Errorf("pad %d at %d bit: formula %d, want %d", pad, bits, n.Formula, bound)
			}
			if legal := pad*4%(bits/8) == 0; n.Legal != legal || legal && n.Ways != bound {
				t.Errorf("pad %d at %d bit: legal %v with %d ways; want %v with %d", pad, bits, n.Legal, n.Ways, legal, bound)
			}
		}
	}
}

// At chunk 56 of bf16 with 64-bit loads the page finds 16 and 2 ways for k = 1 and 2, and more bandwidth for the latter.
func TestSeedPadK(t *testing.T) {
	for _, row := range seed(t, "seed_pad_k_bf16.csv") {
		c := analyze(t, int(row["chunk"]), "bf16", Options{Step: 16, Max: 32, Widths: []int{64}})
		k1, k2 := c.Candidates[1].Counts[0].Ways, c.Candidates[2].Counts[0].Ways
		if k1 != 16 || k2 != 2 || row["k1_tbps"] >= row["k2_tbps"] {
			t.Errorf("chunk %d: %d and %d ways at %g and %g TB/s; want 16 and 2, the fewer the faster",
				c.Chunk, k1, k2, row["k1_tbps"], row["k2_tbps"])
		}
	}
}

// For fp32 and chunk 64 the fastest pads of the page are 1, 2 and 4 elements at 32, 64 and 128 bit.
func TestFastestPadPerWidth(t *testing.T) {
	c := analyze(t, 64, "f32", Options{})
	var got []string
	for _, b := range c.PerWidth {
		got = append(got, fmt.Sprintf("%d:%d/%d", b.Bits, b.Pad, b.Ways))
	}
	if want := "32:1/1 64:2/1 128:4/1"; strings.Join(got, " ") != want {
		t.Errorf("got width:pad/ways %v, want %s", got, want)
	}
	if c.Best.Bits != 128 || c.Best.Pad != 4 {
		t.Errorf("best is pad %d at %d bit, want 4 at 128", c.Best.Pad, c.Best.Bits)
	}
}

// Wherever the formula's preconditions hold and the load is legal, it gives the ways counted lane by lane, and the
// wavefronts are that many times the ideal: for every stride of four rows and every width.
func TestFormulaIsExact(t *testing.T) {
	c := newCounter(hopper())
	checked := 0
	for strideBytes := 1; strideBytes <= 512; strideBytes++ {
		for _, width := range []int{1, 2, 4, 8, 16} {
			n, err := c.count(16, strideBytes, width)
			if err != nil {
				t.Fatal(err)
			}
			applies := strideBytes%4 == 0 && strideBytes >= width
			if (n.Formula > 0) != applies || (n.NoFormula == "") != applies {
				t.Fatalf("stride %d, width %d: formula %d %q, want it to apply: %v", strideBytes, width, n.Formula, n.NoFormula, applies)
			}
			if legal := strideBytes%width == 0; n.Legal != legal {
				t.Fatalf("stride %d, width %d: legal %v %q, want %v", strideBytes, width, n.Legal, n.Why, legal)
			}
			if !applies || !n.Legal {
				continue
			}
			checked++
			if n.Formula != n.Ways || n.Wavefronts != n.Ways*n.Ideal || n.Ideal != max(1, width/4) {
				t.Errorf("stride %d, width %d: %+v, want ways as the formula and wavefronts ways times ideal", strideBytes, width, n)
			}
		}
	}
	if want := 3*128 + 64 + 32; checked != want {
		t.Errorf("%d loads compared, want %d", checked, want)
	}
}

// Half words: where the formula does not apply, the count is that of a warp written out lane by lane, at the worst place
// of the run.
func TestHalfWords(t *testing.T) {
	for _, tt := range []struct {
		chunk       int
		dtype       string
		ways, total int
	}{
		{1, "f16", 1, 1},  // 32 halves next to each other: 16 words
		{3, "f16", 2, 5},  // 6 bytes apart: 192 bytes, so the first bank comes round again for some
		{65, "f16", 2, 0}, // S = 32.5
		{1, "i8", 1, 1},   // 32 bytes next to each other: 8 words
	} {
		c := analyze(t, tt.chunk, tt.dtype, Options{})
		got := c.Candidates[0].Counts[0]
		wantWays, wantTotal := 0, 0
		for i := range tt.chunk {
			rows := map[int]map[int]bool{}
			for lane := range 32 {
				word := (lane*tt.chunk + i) * c.ElemBytes / 4
				if rows[word%32] == nil {
					rows[word%32] = map[int]bool{}
				}
				rows[word%32][word] = true
			}
			ways := 0
			for _, words := range rows {
				ways = max(ways, len(words))
			}
			wantWays = max(wantWays, ways)
			wantTotal += ways
		}
		if got.Ways != wantWays || got.Total != wantTotal || got.NoFormula != reasonHalfWords {
			t.Errorf("chunk %d of %s: %d ways, %d wavefronts, formula: no, %q; want %d ways, %d wavefronts",
				tt.chunk, tt.dtype, got.Ways, got.Total, got.NoFormula, wantWays, wantTotal)
		}
		if got.Ways != tt.ways {
			t.Errorf("chunk %d of %s: %d ways, want %d", tt.chunk, tt.dtype, got.Ways, tt.ways)
		}
	}
}

func TestFormulaSaysWhyNot(t *testing.T) {
	for _, tt := range []struct {
		stride, width, want int
		why                 string
	}{
		{260, 16, 1, ""},
		{128, 4, 32, ""},
		{128, 2, 32, ""},
		{130, 2, 0, reasonHalfWords},
		{8, 16, 0, reasonOverlap},
		{4, 8, 0, reasonOverlap},
		{16, 16, 1, ""},
	} {
		if got, why := Formula(tt.stride, tt.width); got != tt.want || why != tt.why {
			t.Errorf("Formula(%d, %d) = %d, %q; want %d, %q", tt.stride, tt.width, got, why, tt.want, tt.why)
		}
	}
}

// The rule as the TileOPs page states it, on every chunk it is legal for, and its promise that the gcd is then 4.
func TestPolicyIsTheTileOPsRule(t *testing.T) {
	p, err := ParsePolicy("k=1|2")
	if err != nil {
		t.Fatal(err)
	}
	legal := 0
	for _, name := range []string{"i8", "f16", "f32", "f64"} {
		d := dtype(t, name)
		for chunk := 1; chunk <= 512; chunk++ {
			got, err := p.Pick(chunk, d)
			if chunk*d.Bytes%16 != 0 {
				if err == nil {
					t.Errorf("chunk %d of %s: got pad %d, want an error: the run is no multiple of 16 bytes", chunk, name, got)
				}
				continue
			}
			legal++
			want, least := 0, 64
			for _, pad := range []int{16 / d.Bytes, 32 / d.Bytes} {
				s := (chunk + pad) * d.Bytes / 4
				g := 1
				for g < 32 && s%(2*g) == 0 {
					g *= 2
				}
				if g < least {
					want, least = pad, g
				}
			}
			if err != nil || got != want || least != 4 {
				t.Errorf("chunk %d of %s: got %d, error %v; want %d with gcd 4, not %d", chunk, name, got, err, want, least)
			}
		}
	}
	if want := 512/16 + 512/8 + 512/4 + 512/2; legal != want {
		t.Errorf("%d legal chunks, want %d", legal, want)
	}
}

func TestParsePolicy(t *testing.T) {
	for _, text := range []string{"k=1|2", "k=3", "k=1|2|3|4"} {
		if p, err := ParsePolicy(text); err != nil || p.String() != text {
			t.Errorf("ParsePolicy(%q) = %v, %v; want it back", text, p, err)
		}
	}
	for _, text := range []string{"", "k", "k=", "k=0", "k=-1", "k=x", "k=1|", "1|2", "k=99999", "k=" + strings.Repeat("1|", 1<<16) + "1"} {
		if p, err := ParsePolicy(text); err == nil {
			t.Errorf("ParsePolicy(%.20q) = %v, want an error", text, p)
		}
	}
}

// A fixed pad of 16 bytes fails where S comes back to a multiple of the row: at chunk 56 of 2-byte elements first.
func TestJudge(t *testing.T) {
	const text = "chunk=16..256:8,dtype=f16,bf16,f32"
	policy, err := ParsePolicy("k=1|2")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		rule          Rule
		widths        []int
		failed, worse int
		narrowed      int
		first         string // chunk dtype ways of the worst point
	}{
		{"fixed 16 bytes", Fixed(16), nil, 30, 30, 0, "56 f16 8"},
		{"fixed 16 bytes, 64 bit", Fixed(16), []int{64}, 93, 0, 0, "56 f16 16"},
		{"no pad", Fixed(0), nil, 63, 0, 0, "32 f32 8"},
		{"fixed 4 bytes", Fixed(4), []int{32, 64, 128}, 0, 0, 93, ""},
		{"fixed 2 bytes", Fixed(2), nil, 93, 30, 62, "16 f16 2"},
		{"policy", policy, nil, 0, 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Judge(parseSpace(t, text), tt.rule, Options{Unit: hopper(), Widths: tt.widths})
			if err != nil {
				t.Fatal(err)
			}
			j := r.Judgement
			if j.Points != 93 || j.Failed != tt.failed || j.Worse != tt.worse || j.Narrowed != tt.narrowed {
				t.Errorf("%d points, %d failed, %d worse than none, %d narrowed; want 93, %d, %d, %d",
					j.Points, j.Failed, j.Worse, j.Narrowed, tt.failed, tt.worse, tt.narrowed)
			}
			first := ""
			if len(j.Counterexamples) > 0 {
				e := j.Counterexamples[0]
				first = fmt.Sprint(e.Chunk, " ", e.DType, " ", e.Ways)
			}
			if first != tt.first || len(j.Counterexamples) != min(j.Failed, MaxCounterexamples) {
				t.Errorf("%d counterexamples, first %q; want %d, %q", len(j.Counterexamples), first,
					min(j.Failed, MaxCounterexamples), tt.first)
			}
		})
	}
}

// Public cases about strides, with the answers that counters or computation gave there.
func TestCases(t *testing.T) {
	for _, tt := range []struct {
		name              string
		chunk             int
		dtype             string
		pad, bits         int // pad in elements
		wavefronts, ideal int
	}{
		{"20: 32-bit, S = 64", 64, "f32", 0, 32, 32, 1},
		{"20: 64-bit, S = 64", 64, "f32", 0, 64, 32, 2},
		{"20: 64-bit, S = 36", 36, "f32", 0, 64, 4, 2},
		{"20: 128-bit, gcd 8", 64, "f32", 8, 128, 8, 4},
		{"20: 128-bit, gcd 16", 64, "f32", 16, 128, 16, 4},
		{"20: 128-bit, gcd 32", 64, "f32", 32, 128, 32, 4},
		{"20: chunk 56 and 8 halves come back to 32 words", 56, "f16", 8, 16, 32, 1},
		{"43: rows of 256 bytes, no skew", 128, "half", 0, 128, 32, 4},
		{"43: rows of 256 bytes, skew of 16", 128, "half", 8, 128, 4, 4},
		{"43: contiguous int4", 1, "int4", 0, 128, 4, 4},
		{"63: rows of 6 units of 16 bytes", 48, "half", 0, 128, 8, 4},
		{"63: rows of 3 units of 16 bytes", 24, "half", 0, 128, 4, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := analyze(t, tt.chunk, tt.dtype, Options{})
			got := c.Candidates[tt.pad].at(tt.bits)
			if !got.Legal || got.Wavefronts != tt.wavefronts || got.Ideal != tt.ideal {
				t.Errorf("%+v, want %d wavefronts of ideal %d", got, tt.wavefronts, tt.ideal)
			}
		})
	}
}

// The closed form of case 63 for rows of whole 16-byte units: gcd(units, 8) ways.
func TestRowsOf16ByteUnits(t *testing.T) {
	for units := 1; units <= 64; units++ {
		c := analyze(t, 8*units, "half", Options{})
		want := 1
		for want < 8 && units%(2*want) == 0 {
			want *= 2
		}
		if got := c.Candidates[0].at(128).Ways; got != want {
			t.Errorf("rows of %d units: %d ways, want %d", units, got, want)
		}
	}
}

func TestWhatIsNotLegal(t *testing.T) {
	for _, tt := range []struct {
		name      string
		chunk     int
		dtype     string
		pad, bits int
		why       string
	}{
		{"S = 65 words", 64, "f32", 1, 128, "the stride is not a multiple of 16 bytes"},
		{"odd run", 63, "f32", 1, 64, "the run does not hold whole loads of 8 bytes"},
		{"half words", 64, "f16", 1, 32, "the stride is not a multiple of 4 bytes"},
		{"too large", 4096, "f32", 0, 32, "32 lanes take 524288 bytes, a block has 232448"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := analyze(t, tt.chunk, tt.dtype, Options{})
			if got := c.Candidates[tt.pad].at(tt.bits); got.Legal || got.Why != tt.why {
				t.Errorf("legal %v: %q, want %q", got.Legal, got.Why, tt.why)
			}
		})
	}
}

// The step of candidates is the element, or the least multiple of the unit that holds whole elements.
func TestCandidates(t *testing.T) {
	for _, tt := range []struct {
		dtype     string
		step, max int
		want      []int // bytes
	}{
		{"f16", 0, 8, []int{0, 2, 4, 6, 8}},
		{"f64", 0, 16, []int{0, 8, 16}},
		{"f16", 16, 40, []int{0, 16, 32}},
		{"f32", 2, 8, []int{0, 4, 8}},
		{"float3", 8, 48, []int{0, 24, 48}},
		{"f32", 0, 2, []int{0}},
	} {
		c := analyze(t, 32, tt.dtype, Options{Step: tt.step, Max: tt.max})
		var got []int
		for _, x := range c.Candidates {
			got = append(got, x.PadBytes)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s, unit %d, max %d: pads %v, want %v", tt.dtype, tt.step, tt.max, got, tt.want)
		}
	}
}

// On another unit the formula stays silent and the count speaks: 64 lanes that read 4 bytes, by halves of the wave, and
// 64 banks.
func TestOtherUnits(t *testing.T) {
	for _, tt := range []struct {
		arch string
		ways int
	}{{"gfx942", 32}, {"gfx950", 32}} {
		c := analyze(t, 32, "f32", Options{Unit: arch.MustLookup(tt.arch).Unit})
		got := c.Candidates[0].at(32)
		if got.Ways != tt.ways || got.NoFormula != reasonUnit {
			t.Errorf("%s: %d ways, formula: no, %q; want %d, %q", tt.arch, got.Ways, got.NoFormula, tt.ways, reasonUnit)
		}
	}
}

func TestErrors(t *testing.T) {
	f16 := DType{"f16", 2}
	unit := hopper()
	many := make([]int, 3000)
	for i := range many {
		many[i] = i + 1
	}
	for _, tt := range []struct {
		name   string
		chunks []int
		o      Options
		want   string
	}{
		{"chunk zero", []int{0}, Options{Unit: unit}, "chunk: got 0 elements, want 1 to 1048576"},
		{"chunk negative", []int{-8}, Options{Unit: unit}, "chunk: got -8 elements"},
		{"chunk huge", []int{1 << 40}, Options{Unit: unit}, "chunk: got 1099511627776 elements"},
		{"width", []int{8}, Options{Unit: unit, Widths: []int{48}}, "width: got 48 bits, want one of 8, 16, 32, 64, 128"},
		{"max", []int{8}, Options{Unit: unit, Max: -1}, "largest pad: got -1 bytes, want 1 to 65536"},
		{"unit", []int{8}, Options{Unit: unit, Step: 1 << 30}, "unit of pads: got 1073741824 bytes, want 1 to 65536"},
		{"too many", many, Options{Unit: unit, Max: 1024}, "pads: got more than 262144 candidates"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Analyze(tt.chunks, []DType{f16}, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, space, want string }{
		{"other parameter", "chunk=8,dtype=f16,pad=3", "space: got parameter pad, want chunk and dtype only"},
		{"no dtype", "chunk=8", "space: got chunk=8, want both chunk and dtype"},
		{"chunk a word", "chunk=x,dtype=f16", "space: chunk: got x, want a whole number of elements"},
		{"chunk zero", "chunk=0..8,dtype=f16", "space: chunk: got 0 elements"},
		{"dtype", "chunk=8,dtype=f17", `space: dtype: got "f17", want one of f16`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Judge(parseSpace(t, tt.space), Fixed(16), Options{Unit: unit})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Judge(parseSpace(t, "chunk=8,dtype=f16"), Fixed(-2), Options{Unit: unit}); err == nil {
		t.Error("a negative fixed pad gives no error")
	}
}

func TestParseLists(t *testing.T) {
	if got, err := ParseChunks("8,16..32:8"); err != nil || fmt.Sprint(got) != "[8 16 24 32]" {
		t.Errorf("ParseChunks: %v, %v; want [8 16 24 32]", got, err)
	}
	if got, err := ParseDTypes("f16,double"); err != nil || fmt.Sprint(got) != "[{f16 2} {double 8}]" {
		t.Errorf("ParseDTypes: %v, %v; want [{f16 2} {double 8}]", got, err)
	}
	for text, want := range map[string]string{
		"":       `chunk: "", column 1: got "", want an integer`,
		"8,x":    "chunk: got x, want a whole number of elements",
		"0":      "chunk: got 0 elements, want 1 to 1048576",
		"8..":    `chunk: "8..", column 4: got "", want an integer after ..`,
		"1..1e9": `chunk: "1..1e9", column 4: got "1e9", want an integer after ..`,
	} {
		if got, err := ParseChunks(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseChunks(%q) = %v, %v; want error %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"f16,,f32": `dtype: "f16,,f32", column 5: got "", want`,
		"f16,f15":  `dtype: got "f15", want one of f16`,
		"16":       `dtype: got "16", want one of f16`,
	} {
		if got, err := ParseDTypes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDTypes(%q) = %v, %v; want error %q", text, got, err, want)
		}
	}
}

func TestParseWidths(t *testing.T) {
	for text, want := range map[string]string{"auto": "[]", "64": "[64]", "32,128": "[32 128]"} {
		if got, err := ParseWidths(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("ParseWidths(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "48", "32,", "wide"} {
		if got, err := ParseWidths(text); err == nil {
			t.Errorf("ParseWidths(%q) = %v, want an error", text, got)
		}
	}
}

func TestDTypes(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range DTypeNames() {
		if seen[name] {
			t.Errorf("%s stands twice in the table", name)
		}
		seen[name] = true
		if d := dtype(t, name); d.Name != name || d.Bytes < 1 {
			t.Errorf("%s: %+v, want its name and a size", name, d)
		}
	}
	for name, bytes := range map[string]int{"half": 2, "bf16": 2, "fp8e4m3": 1, "float": 4, "double": 8, "float4": 16, "i64": 8, "tf32": 4} {
		if d := dtype(t, name); d.Bytes != bytes {
			t.Errorf("%s: %d bytes, want %d", name, d.Bytes, bytes)
		}
	}
	for name, want := range map[string]string{"fp4": "want u8 with the chunk", "": `dtype: got ""`, "quad": `dtype: got "quad"`} {
		if _, err := LookupDType(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LookupDType(%q): error %v, want %q", name, err, want)
		}
	}
}

// The forms a person reads and the form a program reads.
func TestGolden(t *testing.T) {
	policy, err := ParsePolicy("k=1|2")
	if err != nil {
		t.Fatal(err)
	}
	f16, f32 := dtype(t, "f16"), dtype(t, "f32")
	run := func(r *Report, err error) *Report {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, r := range map[string]*Report{
		"one":    run(Analyze([]int{64}, []DType{f16}, Options{Unit: hopper(), Max: 32, Policy: policy})),
		"odd":    run(Analyze([]int{57}, []DType{f16}, Options{Unit: hopper(), Max: 16, Policy: policy})),
		"large":  run(Analyze([]int{4096}, []DType{f32}, Options{Unit: hopper(), Max: 8})),
		"many":   run(Analyze([]int{32, 56, 57, 64}, []DType{f16, f32}, Options{Unit: hopper(), Max: 64, Policy: policy})),
		"unpad":  run(Analyze([]int{32}, []DType{f32}, Options{Unit: arch.MustLookup("sm_80").Unit, Max: 2, Widths: []int{32}})),
		"judge":  run(Judge(parseSpace(t, "chunk=16..72:8,dtype=f16,f32,f64"), Fixed(16), Options{Unit: hopper()})),
		"policy": run(Judge(parseSpace(t, "chunk=16..256:8,dtype=f16"), policy, Options{Unit: hopper()})),
		"misfit": run(Judge(parseSpace(t, "chunk=30,dtype=f16,f64,double3"), policy, Options{Unit: hopper()})),
	} {
		t.Run(name, func(t *testing.T) {
			var text, markdown bytes.Buffer
			if err := r.Write(&text, Text, 1); err != nil {
				t.Fatal(err)
			}
			if err := r.Write(&markdown, Markdown, 1); err != nil {
				t.Fatal(err)
			}
			asJSON, err := json.MarshalIndent(r, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "golden/"+name+".txt", text.Bytes())
			golden.Check(t, "golden/"+name+".md", markdown.Bytes())
			if len(asJSON) < 16<<10 { // one of each kind is enough
				golden.Check(t, "golden/"+name+".json", append(asJSON, '\n'))
			}
		})
	}
}

// 240 chunks of 3 element types, every candidate at every width.
func BenchmarkAnalyze(b *testing.B) {
	var chunks []int
	for chunk := 1; chunk <= 240; chunk++ {
		chunks = append(chunks, chunk)
	}
	dtypes := []DType{dtype(b, "f16"), dtype(b, "bf16"), dtype(b, "f32")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Analyze(chunks, dtypes, Options{Unit: hopper()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	s := parseSpace(b, "chunk=16..256,dtype=f16,bf16,f32")
	for b.Loop() {
		if _, err := Judge(s, Fixed(16), Options{Unit: hopper()}); err != nil {
			b.Fatal(err)
		}
	}
}
