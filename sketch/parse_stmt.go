package sketch

// block parses { ... }. An error inside a statement is reported and the next statement tried.
func (p *parser) block() *blockStmt {
	p.enter()
	defer p.leave()
	b := &blockStmt{}
	open := p.want("{", "")
	for !p.is("}") {
		if p.tok().kind == tokEOF {
			p.fail(open, "'{' is not closed, want '}'")
		}
		if s := p.guarded(); s != nil {
			b.list = append(b.list, s)
		}
	}
	p.next()
	b.span = p.since(open)
	return b
}

// guarded parses a statement and skips what is left of it when it fails.
func (p *parser) guarded() (s stmt) {
	start, depth := p.pos, p.depth
	ok := false
	func() {
		defer rescue()
		s = p.statement()
		ok = true
	}()
	if ok {
		return s
	}
	p.depth = depth
	if p.quiet {
		panic(bailout{})
	}
	// Skip from the start of the statement, so that braces are balanced, but at least past the error.
	failed := p.pos
	p.pos = start
	for p.tok().kind != tokEOF {
		p.resync(0)
		if p.pos >= failed || p.is("}") {
			break
		}
	}
	return nil
}

func (p *parser) statement() stmt {
	p.enter()
	defer p.leave()
	t := p.tok()
	start := t.span()
	if t.kind == tokIdent {
		if parse, ok := statementWords[t.text]; ok {
			return parse(p, start)
		}
	}
	switch {
	case p.is("{"):
		return p.block()
	case p.accept(";"):
		return &blockStmt{span: start}
	case p.is("[") && p.peek(1).text == "[": // [[unlikely]]
		for !p.is("]") && p.tok().kind != tokEOF {
			p.next()
		}
		p.accept("]")
		p.accept("]")
		return p.statement()
	case p.atDeclStatement():
		s := p.declStatement()
		p.endStatement("after a declaration")
		return s
	case t.kind == tokIdent && !keywords[t.text] && p.peek(1).text == ":" && p.peek(1).kind == tokPunct:
		p.fail(start, "label %s: goto is outside the subset", t.text)
	}
	x := p.expression()
	s := &exprStmt{span: p.since(start), x: x}
	p.endStatement("after an expression")
	return s
}

// endStatement takes the ';' of a statement; the end of a source without kernels will do as well.
func (p *parser) endStatement(context string) {
	if p.tok().kind == tokEOF {
		return
	}
	p.want(";", context)
}

// statementWords parse the statements that a word introduces.
var statementWords map[string]func(*parser, span) stmt

func init() {
	statementWords = map[string]func(*parser, span) stmt{
		"if": (*parser).ifStatement, "for": (*parser).forStatement, "while": (*parser).whileStatement,
		"do": (*parser).doStatement, "switch": (*parser).switchStatement, "return": (*parser).returnStatement,
		"asm": (*parser).asmStatement, "__asm__": (*parser).asmStatement, "__asm": (*parser).asmStatement,
		"break": func(p *parser, s span) stmt {
			p.next()
			p.want(";", "after break")
			return &breakStmt{s}
		},
		"continue": func(p *parser, s span) stmt {
			p.next()
			p.want(";", "after continue")
			return &continueStmt{s}
		},
		"static_assert": func(p *parser, s span) stmt {
			p.skipTo(";")
			return &blockStmt{span: s}
		},
		"namespace": func(p *parser, s span) stmt { // an alias
			p.skipTo(";")
			return &blockStmt{span: s}
		},
		"using":   (*parser).usingStatement,
		"typedef": (*parser).typedefStatement,
		"goto":    unsupported("goto"), "try": unsupported("try"), "throw": unsupported("throw"),
		"delete": unsupported("delete"),
		"case": func(p *parser, s span) stmt {
			p.fail(s, "case outside the top level of a switch is outside the subset")
			return nil
		},
	}
}

func unsupported(word string) func(*parser, span) stmt {
	return func(p *parser, s span) stmt {
		p.fail(s, "%s is outside the subset of CUDA C++ that sketches run", word)
		return nil
	}
}

func (p *parser) usingStatement(start span) stmt {
	p.next()
	if p.is("namespace") || p.peek(1).text != "=" {
		p.skipTo(";")
		return &blockStmt{span: start}
	}
	name, _, _ := p.name("a type name")
	p.next()
	ty := p.typeName()
	p.want(";", "after using")
	p.types[name] = true
	return &typeStmt{p.since(start), name, ty}
}

func (p *parser) typedefStatement(start span) stmt {
	b := &blockStmt{span: start}
	for _, t := range p.typedefs() {
		b.list = append(b.list, t)
	}
	if len(b.list) == 1 {
		return b.list[0]
	}
	return b
}

func (p *parser) declStatement() stmt {
	start := p.tok().span()
	if p.is("enum") {
		p.enum()
		return &blockStmt{span: start}
	}
	spec := p.specifiers()
	d := &declStmt{}
	if p.is(";") {
		return &blockStmt{span: start}
	}
	for {
		if p.is("[") && len(d.vars) == 0 {
			p.fail(p.tok().span(), "structured bindings are outside the subset")
		}
		v := p.finishVar(spec, p.declarator(spec.ty, "a name"))
		d.vars = append(d.vars, v)
		if !p.accept(",") {
			break
		}
	}
	d.span = p.since(start)
	return d
}

func (p *parser) ifStatement(start span) stmt {
	p.next()
	s := &ifStmt{constant: p.accept("constexpr")}
	p.want("(", "after if")
	if p.atDeclStatement() {
		d := p.declStatement()
		s.init = d
		if p.accept(";") {
			s.cond = p.expression()
		} else if d, ok := d.(*declStmt); ok {
			s.cond = &ident{span: d.vars[0].span, name: d.vars[0].name}
		}
	} else {
		s.cond = p.expression()
	}
	p.want(")", "after a condition")
	s.yes = p.statement()
	if p.accept("else") {
		s.no = p.statement()
	}
	s.span = start
	return s
}

func (p *parser) forStatement(start span) stmt {
	p.next()
	s := &forStmt{}
	p.want("(", "after for")
	switch {
	case p.accept(";"):
	case p.atDeclStatement():
		s.init = p.declStatement()
		if p.is(":") {
			p.fail(start, "range-based for is outside the subset")
		}
		p.want(";", "in for")
	default:
		from := p.tok().span()
		x := p.expression()
		s.init = &exprStmt{span: p.since(from), x: x}
		p.want(";", "in for")
	}
	if !p.is(";") {
		s.cond = p.expression()
	}
	p.want(";", "in for")
	if !p.is(")") {
		s.step = p.expression()
	}
	p.want(")", "in for")
	s.body = p.statement()
	s.span = start
	return s
}

func (p *parser) whileStatement(start span) stmt {
	p.next()
	p.want("(", "after while")
	s := &whileStmt{span: start, cond: p.expression()}
	p.want(")", "after a condition")
	s.body = p.statement()
	return s
}

func (p *parser) doStatement(start span) stmt {
	p.next()
	s := &whileStmt{span: start, do: true, body: p.statement()}
	p.want("while", "after the body of do")
	p.want("(", "after while")
	s.cond = p.expression()
	p.want(")", "after a condition")
	p.endStatement("after do")
	return s
}

func (p *parser) switchStatement(start span) stmt {
	p.next()
	p.want("(", "after switch")
	s := &switchStmt{span: start, x: p.expression()}
	p.want(")", "after switch")
	open := p.want("{", "after switch")
	for !p.is("}") {
		if p.tok().kind == tokEOF {
			p.fail(open, "'{' is not closed, want '}' at the end of switch")
		}
		at := p.tok().span()
		switch {
		case p.accept("case"):
			val := p.conditionalExpr()
			if p.is("...") {
				p.fail(p.tok().span(), "case ranges are outside the subset")
			}
			p.want(":", "after case")
			s.list = append(s.list, &caseStmt{at, val})
		case p.accept("default"):
			p.want(":", "after default")
			s.list = append(s.list, &caseStmt{at, nil})
		default:
			s.list = append(s.list, p.statement())
		}
	}
	p.next()
	return s
}

func (p *parser) returnStatement(start span) stmt {
	p.next()
	s := &returnStmt{span: start}
	if !p.is(";") {
		s.x = p.initializer()
	}
	p.endStatement("after return")
	return s
}

func (p *parser) asmStatement(start span) stmt {
	p.next()
	s := &asmStmt{}
	for p.is("volatile") || p.is("__volatile__") || p.is("inline") {
		s.volatile = true
		p.next()
	}
	p.want("(", "after asm")
	for p.tok().kind == tokString {
		s.text += unquote(p.next().text)
	}
	for i := 0; p.is(":") || p.is("::"); {
		n := len(p.next().text)
		i += n
		for p.tok().kind == tokString || p.is("[") {
			var o asmOperand
			if p.accept("[") {
				o.name, _, _ = p.name("an operand name")
				p.want("]", "after an operand name")
			}
			if p.tok().kind != tokString {
				p.fail(p.tok().span(), "got %s, want an operand constraint", describe(p.tok()))
			}
			o.constraint = unquote(p.next().text)
			if i < 3 {
				p.want("(", "after an operand constraint")
				o.x = p.expression()
				p.want(")", "after an operand")
				if i == 1 {
					s.out = append(s.out, o)
				} else {
					s.in = append(s.in, o)
				}
			}
			if !p.accept(",") {
				break
			}
		}
	}
	p.want(")", "to close asm")
	s.span = p.since(start)
	p.endStatement("after asm")
	return s
}
