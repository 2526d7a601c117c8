package space

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"issue", "chunk=16..40:8,dtype=f16,bf16,f32", "chunk=16,24,32,40,dtype=f16,bf16,f32"},
		{"one value", "n=7", "n=7"},
		{"range of one", "n=7..7", "n=7"},
		{"step past the end", "n=1..8:3", "n=1,4,7"},
		{"doubling", "n=16..256*2", "n=16,32,64,128,256"},
		{"tripling past the end", "n=1..30*3", "n=1,3,9,27"},
		{"negative", "n=-2..2,9", "n=-2,-1,0,1,2,9"},
		{"hex", "n=0x10,0x20", "n=16,32"},
		{"spaces", " chunk = 1 , 2 , layout = xor3 , pad-4 ", "chunk=1,2,layout=xor3,pad-4"},
		{"words with signs", "f=a/b,<3:2>,0.5,-x", "f=a/b,<3:2>,0.5,-x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := written(s); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// written returns a space value by value.
func written(s *Space) string {
	var fields []string
	for _, p := range s.Params {
		for i, v := range p.Values {
			if i == 0 {
				fields = append(fields, p.Name+"="+v.String())
			} else {
				fields = append(fields, v.String())
			}
		}
	}
	return strings.Join(fields, ",")
}

func TestString(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"as written", "chunk=16..256:8,dtype=f16,bf16,f32", "chunk=16..256:8,dtype=f16,bf16,f32"},
		{"found", "n=1,2,3,5,7,9,x", "n=1..3,5..9:2,x"},
		{"two are no range", "n=1,2", "n=1,2"},
		{"falling", "n=9,6,3", "n=9,6,3"},
		{"doubling", "n=4..64*2", "n=4,8,16,32,64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", `"", column 1: got "", want name=value`},
		{"no name", "16..32", `"16..32", column 1: got "16..32", want name=value`},
		{"empty name", "=3", `column 1: got "", want a name of letters, digits and _ before =`},
		{"bad name", "1a=3", `column 1: got "1a", want a name of letters`},
		{"empty value", "a=", `column 3: got "", want an integer, a range low..high, or a word`},
		{"empty value inside", "a=1,,2", `column 5: got "", want an integer`},
		{"end of range", "chunk=16..x", `"chunk=16..x", column 11: got "x", want an integer after ..`},
		{"start of range", "chunk=x..16", `column 7: got "x", want an integer before ..`},
		{"falling range", "a=8..1", `column 6: got "1", want at least 8, the start of the range`},
		{"step zero", "a=1..8:0", `column 8: got "0", want a step of at least 1`},
		{"step negative", "a=1..8:-1", `column 8: got "-1", want a step of at least 1`},
		{"factor one", "a=1..8*1", `column 8: got "1", want a factor of at least 2`},
		{"factor from zero", "a=0..8*2", `column 3: got "0", want at least 1 at the start of a range that multiplies`},
		{"large range", "a=0..99999999", `column 3: got "0..99999999", want at most 65536 values`},
		{"huge integer", "a=0..99999999999999999999", `column 6: got "99999999999999999999", want an integer after ..`},
		{"value twice", "a=1..4,3", `column 8: got "3", want each value once`},
		{"name twice", "a=1,b=2,a=3", `got parameter a twice, want each name once`},
		{"word with space", "a=x y", `column 3: got "x y", want an integer`},
		{"equals in a word", "a=b=c", `column 3: got "b=c", want an integer`},
		{"control byte", "a=x\x00", `got "x\x00", want an integer`},
		{"too many points", "a=1..5000,b=1..5000", "got 25000000 points or more, want at most 16777216"},
		{"too long", "a=" + strings.Repeat("x", maxText), "got 65538 bytes, want at most 65536"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.text)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v and error %v, want a SyntaxError with %q", s, err, tt.want)
			}
		})
	}
}

func TestPoints(t *testing.T) {
	s, err := Parse("a=1,2,b=x,y,z")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for point := range s.Points() {
		got = append(got, fmt.Sprint(point))
	}
	want := "[1 x] [1 y] [1 z] [2 x] [2 y] [2 z]"
	if strings.Join(got, " ") != want || s.Size() != 6 {
		t.Errorf("got %v of %d, want %s of 6", got, s.Size(), want)
	}
	if s.Index("b") != 1 || s.Index("c") != -1 {
		t.Errorf("Index(b) = %d, Index(c) = %d; want 1, -1", s.Index("b"), s.Index("c"))
	}
	for range s.Points() {
		break // must be allowed
	}
}

func TestAdd(t *testing.T) {
	s, err := Parse("a=1,2")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add("b=3,a=4"); err == nil || s.String() != "a=1,2" {
		t.Errorf("after a failed Add the space is %q with error %v, want it unchanged", s, err)
	}
	if err := s.Add("b=3"); err != nil || s.String() != "a=1,2,b=3" {
		t.Errorf("got %q, error %v; want a=1,2,b=3", s, err)
	}
}

func TestParseValues(t *testing.T) {
	got, err := ParseValues("8,16..32:8,f16")
	if err != nil || fmt.Sprint(got) != "[8 16 24 32 f16]" {
		t.Errorf("got %v, error %v; want [8 16 24 32 f16]", got, err)
	}
	if !got[0].IsInt() || got[4].IsInt() {
		t.Errorf("IsInt of %v is %v, of %v %v; want true, false", got[0], got[0].IsInt(), got[4], got[4].IsInt())
	}
	if _, err := ParseValues("8,a=1"); err == nil {
		t.Error("ParseValues takes a name, want an error")
	}
}

// What is parsed prints as a space that parses to the same.
func FuzzParse(f *testing.F) {
	f.Add("chunk=16..256:8,dtype=f16,bf16,f32")
	f.Add("a=1..64*2,b=0x10,-3")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v is a %T, want a SyntaxError", err, err)
			}
			return
		}
		printed := s.String()
		if len(printed) > maxText {
			return
		}
		again, err := Parse(printed)
		if err != nil || written(again) != written(s) {
			t.Fatalf("%q prints as %q, which parses to %v with error %v", text, printed, again, err)
		}
	})
}
