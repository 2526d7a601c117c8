package sketch

import "strings"

// specifiers is what stands before the declarators of a declaration.
type specifiers struct {
	ty        *typeExpr
	shared    bool
	extern    bool
	static    bool
	constant  bool
	constexpr bool
	device    bool
	kernel    bool
	aligns    []expr
	bounds    []expr
	structure *structDecl
}

// ignoredWords are specifiers that do not change addresses; those with true take a parenthesised argument.
var ignoredWords = map[string]bool{
	"inline": false, "__inline__": false, "__forceinline__": false, "__noinline__": false, "volatile": false,
	"register": false, "__restrict__": false, "__restrict": false, "restrict": false, "typename": false,
	"__host__": false, "friend": false, "thread_local": false, "mutable": false, "__grid_constant__": false,
	"virtual": false, "explicit": false, "__cluster_dims__": true, "__maxnreg__": true, "__attribute__": true,
	"__declspec": true, "__block_size__": true,
}

// baseWords make up the names of the arithmetic types.
var baseWords = map[string]bool{
	"unsigned": true, "signed": true, "long": true, "short": true, "int": true, "char": true, "float": true,
	"double": true, "bool": true, "void": true, "__int64": true,
}

// specWords start a declaration without naming a type.
var specWords = map[string]bool{
	"const": true, "static": true, "extern": true, "constexpr": true, "__shared__": true, "__device__": true,
	"__constant__": true, "__global__": true, "__managed__": true, "auto": true, "alignas": true, "__align__": true,
	"struct": true, "class": true, "union": true, "decltype": true, "__launch_bounds__": true, "consteval": true,
	"constinit": true,
}

// atType reports whether a type starts at the next token.
func (p *parser) atType() bool {
	t := p.tok()
	if t.kind == tokPunct {
		return t.text == "::" && p.typeAt(p.pos+1)
	}
	if t.kind != tokIdent {
		return false
	}
	if _, ok := ignoredWords[t.text]; ok || baseWords[t.text] || specWords[t.text] {
		return true
	}
	return p.typeAt(p.pos)
}

// typeAt reports whether a possibly qualified type name starts at token i.
func (p *parser) typeAt(i int) bool {
	for i+2 < len(p.toks) && p.toks[i].kind == tokIdent && p.toks[i+1].text == "::" && p.toks[i+2].kind == tokIdent {
		i += 2
	}
	t := &p.toks[i]
	return t.kind == tokIdent && !p.shadow[t.text] && (p.types[t.text] || builtinTypes[t.text] != nil || baseWords[t.text])
}

// atDeclStatement reports whether a statement is a declaration: a type starts it, and it is not a call of a constructor
// nor a name used as a value.
func (p *parser) atDeclStatement() bool {
	t := p.tok()
	if t.kind != tokIdent && t.text != "::" {
		return false
	}
	if p.atType() {
		if specWords[t.text] {
			return true
		}
		after := p.afterName(p.pos)
		return p.toks[after].text != "(" && p.toks[after].text != "{" || p.toks[after+1].text == "&" ||
			p.toks[after+1].text == "*"
	}
	if keywords[t.text] || t.given != "" {
		return false
	}
	// An unknown name followed by a name declares something of an unknown type.
	after := p.afterName(p.pos)
	if after == p.pos {
		return false
	}
	next := &p.toks[after]
	qualified := p.toks[p.pos+1].text == "::"
	if next.kind == tokIdent && !keywords[next.text] {
		return true
	}
	return qualified && (next.text == "&" || next.text == "*") && p.toks[after+1].kind == tokIdent &&
		(p.toks[after+2].text == "=" || p.toks[after+2].text == ";")
}

// afterName returns the index after a possibly qualified name with template arguments.
func (p *parser) afterName(i int) int {
	if p.toks[i].text == "::" {
		i++
	}
	for p.toks[i].kind == tokIdent {
		i++
		if p.toks[i].text == "<" {
			if end := p.angleEnd(i); end > 0 {
				i = end
			}
		}
		if p.toks[i].text != "::" {
			// multi-word names: unsigned int
			if baseWords[p.toks[i-1].text] && baseWords[p.toks[i].text] {
				continue
			}
			return i
		}
		i++
	}
	return i
}

// angleTokens bounds the look-ahead over template arguments.
const angleTokens = 200

// angleEnd returns the index after the '>' that matches the '<' at i, or 0 when this looks like a comparison.
func (p *parser) angleEnd(i int) int {
	depth, parens := 0, 0
	for end := min(len(p.toks), i+angleTokens); i < end; i++ {
		t := &p.toks[i]
		if t.kind != tokPunct {
			if t.kind == tokIdent && keywords[t.text] && !baseWords[t.text] && !specWords[t.text] && t.text != "sizeof" &&
				t.text != "true" && t.text != "false" && t.text != "typename" {
				return 0
			}
			continue
		}
		switch t.text {
		case "<":
			if parens == 0 {
				depth++
			}
		case ">", ">>", ">>>":
			if parens > 0 {
				continue
			}
			if depth -= len(t.text); depth <= 0 {
				return i + 1
			}
		case "(", "[":
			parens++
		case ")", "]":
			if parens--; parens < 0 {
				return 0
			}
		case ";":
			return 0
		case "{", "}", "&&", "||", "?":
			if parens == 0 && t.text != "{" && t.text != "}" {
				return 0
			}
		}
	}
	return 0
}

// specifiers parses the words before a declarator.
func (p *parser) specifiers() *specifiers {
	s := &specifiers{}
	start := p.tok().span()
	var words []string
	for {
		t := p.tok()
		if t.text == "[" && p.peek(1).text == "[" { // attribute
			for !p.is("]") && p.tok().kind != tokEOF {
				p.next()
			}
			p.accept("]")
			p.accept("]")
			continue
		}
		if t.kind != tokIdent && t.text != "::" {
			break
		}
		if args, ok := ignoredWords[t.text]; ok {
			p.next()
			if args && p.is("(") {
				p.pos = min(closing(p.toks, p.pos)+1, len(p.toks)-1)
			}
			continue
		}
		if p.storageWord(s, t.text) {
			continue
		}
		if t.given != "" && t.more == 0 && s.ty == nil && len(words) == 0 && p.atType() {
			s.ty = &typeExpr{span: p.next().span(), form: formNamed, name: t.given, given: t.text}
			continue
		}
		if s.ty == nil && baseWords[t.text] {
			words = append(words, t.text)
			p.next()
			continue
		}
		if s.ty != nil || len(words) > 0 {
			break
		}
		p.typeWord(s, t)
	}
	if len(words) > 0 {
		s.ty = &typeExpr{span: p.since(start), form: formNamed, name: canonical(words)}
	}
	if s.ty == nil {
		p.fail(p.tok().span(), "got %s, want a type", describe(p.tok()))
	}
	s.ty.isCon = s.constant
	return s
}

// storageWord takes a word that says something about the declaration other than its type.
func (p *parser) storageWord(s *specifiers, word string) bool {
	switch word {
	case "const":
		s.constant = true
	case "constexpr", "consteval", "constinit":
		s.constant, s.constexpr = true, true
	case "static":
		s.static = true
	case "extern":
		s.extern = true
	case "__shared__":
		s.shared = true
	case "__device__", "__constant__", "__managed__":
		s.device = true
	case "__global__":
		s.kernel = true
	case "alignas", "__align__":
		p.next()
		s.aligns = append(s.aligns, p.alignment())
		return true
	case "__launch_bounds__":
		p.next()
		s.bounds = p.parenArgs()
		return true
	default:
		return false
	}
	p.next()
	return true
}

// typeWord takes a type that one word introduces.
func (p *parser) typeWord(s *specifiers, t *token) {
	switch t.text {
	case "auto":
		p.next()
		s.ty = &typeExpr{span: t.span(), form: formNamed, name: "auto"}
	case "decltype":
		p.next()
		p.want("(", "after decltype")
		x := p.expression()
		p.want(")", "after decltype")
		s.ty = &typeExpr{span: p.since(t.span()), form: formDecltype, dim: x}
	case "struct", "class", "union":
		s.structure, s.ty = p.structure()
	case "enum":
		s.ty = p.enum()
	default:
		s.ty = p.namedType()
	}
}

func (p *parser) alignment() expr {
	p.want("(", "before an alignment")
	var x expr
	if p.atType() {
		ty := p.typeName()
		x = &sizeofExpr{span: ty.span, ty: ty, align: true}
	} else {
		x = p.expression()
	}
	p.want(")", "after an alignment")
	return x
}

func (p *parser) parenArgs() []expr {
	p.want("(", "before arguments")
	var args []expr
	for !p.is(")") {
		args = append(args, p.assignment())
		if !p.accept(",") {
			break
		}
	}
	p.want(")", "after arguments")
	return args
}

// canonical returns the one name of an arithmetic type.
func canonical(words []string) string {
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	base := "int"
	switch {
	case count["double"] > 0:
		return "double"
	case count["float"] > 0:
		return "float"
	case count["void"] > 0:
		return "void"
	case count["bool"] > 0:
		return "bool"
	case count["char"] > 0:
		base = "char"
	case count["short"] > 0:
		base = "short"
	case count["long"] > 0 || count["__int64"] > 0:
		base = "long long"
	}
	if count["unsigned"] > 0 {
		return "unsigned " + base
	}
	return base
}

// canonicalTypes holds the names that canonical gives and builtinTypes does not.
var canonicalTypes = map[string]*ctype{
	"unsigned char": typeUchar, "unsigned short": typeUshort, "unsigned int": typeUint, "long long": typeLongLong,
	"unsigned long long": typeULongLong,
}

func (p *parser) namedType() *typeExpr {
	start := p.tok().span()
	p.accept("::")
	var b strings.Builder
	for {
		if p.tok().kind != tokIdent || keywords[p.tok().text] {
			p.fail(p.tok().span(), "got %s, want a type", describe(p.tok()))
		}
		b.WriteString(p.next().text)
		t := &typeExpr{form: formNamed, name: b.String()}
		if p.is("<") && p.angleEnd(p.pos) > 0 {
			t.targs = p.templateArgs()
		}
		if !p.is("::") || p.peek(1).kind != tokIdent {
			t.span = p.since(start)
			return t
		}
		p.next()
		b.WriteString("::")
	}
}

// templateArgs parses <...> after a template's name.
func (p *parser) templateArgs() []targ {
	p.want("<", "before template arguments")
	var args []targ
	for !p.is(">") && !p.is(">>") && !p.is(">>>") {
		if p.atType() && !p.typeIsValue() {
			args = append(args, targ{ty: p.typeName()})
		} else {
			args = append(args, targ{x: p.targExpr()})
		}
		if !p.accept(",") {
			break
		}
	}
	p.closeAngle()
	return args
}

// typeIsValue reports whether what starts like a type is a value: a cast, or a constant of a class.
func (p *parser) typeIsValue() bool {
	after := p.afterName(p.pos)
	return p.toks[after].text == "(" || p.toks[after].text == "{"
}

// targExpr parses an expression in which '>' ends the list.
func (p *parser) targExpr() expr {
	return p.binaryExpr(binaryPrec["<<"])
}

// typeName parses a type without a name, as in a cast.
func (p *parser) typeName() *typeExpr {
	s := p.specifiers()
	return p.declarator(s.ty, "").ty
}

// declarator is a name and the type it gets.
type declarator struct {
	name  string
	span  span
	ty    *typeExpr
	given []token
}

// declarator parses pointers, a name and array bounds. what names the thing wanted; "" when the name may be missing.
func (p *parser) declarator(base *typeExpr, what string) *declarator {
	p.enter()
	defer p.leave()
	d := &declarator{ty: base, span: p.tok().span()}
	p.pointers(d)
	var inner *declarator
	if p.is("(") && (p.peek(1).text == "&" || p.peek(1).text == "*") {
		p.next()
		inner = &declarator{ty: &typeExpr{}}
		p.pointers(inner)
		hole := inner.ty
		p.declName(inner, what)
		p.arrays(inner, hole)
		p.want(")", "in a declarator")
	} else {
		p.declName(d, what)
	}
	p.arrays(d, d.ty)
	if inner == nil {
		return d
	}
	if p.is("(") { // pointer to function
		p.pos = min(closing(p.toks, p.pos)+1, len(p.toks)-1)
		d.ty = &typeExpr{span: d.ty.span, form: formNamed, name: "::function"} // a library type: not followed
	}
	inner.ty = graft(inner.ty, d.ty)
	return inner
}

// graft puts base at the bottom of a chain of pointers and references, where the chain has an empty type.
func graft(chain, base *typeExpr) *typeExpr {
	if chain.elem == nil {
		return base
	}
	chain.elem = graft(chain.elem, base)
	return chain
}

func (p *parser) pointers(d *declarator) {
	for {
		switch {
		case p.is("*"):
			d.ty = &typeExpr{span: p.next().span(), form: formPointer, elem: d.ty}
		case p.is("&") || p.is("&&"):
			d.ty = &typeExpr{span: p.next().span(), form: formReference, elem: d.ty}
		case p.is("const"):
			p.next()
			d.ty.isCon = true
		case p.is("volatile") || p.is("__restrict__") || p.is("__restrict") || p.is("restrict"):
			p.next()
		default:
			return
		}
	}
}

func (p *parser) declName(d *declarator, what string) {
	t := p.tok()
	switch {
	case t.text == "operator" && t.kind == tokIdent:
		d.span = p.next().span()
		d.name = "operator"
		for !p.is("(") || p.peek(1).text == ")" && d.name == "operator" {
			if p.tok().kind == tokEOF {
				return
			}
			d.name += p.next().text
		}
	case t.kind == tokIdent && !keywords[t.text] || t.given != "":
		if p.accept("...") {
			return
		}
		d.name, d.span, d.given = p.name(what)
		for p.is("::") && p.peek(1).kind == tokIdent {
			p.next()
			d.name += "::" + p.next().text
		}
	case what != "":
		p.fail(t.span(), "got %s, want %s", describe(t), what)
	}
}

// arrays parses array bounds around element type elem.
func (p *parser) arrays(d *declarator, elem *typeExpr) {
	var dims []*typeExpr
	for p.is("[") {
		a := &typeExpr{span: p.next().span(), form: formArray}
		if !p.is("]") {
			a.dim = p.expression()
		}
		p.want("]", "after an array bound")
		if len(dims) >= nestingDepth {
			p.fail(a.span, "more than %d array bounds", nestingDepth)
		}
		dims = append(dims, a)
	}
	for i := len(dims) - 1; i >= 0; i-- {
		dims[i].elem = elem
		elem = dims[i]
	}
	if len(dims) > 0 {
		d.ty = elem
	}
}

// finishVar parses what follows the declarator of a variable.
func (p *parser) finishVar(s *specifiers, d *declarator) *varDecl {
	v := &varDecl{name: d.name, span: d.span, ty: d.ty, shared: s.shared, extern: s.extern, static: s.static,
		constant: s.constant, device: s.device, aligns: s.aligns, given: p.givenExpr(d.given)}
	p.hide(v.name)
	if d.ty.form == formPointer {
		v.constant = d.ty.isCon
	}
	for p.is("alignas") || p.is("__align__") || p.is("__attribute__") {
		p.next()
		v.aligns = append(v.aligns, p.alignment())
	}
	switch {
	case p.accept("="):
		v.init = p.initializer()
	case p.is("{"):
		v.init = p.initializer()
	case p.is("("):
		v.hasArgs = true
		v.args = p.parenArgs()
	}
	return v
}

func (p *parser) initializer() expr {
	if !p.is("{") {
		return p.assignment()
	}
	p.enter()
	defer p.leave()
	l := &initList{}
	start := p.next().span()
	for !p.is("}") {
		if p.is(".") && p.peek(2).text == "=" { // designated: taken in order
			p.next()
			p.next()
			p.next()
		}
		l.elems = append(l.elems, p.initializer())
		if !p.accept(",") {
			break
		}
	}
	p.want("}", "to close the initializer")
	l.span = p.since(start)
	return l
}

// structure parses struct, class and union.
func (p *parser) structure() (*structDecl, *typeExpr) {
	start := p.tok().span()
	s := &structDecl{span: start, union: p.next().text == "union"}
	for {
		switch {
		case p.is("alignas") || p.is("__align__"):
			p.next()
			s.aligns = append(s.aligns, p.alignment())
			continue
		case p.is("__attribute__"):
			p.next()
			p.pos = min(closing(p.toks, p.pos)+1, len(p.toks)-1)
			continue
		}
		break
	}
	ty := &typeExpr{span: start, form: formNamed}
	if p.tok().kind == tokIdent {
		named := p.namedType()
		s.name, ty.name, ty.targs = named.name, named.name, named.targs
	} else {
		s.name = "struct at " + p.place(start).Pos.String()
		ty.name = s.name
	}
	p.types[s.name] = true
	if !p.is("{") && !p.is(":") {
		return nil, ty
	}
	for !p.is("{") && p.tok().kind != tokEOF { // base classes
		p.next()
	}
	open := p.want("{", "in struct "+s.name)
	for !p.is("}") {
		if p.tok().kind == tokEOF {
			p.fail(open, "'{' is not closed, want '}' at the end of struct %s", s.name)
		}
		p.member(s)
	}
	p.next()
	if p.is("__attribute__") || p.is("__align__") || p.is("alignas") {
		p.next()
		s.aligns = append(s.aligns, p.alignment())
	}
	ty.span = p.since(start)
	p.unit.structs[s.name] = s
	return s, ty
}

// member parses one member of a struct. Functions are noted by name only.
func (p *parser) member(s *structDecl) {
	p.enter()
	defer p.leave()
	switch {
	case p.accept(";"):
		return
	case p.is("public") || p.is("private") || p.is("protected"):
		p.next()
		p.want(":", "after an access word")
		return
	case p.is("using"):
		if p.peek(2).text == "=" {
			start := p.next().span()
			name, _, _ := p.name("a type name")
			p.next()
			ty := p.typeName()
			p.types[name] = true
			s.types = append(s.types, &typeStmt{p.since(start), name, ty})
			p.unit.aliases[s.name+"::"+name] = &aliasDecl{name: name, ty: ty}
		}
		p.skipTo(";")
		return
	case p.is("typedef"):
		s.types = append(s.types, p.typedefs()...)
		return
	case p.is("static_assert"), p.is("friend"):
		p.skipTo(";")
		return
	case p.is("enum"):
		p.enum()
		p.want(";", "after enum")
		return
	}
	var tparams []tparam
	if p.is("template") {
		p.next()
		tparams = p.templateParams()
	}
	if p.atMethod() {
		p.method(s, tparams)
		return
	}
	spec := p.specifiers()
	if p.accept(";") {
		if spec.structure != nil && len(spec.structure.fields) > 0 && strings.HasPrefix(spec.structure.name, "struct at ") {
			s.fields = append(s.fields, &varDecl{name: "", ty: spec.ty, span: spec.structure.span})
		}
		return
	}
	for {
		d := p.declarator(spec.ty, "a member name")
		if p.accept(":") {
			p.fail(d.span, "bit-field %s: bit-fields are outside the subset", d.name)
		}
		v := p.finishVar(spec, d)
		if spec.static {
			s.consts = append(s.consts, v)
			p.unit.globals[s.name+"::"+v.name] = v
		} else {
			s.fields = append(s.fields, v)
		}
		if !p.accept(",") {
			break
		}
	}
	p.want(";", "after a member")
}

// atMethod reports whether a member function comes next.
func (p *parser) atMethod() bool {
	for i := p.pos; i < len(p.toks); i++ {
		switch t := &p.toks[i]; t.text {
		case "operator":
			return true
		case ";", "=", "[", "{", "}":
			return false
		case "(":
			if prev := p.toks[max(i-1, 0)].text; prev == "alignas" || prev == "__align__" || prev == "decltype" {
				i = closing(p.toks, i)
				continue
			}
			return true
		}
	}
	return false
}

// method parses the head of a member function. One that cannot be read is passed over: it matters only when called.
func (p *parser) method(s *structDecl, tparams []tparam) {
	start, quiet, depth := p.pos, p.quiet, p.depth
	ok := false
	func() {
		defer rescue()
		p.quiet = true
		ok = p.methodHead(s, tparams)
	}()
	p.quiet, p.depth = quiet, depth
	if ok {
		return
	}
	p.pos = start
	for !p.is("(") && p.tok().kind != tokEOF {
		p.next()
	}
	p.pos = min(closing(p.toks, p.pos)+1, len(p.toks)-1)
	for !p.is("{") && !p.is(";") && p.tok().kind != tokEOF {
		p.next()
	}
	if !p.accept(";") {
		p.skipBraces()
	}
}

func (p *parser) methodHead(s *structDecl, tparams []tparam) bool {
	words := &specifiers{}
	for {
		if _, ok := ignoredWords[p.tok().text]; ok {
			p.next()
		} else if !p.storageWord(words, p.tok().text) {
			break
		}
	}
	f := &funcDecl{device: true, tparams: tparams, span: p.tok().span(), static: words.static}
	conversion := p.is("operator") && p.peek(1).kind == tokIdent
	switch {
	case p.tok().text == unqualified(s.name) && p.peek(1).text == "(" || p.is("~"):
		s.ctor = s.ctor || !p.is("~")
		return false
	case conversion:
		p.next()
		f.ret = p.typeName()
		f.name = "operator " + f.ret.name
	default:
		spec := p.specifiers()
		d := p.declarator(spec.ty, "a member name")
		f.name, f.ret, f.span, f.static = d.name, d.ty, d.span, f.static || spec.static
	}
	f.params = p.params()
	for !p.is("{") && !p.is(";") {
		if p.tok().kind == tokEOF {
			return false
		}
		if p.accept("->") {
			f.ret = p.typeName()
			continue
		}
		p.next()
	}
	if p.accept(";") {
		return true
	}
	f.start = p.pos
	if !p.skipBraces() {
		return false
	}
	f.end = p.pos
	if conversion {
		s.conversions = append(s.conversions, f)
		return true
	}
	if s.methods == nil {
		s.methods = map[string][]*funcDecl{}
	}
	s.methods[f.name] = append(s.methods[f.name], f)
	if len(tparams) > 0 {
		p.ftmpl[f.name] = true
	}
	return true
}
