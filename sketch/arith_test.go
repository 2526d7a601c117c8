package sketch

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shmoo/smem"
)

// values runs bare statements that end in an index expression and returns what it is in each lane. The expression indexes
// bytes, so that the address is its value in 32 bits.
func values(t interface{ Fatalf(string, ...any) }, statements, expression string, lanes int) []uint32 {
	src := statements + "\n__shared__ char s[1];\ns[" + expression + "];"
	p, err := Parse("e.cu", []byte(src), Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	s, err := p.Source(Launch{Block: [3]int{lanes, 1, 1}})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	var out []uint32
	for a, err := range s.Accesses(context.Background()) {
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if a.Unresolved != "" || a.Request.Op != smem.Load {
			t.Fatalf("got %v %q, want a load\n%s", a.Request.Op, a.Unresolved, src)
		}
		out = append(out[:0], a.Request.Addr[:lanes]...)
	}
	if len(out) != lanes {
		t.Fatalf("no access\n%s", src)
	}
	return out
}

// C's rules, checked by hand. All values are taken in 32 bits.
func TestIntegerSemantics(t *testing.T) {
	for _, tc := range []struct {
		expr string
		want int64
	}{
		{"7 / 2", 3}, {"-7 / 2", -3}, {"-7 % 2", -1}, {"7 % -2", 1}, {"7u / 2", 3}, {"-7 / 2u", 2147483644},
		{"-1 < 1u", 0}, {"-1 < 1", 1}, {"-1ll < 1u", 1}, {"(unsigned char)300", 44}, {"(signed char)200", -56},
		{"(short)0x12345", 0x2345}, {"2147483647 + 1 < 0", 1}, {"4294967295u + 1", 0}, {"4294967295u + 1ll > 0", 1},
		{"1 << 31 < 0", 1}, {"-8 >> 1", -4}, {"-8 >> 1u", -4}, {"0x80000000 >> 31", 1}, {"1 << 32", 0}, {"-1 >> 40", -1},
		{"1ull << 40 >> 38", 4}, {"~0u >> 28", 15}, {"!5", 0}, {"!!5", 1}, {"3 > 2 > 1", 0}, {"1 ? 2 : 3", 2},
		{"(1, 2)", 2}, {"5 & 3 == 3", 1}, {"(5 & 3) == 3", 0}, {"1 + 2 << 3", 24}, {"10 - 4 - 3", 3}, {"2 + 3 * 4 % 5", 4},
		{"sizeof(int) - 5 > 0", 1}, {"sizeof(double2)", 16}, {"sizeof(float3)", 12}, {"sizeof(half2)", 4}, {"alignof(float4)", 16},
		{"'a'", 97}, {"'\\n'", 10}, {"0x1F", 31}, {"017", 15}, {"0b101", 5}, {"1'000", 1000}, {"true + true", 2},
		{"(bool)0.5f", 1}, {"(int)2.9f", 2}, {"(int)-2.9", -2}, {"(int)ceilf(7 / 2.0f)", 4}, {"(unsigned short)-1", 65535},
		{"(char)255 < 0", 1}, {"-(-2147483647 - 1) < 0", 1}, {"(int)(3000000000u) < 0", 1}, {"min(-1, 1)", -1},
		{"min(-1, 1u)", 1}, {"max(3, 5)", 5}, {"abs(-4)", 4}, {"__clz(1)", 31}, {"__ffs(8)", 4}, {"__popc(255)", 8},
		{"__umulhi(0x80000000u, 4u)", 2}, {"__mul24(3, 5)", 15}, {"__brev(1u) >> 31", 1}, {"int(7.5)", 7}, {"int{3} + unsigned(2)", 5},
		{"static_cast<unsigned char>(-1)", 255}, {"warpSize + blockDim.x", 33}, {"(unsigned char)200 + (unsigned char)100", 300},
	} {
		// Once folded at compile time, once with operands that only a lane knows.
		if got := values(t, "", tc.expr, 1); got[0] != uint32(tc.want) {
			t.Errorf("%s: got %d, want %d", tc.expr, int32(got[0]), tc.want)
		}
	}
}

// A term is an expression with the value that Go's arithmetic gives it.
type term64 struct {
	text string
	ty   *ctype
	val  []int64 // by lane
}

// intTypes are the types of generated operands.
var intTypes = []*ctype{typeChar, typeUchar, typeShort, typeUshort, typeInt, typeUint, typeLongLong, typeULongLong}

// goWrap is an independent statement of what converting to a type does.
func goWrap(t *ctype, v int64) int64 {
	switch t {
	case typeBool:
		if v != 0 {
			return 1
		}
		return 0
	case typeChar:
		return int64(int8(v))
	case typeUchar:
		return int64(uint8(v))
	case typeShort:
		return int64(int16(v))
	case typeUshort:
		return int64(uint16(v))
	case typeInt:
		return int64(int32(v))
	case typeUint:
		return int64(uint32(v))
	}
	return v
}

// goBinary applies an operator with the arithmetic of Go's own sized integers.
func goBinary(op string, t *ctype, x, y int64) (int64, bool) {
	switch t {
	case typeInt:
		return sized(op, int32(x), int32(y))
	case typeUint:
		return sized(op, uint32(x), uint32(y))
	case typeULongLong:
		return sized(op, uint64(x), uint64(y))
	}
	return sized(op, x, y)
}

func sized[T int32 | uint32 | int64 | uint64](op string, x, y T) (int64, bool) {
	b := func(v bool) (int64, bool) { return truth(v), true }
	switch op {
	case "+":
		return int64(x + y), true
	case "-":
		return int64(x - y), true
	case "*":
		return int64(x * y), true
	case "/":
		if y == 0 {
			return 0, false
		}
		return int64(x / y), true
	case "%":
		if y == 0 {
			return 0, false
		}
		return int64(x % y), true
	case "&":
		return int64(x & y), true
	case "|":
		return int64(x | y), true
	case "^":
		return int64(x ^ y), true
	case "<":
		return b(x < y)
	case "<=":
		return b(x <= y)
	case ">":
		return b(x > y)
	case ">=":
		return b(x >= y)
	case "==":
		return b(x == y)
	}
	return b(x != y)
}

// Random expressions over lanes agree with Go, whether constants are folded or come out of variables.
func TestExpressionsAgreeWithGo(t *testing.T) {
	const lanes = 8
	rapid.Check(t, func(t *rapid.T) {
		var decls strings.Builder
		names := 0
		leaf := func() term64 {
			ty := rapid.SampledFrom(intTypes).Draw(t, "type")
			base := goWrap(ty, rapid.Int64().Draw(t, "base")>>rapid.IntRange(0, 60).Draw(t, "shift"))
			step := int64(rapid.IntRange(0, 3).Draw(t, "step"))
			v := term64{ty: ty, val: make([]int64, lanes)}
			for lane := range v.val {
				v.val[lane] = goWrap(ty, base+step*int64(lane))
			}
			name := ty.name
			literal := fmt.Sprintf("(%s)%dull", name, uint64(base))
			if step == 0 && rapid.Bool().Draw(t, "constant") {
				v.text = "(" + literal + ")"
				return v
			}
			names++
			v.text = "v" + strconv.Itoa(names)
			fmt.Fprintf(&decls, "%s %s = (%s)(%dull + %dull * threadIdx.x);\n", name, v.text, name, uint64(base), step)
			return v
		}
		var build func(depth int) term64
		build = func(depth int) term64 {
			if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
				return leaf()
			}
			x, y := build(depth-1), build(depth-1)
			op := rapid.SampledFrom([]string{"+", "-", "*", "/", "%", "&", "|", "^", "<", "<=", ">", ">=", "==", "!="}).Draw(t, "op")
			common := arithmetic(x.ty, y.ty)
			out := term64{text: "(" + x.text + " " + op + " " + y.text + ")", ty: common, val: make([]int64, lanes)}
			if strings.ContainsAny(op[:1], "<>=!") {
				out.ty = typeBool
			}
			for lane := range out.val {
				v, ok := goBinary(op, common, goWrap(common, x.val[lane]), goWrap(common, y.val[lane]))
				if !ok {
					return x // divides by zero somewhere
				}
				out.val[lane] = v
			}
			return out
		}
		e := build(4)
		if e.ty == typeBool {
			e.text = "(int)" + e.text
		}
		got := values(t, decls.String(), e.text, lanes)
		for lane := range got {
			if got[lane] != uint32(e.val[lane]) {
				t.Fatalf("lane %d: got %#x, want %#x\n%s%s", lane, got[lane], uint32(e.val[lane]), decls.String(), e.text)
			}
		}
	})
}
