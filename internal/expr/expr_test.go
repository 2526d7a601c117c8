package expr

import (
	"errors"
	"strings"
	"testing"
)

var values = map[string]int64{"CHUNK": 16, "PAD": 2, "ZERO": 0, "BIG": 1 << 62}

func lookup(name string) (int64, bool) {
	v, ok := values[name]
	return v, ok
}

func TestEval(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
	}{
		{"4096/CHUNK", 256},
		{"4096 / CHUNK * (CHUNK + PAD) * 2", 9216},
		{"1+2*3", 7},
		{"10-4-3", 3},
		{"0x10 % 7", 2},
		{"-7/2", -3},
		{"-7%2", -1},
		{"1<<4>>2", 4},
		{"1|2^3&1", 3},
		{"1+1==2", 1},
		{"!PAD + ~0", -1},
		{"CHUNK<=16 && PAD>1 || ZERO", 1},
		{"ZERO && 1/ZERO", 0},
		{"PAD || 1/ZERO", 1},
		{"CHUNK > 7168 ? 1024*14336/CHUNK : 2048", 2048},
		{"1 ? 2 : 0 ? 3 : 4", 2},
		{"0 ? 2 : 0 ? 3 : 4", 4},
		{"gcd(CHUNK*3, 32)", 16},
		{"gcd(-12, 18)", 6},
		{"ceildiv(7, 2) + ceildiv(8, 2) + ceildiv(-7, 2)", 5},
		{"max(1, min(PAD, CHUNK))", 2},
	} {
		if got, err := Eval(test.text, lookup); err != nil || got != test.want {
			t.Errorf("%s: got %d, %v, want %d", test.text, got, err, test.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "column 1: got the end"},
		{"1+", "column 3: got the end"},
		{"1 2", `column 3: got "2", want an operator`},
		{"(1", "column 3: got the end, want )"},
		{"a$b", `column 2: got "$"`},
		{"1=2", `column 2: got "="`},
		{"WIDTH*2", `column 1: got "WIDTH", want a parameter`},
		{"sin(1)", `column 1: got "sin", want min, max`},
		{"min(1)", `column 6: got ")", want ,`},
		{"1 ? 2", "column 6: got the end, want :"},
		{"7 / ZERO", "column 3: got 7 / 0"},
		{"7 % ZERO", "column 3: got 7 % 0"},
		{"BIG*2", "column 4: got 4611686018427387904 * 2"},
		{"BIG+BIG", "column 4:"},
		{"-BIG-BIG-1", "column 9:"},
		{"1<<63", "column 2:"},
		{"1>>-1", "column 2:"},
		{"9999999999999999999", "want a whole number"},
		{strings.Repeat("(", 300) + "1", "want at most 100 levels"},
		{strings.Repeat("-", 300) + "1", "want at most 100 levels"},
		{strings.Repeat("1+", 3000) + "1", "want at most 4096"},
	} {
		_, err := Eval(test.text, lookup)
		if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40s: got %v, want an error with %q", test.text, err, test.want)
		}
	}
}

func FuzzEval(f *testing.F) {
	for _, seed := range []string{"4096/CHUNK", "a?b:c", "((1))", "gcd(1,2)<<3", "!~-+1", "1||0&&2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("got %T, want *Error", err)
			}
			return
		}
		if _, err := e.Eval(lookup); err != nil && !errors.As(err, new(*Error)) {
			t.Fatalf("got %T, want *Error", err)
		}
	})
}
