package layout

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCompose holds the examples of CuTe's documentation (media/docs/cpp/cute/02_layout_algebra.md) and a few more.
func TestCompose(t *testing.T) {
	for _, test := range []struct{ outer, inner, want string }{
		{"(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"},
		{"20:2", "(5,4):(4,1)", "(5,4):(8,2)"},
		{"(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"},
		{"8:1", "(2,4):(4,1)", "(2,4):(4,1)"},
		{"(4,4):(4,1)", "(4,4):(4,1)", "(4,4):(1,4)"},
		{"Swizzle<1,0,1> o 4:1", "4:1", "Swizzle<1,0,1> o 4:1 o 4:1"},
		{"4:1", "5:1", ""},
	} {
		l, err := Compose(mustParse(t, test.outer), mustParse(t, test.inner))
		got := ""
		if err == nil {
			got = l.String()
		}
		if got != test.want {
			t.Errorf("%s o %s: got %q (%v), want %q", test.outer, test.inner, got, err, test.want)
		}
	}
}

func TestComposeAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outer, inner := drawLayout(t), drawLayout(t)
		l, err := Compose(outer, inner)
		if fits := inner.Cosize() <= uint64(outer.Size()); fits != (err == nil) {
			t.Fatalf("%s o %s: got %v", outer, inner, err)
		}
		if err != nil {
			return
		}
		for i := range inner.Size() {
			if got, want := l.At(i), outer.At(inner.At(i)); got != want {
				t.Fatalf("%s o %s = %s: at %d got %d, want %d", outer, inner, l, i, got, want)
			}
		}
		checkClaims(t, l)
	})
}
