package sketch

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// A macro is one #define, or a definition given by the caller.
type macro struct {
	name     string
	function bool
	variadic bool
	params   []string
	body     []token
	given    bool // by Options.Defines: it wins over the source
	used     bool // a given one: the source mentions it
}

// predefined are the macros that a device compilation of recent toolkits has, and those of the C headers that sketches
// lean on, since #include lines are not followed.
var predefined = map[string]string{
	"__CUDACC__": "1", "__NVCC__": "1", "__CUDA_ARCH__": "900", "__cplusplus": "201703L",
	"__CUDACC_VER_MAJOR__": "13", "__CUDACC_VER_MINOR__": "0",
	"INT_MAX": "2147483647", "INT_MIN": "(-2147483647-1)", "UINT_MAX": "4294967295u", "CHAR_BIT": "8",
	"FLT_MAX": "3.402823466e+38f", "FLT_MIN": "1.175494351e-38f", "DBL_MAX": "1.7976931348623157e+308",
	"INFINITY": "1e30f", "NULL": "nullptr", "M_PI": "3.14159265358979323846",
	"__NV_SATFINITE": "1", "__NV_NOSAT": "0", "__NV_E4M3": "0", "__NV_E5M2": "1",
	"INT32_MAX": "2147483647", "UINT32_MAX": "4294967295u",
}

type preprocessor struct {
	*file
	diags  *diags
	macros map[string]*macro
	active []string // macros being expanded
	out    []token
	max    int
	full   bool
	// conds is the stack of open #if; a branch is taken when all are live.
	conds []condition
	depth int // of expansions in expansions
	opts  *Options
	bytes int // of included files
	work  int // tokens that expansions have made, results that were thrown away included
}

type condition struct {
	at    span
	live  bool // this branch is taken
	taken bool // some branch was, or the whole is in a dead one
	last  bool // #else was seen
}

// expansionDepth bounds macros in macros.
const expansionDepth = 100

func preprocess(f *file, ds *diags, toks []token, opts *Options) []token {
	p := &preprocessor{file: f, diags: ds, macros: map[string]*macro{}, max: opts.Limits.Tokens, opts: opts}
	for name, value := range predefined {
		p.macros[name] = &macro{name: name, body: lexFragment(value)}
	}
	for _, d := range opts.Defines {
		p.macros[d.Name] = &macro{name: d.Name, body: lexFragment(d.Value), given: true}
	}
	p.out = make([]token, 0, len(toks))
	p.process(toks)
	if n := len(p.conds); n > 0 {
		ds.errorf("sketch/syntax", p.conds[n-1].at, "#if is not closed, want #endif")
	}
	for _, d := range opts.Defines {
		if m := p.macros[d.Name]; !m.used {
			ds.warnf("sketch/define", span{}, "-D %s is not used: nothing in the source has this name", clip(d.Name))
		}
	}
	p.out = append(p.out, toks[len(toks)-1])
	return p.out
}

// process takes the tokens of one file, which end in an end of file.
func (p *preprocessor) process(toks []token) {
	toks[len(toks)-1].first = true
	for i := 0; i < len(toks) && !p.full; {
		t := &toks[i]
		if t.kind == tokPunct && t.text == "#" && t.first {
			end := i + 1
			for !toks[end].first {
				end++
			}
			p.directive(*t, toks[i+1:end])
			i = end
			continue
		}
		end := i + 1
		for end < len(toks) && !(toks[end].first && toks[end].text == "#") {
			end++
		}
		if part := toks[i:end]; p.live() {
			if part[len(part)-1].kind == tokEOF {
				part = part[:len(part)-1]
			}
			p.expand(part)
		}
		i = end
	}
}

// include puts the tokens of a file in the place of #include "name". Files that are not there, those in angle brackets
// and those included before are passed over.
func (p *preprocessor) include(at span, rest []token) {
	if len(rest) == 0 || rest[0].kind != tokString || p.opts.Include == nil {
		return
	}
	name := unquote(rest[0].text)
	if p.file.find(name) != nil {
		return
	}
	src, err := p.opts.Include(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		p.diags.errorf("sketch/include", at, "include %s: %v", clip(name), err)
		return
	}
	p.bytes += len(src)
	if p.bytes > p.opts.Limits.Source || len(p.file.included) >= expansionDepth {
		p.diags.errorf("sketch/limit", at, "included files have more than %d bytes or are more than %d",
			p.opts.Limits.Source, expansionDepth)
		p.full = true
		return
	}
	in := &file{name: name, src: string(src), index: int16(len(p.file.included) + 1)}
	p.file.included = append(p.file.included, in)
	before := p.diags.errors
	if toks := lex(in, p.diags, p.max); p.diags.errors == before {
		p.process(toks)
	}
}

// lexFragment splits the value of a definition, which has no place in the source.
func lexFragment(s string) []token {
	f := &file{src: s}
	toks := lex(f, &diags{file: f}, 10000)
	return toks[:len(toks)-1]
}

func (p *preprocessor) live() bool {
	n := len(p.conds)
	return n == 0 || p.conds[n-1].live
}

func (p *preprocessor) directive(hash token, line []token) {
	if len(line) == 0 {
		return
	}
	at := hash.span().to(line[0].span())
	rest := line[1:]
	switch line[0].text {
	case "if", "ifdef", "ifndef":
		c := condition{at: at, taken: true}
		if p.live() {
			c.live = p.test(line[0].text, at, rest)
			c.taken = c.live
		}
		if len(p.conds) >= expansionDepth {
			p.diags.errorf("sketch/limit", at, "#if nested more than %d deep", expansionDepth)
			p.full = true
			return
		}
		p.conds = append(p.conds, c)
	case "elif", "else", "endif":
		n := len(p.conds)
		if n == 0 {
			p.diags.errorf("sketch/syntax", at, "#%s without #if", line[0].text)
			return
		}
		p.branch(&p.conds[n-1], line[0].text, at, rest)
		if line[0].text == "endif" {
			p.conds = p.conds[:n-1]
		}
	case "define":
		if p.live() {
			p.define(at, rest)
		}
	case "undef":
		if p.live() && len(rest) > 0 {
			if m := p.macros[rest[0].text]; m != nil && !m.given {
				delete(p.macros, rest[0].text)
			}
		}
	case "error":
		if p.live() {
			p.diags.errorf("sketch/directive", at, "#error%s", joined(rest))
		}
	case "include":
		if p.live() {
			p.include(at, rest)
		}
	case "pragma", "line", "warning", "ident":
	default:
		if p.live() {
			p.diags.errorf("sketch/directive", at, "unknown directive #%s", line[0].text)
		}
	}
}

func joined(toks []token) string {
	var b strings.Builder
	for _, t := range toks {
		b.WriteByte(' ')
		b.WriteString(t.text)
	}
	return b.String()
}

func (p *preprocessor) branch(c *condition, word string, at span, rest []token) {
	if word == "endif" {
		return
	}
	if c.last {
		p.diags.errorf("sketch/syntax", at, "#%s after #else", word)
	}
	c.last = word == "else"
	c.live = false
	if !c.taken {
		c.live = word == "else" || p.test("if", at, rest)
		c.taken = c.live
	}
}

func (p *preprocessor) test(word string, at span, rest []token) bool {
	if word != "if" {
		if len(rest) == 0 || rest[0].kind != tokIdent {
			p.diags.errorf("sketch/syntax", at, "#%s without a name", word)
			return false
		}
		return p.defined(rest[0].text) == (word == "ifdef")
	}
	e := condExpr{p: p, toks: p.expandCond(rest), at: at}
	v := e.ternary()
	if !e.failed && e.pos < len(e.toks) {
		e.fail("unexpected %q in #if", e.toks[e.pos].text)
	}
	return v != 0 && !e.failed
}

func (p *preprocessor) defined(name string) bool {
	m := p.macros[name]
	if m != nil {
		m.used = true
	}
	return m != nil
}

// expandCond replaces defined(X) and expands the rest.
func (p *preprocessor) expandCond(toks []token) []token {
	var in []token
	for i := 0; i < len(toks); i++ {
		if toks[i].text != "defined" {
			in = append(in, toks[i])
			continue
		}
		t := toks[i]
		j := i + 1
		paren := j < len(toks) && toks[j].text == "("
		if paren {
			j++
		}
		if j >= len(toks) {
			break
		}
		t.kind, t.text = tokInt, "0"
		if p.defined(toks[j].text) {
			t.text = "1"
		}
		if paren {
			j++
		}
		in = append(in, t)
		i = j
	}
	return p.expanded(in)
}

func (p *preprocessor) define(at span, rest []token) {
	if len(rest) == 0 || rest[0].kind != tokIdent {
		p.diags.errorf("sketch/syntax", at, "#define without a name")
		return
	}
	m := &macro{name: rest[0].text}
	if old := p.macros[m.name]; old != nil && old.given {
		return
	}
	rest = rest[1:]
	if len(rest) > 0 && rest[0].text == "(" && !rest[0].space {
		m.function = true
		i := 1
		for ; i < len(rest) && rest[i].text != ")"; i++ {
			switch {
			case rest[i].text == "...":
				m.variadic = true
				m.params = append(m.params, "__VA_ARGS__")
			case rest[i].kind == tokIdent:
				m.params = append(m.params, rest[i].text)
			}
		}
		if i == len(rest) {
			p.diags.errorf("sketch/syntax", at, "#define %s: parameters are not closed, want ')'", m.name)
			return
		}
		rest = rest[i+1:]
	}
	m.body = rest
	p.macros[m.name] = m
}

func (p *preprocessor) emit(t token) {
	if p.work++; p.work > 2*p.max || len(p.out) >= p.max {
		if !p.full {
			p.diags.errorf("sketch/limit", t.span(), "macros expand to more than %d tokens", p.max)
			p.full = true
		}
		return
	}
	p.out = append(p.out, t)
}

// expanded returns the expansion of toks.
func (p *preprocessor) expanded(toks []token) []token {
	saved := p.out
	p.out = nil
	p.expand(toks)
	out := p.out
	p.out = saved
	return out
}

func (p *preprocessor) expand(toks []token) {
	if len(toks) == 0 {
		return
	}
	if p.depth++; p.depth > expansionDepth {
		p.diags.errorf("sketch/limit", toks[0].span(), "macros nested more than %d deep", expansionDepth)
		p.full = true
	}
	defer func() { p.depth-- }()
	for i := 0; i < len(toks) && !p.full; i++ {
		t := toks[i]
		if t.text == "_Pragma" && i+1 < len(toks) && toks[i+1].text == "(" {
			i = closing(toks, i+1)
			continue
		}
		m := p.macros[t.text]
		if t.kind != tokIdent || m == nil || slices.Contains(p.active, t.text) {
			p.emit(t)
			continue
		}
		if !m.function {
			m.used = true
			p.replace(m, t, m.body)
			continue
		}
		if i+1 >= len(toks) || toks[i+1].text != "(" {
			p.emit(t)
			continue
		}
		end := closing(toks, i+1)
		if end == len(toks) {
			p.diags.errorf("sketch/syntax", t.span(), "arguments of macro %s are not closed, want ')'", m.name)
			return
		}
		use := t
		use.len = toks[end].off + toks[end].len - t.off
		if t.macro {
			use.len = t.len
		}
		body, ok := p.substitute(m, use, arguments(toks[i+2:end]))
		if !ok {
			return
		}
		p.replace(m, use, body)
		i = end
	}
}

// closing returns the index of the parenthesis that closes the one at open, or len(toks).
func closing(toks []token, open int) int {
	depth := 0
	for i := open; i < len(toks); i++ {
		switch toks[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks)
}

func arguments(toks []token) [][]token {
	var args [][]token
	depth, start := 0, 0
	for i, t := range toks {
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ",":
			if depth == 0 && t.kind == tokPunct {
				args = append(args, toks[start:i])
				start = i + 1
			}
		}
	}
	return append(args, toks[start:])
}

// replace expands body in place of the macro's use.
func (p *preprocessor) replace(m *macro, use token, body []token) {
	p.active = append(p.active, m.name)
	start := len(p.out)
	placed := make([]token, len(body))
	for i, b := range body {
		b.macro = true
		b.off, b.len, b.line, b.col, b.file, b.first = use.off, use.len, use.line, use.col, use.file, false
		placed[i] = b
	}
	if len(placed) > 0 {
		placed[0].space = use.space
		p.expand(placed)
	}
	p.active = p.active[:len(p.active)-1]
	if m.given && len(p.out) > start {
		p.out[start].given = m.name
		p.out[start].more = int32(len(p.out) - start - 1)
		if len(p.out) == start+1 {
			p.out[start].macro = use.macro
		}
	}
}

func (p *preprocessor) substitute(m *macro, use token, args [][]token) ([]token, bool) {
	n := len(m.params)
	if n == 0 && len(args) == 1 && len(args[0]) == 0 {
		args = nil
	}
	if m.variadic && len(args) > n {
		rest := slices.Clone(args[n-1])
		for _, a := range args[n:] {
			rest = append(append(rest, token{kind: tokPunct, text: ","}), a...)
		}
		args = append(args[:n-1:n-1], rest)
	}
	if m.variadic && len(args) == n-1 {
		args = append(args, nil)
	}
	if len(args) != n {
		p.diags.errorf("sketch/syntax", use.span(), "macro %s got %d arguments, want %d", m.name, len(args), n)
		return nil, false
	}
	var out []token
	for i := 0; i < len(m.body); i++ {
		t := m.body[i]
		if t.text == "#" && i+1 < len(m.body) {
			if k := slices.Index(m.params, m.body[i+1].text); k >= 0 {
				out = append(out, token{kind: tokString, text: strconv.Quote(strings.TrimSpace(joined(args[k])))})
				i++
				continue
			}
		}
		if t.text == "##" && len(out) > 0 && i+1 < len(m.body) {
			i++
			next := m.body[i : i+1]
			if k := slices.Index(m.params, next[0].text); k >= 0 {
				next = args[k]
			}
			if len(next) > 0 {
				glued := lexFragment(out[len(out)-1].text + next[0].text)
				out = append(append(out[:len(out)-1], glued...), next[1:]...)
			}
			continue
		}
		k := -1
		if t.kind == tokIdent {
			k = slices.Index(m.params, t.text)
		}
		switch {
		case k < 0:
			out = append(out, t)
		case i+1 < len(m.body) && m.body[i+1].text == "##":
			out = append(out, args[k]...)
		default:
			out = append(out, p.expanded(args[k])...)
		}
		if len(out) > p.max {
			p.diags.errorf("sketch/limit", use.span(), "macro %s expands to more than %d tokens", m.name, p.max)
			p.full = true
			return nil, false
		}
	}
	return out, true
}

// condExpr evaluates the expression of an #if in 64 bits, names counting as 0.
type condExpr struct {
	p      *preprocessor
	toks   []token
	pos    int
	at     span
	failed bool
	depth  int
}

func (e *condExpr) fail(format string, args ...any) {
	if !e.failed {
		e.p.diags.errorf("sketch/syntax", e.at, format, args...)
	}
	e.failed = true
}

func (e *condExpr) next() string {
	if e.pos < len(e.toks) {
		return e.toks[e.pos].text
	}
	return ""
}

func (e *condExpr) ternary() int64 {
	c := e.binary(1)
	if e.next() != "?" {
		return c
	}
	e.pos++
	a := e.ternary()
	if e.next() != ":" {
		e.fail("got %q in #if, want ':'", e.next())
		return 0
	}
	e.pos++
	b := e.ternary()
	if c != 0 {
		return a
	}
	return b
}

func (e *condExpr) binary(prec int) int64 {
	x := e.unary()
	for !e.failed {
		op := e.next()
		q := binaryPrec[op]
		if q < prec || q == 0 {
			return x
		}
		e.pos++
		y := e.binary(q + 1)
		if (op == "/" || op == "%") && y == 0 {
			e.fail("division by zero in #if")
			return 0
		}
		x = foldInt(op, typeLongLong, x, y)
	}
	return 0
}

func (e *condExpr) unary() int64 {
	if e.depth++; e.depth > expansionDepth {
		e.fail("#if expression nested more than %d deep", expansionDepth)
	}
	defer func() { e.depth-- }()
	if e.failed {
		return 0
	}
	if e.pos >= len(e.toks) {
		e.fail("#if expression ends early, want an operand")
		return 0
	}
	t := e.toks[e.pos]
	e.pos++
	switch {
	case t.text == "!":
		if e.unary() == 0 {
			return 1
		}
		return 0
	case t.text == "-":
		return -e.unary()
	case t.text == "+":
		return e.unary()
	case t.text == "~":
		return ^e.unary()
	case t.text == "(":
		v := e.ternary()
		if e.next() != ")" {
			e.fail("got %q in #if, want ')'", e.next())
		}
		e.pos++
		return v
	case t.kind == tokInt:
		v, _, err := parseInt(t.text)
		if err != nil {
			e.fail("%v", err)
		}
		return int64(v)
	case t.text == "true":
		return 1
	case t.kind == tokIdent:
		if e.next() == "(" { // a function-like macro of a header, such as __has_include
			e.pos = closing(e.toks, e.pos) + 1
		}
		return 0
	}
	e.fail("got %q in #if, want an operand", t.text)
	return 0
}
