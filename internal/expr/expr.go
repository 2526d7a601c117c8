// Package expr evaluates integer expressions of named parameters, as the flags of a sweep hold them.
//
//	e, err := expr.Parse("4096/CHUNK")
//	n, err := e.Eval(func(name string) (int64, bool) { return 16, name == "CHUNK" }) // 256
//
// Operators and their order are C's: unary - + ~ !, then * / %, + -, << >>, < <= > >=, == !=, &, ^, |, &&, ||, ?: and
// parentheses. The functions min, max, gcd and ceildiv take two arguments. Comparisons give 0 or 1; &&, || and ?: leave out
// what they do not need. Division truncates toward zero.
//
// Limits: 64-bit integers, and a result that does not fit is an error; texts of at most 4096 bytes, nested at most 100 deep.
package expr

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Limits of a text.
const (
	maxText  = 4096 // bytes
	maxDepth = 100  // of nesting
)

// An Error is a text that is no expression, or one that has no value. Col counts bytes from 1.
type Error struct {
	Text      string
	Col       int
	Got, Want string
}

func (e *Error) Error() string {
	text := e.Text
	if len(text) > 60 {
		text = text[:60] + "..."
	}
	return fmt.Sprintf("%q, column %d: got %s, want %s", text, e.Col, e.Got, e.Want)
}

// An Expr is a parsed expression. It is read-only.
type Expr struct {
	text string
	root *node
}

// A Lookup returns the value of a parameter, and whether there is one of that name.
type Lookup func(name string) (int64, bool)

// Eval returns the value. Errors are of type *Error: an unknown name, a division by zero, a value past 64 bits.
func (e *Expr) Eval(lookup Lookup) (int64, error) {
	return (&evaluation{e.text, lookup}).eval(e.root)
}

// Eval parses a text and evaluates it.
func Eval(text string, lookup Lookup) (int64, error) {
	e, err := Parse(text)
	if err != nil {
		return 0, err
	}
	return e.Eval(lookup)
}

// A node is an operator with its operands, a number, or a name.
type node struct {
	op   string // an operator or function; "" for a number, "name" for a name
	name string
	n    int64
	col  int
	args []*node
}

// levels gives binary operators their binding; higher binds tighter.
var levels = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
	"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

var functions = map[string]func(a, b int64) (int64, bool){
	"min":     func(a, b int64) (int64, bool) { return min(a, b), true },
	"max":     func(a, b int64) (int64, bool) { return max(a, b), true },
	"gcd":     gcd,
	"ceildiv": ceildiv,
}

func gcd(a, b int64) (int64, bool) {
	for b != 0 {
		if b == -1 { // MinInt64 % -1 overflows on some machines
			return 1, true
		}
		a, b = b, a%b
	}
	if a == math.MinInt64 {
		return 0, false
	}
	return max(a, -a), true
}

func ceildiv(a, b int64) (int64, bool) {
	q, ok := divide(a, b)
	if ok && a%b != 0 && (a > 0) == (b > 0) {
		q++
	}
	return q, ok
}

func divide(a, b int64) (int64, bool) {
	if b == 0 || a == math.MinInt64 && b == -1 {
		return 0, false
	}
	return a / b, true
}

// Parse reads an expression. Errors are of type *Error.
func Parse(text string) (*Expr, error) {
	p := &parser{text: text}
	if len(text) > maxText {
		return nil, &Error{text, maxText, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("at most %d", maxText)}
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	root, err := p.ternary(0)
	if err != nil {
		return nil, err
	}
	if p.token != "" {
		return nil, p.fail("an operator or the end")
	}
	return &Expr{text, root}, nil
}

// A parser holds the token at hand.
type parser struct {
	text  string
	at    int    // behind the token
	token string // "" at the end
	col   int
}

func (p *parser) fail(want string) error {
	got := strconv.Quote(p.token)
	if p.token == "" {
		got = "the end"
	}
	return &Error{p.text, p.col, got, want}
}

func isWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// next reads a token: a word, or an operator of one or two characters.
func (p *parser) next() error {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	p.col, p.token = p.at+1, ""
	if p.at == len(p.text) {
		return nil
	}
	start := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	if p.at == start {
		p.at++
		if two := p.text[start:min(start+2, len(p.text))]; len(two) == 2 && levels[two] > 0 {
			p.at++
		}
	}
	p.token = p.text[start:p.at]
	if c := p.token[0]; !isWord(c) && levels[p.token] == 0 && !strings.Contains("()~!?:,", p.token) {
		return p.fail("a number, a name or an operator")
	}
	return nil
}

// eat passes over a token that must be there.
func (p *parser) eat(token string) error {
	if p.token != token {
		return p.fail(token)
	}
	return p.next()
}

func (p *parser) ternary(depth int) (*node, error) {
	condition, err := p.binary(1, depth+1)
	if err != nil || p.token != "?" {
		return condition, err
	}
	n := &node{op: "?", col: p.col, args: []*node{condition}}
	for _, end := range []string{"?", ":"} {
		if err := p.eat(end); err != nil {
			return nil, err
		}
		arm, err := p.ternary(depth + 1)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, arm)
	}
	return n, nil
}

// binary reads operators of at least the given level.
func (p *parser) binary(level, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail(fmt.Sprintf("at most %d levels of nesting", maxDepth))
	}
	left, err := p.unary(depth + 1)
	for err == nil && levels[p.token] >= level {
		n := &node{op: p.token, col: p.col}
		if err := p.next(); err != nil {
			return nil, err
		}
		right, err := p.binary(levels[n.op]+1, depth+1)
		if err != nil {
			return nil, err
		}
		n.args = []*node{left, right}
		left = n
	}
	return left, err
}

func (p *parser) unary(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail(fmt.Sprintf("at most %d levels of nesting", maxDepth))
	}
	token, col := p.token, p.col
	switch {
	case token == "-" || token == "+" || token == "~" || token == "!":
		if err := p.next(); err != nil {
			return nil, err
		}
		operand, err := p.unary(depth + 1)
		return &node{op: "u" + token, col: col, args: []*node{operand}}, err
	case token == "(":
		if err := p.next(); err != nil {
			return nil, err
		}
		inside, err := p.ternary(depth + 1)
		if err != nil {
			return nil, err
		}
		return inside, p.eat(")")
	case token == "" || !isWord(token[0]):
		return nil, p.fail("a number, a name or (")
	case '0' <= token[0] && token[0] <= '9':
		n, err := strconv.ParseInt(token, 0, 64)
		if err != nil {
			return nil, p.fail("a whole number below 2^63")
		}
		return &node{n: n, col: col}, p.next()
	}
	if err := p.next(); err != nil || p.token != "(" {
		return &node{op: "name", name: token, col: col}, err
	}
	return p.call(token, col, depth)
}

// call reads the arguments of a function.
func (p *parser) call(name string, col, depth int) (*node, error) {
	if functions[name] == nil {
		return nil, &Error{p.text, col, strconv.Quote(name), "min, max, gcd or ceildiv before ("}
	}
	n := &node{op: name, col: col}
	for _, before := range []string{"(", ","} {
		if err := p.eat(before); err != nil {
			return nil, err
		}
		arg, err := p.ternary(depth + 1)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, arg)
	}
	return n, p.eat(")")
}

type evaluation struct {
	text   string
	lookup Lookup
}

func (e *evaluation) fail(n *node, got, want string) (int64, error) {
	return 0, &Error{e.text, n.col, got, want}
}

func (e *evaluation) eval(n *node) (int64, error) {
	switch n.op {
	case "":
		return n.n, nil
	case "name":
		v, ok := e.lookup(n.name)
		if !ok {
			return e.fail(n, strconv.Quote(n.name), "a parameter of the sweep with a whole number as value")
		}
		return v, nil
	}
	a, err := e.eval(n.args[0])
	if err != nil {
		return 0, err
	}
	switch n.op {
	case "?":
		if a != 0 {
			return e.eval(n.args[1])
		}
		return e.eval(n.args[2])
	case "&&":
		if a == 0 {
			return 0, nil
		}
	case "||":
		if a != 0 {
			return 1, nil
		}
	}
	if len(n.args) == 1 {
		return e.unary(n, a)
	}
	b, err := e.eval(n.args[1])
	if err != nil {
		return 0, err
	}
	v, ok := binary(n.op, a, b)
	if !ok {
		return e.fail(n, fmt.Sprintf("%d %s %d", a, n.op, b), "a value of 64 bits")
	}
	return v, nil
}

func (e *evaluation) unary(n *node, a int64) (int64, error) {
	switch n.op {
	case "u~":
		return ^a, nil
	case "u!":
		return truth(a == 0), nil
	case "u-":
		if a == math.MinInt64 {
			return e.fail(n, fmt.Sprintf("-(%d)", a), "a value of 64 bits")
		}
		return -a, nil
	}
	return a, nil
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// binary returns a op b, and whether it has a value of 64 bits.
func binary(op string, a, b int64) (int64, bool) {
	if f := functions[op]; f != nil {
		return f(a, b)
	}
	switch op {
	case "+":
		return a + b, (a+b > a) == (b > 0)
	case "-":
		return a - b, (a-b < a) == (b > 0)
	case "*":
		return multiply(a, b)
	case "/":
		return divide(a, b)
	case "%":
		if _, ok := divide(a, b); !ok {
			return 0, false
		}
		return a % b, true
	case "<<":
		if b < 0 || b > 62 {
			return 0, false
		}
		return multiply(a, 1<<b)
	case ">>":
		return a >> min(uint64(b), 63), b >= 0
	case "&":
		return a & b, true
	case "|":
		return a | b, true
	case "^":
		return a ^ b, true
	}
	return truth(map[string]bool{
		"&&": b != 0, "||": b != 0, // a was looked at before
		"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b,
	}[op]), true
}

func multiply(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	return a * b, true
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}
