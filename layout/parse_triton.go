package layout

import (
	"fmt"
	"strings"
)

// attribute is the value of one "name = value" of an encoding: a number, a word, or a list.
type attribute struct {
	at     token
	number uint32
	word   string
	list   []attribute
	isList bool
}

// encodings are the Triton encodings read, by name after the dialect prefix.
var encodings = map[string]func(*parser, token) (Layout, error){
	"swizzled_shared": (*parser).shared,
	"shared":          (*parser).shared, // its name before 2025
	"padded_shared":   (*parser).padded,
	"shared_linear":   (*parser).sharedLinear,
	"linear":          (*parser).bases,
}

func (p *parser) triton() (Layout, error) {
	t := p.next()
	name := strings.TrimPrefix(strings.TrimPrefix(t.text, "#ttg."), "#triton_gpu.")
	read, ok := encodings[name]
	if !ok {
		p.pos--
		return nil, p.unexpected("#ttg.swizzled_shared, #ttg.padded_shared, #ttg.shared_linear or #ttg.linear")
	}
	l, err := read(p, t)
	if err != nil {
		return nil, at(t, err)
	}
	return l, nil
}

// attributes reads {name = value, ...} and fails on a name that is not among the wanted ones, or a wanted one missing.
func (p *parser) attributes(optional string, wanted ...string) (map[string]attribute, []string, error) {
	if err := p.want("{"); err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, n := range append(strings.Fields(optional), wanted...) {
		known[n] = true
	}
	values := map[string]attribute{}
	var order []string
	for !p.take("}") {
		if len(values) > 0 {
			if err := p.want(","); err != nil {
				return nil, nil, p.unexpected("',' or '}'")
			}
		}
		name := p.peek()
		if name.kind != word || len(known) > 0 && !known[name.text] {
			return nil, nil, p.unexpected(nameList(wanted))
		}
		if _, twice := values[name.text]; twice {
			return nil, nil, p.unexpected("each name once")
		}
		p.pos++
		if err := p.want("="); err != nil {
			return nil, nil, err
		}
		v, err := p.value(0)
		if err != nil {
			return nil, nil, err
		}
		values[name.text] = v
		order = append(order, name.text)
	}
	for _, n := range wanted {
		if _, ok := values[n]; !ok {
			p.pos--
			return nil, nil, p.unexpected("'" + n + " = ...' before it")
		}
	}
	return values, order, nil
}

func nameList(names []string) string {
	if len(names) == 0 {
		return "a name"
	}
	return strings.Join(names, ", ")
}

func (p *parser) value(depth int) (attribute, error) {
	t := p.peek()
	a := attribute{at: t}
	switch {
	case t.kind == number:
		p.pos++
		a.number = t.value
	case t.kind == word:
		p.pos++
		a.word = t.text
	case p.take("["):
		if depth >= maxNesting {
			p.pos--
			return a, p.unexpected(fmt.Sprintf("at most %d levels of nesting", maxNesting))
		}
		a.isList = true
		for !p.take("]") {
			if len(a.list) > 0 {
				if err := p.want(","); err != nil {
					return a, p.unexpected("',' or ']'")
				}
			}
			v, err := p.value(depth + 1)
			if err != nil {
				return a, err
			}
			a.list = append(a.list, v)
		}
	default:
		return a, p.unexpected("a number, a word or '['")
	}
	return a, nil
}

func (a attribute) wrong(want string) error {
	return &Error{a.at.line, a.at.col, fmt.Sprintf("got %s, want %s", a.at, want)}
}

func (a attribute) asNumber() (uint32, error) {
	if a.isList || a.word != "" {
		return 0, a.wrong("a number")
	}
	return a.number, nil
}

func (a attribute) asNumbers() ([]uint32, error) {
	if !a.isList {
		return nil, a.wrong("a list of numbers")
	}
	out := make([]uint32, len(a.list))
	for i, v := range a.list {
		n, err := v.asNumber()
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (a attribute) asOrder() ([]int, error) {
	n, err := a.asNumbers()
	if err != nil {
		return nil, err
	}
	out := make([]int, len(n))
	for i, v := range n {
		out[i] = int(v)
	}
	return out, nil
}

func (a attribute) asBases() ([][]uint32, error) {
	if !a.isList {
		return nil, a.wrong("a list of bases")
	}
	out := make([][]uint32, len(a.list))
	for i, v := range a.list {
		n, err := v.asNumbers()
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// extent reads "on 64x64" after an encoding.
func (p *parser) extent() ([]uint32, error) {
	if err := p.want("on"); err != nil {
		return nil, p.unexpected("'on' and the shape, such as 64x64")
	}
	n, err := p.integer("the shape, such as 64x64")
	if err != nil {
		return nil, err
	}
	sizes := []uint32{n}
	for p.peek().kind == word && p.peek().joined && strings.HasPrefix(p.peek().text, "x") {
		t := p.next()
		for _, part := range strings.Split(t.text[1:], "x") {
			inner, err := lex(part)
			if err != nil || len(inner) != 2 || inner[0].kind != number {
				p.pos--
				return nil, p.unexpected("a shape such as 64x64")
			}
			sizes = append(sizes, inner[0].value)
		}
	}
	return sizes, nil
}

func (p *parser) shared(token) (Layout, error) {
	if err := p.want("<"); err != nil {
		return nil, err
	}
	v, _, err := p.attributes("hasLeadingOffset", "vec", "perPhase", "maxPhase", "order")
	if err != nil {
		return nil, err
	}
	if h, ok := v["hasLeadingOffset"]; ok && h.word != "false" {
		return nil, h.wrong("false: the swizzles of NVIDIA's MMA are not read")
	}
	if err := p.want(">"); err != nil {
		return nil, err
	}
	var n [3]uint32
	for i, name := range []string{"vec", "perPhase", "maxPhase"} {
		if n[i], err = v[name].asNumber(); err != nil {
			return nil, err
		}
	}
	order, err := v["order"].asOrder()
	if err != nil {
		return nil, err
	}
	sizes, err := p.extent()
	if err != nil {
		return nil, err
	}
	return NewShared(n[0], n[1], n[2], order, sizes)
}

func (p *parser) padded(token) (Layout, error) {
	if err := p.all("<", "["); err != nil {
		return nil, err
	}
	var steps []PadStep
	for !p.take("]") {
		if len(steps) > 0 {
			if err := p.want(","); err != nil {
				return nil, p.unexpected("',' or ']'")
			}
		}
		per, err := p.integer("the distance between pads")
		if err != nil {
			return nil, err
		}
		if err := p.all(":", "+"); err != nil {
			return nil, err
		}
		add, err := p.integer("the size of the pad")
		if err != nil {
			return nil, err
		}
		steps = append(steps, PadStep{add, per})
	}
	pad, err := NewPad(steps...)
	if err != nil {
		return nil, err
	}
	v, _, err := p.attributes("", "order", "shape")
	if err != nil {
		return nil, err
	}
	order, err := v["order"].asOrder()
	if err != nil {
		return nil, err
	}
	sizes, err := v["shape"].asNumbers()
	if err != nil {
		return nil, err
	}
	if err := p.want(">"); err != nil {
		return nil, err
	}
	return NewPadded(pad, order, sizes)
}

func (p *parser) sharedLinear(token) (Layout, error) {
	if err := p.want("<"); err != nil {
		return nil, err
	}
	v, _, err := p.attributes("block", "offset")
	if err != nil {
		return nil, err
	}
	if b, ok := v["block"]; ok && (!b.isList || len(b.list) > 0) {
		return nil, b.wrong("[]: several blocks are not read")
	}
	offset, err := v["offset"].asBases()
	if err != nil {
		return nil, err
	}
	alignment := uint32(0)
	if p.take(",") {
		if err := p.all("alignment", "="); err != nil {
			return nil, err
		}
		if alignment, err = p.integer("bytes"); err != nil {
			return nil, err
		}
	}
	if err := p.want(">"); err != nil {
		return nil, err
	}
	return NewSharedLinear(offset, alignment)
}

func (p *parser) bases(token) (Layout, error) {
	if err := p.want("<"); err != nil {
		return nil, err
	}
	v, order, err := p.attributes("")
	if err != nil {
		return nil, err
	}
	inputs := make([]Input, len(order))
	for i, name := range order {
		b, err := v[name].asBases()
		if err != nil {
			return nil, err
		}
		inputs[i] = Input{name, b}
	}
	if err := p.want(">"); err != nil {
		return nil, err
	}
	return NewBases(inputs)
}
