package layout

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite golden files")

// vectors reads lines of fields separated by " => "; # starts a comment line.
func vectors(t *testing.T, name string, fields int) [][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if s.Text() == "" || strings.HasPrefix(s.Text(), "# ") {
			continue
		}
		parts := strings.Split(s.Text(), " => ")
		if len(parts) != fields {
			t.Fatalf("%s: got %d fields, want %d: %s", name, len(parts), fields, s.Text())
		}
		out = append(out, parts)
	}
	if len(out) == 0 {
		t.Fatalf("%s: no vectors", name)
	}
	return out
}

func mustParse(t testing.TB, text string) Layout {
	t.Helper()
	l, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return l
}

func TestLayouts(t *testing.T) {
	for _, v := range vectors(t, "layouts.txt", 3) {
		t.Run(v[0], func(t *testing.T) {
			l := mustParse(t, v[0])
			want := v[1]
			if want == "." {
				want = v[0]
			}
			if l.String() != want {
				t.Errorf("got %s, want %s", l, want)
			}
			if again := mustParse(t, l.String()); again.String() != l.String() {
				t.Errorf("printed %s is read as %s", l, again)
			}
			var got []string
			for i := range strings.Fields(v[2]) {
				got = append(got, fmt.Sprint(l.At(uint32(i))))
			}
			if g := strings.Join(got, " "); g != v[2] {
				t.Errorf("offsets: got %s, want %s", g, v[2])
			}
			checkClaims(t, l)
		})
	}
}

// checkClaims compares what a layout says about itself with its values, one by one.
func checkClaims(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, l Layout) {
	seen := map[uint32]bool{}
	top := uint32(0)
	for i := range l.Size() {
		a := l.At(i)
		if uint64(a) >= l.Cosize() {
			t.Fatalf("%s: offset %d at %d, cosize %d", l, a, i, l.Cosize())
		}
		seen[a] = true
		top = max(top, a)
	}
	oneToOne := len(seen) == int(l.Size())
	p, err := Injective(l)
	if err != nil || p.Holds != oneToOne {
		t.Errorf("%s: injective: got %v, %v; want %v", l, p, err, oneToOne)
	}
	if err == nil && !p.Holds && (p.Pair[0] == p.Pair[1] || l.At(p.Pair[0]) != l.At(p.Pair[1])) {
		t.Errorf("%s: indices %v do not collide", l, p.Pair)
	}
	onto := oneToOne && top == l.Size()-1
	if p, err := Bijective(l); err != nil || p.Holds != onto {
		t.Errorf("%s: bijective: got %v, %v; want %v", l, p, err, onto)
	}
	if h, _, err := highest(l); err != nil || h != top {
		t.Errorf("%s: highest offset: got %d, want %d", l, h, top)
	}
	if columns, ok := l.columns(); ok {
		for i := range l.Size() {
			var sum uint64
			for k, c := range columns {
				if i>>k&1 == 1 {
					sum ^= c
				}
			}
			if sum != uint64(l.At(i)) {
				t.Fatalf("%s: said to be linear, but index %d gives %d, not %d", l, i, l.At(i), sum)
			}
		}
	}
	for _, f := range forms(l) {
		g, err := Parse(f)
		if err != nil {
			t.Fatalf("%s: form %s: %v", l, f, err)
		}
		for i := range l.Size() {
			if g.At(i) != l.At(i) {
				t.Fatalf("%s: form %s: at %d got %d, want %d", l, f, i, g.At(i), l.At(i))
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, v := range vectors(t, "errors.txt", 2) {
		_, err := Parse(v[0])
		var e *Error
		if err == nil || err.Error() != v[1] || !errors.As(err, &e) {
			t.Errorf("%s\n got %v\nwant %s", v[0], err, v[1])
		}
	}
	if _, err := Parse("(4,\n x)"); err == nil || err.Error() != "layout:2:2: got 'x', want integer or '('" {
		t.Errorf("second line: got %v", err)
	}
	if _, err := Parse(strings.Repeat("(", 1000)); err == nil || !strings.Contains(err.Error(), "32 levels") {
		t.Errorf("deep nesting: got %v", err)
	}
	if _, err := Parse(strings.Repeat("8 o ", 1<<15)); err == nil || !strings.Contains(err.Error(), "65536") {
		t.Errorf("long text: got %v", err)
	}
}

func drawStrided(t *rapid.T) Strided {
	n := rapid.IntRange(1, 4).Draw(t, "modes")
	var sizes, steps []uint32
	for range n {
		sizes = append(sizes, rapid.Uint32Range(1, 5).Draw(t, "size"))
		steps = append(steps, rapid.Uint32Range(0, 20).Draw(t, "stride"))
	}
	shape, stride := Leaves(sizes...), Leaves(steps...)
	if n > 2 && rapid.Bool().Draw(t, "nest") {
		shape = List(Leaf(sizes[0]), Leaves(sizes[1:]...))
		stride = List(Leaf(steps[0]), Leaves(steps[1:]...))
	}
	s, err := NewStrided(shape, stride)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawTransform(t *rapid.T) Transform {
	var out Transform
	var err error
	switch rapid.IntRange(0, 6).Draw(t, "transform") {
	case 0:
		b := rapid.IntRange(0, 3).Draw(t, "B")
		s := rapid.IntRange(b, 4).Draw(t, "S")
		if rapid.Bool().Draw(t, "down") {
			s = -s
		}
		out, err = NewSwizzle(b, rapid.IntRange(0, 4).Draw(t, "M"), s)
	case 1:
		out, err = NewPad(PadStep{rapid.Uint32Range(0, 40).Draw(t, "add"), rapid.Uint32Range(1, 64).Draw(t, "per")},
			PadStep{rapid.Uint32Range(0, 40).Draw(t, "add"), rapid.Uint32Range(1, 64).Draw(t, "per")})
	case 2:
		images := []uint32{1, 2, 4, 8, 16, 32}
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			i, j := rapid.IntRange(0, 5).Draw(t, "i"), rapid.IntRange(0, 5).Draw(t, "j")
			if i != j {
				images[i] ^= images[j]
			}
		}
		out, err = NewLinear(images...)
	case 3:
		out, err = NewAbsoluteSwizzle(2, rapid.IntRange(0, 3).Draw(t, "M"), rapid.IntRange(5, 7).Draw(t, "P"))
	case 4:
		out = Identity{}
	case 5:
		out = OnElements{rapid.Uint32Range(1, 12).Draw(t, "element"), Pad{{8, 24}}}
	case 6:
		out = Chain{Swizzle{2, 2, 2}, Pad{{8, 64}}, OnElements{4, Swizzle{1, 0, 3}}}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// drawLayout draws a small layout of any kind.
func drawLayout(t *rapid.T) Layout {
	var l Layout = drawStrided(t)
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 1:
		log := func(label string) uint32 { return 1 << rapid.IntRange(0, 3).Draw(t, label) }
		s, err := NewShared(log("vec"), log("perPhase"), log("maxPhase"),
			rapid.SampledFrom([][]int{{1, 0}, {0, 1}}).Draw(t, "order"), []uint32{log("rows"), log("columns")})
		if err != nil {
			t.Fatal(err)
		}
		l = s
	case 2:
		a, err := NewApply(drawTransform(t), l)
		if err != nil {
			t.Fatal(err)
		}
		l = a
	}
	return l
}

func TestClaimsOnRandomLayouts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		checkClaims(t, l)
		if again, err := Parse(l.String()); err != nil || again.String() != l.String() {
			t.Fatalf("%s: printed text is read as %v, %v", l, again, err)
		}
	})
}

func TestCompareAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawLayout(t), drawLayout(t)
		if rapid.Bool().Draw(t, "same") {
			b = a
		}
		c, err := Compare(a, b)
		if err != nil {
			t.Fatal(err)
		}
		n := min(a.Size(), b.Size())
		first := uint32(0)
		for first < n && a.At(first) == b.At(first) {
			first++
		}
		equal := first == n && a.Size() == b.Size()
		if c.Equal != equal || !equal && c.First != first {
			t.Fatalf("%s == %s: got %v, want equal %v, first difference %d", a, b, c, equal, first)
		}
	})
}

func TestTransforms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawTransform(t)
		again, err := ParseTransform(f.String())
		if err != nil || again.String() != f.String() {
			t.Fatalf("%s: printed text is read as %v, %v", f, again, err)
		}
		n := rapid.Uint64Range(1, 300).Draw(t, "n")
		extent, g := f.Extent(n), f.Granule()
		seen := map[uint32]bool{}
		for a := range uint32(n) {
			y := f.Map(a)
			if seen[y] {
				t.Fatalf("%s: %d is hit twice", f, y)
			}
			seen[y] = true
			if again.Map(a) != y {
				t.Fatalf("%s: read back, %d maps to %d, not %d", f, a, again.Map(a), y)
			}
			if uint64(y) >= extent {
				t.Fatalf("%s: %d maps to %d, outside the extent %d of %d", f, a, y, extent, n)
			}
			if g < 512 && (f.Map(a&^(g-1))%g != 0 || y != f.Map(a&^(g-1))+a&(g-1)) {
				t.Fatalf("%s: granule %d is broken at %d", f, g, a)
			}
		}
		if e, ok := f.(OnElements); ok {
			if b, ok := e.Bytes(); ok {
				for a := range uint32(n) {
					if b.Map(a) != f.Map(a) {
						t.Fatalf("%s on bytes is %s: %d maps to %d and %d", f, b, a, f.Map(a), b.Map(a))
					}
				}
			}
		}
		if l, ok := AsLinear(f, 10); ok {
			for a := range uint32(n) {
				if l.Map(a) != f.Map(a) {
					t.Fatalf("%s as %s: %d maps to %d and %d", f, l, a, f.Map(a), l.Map(a))
				}
			}
		}
	})
}

// TestEqualities holds equalities that people rely on, each in the notation where it is met.
func TestEqualities(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		equal      bool
	}{
		{"CuTe and Triton, 64 halves a row", "Swizzle<3,3,3> o (64,64):(64,1)",
			"#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> on 64x64", true},
		{"32 halves a row need perPhase 2", "Swizzle<2,3,3> o (64,32):(32,1)",
			"#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}> on 64x32", true},
		{"perPhase 1 is another map", "Swizzle<2,3,3> o (64,32):(32,1)",
			"#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}> on 64x32", false},
		{"source bit counted from zero or from M, M = 0", "Swizzle<5,0,@5> o 1024:1", "Swizzle<5,0,5> o 1024:1", true},
		{"source bit counted from zero or from M, M = 4", "Swizzle<3,4,@7> o 1024:1", "Swizzle<3,4,3> o 1024:1", true},
		{"the absolute 3 is not CuTe's 3", "Swizzle<1,2,@3> o 1024:1", "Swizzle<1,2,3> o 1024:1", false},
		{"a pad is a pitch", "pad(+8 per 64) o (8,64):(64,1)", "(8,64):(72,1)", true},
		{"Triton's pad is a pitch", "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [8, 64]}>", "(8,64):(72,1)", true},
		{"nested modes that continue", "((2,2),(4,2)):((1,2),(4,16))", "(4,8):(1,4)", true},
		{"large and linear", "(32768,32768):(32768,1)", "(32768,32768):(1,32768)", false},
		{"large, equal", "Swizzle<3,4,3> o (32768,32768):(1,32768)", "Swizzle<3,4,@7> o (32768,32768)", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Compare(mustParse(t, test.a), mustParse(t, test.b))
			if err != nil || c.Equal != test.equal {
				t.Errorf("got %v, %v; want equal %v", c, err, test.equal)
			}
		})
	}
}

func TestRecast(t *testing.T) {
	for _, test := range []struct {
		s        Swizzle
		from, to uint32
		want     string
	}{
		{Swizzle{3, 4, 3}, 1, 2, "Swizzle<3,3,3>"},
		{Swizzle{3, 3, 3}, 2, 1, "Swizzle<3,4,3>"},
		{Swizzle{3, 4, 3}, 1, 16, "Swizzle<3,0,3>"},
		{Swizzle{3, 4, 3}, 1, 32, ""}, // would split the new element
		{Swizzle{3, 4, 3}, 1, 12, ""},
		{Swizzle{1, 3, 3}, 4, 8, "Swizzle<1,2,3>"},
	} {
		got := ""
		if r, ok := test.s.Recast(test.from, test.to); ok {
			got = r.String()
		}
		if got != test.want {
			t.Errorf("%s from %d to %d bytes: got %q, want %q", test.s, test.from, test.to, got, test.want)
		}
	}
}

func TestUndecided(t *testing.T) {
	l := mustParse(t, "(3001,3001):(1,3000)") // neither linear nor nested, nine million indices
	if _, err := Injective(l); !errors.Is(err, ErrUndecided) {
		t.Errorf("injective: got %v", err)
	}
	if _, err := Compare(l, mustParse(t, "pad(+0 per 7) o (3001,3001):(1,3000)")); !errors.Is(err, ErrUndecided) {
		t.Errorf("compare: got %v", err)
	}
	c, err := Compare(l, mustParse(t, "(3001,3001):(1,3001)"))
	if err != nil || c.Equal || c.First != 3001 {
		t.Errorf("an early difference decides: got %v, %v", c, err)
	}
}

func TestDescribe(t *testing.T) {
	var b bytes.Buffer
	for _, text := range []string{
		"Swizzle<3,0,3> o (8,8):(8,1)",
		"Swizzle<3,3,3> o (8,64):(64,1)",
		"(8,64):(72,1)",
		"(2,(4,8)):(1,(2,16))",
		"(4,4):(1,3)",
		"#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 1], [2, 2]], block = []}>",
		"pad(+1 per 32) o (32,32):(1,32)",
	} {
		if err := Describe(&b, mustParse(t, text)); err != nil {
			t.Fatal(err)
		}
		b.WriteString("----\n")
	}
	name := filepath.Join("testdata", "describe.golden")
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("description changed (-update rewrites it):\n%s", b.Bytes())
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"layouts.txt", "errors.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			text, _, _ := strings.Cut(line, " => ")
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if tr, err := ParseTransform(text); err == nil {
			if again, err := ParseTransform(tr.String()); err != nil || again.String() != tr.String() {
				t.Fatalf("%q prints %q, read as %v, %v", text, tr, again, err)
			}
		}
		l, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(l.String())
		if err != nil || again.String() != l.String() {
			t.Fatalf("%q prints %q, read as %v, %v", text, l, again, err)
		}
		for i := uint32(0); i < l.Size(); i = 2*i + 1 {
			if a := l.At(i); uint64(a) >= l.Cosize() || a != again.At(i) {
				t.Fatalf("%q: offset %d at %d, cosize %d", text, a, i, l.Cosize())
			}
		}
		if l.Size() < 1<<12 {
			if err := Describe(&bytes.Buffer{}, l); err != nil {
				t.Fatal(err)
			}
		}
	})
}
