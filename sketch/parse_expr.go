package sketch

// expression parses a comma expression.
func (p *parser) expression() expr {
	x := p.assignment()
	for n := 0; p.is(","); n++ {
		p.chain(n)
		p.next()
		y := p.assignment()
		x = &binary{x.at().to(y.at()), ",", x, y}
	}
	return x
}

// chain guards a loop that deepens the tree.
func (p *parser) chain(n int) {
	if n >= chainLength {
		at := p.tok().span()
		p.quiet = false
		p.pos = len(p.toks) - 1
		p.diags.errorf("sketch/limit", at, "expression chains more than %d operators", chainLength)
		panic(bailout{})
	}
}

var assignOps = map[string]string{
	"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "&=": "&", "|=": "|", "^=": "^", "<<=": "<<",
	">>=": ">>",
}

func (p *parser) assignment() expr {
	p.enter()
	defer p.leave()
	x := p.conditionalExpr()
	t := p.tok()
	if t.kind != tokPunct {
		return x
	}
	op, ok := assignOps[t.text]
	if !ok {
		return x
	}
	p.next()
	y := p.initializer()
	return &assign{x.at().to(y.at()), op, x, y}
}

func (p *parser) conditionalExpr() expr {
	c := p.binaryExpr(1)
	if !p.is("?") {
		return c
	}
	p.enter()
	defer p.leave()
	p.next()
	a := p.expression()
	p.want(":", "in a conditional expression")
	b := p.assignment()
	return &conditional{c.at().to(b.at()), c, a, b}
}

// binaryExpr parses operators of at least the given precedence.
func (p *parser) binaryExpr(prec int) expr {
	x := p.unaryExpr()
	for n := 0; ; n++ {
		t := p.tok()
		q := 0
		if t.kind == tokPunct {
			q = binaryPrec[t.text]
		}
		if q < prec || q == 0 {
			return x
		}
		p.chain(n)
		p.next()
		y := p.binaryExpr(q + 1)
		x = &binary{x.at().to(y.at()), t.text, x, y}
	}
}

func (p *parser) unaryExpr() expr {
	p.enter()
	defer p.leave()
	t := p.tok()
	start := t.span()
	if t.kind == tokPunct {
		switch t.text {
		case "-", "+", "!", "~", "*", "&", "++", "--":
			p.next()
			x := p.unaryExpr()
			return &unary{start.to(x.at()), t.text, x}
		case "(":
			if p.castAhead() {
				p.next()
				ty := p.typeName()
				p.want(")", "after the type of a cast")
				if p.is("{") { // compound literal
					l := p.initializer().(*initList)
					return p.postfixExpr(&construct{p.since(start), ty, []expr{l}})
				}
				x := p.unaryExpr()
				return &cast{start.to(x.at()), ty, x, ""}
			}
		}
	}
	if t.kind == tokIdent {
		switch t.text {
		case "sizeof", "alignof", "__alignof__":
			return p.sizeof(start)
		case "new", "delete", "throw", "co_await":
			p.fail(start, "%s is outside the subset of CUDA C++ that sketches run", t.text)
		}
	}
	return p.postfixExpr(p.primary())
}

// castAhead reports whether a parenthesis opens a cast.
func (p *parser) castAhead() bool {
	p.pos++
	defer func() { p.pos-- }()
	if !p.atType() {
		return false
	}
	if p.tok().text == "decltype" || specWords[p.tok().text] {
		return true
	}
	// T(...) and T{...} are values.
	after := p.afterName(p.pos)
	return p.toks[after].text != "(" && p.toks[after].text != "{" && p.toks[after].text != "::" ||
		p.toks[after].text == "(" && (p.toks[after+1].text == "*" || p.toks[after+1].text == "&") &&
			p.toks[after+2].text == ")"
}

func (p *parser) sizeof(start span) expr {
	s := &sizeofExpr{align: p.next().text != "sizeof"}
	if p.is("(") && p.castAhead() {
		p.next()
		s.ty = p.typeName()
		p.want(")", "after sizeof")
	} else {
		s.x = p.unaryExpr()
	}
	s.span = p.since(start)
	return s
}

func (p *parser) postfixExpr(x expr) expr {
	for n := 0; ; n++ {
		t := p.tok()
		if t.kind != tokPunct {
			return x
		}
		switch t.text {
		case "[", "(", ".", "->", "++", "--", "<<<":
			p.chain(n)
		}
		switch t.text {
		case "[":
			p.next()
			i := p.expression()
			end := p.want("]", "after an index")
			x = &index{x.at().to(end), x, i}
		case "(":
			args := p.callArgs()
			x = &call{p.since(x.at()), x, args}
		case ".", "->":
			p.next()
			m := &member{x: x, arrow: t.text == "->"}
			p.accept("template")
			if p.is("operator") || p.is("~") {
				p.fail(p.tok().span(), "explicit calls of operators are outside the subset")
			}
			m.name, _, _ = p.name("a member name")
			if p.is("<") && p.callAfterAngle() {
				m.targs = p.templateArgs()
			}
			m.span = p.since(x.at())
			x = m
		case "++", "--":
			end := p.next().span()
			x = &postfix{x.at().to(end), t.text, x}
		case "<<<":
			p.fail(t.span(), "a kernel launch inside device code is outside the subset")
		default:
			return x
		}
	}
}

func (p *parser) callArgs() []expr {
	p.want("(", "")
	var args []expr
	for !p.is(")") {
		args = append(args, p.initializer())
		if !p.accept(",") {
			break
		}
	}
	p.want(")", "after arguments")
	return args
}

// callAfterAngle reports whether <...> followed by a call or a scope comes next.
func (p *parser) callAfterAngle() bool {
	end := p.angleEnd(p.pos)
	return end > 0 && (p.toks[end].text == "(" || p.toks[end].text == "::" || p.toks[end].text == "{")
}

var cppCasts = map[string]bool{"static_cast": true, "reinterpret_cast": true, "const_cast": true, "dynamic_cast": true}

func (p *parser) primary() expr {
	t := p.tok()
	start := t.span()
	switch t.kind {
	case tokInt, tokFloat, tokChar, tokString:
		return p.literal()
	case tokPunct:
		switch t.text {
		case "(":
			p.next()
			x := p.expression()
			end := p.want(")", "to close a parenthesis")
			return &paren{start.to(end), x}
		case "[":
			return p.lambda()
		case "::":
			p.next()
			return p.primary()
		}
	case tokIdent:
		switch {
		case t.text == "true" || t.text == "false":
			p.next()
			return &intLit{start, uint64(truth(t.text == "true")), typeBool}
		case t.text == "nullptr":
			p.next()
			return &intLit{start, 0, builtinTypes["nullptr_t"]}
		case cppCasts[t.text]:
			p.next()
			p.want("<", "after "+t.text)
			ty := p.typeName()
			p.closeAngle()
			p.want("(", "after "+t.text)
			x := p.expression()
			p.want(")", "after "+t.text)
			return &cast{p.since(start), ty, x, t.text}
		case t.given == "" && p.atType():
			return p.typeValue(start)
		case keywords[t.text]:
			p.fail(start, "got '%s', want an expression", t.text)
		}
		return p.identifier(start)
	}
	p.fail(start, "got %s, want an expression", describe(t))
	return nil
}

// typeValue parses T(...), T{...} and T::name.
func (p *parser) typeValue(start span) expr {
	after := p.afterName(p.pos)
	if p.namesMember(after) {
		return p.identifier(start)
	}
	if p.toks[after].text != "(" && p.toks[after].text != "{" {
		if p.tok().kind == tokIdent && p.peek(1).text == "::" || p.types[p.tok().text] {
			return p.identifier(start)
		}
		p.fail(start, "got type '%s', want an expression", clip(p.tok().text))
	}
	s := p.specifiers()
	c := &construct{ty: s.ty}
	if p.is("{") {
		c.args = []expr{p.initializer()}
	} else {
		c.args = p.callArgs()
	}
	c.span = p.since(start)
	return c
}

// namesMember reports whether the qualified name that ends before token after is a value or function of a type, such as
// Traits<T>::size, rather than a type.
func (p *parser) namesMember(after int) bool {
	last := -1
	for i := p.pos + 1; i < after; i++ {
		if p.toks[i].text == "::" && p.toks[i+1].kind == tokIdent {
			last = i + 1
		}
	}
	return last > 0 && !p.types[p.toks[last].text] && builtinTypes[p.toks[last].text] == nil
}

func (p *parser) identifier(start span) expr {
	t := p.tok()
	if t.given != "" && t.more == 0 {
		// The token is what -D put in for a name.
		name, at := t.given, p.pos
		p.toks[at].given = ""
		lit := p.primary()
		p.toks[at].given = name
		return &ident{span: start, name: name, lit: lit}
	}
	id := &ident{}
	for {
		if t := p.next(); t.given != "" {
			id.name += t.given
		} else {
			id.name += t.text
		}
		if p.is("<") && (p.ftmpl[unqualified(id.name)] && p.angleEnd(p.pos) > 0 || p.callAfterAngle()) {
			id.targs = p.templateArgs()
		}
		if !p.is("::") || p.peek(1).kind != tokIdent && p.peek(1).given == "" {
			break
		}
		id.qual = &typeExpr{span: p.since(start), form: formNamed, name: id.name, targs: id.targs}
		id.targs = nil
		p.next()
		id.name += "::"
	}
	id.span = p.since(start)
	if p.is("{") && (id.qual != nil || len(id.targs) > 0) { // a value of a library type: plus<float>{}
		l := p.initializer()
		ty := &typeExpr{span: id.span, form: formNamed, name: id.name, targs: id.targs}
		return &construct{p.since(start), ty, []expr{l}}
	}
	return id
}

func (p *parser) literal() expr {
	t := p.tok()
	if t.given != "" && t.more == 0 {
		return p.identifier(t.span())
	}
	p.next()
	switch t.kind {
	case tokInt:
		v, ty, err := parseInt(t.text)
		if err != nil {
			p.fail(t.span(), "%v", err)
		}
		return &intLit{t.span(), v, ty}
	case tokFloat:
		v, ty, err := parseFloat(t.text)
		if err != nil {
			p.fail(t.span(), "%v", err)
		}
		return &floatLit{t.span(), v, ty}
	case tokChar:
		s := unquote(t.text)
		if len(s) != 1 {
			p.fail(t.span(), "got character literal %s, want one byte", clip(t.text))
		}
		return &intLit{t.span(), uint64(int64(int8(s[0]))), typeChar}
	}
	s := &stringLit{span: t.span(), val: unquote(t.text)}
	for p.tok().kind == tokString {
		s.val += unquote(p.next().text)
	}
	return s
}

// lambda parses [captures](params) { body }. Captures are taken by reference.
func (p *parser) lambda() expr {
	start := p.want("[", "")
	for !p.is("]") && p.tok().kind != tokEOF {
		p.next()
	}
	p.want("]", "after captures")
	f := &funcDecl{name: "lambda", span: start, device: true, ret: &typeExpr{form: formNamed, name: "auto"}}
	if p.is("(") {
		f.params = p.params()
	}
	for !p.is("{") {
		if p.tok().kind == tokEOF {
			p.fail(start, "lambda has no body, want '{'")
		}
		if p.accept("->") {
			f.ret = p.typeName()
			continue
		}
		p.next()
	}
	f.parsed = true
	f.body = p.block()
	return &lambda{p.since(start), f}
}
