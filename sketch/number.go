package sketch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseInt reads an integer literal with its suffix and gives it the first type that holds it, as C does.
func parseInt(s string) (uint64, *ctype, error) {
	body := strings.ToLower(strings.ReplaceAll(s, "'", ""))
	digits := strings.TrimRight(body, "ul")
	suffix := body[len(digits):]
	base, text := 10, digits
	switch {
	case strings.HasPrefix(digits, "0x"):
		base, text = 16, digits[2:]
	case strings.HasPrefix(digits, "0b"):
		base, text = 2, digits[2:]
	case len(digits) > 1 && digits[0] == '0':
		base, text = 8, digits[1:]
	}
	v, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		return 0, nil, fmt.Errorf("bad number %q, want an integer of at most 64 bits", clip(s))
	}
	long := strings.Contains(suffix, "l")
	unsigned := strings.Contains(suffix, "u")
	switch {
	case !long && !unsigned && v <= math.MaxInt32:
		return v, typeInt, nil
	case !long && (unsigned || base != 10) && v <= math.MaxUint32:
		return v, typeUint, nil
	case !unsigned && v <= math.MaxInt64:
		return v, typeLongLong, nil
	}
	return v, typeULongLong, nil
}

func parseFloat(s string) (float64, *ctype, error) {
	body := strings.ToLower(strings.ReplaceAll(s, "'", ""))
	t := typeDouble
	if trimmed := strings.TrimRight(body, "fl"); trimmed != body {
		if strings.HasSuffix(body, "f") {
			t = typeFloat
		}
		body = trimmed
	}
	v, err := strconv.ParseFloat(body, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, nil, fmt.Errorf("bad number %q, want a floating-point literal", clip(s))
	}
	return v, t, nil
}

// clip shortens a word of the source for a message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// binaryPrec gives the precedence of the binary operators, loosest 1.
var binaryPrec = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
	"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// foldInt applies a binary operator to two values of type t (for shifts, the left operand's type). A division by zero is
// the caller's business. Shift counts at or past the width give what the hardware gives: 0, or the sign.
func foldInt(op string, t *ctype, x, y int64) int64 {
	var r int64
	switch op {
	case "+":
		r = x + y
	case "-":
		r = x - y
	case "*":
		r = x * y
	case "/":
		r = divide(t, x, y)
	case "%":
		r = remainder(t, x, y)
	case "&":
		r = x & y
	case "|":
		r = x | y
	case "^":
		r = x ^ y
	case "<<":
		r = x << shiftCount(t, y)
	case ">>":
		r = shiftRight(t, x, y)
	case "&&":
		return truth(x != 0 && y != 0)
	case "||":
		return truth(x != 0 || y != 0)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<":
		return truth(less(t, x, y))
	case ">":
		return truth(less(t, y, x))
	case "<=":
		return truth(!less(t, y, x))
	case ">=":
		return truth(!less(t, x, y))
	}
	return t.wrap(r)
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func divide(t *ctype, x, y int64) int64 {
	switch {
	case y == 0:
		return 0
	case t.wideUnsigned():
		return int64(uint64(x) / uint64(y))
	case y == -1:
		return -x
	}
	return x / y
}

func remainder(t *ctype, x, y int64) int64 {
	switch {
	case y == 0 || y == -1 && !t.wideUnsigned():
		return 0
	case t.wideUnsigned():
		return int64(uint64(x) % uint64(y))
	}
	return x % y
}

func less(t *ctype, x, y int64) bool {
	if t.wideUnsigned() {
		return uint64(x) < uint64(y)
	}
	return x < y
}

// shiftCount clamps a count as the hardware does: counts at or past the width, and negative ones, shift everything out.
func shiftCount(t *ctype, y int64) uint {
	if y < 0 || y >= int64(t.size)*8 {
		return 64
	}
	return uint(y)
}

func shiftRight(t *ctype, x, y int64) int64 {
	if t.wideUnsigned() {
		return int64(uint64(x) >> shiftCount(t, y))
	}
	return x >> shiftCount(t, y)
}
