package layout

import (
	"fmt"
	"strings"
)

// Parse reads a layout in any of the package's notations. Errors are of type *Error and name line and column.
func Parse(text string) (Layout, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	l, err := p.layout()
	if err != nil {
		return nil, err
	}
	return l, p.finish("'o' or end of text")
}

// ParseTransform reads a transform of byte offsets. Errors are of type *Error and name line and column.
func ParseTransform(text string) (Transform, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	var chain Chain
	for {
		t, err := p.transform()
		if err != nil {
			return nil, err
		}
		chain = append(chain, t)
		if !p.take("o") {
			break
		}
	}
	if err := p.finish("'o' or end of text"); err != nil {
		return nil, err
	}
	if len(chain) == 1 {
		return chain[0], nil
	}
	return chain, nil
}

// maxNesting bounds the depth of tuples and lists.
const maxNesting = 32

type parser struct {
	tokens []token
	pos    int
}

func newParser(text string) (*parser, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	return &parser{tokens: tokens}, nil
}

func (p *parser) peek() token { return p.tokens[p.pos] }

// ahead returns the token n places on, or the end.
func (p *parser) ahead(n int) token { return p.tokens[min(p.pos+n, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != end {
		p.pos++
	}
	return t
}

// take consumes the next token if it is the given word or sign.
func (p *parser) take(text string) bool {
	if t := p.peek(); t.kind != end && t.kind != number && t.text == text {
		p.pos++
		return true
	}
	return false
}

func (p *parser) want(text string) error {
	if p.take(text) {
		return nil
	}
	return p.unexpected("'" + text + "'")
}

// all consumes the given words and signs in order.
func (p *parser) all(texts ...string) error {
	for _, t := range texts {
		if err := p.want(t); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) unexpected(want string) error {
	t := p.peek()
	return &Error{t.line, t.col, fmt.Sprintf("got %s, want %s", t, want)}
}

func (p *parser) finish(want string) error {
	if p.peek().kind != end {
		return p.unexpected(want)
	}
	return nil
}

// at gives an error without a position the one of token t.
func at(t token, err error) error {
	if e, ok := err.(*Error); ok && e.Line == 0 {
		return &Error{t.line, t.col, e.Msg}
	}
	return err
}

// integer reads 2, _2, Int<2> or C<2>.
func (p *parser) integer(want string) (uint32, error) {
	if t := p.peek(); t.kind == number {
		p.pos++
		return t.value, nil
	}
	if t := p.peek(); (t.text == "Int" || t.text == "C") && p.ahead(1).text == "<" {
		p.pos += 2
		n, err := p.integer("integer")
		if err != nil {
			return 0, err
		}
		return n, p.want(">")
	}
	return 0, p.unexpected(want)
}

func (p *parser) tuple(depth int) (Tuple, error) {
	if !p.take("(") {
		n, err := p.integer("integer or '('")
		return Leaf(n), err
	}
	if depth >= maxNesting {
		p.pos--
		return Tuple{}, p.unexpected(fmt.Sprintf("at most %d levels of nesting", maxNesting))
	}
	var t Tuple
	for {
		m, err := p.tuple(depth + 1)
		if err != nil {
			return Tuple{}, err
		}
		t.sub = append(t.sub, m)
		if p.take(")") {
			return t, nil
		}
		if err := p.want(","); err != nil {
			return Tuple{}, p.unexpected("',' or ')'")
		}
	}
}

// layout reads factors joined by o and folds them from the right.
func (p *parser) layout() (Layout, error) {
	type factor struct {
		start     token
		transform Transform
		layout    Layout
	}
	var factors []factor
	for {
		f := factor{start: p.peek()}
		var err error
		if p.startsTransform() {
			f.transform, err = p.transform()
		} else {
			f.layout, err = p.base()
		}
		if err != nil {
			return nil, err
		}
		factors = append(factors, f)
		if !p.take("o") {
			break
		}
	}
	last := factors[len(factors)-1]
	if last.layout == nil {
		return nil, p.unexpected("'o' and a layout: a transform alone has no domain")
	}
	out := last.layout
	for i := len(factors) - 2; i >= 0; i-- {
		var err error
		if f := factors[i]; f.layout != nil {
			out, err = NewAfter(f.layout, out)
		} else {
			out, err = NewApply(f.transform, out)
		}
		if err != nil {
			return nil, at(factors[i].start, err)
		}
	}
	return out, nil
}

var transformWords = map[string]func(*parser) (Transform, error){
	"Swizzle":  (*parser).swizzle,
	"Sw":       (*parser).swizzle,
	"pad":      (*parser).pad,
	"linear":   (*parser).linear,
	"id":       func(*parser) (Transform, error) { return Identity{}, nil },
	"smem_ptr": (*parser).recast,
}

// startsTransform reports whether a transform comes next: one of its words, or an offset, an integer before o.
func (p *parser) startsTransform() bool {
	t := p.peek()
	if t.kind == number {
		return p.ahead(1).text == "o" && p.ahead(1).kind == word
	}
	_, ok := transformWords[t.text]
	return ok && t.kind == word
}

func (p *parser) transform() (Transform, error) {
	t := p.peek()
	if t.kind == number {
		p.pos++
		return Shift(t.value), nil
	}
	read, ok := transformWords[t.text]
	if !ok || t.kind != word {
		return nil, p.unexpected("Swizzle<B,M,S>, pad(+N per M bytes), linear(...), id or an offset")
	}
	p.pos++
	out, err := read(p)
	if err != nil {
		return nil, at(t, err)
	}
	if !p.take("on") {
		return out, nil
	}
	if p.take("bytes") {
		return out, nil
	}
	size := p.peek()
	n, err := p.integer("'bytes' or the size of an element")
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, &Error{size.line, size.col, "got elements of 0 bytes, want at least 1"}
	}
	return OnElements{n, out}, p.all("-", "byte", "elements")
}

// swizzle reads <B,M,S> or <B,M,@P> after the word.
func (p *parser) swizzle() (Transform, error) {
	var v [3]int
	if err := p.want("<"); err != nil {
		return nil, err
	}
	absolute := false
	for i := range v {
		if i > 0 {
			if err := p.want(","); err != nil {
				return nil, err
			}
		}
		negative := false
		if i == 2 {
			absolute = p.take("@")
			negative = !absolute && p.take("-")
		}
		n, err := p.integer("integer")
		if err != nil {
			return nil, err
		}
		v[i] = int(min(n, 1<<16))
		if negative {
			v[i] = -v[i]
		}
	}
	if err := p.want(">"); err != nil {
		return nil, err
	}
	if absolute {
		return NewAbsoluteSwizzle(v[0], v[1], v[2])
	}
	return NewSwizzle(v[0], v[1], v[2])
}

// pad reads (+16 per 128, +4 per 4096 bytes) after the word.
func (p *parser) pad() (Transform, error) {
	if err := p.want("("); err != nil {
		return nil, err
	}
	var steps []PadStep
	for {
		if err := p.want("+"); err != nil {
			return nil, err
		}
		add, err := p.integer("the size of the pad")
		if err != nil {
			return nil, err
		}
		if err := p.want("per"); err != nil {
			return nil, err
		}
		per, err := p.integer("the distance between pads")
		if err != nil {
			return nil, err
		}
		steps = append(steps, PadStep{add, per})
		if p.take(",") {
			continue
		}
		p.take("bytes")
		if err := p.want(")"); err != nil {
			return nil, err
		}
		return NewPad(steps...)
	}
}

// linear reads (0x1, 0x2, ...) after the word.
func (p *parser) linear() (Transform, error) {
	if err := p.want("("); err != nil {
		return nil, err
	}
	var images []uint32
	for !p.take(")") {
		if len(images) > 0 {
			if err := p.want(","); err != nil {
				return nil, err
			}
		}
		n, err := p.integer("the image of an address bit")
		if err != nil {
			return nil, err
		}
		images = append(images, n)
	}
	return NewLinear(images...)
}

// recast reads [16b](unset) after smem_ptr.
func (p *parser) recast() (Transform, error) {
	if err := p.want("["); err != nil {
		return nil, err
	}
	t := p.peek()
	n, err := p.integer("the bits of an element")
	if err != nil {
		return nil, err
	}
	if n == 0 || n%8 != 0 || n > 1<<16 {
		return nil, &Error{t.line, t.col, fmt.Sprintf("got elements of %d bits, want whole bytes", n)}
	}
	return Recast(n / 8), p.all("b", "]", "(", "unset", ")")
}

// base reads a layout without composition.
func (p *parser) base() (Layout, error) {
	t := p.peek()
	if t.kind == word && strings.HasPrefix(t.text, "#") {
		return p.triton()
	}
	if t.kind != number && t.text != "(" && t.text != "Int" && t.text != "C" {
		return nil, p.unexpected("a shape, a transform or a #ttg encoding")
	}
	shape, err := p.tuple(0)
	if err != nil {
		return nil, err
	}
	var s Strided
	if p.take(":") {
		stride, err := p.tuple(0)
		if err != nil {
			return nil, err
		}
		s, err = NewStrided(shape, stride)
		if err != nil {
			return nil, at(t, err)
		}
		return s, nil
	}
	if s, err = Compact(shape); err != nil {
		return nil, at(t, err)
	}
	return s, nil
}
