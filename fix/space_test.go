package fix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/smem"
	"shmoo/space"
)

var elementSize = map[string]int{"f16": 2, "bf16": 2, "f32": 4, "f64": 8}

// chunks is a scan whose threads walk rows of their own, width bytes at a time; pad elements are already in the code.
func chunks(t *testing.T, width, pad int) func([]space.Value) (*Problem, error) {
	return func(v []space.Value) (*Problem, error) {
		chunk, elem := int(v[0].Int), elementSize[v[1].Word]
		pitch := elem * (chunk + pad)
		w := width
		for pitch%w != 0 {
			w /= 2
		}
		b := &builder{arrays: []access.Array{array("buf", elem, 32, chunk+pad)}}
		b.site("load", smem.Load, w, elem*chunk/w, func(step, l int) int { return l*pitch + step*w })
		p, err := Problems(context.Background(), b, arch.MustLookup("sm_90"), Block{})
		if err != nil {
			return nil, err
		}
		return p[0], nil
	}
}

func searchSpace(t *testing.T, text string, make func([]space.Value) (*Problem, error), o Options) *SpaceResult {
	t.Helper()
	s, err := space.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := SearchSpace(context.Background(), s, make, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rulesText(r *SpaceResult) string {
	var parts []string
	for i := range r.Rules {
		text := r.Rules[i].String()
		if c := r.Rules[i].When; c != nil {
			text = "if " + c.String() + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func TestSpaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, space string
		make        func([]space.Value) (*Problem, error)
		options     Options
		rules       string
		short       int // counterexamples of the present code
	}{
		{
			name: "128-bit reads of rows", space: "chunk=16..256:8,dtype=f16,f32", make: chunks(t, 16, 0),
			// The row must be an odd number of 16-byte pieces.
			rules: "if row_bytes % 32 == 0: pad each row by 16 bytes; no pad", short: 47,
		},
		{
			name: "a fixed pad of 8 halves is not right everywhere", space: "chunk=16..256:8,dtype=f16", make: chunks(t, 16, 8),
			rules: "if row_bytes % 32 == 0: pad each row by 16 bytes; no pad", short: 15,
		},
		{
			name: "one rule for all", space: "chunk=32,64,128,dtype=f32", make: chunks(t, 4, 0),
			rules: "pad each row by 4 bytes", short: 3,
		},
		{
			name: "nothing to do", space: "chunk=33,65,dtype=f32", make: chunks(t, 4, 0),
			rules: "no pad", short: 0,
		},
		{
			name: "the pad that is there is best, and no family has it", space: "chunk=32,dtype=f32", make: chunks(t, 4, 1),
			options: Options{Allow: []Family{LinearF}}, rules: "pad(+4 per 128 bytes)", short: 0,
		},
		{
			name: "256-byte rows need another swizzle", space: "chunk=32,64,dtype=f32", make: chunks(t, 16, 0), options: Options{Allow: []Family{XOR}},
			rules: "if row_bytes % 256 == 128: Swizzle<3,4,3>; Swizzle<3,4,4>", short: 2,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := searchSpace(t, test.space, test.make, test.options)
			if got := rulesText(r); got != test.rules {
				t.Errorf("got %q, want %q", got, test.rules)
			}
			if n := len(r.Counterexamples()); n != test.short {
				t.Errorf("counterexamples: got %d, want %d", n, test.short)
			}
			for i := range r.Points {
				p := &r.Points[i]
				problem, err := test.make(p.Values)
				if err != nil {
					t.Fatal(err)
				}
				sum := int64(0)
				for _, n := range recount(problem.withoutPad(), p.Transform) {
					sum += n
				}
				if sum != p.Best {
					t.Errorf("%s: the rule gives %d wavefronts, promised %d", r.pointName(p), sum, p.Best)
				}
			}
			runPick(t, r)
		})
	}
}

// runPick executes the emitted function at every point and compares it with the rule of the point.
func runPick(t *testing.T, r *SpaceResult) {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	var code bytes.Buffer
	if err := EmitPick(&code, r); err != nil {
		t.Fatal(err)
	}
	head := code.String()
	def := head[strings.Index(head, "(")+1 : strings.Index(head, ")")]
	var args []string
	if def != "" {
		args = strings.Split(def, ", ")
	}
	var want []string
	for i := range r.Points {
		p := &r.Points[i]
		values := make([]string, len(args))
		for k, a := range args {
			switch a {
			case RowBytes:
				values[k] = fmt.Sprint(p.RowBytes)
			case ElemBytes:
				values[k] = fmt.Sprint(p.ElemBytes)
			default:
				values[k] = python(p.Values[r.Space.Index(a)])
			}
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(head, "def "), "(")
		fmt.Fprintf(&code, "print(%s(%s))\n", name, strings.Join(values, ", "))
		rule := &r.Rules[p.Rule]
		switch {
		case name == "pick_layout":
			want = append(want, rule.String())
		case rule.Unit == Elements:
			want = append(want, fmt.Sprint(rule.Add*p.ElemBytes))
		default:
			want = append(want, fmt.Sprint(rule.Add))
		}
	}
	cmd := exec.Command(interpreter, "-")
	cmd.Stdin = &code
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, head)
	}
	if got := strings.Fields(string(out)); strings.Join(got, " ") != strings.Join(strings.Fields(strings.Join(want, " ")), " ") {
		t.Errorf("got %v\nwant %v\n%s", got, want, head)
	}
}

func TestSpaceOutput(t *testing.T) {
	var b bytes.Buffer
	r := searchSpace(t, "chunk=40..64:8,dtype=f16,f32", chunks(t, 16, 0), Options{})
	r.Points[0].Err = errors.New("shared | memory exceeded")
	if err := WriteMarkdown(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := EmitPick(&b, r); err != nil {
		t.Fatal(err)
	}
	data, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	b.Write(append(data, '\n'))
	golden(t, "space.golden", b.Bytes())
}

func TestSpaceErrors(t *testing.T) {
	s, err := space.Parse("chunk=16,32")
	if err != nil {
		t.Fatal(err)
	}
	none := errors.New("no such array")
	if _, err := SearchSpace(context.Background(), s, func([]space.Value) (*Problem, error) { return nil, none }, Options{}); !errors.Is(err, none) {
		t.Errorf("no point has a verdict: got %v", err)
	}
	if _, err := SearchSpace(context.Background(), s, nil, Options{Narrow: true}); err == nil {
		t.Error("broken-up accesses over a space: got no error")
	}
	big, err := space.Parse("a=1..200,b=1..200")
	if err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if _, err := SearchSpace(context.Background(), big, nil, Options{}); !errors.As(err, &limit) {
		t.Errorf("too many points: got %v", err)
	}
}

// TestConditionsSeparate checks the choice of conditions where a remainder, a bound, a set and a list are each the
// simplest.
func TestConditionsSeparate(t *testing.T) {
	s, err := space.Parse("n=1..12,kind=a,b,c")
	if err != nil {
		t.Fatal(err)
	}
	r := &SpaceResult{Space: s}
	var points []int
	for v := range s.Points() {
		points = append(points, len(r.Points))
		r.Points = append(r.Points, SpacePoint{Values: append([]space.Value(nil), v...)})
	}
	for _, test := range []struct {
		want string
		in   func(n int64, kind string) bool
	}{
		{"n % 4 == 3", func(n int64, _ string) bool { return n%4 == 3 }},
		{"n >= 9", func(n int64, _ string) bool { return n >= 9 }},
		{"n <= 2", func(n int64, _ string) bool { return n <= 2 }},
		{`kind in ("a", "c")`, func(_ int64, k string) bool { return k != "b" }},
		{`(n, kind,) in ((5, "b",),)`, func(n int64, k string) bool { return n == 5 && k == "b" }},
	} {
		may, must := map[int]bool{}, map[int]bool{}
		for i, p := range r.Points {
			in := test.in(p.Values[0].Int, p.Values[1].Word)
			may[i], must[i] = in, in
		}
		c := separate(r, points, may, must)
		if c.String() != test.want {
			t.Errorf("got %s, want %s", c, test.want)
		}
		for i, p := range r.Points {
			if c.holds(r, &p) != must[i] {
				t.Errorf("%s: wrong at %s", c, r.pointName(&p))
			}
		}
	}
}
