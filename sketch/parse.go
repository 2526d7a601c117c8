package sketch

import (
	"fmt"
	"slices"
)

// parser turns tokens into the syntax tree. Errors are recorded and end the statement or declaration they are in.
type parser struct {
	*file
	diags *diags
	toks  []token
	pos   int
	unit  *unit
	types map[string]bool // names that start a type, besides the built-in ones
	ftmpl map[string]bool // function templates
	// shadow holds type names that the function being parsed has given to variables, such as int half.
	shadow map[string]bool
	depth  int
	// quiet is set while a declaration is tried that may be none of our business.
	quiet  bool
	unsaid unsaid // the last error that was not reported
}

// unsaid is an error of a declaration that may never be needed.
type unsaid struct {
	at      span
	message string
}

// Limits of nesting and of chains such as a+a+a: they keep every recursion of the package shallow.
const (
	nestingDepth = 256
	chainLength  = 2048
)

func newParser(f *file, ds *diags, toks []token) *parser {
	return &parser{file: f, diags: ds, toks: toks,
		types: map[string]bool{}, ftmpl: map[string]bool{},
		unit: &unit{funcs: map[string][]*funcDecl{}, structs: map[string]*structDecl{}, aliases: map[string]*aliasDecl{},
			globals: map[string]*varDecl{}, enums: map[string]*enumConst{},
			special: map[string]bool{}, broken: map[string]unsaid{}}}
}

func (p *parser) tok() *token { return &p.toks[p.pos] }

func (p *parser) peek(n int) *token {
	return &p.toks[min(p.pos+n, len(p.toks)-1)]
}

// is reports whether the next token is the operator or word s.
func (p *parser) is(s string) bool {
	t := &p.toks[p.pos]
	return t.text == s && (t.kind == tokPunct || t.kind == tokIdent)
}

func (p *parser) accept(s string) bool {
	if p.is(s) {
		p.next()
		return true
	}
	return false
}

func (p *parser) next() *token {
	t := &p.toks[p.pos]
	if p.pos < len(p.toks)-1 {
		p.pos++
	}
	return t
}

// last returns the span of the token before the next one.
func (p *parser) last() span {
	if p.pos == 0 {
		return p.toks[0].span()
	}
	return p.toks[p.pos-1].span()
}

func (p *parser) since(start span) span { return start.to(p.last()) }

func (p *parser) fail(s span, format string, args ...any) {
	if p.quiet {
		p.unsaid = unsaid{s, fmt.Sprintf(format, args...)}
	} else {
		p.diags.errorf("sketch/syntax", s, format, args...)
	}
	panic(bailout{})
}

func describe(t *token) string {
	switch t.kind {
	case tokEOF:
		return "the end of the source"
	case tokString:
		return "a string"
	}
	return "'" + clip(t.text) + "'"
}

// want takes the token s or fails.
func (p *parser) want(s, context string) span {
	if !p.is(s) {
		p.fail(p.tok().span(), "got %s, want '%s' %s", describe(p.tok()), s, context)
	}
	return p.next().span()
}

// enter guards a recursion; leave must follow.
func (p *parser) enter() {
	if p.depth++; p.depth > nestingDepth {
		at := p.tok().span()
		p.depth = 0
		p.quiet = false
		p.diags.errorf("sketch/limit", at, "nested more than %d deep", nestingDepth)
		p.pos = len(p.toks) - 1
		panic(bailout{})
	}
}

func (p *parser) leave() { p.depth-- }

// name takes an identifier, or a token that a -D definition has replaced; given is then its tokens.
func (p *parser) name(what string) (name string, at span, given []token) {
	t := p.tok()
	if t.given != "" {
		from := p.pos
		p.pos += 1 + int(t.more)
		return t.given, t.span(), p.toks[from:p.pos]
	}
	if t.kind != tokIdent || keywords[t.text] {
		p.fail(t.span(), "got %s, want %s", describe(t), what)
	}
	p.next()
	return t.text, t.span(), nil
}

// keywords are the words that cannot name anything.
var keywords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range []string{
		"if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "return", "goto",
		"sizeof", "alignof", "struct", "class", "union", "enum", "typedef", "using", "namespace", "template", "typename",
		"const", "constexpr", "volatile", "static", "extern", "inline", "register", "auto", "void", "bool", "char",
		"short", "int", "long", "float", "double", "signed", "unsigned", "true", "false", "nullptr", "static_cast",
		"reinterpret_cast", "const_cast", "dynamic_cast", "new", "delete", "try", "catch", "throw", "asm", "operator",
		"decltype", "alignas", "static_assert", "public", "private", "protected", "friend",
	} {
		m[w] = true
	}
	return m
}()

// parseUnit parses the whole file. Function bodies are left for later.
func (p *parser) parseUnit() {
	hasKernel := slices.ContainsFunc(p.toks, func(t token) bool { return t.kind == tokIdent && t.text == "__global__" })
	var bare []stmt
	for p.tok().kind != tokEOF {
		before := p.pos
		if hasKernel || p.atDeclaration() {
			p.item()
		} else if s := p.bareStatement(); s != nil {
			bare = append(bare, s)
		}
		if p.pos == before {
			p.next()
		}
	}
	if len(bare) > 0 {
		body := &blockStmt{span: bare[0].at(), list: bare}
		p.unit.bare = &funcDecl{name: "sketch", span: bare[0].at(), kernel: true, body: body, parsed: true,
			ret: &typeExpr{form: formNamed, name: "void"}}
	}
}

// bareStatement parses one statement of a file without kernels.
func (p *parser) bareStatement() (s stmt) {
	start := p.pos
	ok := false
	func() {
		defer rescue()
		s = p.statement()
		ok = true
	}()
	if !ok {
		p.pos = max(p.pos, start)
		p.depth = 0
		p.resync(0)
		return nil
	}
	return s
}

// resync skips to after the next ';', or to the '}' that closes the block the parser is in.
func (p *parser) resync(depth int) {
	for p.tok().kind != tokEOF {
		switch {
		case p.is("{"):
			depth++
		case p.is("}"):
			if depth == 0 {
				return
			}
			depth--
			if depth == 0 {
				p.next()
				return
			}
		case p.is(";") && depth == 0:
			p.next()
			return
		}
		p.next()
	}
}

// atDeclaration reports whether a file without kernels has a function or type here, rather than a statement.
func (p *parser) atDeclaration() bool {
	switch t := p.tok(); t.text {
	case "template", "namespace", "using", "typedef", "struct", "class", "union", "enum", "static_assert", "#":
		return p.peek(2).text != "=" || t.text != "struct"
	case "extern":
		return p.peek(1).kind == tokString
	}
	if !p.atType() {
		return false
	}
	for i := p.pos; i < len(p.toks); i++ {
		switch t := &p.toks[i]; t.text {
		case ";", "{", "=", "[", "}":
			return false
		case "(":
			if i > p.pos && (p.toks[i-1].text == "__launch_bounds__" || p.toks[i-1].text == "__align__" ||
				p.toks[i-1].text == "alignas") {
				i = closing(p.toks, i)
				continue
			}
			end := closing(p.toks, i)
			if end+1 >= len(p.toks) {
				return false
			}
			after := p.toks[end+1].text
			return after == "{" || after == "const" || after == "noexcept"
		}
	}
	return false
}

// itemEnd returns the index after the declaration that starts at the next token.
func (p *parser) itemEnd() int {
	depth := 0
	for i := p.pos; i < len(p.toks); i++ {
		t := &p.toks[i]
		if t.kind != tokPunct {
			continue
		}
		switch t.text {
		case "{", "(", "[":
			depth++
		case "}", ")", "]":
			depth--
			if t.text == "}" && depth <= 0 {
				if i+1 < len(p.toks) && p.toks[i+1].text == ";" {
					return i + 2
				}
				return i + 1
			}
		case ";":
			if depth <= 0 {
				return i + 1
			}
		}
	}
	return len(p.toks) - 1
}

// deviceWords mark declarations whose errors concern the user; host code is passed over without a word.
var deviceWords = []string{"__global__", "__device__", "__shared__", "__constant__"}

// item parses one declaration at file level.
func (p *parser) item() {
	switch {
	case p.accept(";"), p.accept("}"):
		return
	case p.is("namespace") || p.is("inline") && p.peek(1).text == "namespace":
		p.accept("inline")
		for p.tok().kind != tokEOF && !p.is("{") && !p.is(";") {
			p.next()
		}
		p.next()
		return
	case p.is("extern") && p.peek(1).kind == tokString:
		p.next()
		p.next()
		if p.accept("{") {
			return
		}
	}
	start, end := p.pos, p.itemEnd()
	concerned := false
	for _, t := range p.toks[start:end] {
		concerned = concerned || t.kind == tokIdent && slices.Contains(deviceWords, t.text)
	}
	p.quiet = !concerned
	ok := false
	func() {
		defer rescue()
		p.declaration(nil)
		ok = true
	}()
	p.quiet = false
	if ok {
		return
	}
	p.depth = 0
	p.pos = max(end, p.pos)
	for i, t := range p.toks[start:end] {
		if t.text == "struct" || t.text == "class" || t.text == "union" {
			p.unit.broken[p.toks[start+i+1].text] = p.unsaid
		}
	}
}

// declaration parses a function, variable, type or alias at file level.
func (p *parser) declaration(tparams []tparam) {
	start := p.tok().span()
	switch {
	case p.is("template"):
		p.next()
		if !p.is("<") { // explicit instantiation
			p.skipTo(";")
			return
		}
		ps := p.templateParams()
		p.declaration(append(append([]tparam{}, tparams...), ps...))
		return
	case tparams != nil && len(tparams) == 0: // template <> ...
		p.specialization()
		return
	case p.is("using"):
		p.using(tparams)
		return
	case p.is("static_assert"):
		p.skipTo(";")
		return
	case p.is("typedef"):
		for _, a := range p.typedefs() {
			p.addAlias(a.name, a.ty, nil)
		}
		return
	case p.is("enum"):
		p.enum()
		p.want(";", "after enum")
		return
	}
	spec := p.specifiers()
	if spec.structure != nil {
		spec.structure.tparams = tparams
	}
	if p.accept(";") {
		return
	}
	for {
		d := p.declarator(spec.ty, "a name")
		if p.is("(") && d.name != "" && !spec.shared {
			p.function(spec, d, tparams)
			return
		}
		v := p.finishVar(spec, d)
		p.unit.globals[v.name] = v
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(";") {
		p.fail(p.tok().span(), "got %s, want ';' after the declaration that starts at %d:%d", describe(p.tok()), start.line,
			start.col)
	}
}

// specialization passes over an explicit specialization, and notes the function's name.
func (p *parser) specialization() {
	end := p.itemEnd()
	for i := p.pos; i+1 < end; i++ {
		if t := &p.toks[i]; t.kind == tokIdent && (p.toks[i+1].text == "<" || p.toks[i+1].text == "(") && p.ftmpl[t.text] {
			p.unit.special[t.text] = true
			break
		}
	}
	p.pos = end
}

func (p *parser) skipTo(s string) {
	for p.tok().kind != tokEOF && !p.is(s) {
		p.next()
	}
	p.accept(s)
}

func (p *parser) templateParams() []tparam {
	p.want("<", "after template")
	var ps []tparam
	for !p.is(">") {
		t := tparam{span: p.tok().span()}
		if (p.is("typename") || p.is("class")) && !p.tok().macro {
			p.next()
			p.accept("...")
			t.isType = true
			if p.tok().kind == tokIdent || p.tok().given != "" {
				t.name, t.span, t.given = p.name("a template parameter")
				p.types[t.name] = true
			}
			if p.accept("=") {
				t.def.ty = p.typeName()
			}
		} else {
			spec := p.specifiers()
			p.accept("...")
			d := p.declarator(spec.ty, "")
			t.name, t.span, t.ty, t.given = d.name, d.span, d.ty, d.given
			if p.accept("=") {
				t.def.x = p.targExpr()
			}
		}
		ps = append(ps, t)
		if !p.accept(",") {
			break
		}
	}
	p.closeAngle()
	return ps
}

// closeAngle takes one '>', splitting a longer operator.
func (p *parser) closeAngle() {
	t := p.tok()
	if t.kind == tokPunct && len(t.text) > 1 && t.text[0] == '>' {
		p.toks[p.pos].text = t.text[1:]
		p.toks[p.pos].off++
		p.toks[p.pos].col++
		p.toks[p.pos].len--
		return
	}
	p.want(">", "to close the template parameters")
}

func (p *parser) using(tparams []tparam) {
	p.next()
	if p.is("namespace") || p.peek(1).text != "=" {
		// using X::name; may bring in a type.
		p.skipTo(";")
		return
	}
	name, _, _ := p.name("a type name")
	p.want("=", "in using")
	ty := p.typeName()
	p.want(";", "after using")
	p.addAlias(name, ty, tparams)
}

func (p *parser) addAlias(name string, ty *typeExpr, tparams []tparam) {
	p.types[name] = true
	p.unit.aliases[name] = &aliasDecl{name, ty, tparams}
}

func (p *parser) typedefs() []*typeStmt {
	start := p.next().span()
	spec := p.specifiers()
	var out []*typeStmt
	for {
		d := p.declarator(spec.ty, "a type name")
		p.types[d.name] = true
		out = append(out, &typeStmt{p.since(start), d.name, d.ty})
		if !p.accept(",") {
			break
		}
	}
	p.want(";", "after typedef")
	return out
}

func (p *parser) enum() *typeExpr {
	start := p.next().span()
	if !p.accept("class") {
		p.accept("struct")
	}
	ty := &typeExpr{span: start, form: formNamed, name: "int"}
	prefix := ""
	if p.tok().kind == tokIdent {
		name, _, _ := p.name("a name")
		p.addAlias(name, ty, nil)
		prefix = name
	}
	if p.accept(":") {
		ty = p.typeName()
		if prefix != "" {
			p.addAlias(prefix, ty, nil)
		}
	}
	if !p.accept("{") {
		return ty
	}
	prev := ""
	for !p.is("}") {
		name, at, _ := p.name("a name of the enum")
		c := &enumConst{name: name, span: at, prev: prev}
		if p.accept("=") {
			c.val = p.assignment()
		}
		p.unit.enums[name] = c
		prev = name
		if !p.accept(",") {
			break
		}
	}
	p.want("}", "to close the enum")
	return ty
}

// function parses what follows the name of a function.
func (p *parser) function(spec *specifiers, d *declarator, tparams []tparam) {
	f := &funcDecl{name: d.name, span: d.span, ret: d.ty, tparams: tparams, kernel: spec.kernel,
		device: spec.device || spec.kernel || spec.constexpr, bounds: spec.bounds}
	f.params = p.params()
	for !p.is("{") && !p.is(";") && p.tok().kind != tokEOF {
		if p.accept("->") {
			f.ret = p.typeName()
			continue
		}
		if p.is("__launch_bounds__") {
			p.next()
			f.bounds = p.parenArgs()
			continue
		}
		p.next()
	}
	if len(tparams) > 0 {
		p.ftmpl[f.name] = true
	}
	if p.accept(";") {
		return
	}
	open := p.tok().span()
	f.start = p.pos
	if !p.skipBraces() {
		if f.kernel || f.device {
			p.fail(open, "'{' is not closed, want '}' at the end of %s", f.name)
		}
		return
	}
	f.end = p.pos
	p.unit.funcs[f.name] = append(p.unit.funcs[f.name], f)
	p.unit.order = append(p.unit.order, f)
}

// skipBraces skips from an opening brace to after the one that closes it.
func (p *parser) skipBraces() bool {
	depth := 0
	for p.tok().kind != tokEOF {
		switch {
		case p.is("{"):
			depth++
		case p.is("}"):
			if depth--; depth == 0 {
				p.next()
				return true
			}
		}
		p.next()
	}
	return false
}

func (p *parser) params() []*varDecl {
	p.want("(", "before parameters")
	var ps []*varDecl
	for !p.is(")") {
		if p.accept("...") {
			break
		}
		spec := p.specifiers()
		d := p.declarator(spec.ty, "")
		v := &varDecl{name: d.name, span: d.span, ty: d.ty, given: p.givenExpr(d.given)}
		if p.accept("=") {
			v.init = p.assignment()
		}
		ps = append(ps, v)
		if !p.accept(",") {
			break
		}
	}
	p.want(")", "after parameters")
	if len(ps) == 1 && ps[0].name == "" && ps[0].ty.form == formNamed && ps[0].ty.name == "void" {
		ps = nil
	}
	return ps
}

// givenExpr parses the tokens of a -D definition as an expression; nil when they are none.
func (p *parser) givenExpr(toks []token) (e expr) {
	if len(toks) == 0 {
		return nil
	}
	sub := *p
	sub.toks = append(slices.Clone(toks), token{kind: tokEOF})
	for i := range sub.toks {
		sub.toks[i].given = ""
	}
	sub.pos, sub.quiet, sub.depth = 0, true, 0
	defer rescue()
	x := sub.assignment()
	if sub.tok().kind == tokEOF {
		e = x
	}
	return e
}

// hide makes a name that is also a type's name the name of a variable.
func (p *parser) hide(name string) {
	if p.shadow != nil && (builtinTypes[name] != nil || p.types[name]) {
		p.shadow[name] = true
	}
}

// parseBody parses the body of a function that was skipped. It reports whether the body is usable.
func (p *parser) parseBody(f *funcDecl) bool {
	if f.parsed {
		return !f.bad
	}
	f.parsed = true
	before := p.diags.errors
	p.pos, p.depth = f.start, 0
	p.shadow = map[string]bool{}
	for _, v := range f.params {
		p.hide(v.name)
	}
	for _, t := range f.tparams {
		if t.isType {
			p.types[t.name] = true
		}
	}
	func() {
		defer rescue()
		f.body = p.block()
	}()
	f.bad = f.body == nil || p.diags.errors > before
	return !f.bad
}
