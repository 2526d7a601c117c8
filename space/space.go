// Package space describes a parameter space in one line of text: names with the values they take.
//
//	s, err := space.Parse("chunk=16..256:8,dtype=f16,bf16,f32")
//	for point := range s.Points() { // 31 * 3 points; the last parameter varies fastest
//		chunk, dtype := point[0].Int, point[1].Word
//		...
//	}
//
// A value is an integer (decimal, or hex with 0x), a word, or a range of integers with both ends included: 1..8 steps by
// 1, 16..256:8 by 8, and 16..256*2 doubles. A comma separates values, and parameters: one with an = in it starts the next
// parameter.
//
// Limits: the full product of the parameters and nothing else, at most MaxPoints points; words hold no comma, equals sign
// or white space.
package space

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Limits of a space.
const (
	MaxValues = 1 << 16 // of one parameter
	MaxPoints = 1 << 24
	maxText   = 1 << 16 // bytes
)

// A Value is one value of a parameter: an integer, or a word.
type Value struct {
	Word string // "" for an integer
	Int  int64
}

// IsInt reports whether the value is an integer.
func (v Value) IsInt() bool { return v.Word == "" }

// String returns the value as Parse reads it.
func (v Value) String() string {
	if v.IsInt() {
		return strconv.FormatInt(v.Int, 10)
	}
	return v.Word
}

// A Param is a parameter and the values it takes, without repetition, in the order in which they were written.
type Param struct {
	Name   string
	Values []Value
}

// A Space is the product of its parameters.
type Space struct {
	Params []Param
}

// A SyntaxError is a text that is no space. Col counts bytes from 1.
type SyntaxError struct {
	Text      string
	Col       int
	Got, Want string
}

func (e *SyntaxError) Error() string {
	text := e.Text
	if len(text) > 60 {
		text = text[:60] + "..."
	}
	return fmt.Sprintf("%q, column %d: got %s, want %s", text, e.Col, e.Got, e.Want)
}

// Parse reads a space such as "chunk=16..256:8,dtype=f16,bf16". Errors are of type *SyntaxError.
func Parse(text string) (*Space, error) {
	s := &Space{}
	if err := s.Add(text); err != nil {
		return nil, err
	}
	return s, nil
}

// Add reads more parameters into s, so that a space may come in several pieces. The errors are those of Parse; after one s
// is as before.
func (s *Space) Add(text string) error {
	params, err := parse(text)
	if err != nil {
		return err
	}
	all := slices.Clone(s.Params)
	points := s.Size()
	for _, p := range params {
		for _, other := range all {
			if other.Name == p.Name {
				return &SyntaxError{text, strings.Index(text, p.Name) + 1, "parameter " + p.Name + " twice", "each name once"}
			}
		}
		if points *= len(p.Values); points > MaxPoints {
			return &SyntaxError{text, 1, fmt.Sprintf("%d points or more", points), fmt.Sprintf("at most %d", MaxPoints)}
		}
		all = append(all, p)
	}
	s.Params = all
	return nil
}

// ParseValues reads the values of one parameter, such as "8,16..64:16". Errors are of type *SyntaxError.
func ParseValues(text string) ([]Value, error) {
	c := cursor{text: text}
	var values []Value
	err := c.pieces(func(piece string, col int) error {
		var err error
		values, err = c.values(values, piece, col)
		return err
	})
	return values, err
}

// Size returns the number of points.
func (s *Space) Size() int {
	n := 1
	for _, p := range s.Params {
		n *= len(p.Values)
	}
	return n
}

// Index returns the place of the named parameter in Params and in every point, or -1.
func (s *Space) Index(name string) int {
	return slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name })
}

// Points yields every point: a value per parameter, in the order of Params. The slice is reused from one step to the next.
func (s *Space) Points() iter.Seq[[]Value] {
	return func(yield func([]Value) bool) {
		point := make([]Value, len(s.Params))
		for n := range s.Size() {
			for i := len(s.Params) - 1; i >= 0; i-- {
				values := s.Params[i].Values
				point[i] = values[n%len(values)]
				n /= len(values)
			}
			if !yield(point) {
				return
			}
		}
	}
}

// String returns the space as Parse reads it, with ranges where values are evenly spaced.
func (s *Space) String() string {
	var b strings.Builder
	for i, p := range s.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p.Name)
		separator := byte('=')
		for values := p.Values; len(values) > 0; separator = ',' {
			b.WriteByte(separator)
			n, step := evenly(values)
			switch {
			case n < 3:
				n = 1
				b.WriteString(values[0].String())
			case step == 1:
				fmt.Fprintf(&b, "%d..%d", values[0].Int, values[n-1].Int)
			default:
				fmt.Fprintf(&b, "%d..%d:%d", values[0].Int, values[n-1].Int, step)
			}
			values = values[n:]
		}
	}
	return b.String()
}

// evenly returns how many of the first values are integers that rise by one step, and the step.
func evenly(values []Value) (n int, step int64) {
	if len(values) < 2 || !values[0].IsInt() || !values[1].IsInt() || values[1].Int <= values[0].Int {
		return 1, 0
	}
	step = values[1].Int - values[0].Int
	for n = 2; n < len(values) && values[n].IsInt() && values[n].Int-values[n-1].Int == step; n++ {
	}
	return n, step
}
