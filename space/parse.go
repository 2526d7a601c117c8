package space

import (
	"fmt"
	"strconv"
	"strings"
)

func parse(text string) ([]Param, error) {
	c := cursor{text: text}
	var params []Param
	err := c.pieces(func(piece string, col int) error {
		if name, rest, ok := strings.Cut(piece, "="); ok {
			trimmed := strings.TrimSpace(name)
			if !isName(trimmed) {
				return c.errorf(col, trimmed, "a name of letters, digits and _ before =")
			}
			params = append(params, Param{Name: trimmed})
			piece, col = rest, col+len(name)+1
		}
		if len(params) == 0 {
			return c.errorf(col, piece, "name=value")
		}
		p := &params[len(params)-1]
		var err error
		p.Values, err = c.values(p.Values, piece, col)
		return err
	})
	return params, err
}

// cursor is a text being parsed.
type cursor struct {
	text string
	seen map[Value]bool // values of the parameter at hand
}

func (c *cursor) errorf(col int, got, want string) error {
	got = strings.TrimSpace(got)
	if len(got) > 40 {
		got = got[:40] + "..."
	}
	return &SyntaxError{Text: c.text, Col: col, Got: strconv.Quote(got), Want: want}
}

// pieces calls visit for every piece between commas, with the column where it starts.
func (c *cursor) pieces(visit func(piece string, col int) error) error {
	if len(c.text) > maxText {
		return &SyntaxError{c.text, maxText, fmt.Sprintf("%d bytes", len(c.text)), fmt.Sprintf("at most %d", maxText)}
	}
	col := 1
	for piece := range strings.SplitSeq(c.text, ",") {
		if err := visit(piece, col); err != nil {
			return err
		}
		col += len(piece) + 1
	}
	return nil
}

// values appends the values that one piece stands for.
func (c *cursor) values(to []Value, piece string, col int) ([]Value, error) {
	col += len(piece) - len(strings.TrimLeft(piece, " \t"))
	piece = strings.TrimSpace(piece)
	first := len(to)
	if first == 0 {
		c.seen = map[Value]bool{}
	}
	switch low, rest, isRange := strings.Cut(piece, ".."); {
	case piece == "":
		return nil, c.errorf(col, "", "an integer, a range low..high, or a word")
	case isRange:
		r, err := c.parseRange(low, rest, col)
		if err != nil {
			return nil, err
		}
		for v, ok := r.low, true; ok; v, ok = r.after(v) {
			if len(to) == MaxValues {
				return nil, c.errorf(col, piece, fmt.Sprintf("at most %d values", MaxValues))
			}
			to = append(to, Value{Int: v})
		}
	default:
		v := Value{Word: piece}
		if n, ok := parseInt(piece); ok {
			v = Value{Int: n}
		} else if !isWord(piece) {
			return nil, c.errorf(col, piece, "an integer, a range low..high, or a word")
		}
		if len(to) == MaxValues {
			return nil, c.errorf(col, piece, fmt.Sprintf("at most %d values", MaxValues))
		}
		to = append(to, v)
	}
	for _, v := range to[first:] {
		if c.seen[v] {
			return nil, c.errorf(col, v.String(), "each value once")
		}
		c.seen[v] = true
	}
	return to, nil
}

// steps is a range of integers: from low to high by adding or by multiplying.
type steps struct {
	low, high, by int64
	times         bool
}

// after returns the value after v, and whether there is one.
func (r steps) after(v int64) (int64, bool) {
	if r.times {
		return v * r.by, v <= r.high/r.by
	}
	return v + r.by, v <= r.high-r.by
}

func (c *cursor) parseRange(low, rest string, col int) (steps, error) {
	r := steps{by: 1}
	var ok bool
	if r.low, ok = parseInt(low); !ok {
		return r, c.errorf(col, low, "an integer before ..")
	}
	col += len(low) + len("..")
	high, by := rest, ""
	if i := strings.IndexAny(rest, ":*"); i >= 0 {
		high, by = rest[:i], rest[i+1:]
		least, want := int64(1), "a step of at least 1"
		if rest[i] == '*' {
			r.times, least, want = true, 2, "a factor of at least 2"
		}
		if r.by, ok = parseInt(by); !ok || r.by < least {
			return r, c.errorf(col+i+1, by, want)
		}
	}
	if r.high, ok = parseInt(high); !ok {
		return r, c.errorf(col, high, "an integer after ..")
	}
	if r.high < r.low {
		return r, c.errorf(col, high, fmt.Sprintf("at least %d, the start of the range", r.low))
	}
	if r.times && r.low < 1 {
		return r, c.errorf(col-len(low)-len(".."), low, "at least 1 at the start of a range that multiplies")
	}
	return r, nil
}

// maxInt bounds integers so that sums of two never overflow.
const maxInt = 1 << 53

func parseInt(s string) (int64, bool) {
	base := 10
	digits := s
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		base, digits = 16, hex
		if strings.HasPrefix(hex, "-") || strings.HasPrefix(hex, "+") {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(digits, base, 64)
	return n, err == nil && n >= -maxInt && n <= maxInt
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// isWord reports whether s is of printable ASCII without white space.
func isWord(s string) bool {
	for _, r := range s {
		if r <= ' ' || r > '~' || r == '=' {
			return false
		}
	}
	return s != ""
}
