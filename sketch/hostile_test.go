package sketch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Input that is broken or made to hurt must end in a diagnostic, soon and in bounded memory.
func TestHostileInput(t *testing.T) {
	kernel := func(body string) string {
		return "__global__ void k(int n) { __shared__ int s[64]; " + body + " }"
	}
	cases := []struct {
		name, src, want string
	}{
		{"empty", "", "nothing to run"},
		{"only a comment", "// nothing\n", "nothing to run"},
		{"unterminated comment", "__shared__ int s[4]; /* s[0];", "comment is not closed"},
		{"unterminated string", "asm(\"ld.shared", "literal is not closed"},
		{"NUL bytes", "__shared__ int s[4];\x00s[0];", "unexpected byte"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00", "unexpected byte"},
		{"long line", strings.Repeat("s[0];", 2<<20), "want at most"},
		{"many tokens", strings.Repeat("+ ", 1<<20), "tokens"},
		{"unknown type", kernel("foo x = 3;"), "unknown type 'foo'"},
		{"recursion", "__device__ int f(int x) { return f(x - 1); }" + kernel("s[f(3)] = 0;"), "calls itself"},
		{"mutual recursion", "__device__ int g(int x); __device__ int f(int x) { return g(x); }" +
			"__device__ int g(int x) { return f(x); }" + kernel("s[f(3)] = 0;"), "calls itself"},
		{"endless loop", kernel("while (true) { s[0] = 1; }"), "endless"},
		{"endless loop without a body", kernel("for (;;) {} s[0] = 1;"), "endless"},
		{"endless loop in unsigned", kernel("for (unsigned i = 5; i >= 0; i--) s[i % 64] = 1;"), "endless"},
		{"huge shared array", kernel("__shared__ int t[1 << 30][1 << 30]; t[0][0] = 1;"), "larger than any memory"},
		{"huge local array", kernel("int t[1 << 28]; t[threadIdx.x] = 1; s[t[0]] = 1;"), "want at most"},
		{"negative bound", kernel("__shared__ int t[-3];"), "array bound is -3"},
		{"deep parentheses", kernel("s[" + strings.Repeat("(", 100000) + "0" + strings.Repeat(")", 100000) + "] = 1;"), "nested more"},
		{"deep blocks", kernel(strings.Repeat("{", 100000) + strings.Repeat("}", 100000)), "nested more"},
		{"deep unary", kernel("s[" + strings.Repeat("- ", 100001) + "1] = 1;"), "nested more"},
		{"long sum", kernel("s[" + strings.Repeat("1+", 100000) + "0] = 1;"), "chains more"},
		{"long index chain", kernel("s" + strings.Repeat("[0]", 100000) + " = 1;"), "chains more"},
		{"deep pointers", kernel("int " + strings.Repeat("*", 100000) + "p; s[0] = 1;"), "nested more"},
		{"deep else if", kernel(strings.Repeat("if (n) s[0] = 1; else ", 10000) + ";"), "nested more"},
		{"deep #if", strings.Repeat("#if 1\n", 1000), "#if nested"},
		{"open #if", "#if 1\n__shared__ int s[4]; s[0];", "#if is not closed"},
		{"macro bomb", "#define A x x x x x x x x x x\n#define B A A A A A A A A A A\n#define C B B B B B B B B B B\n" +
			"#define D C C C C C C C C C C\n#define E D D D D D D D D D D\n#define F E E E E E E E E E E\n" +
			"#define G F F F F F F F F F F\nG", "macros expand"},
		{"macro argument bomb", "#define A(x) x x x x x x x x\n" + strings.Repeat("A(", 20) + "y" + strings.Repeat(")", 20), "to more than"},
		{"macro calls itself", "#define A(x) B(x)\n#define B(x) A(x + 1)\n__shared__ int s[4]; s[A(0)] = t;", "'t' is not declared"},
		{"inline bomb", bomb(), "operations"},
		{"unbalanced braces", "__global__ void k() { __shared__ int s[4]; if (1) { s[0] = 1;", "'{' is not closed"},
		{"division by zero", kernel("s[0] = 5 / (threadIdx.x - threadIdx.x);"), "division by zero"},
		{"constant division by zero", kernel("s[5 / 0] = 0;"), "division by zero"},
		{"goto", kernel("again: s[0] = 1; goto again;"), "goto"},
		{"struct in itself", "struct A { A a; };" + kernel("A x; s[0] = 1;"), "contains itself"},
		{"constant defined by itself", "const int N = N + 1;" + kernel("__shared__ int t[N];"), "not constant"},
		{"alias of itself", "using A = A;" + kernel("A x;"), "nested more"},
		{"wild number", kernel("s[99999999999999999999999] = 1;"), "bad number"},
		{"no such name", kernel("s[foo] = 1;"), "'foo' is not declared"},
		{"nested template arguments", kernel("s[" + strings.Repeat("f<", 5000) + "] = 1;"), ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			start := time.Now()
			err := runAll(tc.src)
			// Times are not bounded in short runs, which the race detector slows down many times over.
			if d := time.Since(start); d > 4*time.Second && !testing.Short() {
				t.Errorf("took %v, want at most 2s on a free core", d)
			}
			if err == nil {
				t.Fatalf("no error, want %q", tc.want)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %.300s\nwant %s", err, tc.want)
			}
			if n := len(err.Error()); n > 20000 {
				t.Errorf("error has %d bytes, want a readable number", n)
			}
		})
	}
}

// bomb returns a kernel whose inlined calls double at every level.
func bomb() string {
	var b strings.Builder
	b.WriteString("__device__ int f0(int x) { return x + 1; }\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "__device__ int f%d(int x) { return f%d(x) + f%d(x + 1); }\n", i, i-1, i-1)
	}
	b.WriteString("__global__ void k() { __shared__ int s[4]; s[f39(1)] = 1; }")
	return b.String()
}

// runAll parses and runs a sketch for one block and returns the first error.
func runAll(src string, defines ...Define) error {
	p, err := Parse("k.cu", []byte(src), Options{Defines: defines})
	if err != nil {
		return err
	}
	for _, k := range p.Kernels() {
		s, err := p.Source(Launch{Kernel: k.Name})
		if err != nil {
			return err
		}
		for _, err := range s.Accesses(context.Background()) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
