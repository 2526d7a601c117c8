package sketch

import (
	"strings"

	"shmoo/diag"
)

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokIdent
	tokInt
	tokFloat
	tokString
	tokChar
	tokPunct
)

// A token is a piece of the source. Its text aliases the source except where the preprocessor made it.
type token struct {
	kind  tokenKind
	first bool // first of its line: a '#' here opens a directive
	macro bool // came out of a macro: its place is that of the macro's use
	space bool // white space comes before it
	text  string
	off   int32 // byte offset in the source
	len   int32 // bytes in the source
	line  int32
	col   int32
	file  int16 // index of the file, 0 for the main one
	// given names the -D definition that the token was put in for; it and the more tokens after it are one expansion.
	given string
	more  int32
}

// span is a stretch of source, which may run over lines.
type span struct {
	off, end  int32
	line, col int32
	macro     bool
	file      int16
}

func (t *token) span() span { return span{t.off, t.off + t.len, t.line, t.col, t.macro, t.file} }

// to joins two spans.
func (s span) to(e span) span {
	if s.file == e.file {
		s.end = max(s.end, e.end)
	}
	s.macro = s.macro || e.macro || s.file != e.file
	return s
}

// file is one source text. The main one knows those that it includes.
type file struct {
	name     string
	src      string
	index    int16
	included []*file
}

// of returns the file that a span lies in.
func (f *file) of(s span) *file {
	if s.file == 0 {
		return f
	}
	return f.included[s.file-1]
}

// find returns the file of a name, or nil.
func (f *file) find(name string) *file {
	if f.name == name {
		return f
	}
	for _, in := range f.included {
		if in.name == name {
			return in
		}
	}
	return nil
}

// place converts a span into a diag.Span. A span over several lines is cut at the end of its first.
func (f *file) place(s span) diag.Span {
	f = f.of(s)
	n := int(s.end - s.off)
	if s.off >= 0 && int(s.end) <= len(f.src) && n > 0 {
		if nl := strings.IndexByte(f.src[s.off:s.end], '\n'); nl >= 0 {
			n = nl
		}
	}
	return diag.Span{Pos: diag.Pos{File: f.name, Line: int(s.line), Col: int(s.col)}, Len: n}
}

// textBytes bounds the text of an access kept for reports.
const textBytes = 120

// text returns the source under a span on one line.
func (f *file) text(s span) string {
	f = f.of(s)
	if s.off < 0 || int(s.end) > len(f.src) || s.end <= s.off {
		return ""
	}
	t := f.src[s.off:s.end]
	if len(t) > textBytes {
		t = t[:textBytes] + "..."
	}
	if strings.ContainsAny(t, "\n\t\r\\") {
		t = strings.Join(strings.Fields(strings.ReplaceAll(t, "\\\n", " ")), " ")
	}
	return t
}

// puncts holds the operators of more than one byte, longest first.
var puncts = []string{
	"<<<", ">>>", "<<=", ">>=", "...", "->*",
	"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "->", "::",
	"##",
}

type lexer struct {
	*file
	diags *diags
	pos   int
	line  int32
	start int // offset of the line
	max   int
	out   []token
}

// lex splits the source into tokens. Tokens past limit are an error.
func lex(f *file, ds *diags, limit int) []token {
	l := &lexer{file: f, diags: ds, line: 1, max: limit}
	l.out = make([]token, 0, min(limit, len(f.src)/4+16))
	l.run()
	l.out = append(l.out, token{kind: tokEOF, first: true, off: int32(len(f.src)), line: l.line,
		col: int32(len(f.src)-l.start) + 1, file: f.index})
	return l.out
}

func (l *lexer) newline() {
	l.line++
	l.start = l.pos
}

func (l *lexer) here(n int) span {
	return span{int32(l.pos), int32(l.pos + n), l.line, int32(l.pos-l.start) + 1, false, l.index}
}

func (l *lexer) run() {
	first, space := true, false
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			l.pos++
			l.newline()
			first, space = true, true
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
			space = true
		case c == '\\' && l.splice():
			space = true
		case c == '/' && l.peek(1) == '/':
			l.lineComment()
			space = true
		case c == '/' && l.peek(1) == '*':
			if !l.blockComment() {
				return
			}
			space = true
		default:
			t := token{first: first, space: space, off: int32(l.pos), line: l.line, col: int32(l.pos-l.start) + 1, file: l.index}
			if !l.scan(&t) {
				return
			}
			if len(l.out) >= l.max {
				l.diags.errorf("sketch/limit", t.span(), "more than %d tokens, want a shorter source", l.max)
				return
			}
			l.out = append(l.out, t)
			first, space = false, false
		}
	}
}

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// splice skips a backslash at the end of a line.
func (l *lexer) splice() bool {
	n := 1
	if l.peek(1) == '\r' {
		n = 2
	}
	if l.peek(n) != '\n' {
		return false
	}
	l.pos += n + 1
	l.newline()
	return true
}

func (l *lexer) lineComment() {
	for l.pos < len(l.src) && l.src[l.pos] != '\n' {
		if l.src[l.pos] != '\\' || !l.splice() {
			l.pos++
		}
	}
}

func (l *lexer) blockComment() bool {
	open := l.here(2)
	l.pos += 2
	for l.pos < len(l.src) {
		switch {
		case l.src[l.pos] == '*' && l.peek(1) == '/':
			l.pos += 2
			return true
		case l.src[l.pos] == '\n':
			l.pos++
			l.newline()
		default:
			l.pos++
		}
	}
	l.diags.errorf("sketch/syntax", open, "comment is not closed, want */")
	return false
}

func isIdentStart(c byte) bool {
	return c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// scan reads one token. It returns false when nothing after it makes sense.
func (l *lexer) scan(t *token) bool {
	c := l.src[l.pos]
	switch {
	case isIdentStart(c):
		t.kind = tokIdent
		end := l.pos
		for end < len(l.src) && (isIdentStart(l.src[end]) || isDigit(l.src[end])) {
			end++
		}
		if l.src[l.pos:end] == "R" && end < len(l.src) && l.src[end] == '"' {
			return l.rawString(t)
		}
		l.finish(t, end)
	case isDigit(c) || c == '.' && isDigit(l.peek(1)):
		l.number(t)
	case c == '"' || c == '\'':
		return l.quoted(t, c)
	default:
		t.kind = tokPunct
		for _, p := range puncts {
			if strings.HasPrefix(l.src[l.pos:], p) {
				l.finish(t, l.pos+len(p))
				return true
			}
		}
		if strings.IndexByte("+-*/%&|^~!<>=?:;,.(){}[]#", c) < 0 {
			l.diags.errorf("sketch/syntax", l.here(1), "unexpected byte %q, want CUDA C++ text", c)
			l.pos++
			return c != 0
		}
		l.finish(t, l.pos+1)
	}
	return true
}

func (l *lexer) finish(t *token, end int) {
	t.text = l.src[l.pos:end]
	t.len = int32(end - l.pos)
	l.pos = end
}

// number reads a preprocessing number; what it is worth is found when it is parsed.
func (l *lexer) number(t *token) {
	t.kind = tokInt
	end := l.pos
	hex := strings.HasPrefix(l.src[end:], "0x") || strings.HasPrefix(l.src[end:], "0X")
	for end < len(l.src) {
		c := l.src[end]
		switch {
		case c == '.':
			t.kind = tokFloat
		case !hex && (c == 'e' || c == 'E') || hex && (c == 'p' || c == 'P'):
			t.kind = tokFloat
			if end+1 < len(l.src) && (l.src[end+1] == '+' || l.src[end+1] == '-') {
				end++
			}
		case !hex && (c == 'f' || c == 'F'):
			t.kind = tokFloat
		case c == '\'' && end+1 < len(l.src) && isDigit(l.src[end+1]):
		case !isDigit(c) && !isIdentStart(c):
			l.finish(t, end)
			return
		}
		end++
	}
	l.finish(t, end)
}

func (l *lexer) quoted(t *token, quote byte) bool {
	t.kind = tokString
	if quote == '\'' {
		t.kind = tokChar
	}
	end := l.pos + 1
	for end < len(l.src) && l.src[end] != quote && l.src[end] != '\n' {
		if l.src[end] == '\\' && end+1 < len(l.src) {
			if l.src[end+1] == '\n' {
				l.line++
				l.start = end + 2
			}
			end++
		}
		end++
	}
	if end >= len(l.src) || l.src[end] != quote {
		l.diags.errorf("sketch/syntax", l.here(1), "literal is not closed, want %c before the end of the line", quote)
		l.pos = min(end, len(l.src))
		return l.pos < len(l.src)
	}
	l.finish(t, end+1)
	return true
}

// rawString reads R"tag( ... )tag".
func (l *lexer) rawString(t *token) bool {
	t.kind = tokString
	rest := l.src[l.pos+2:]
	open := strings.IndexByte(rest[:min(len(rest), 20)], '(')
	if open < 0 {
		l.diags.errorf("sketch/syntax", l.here(2), "raw string has no '(', want R\"tag(text)tag\"")
		return false
	}
	closing := ")" + rest[:open] + "\""
	n := strings.Index(rest[open:], closing)
	if n < 0 {
		l.diags.errorf("sketch/syntax", l.here(2), "raw string is not closed, want %s", closing)
		return false
	}
	begin := l.pos
	end := l.pos + 2 + open + n + len(closing)
	l.finish(t, end)
	for i := begin; i < end; i++ {
		if l.src[i] == '\n' {
			l.line++
			l.start = i + 1
		}
	}
	return true
}

// unquote returns the bytes that a string or character literal stands for.
func unquote(s string) string {
	if strings.HasPrefix(s, "R\"") {
		open := strings.IndexByte(s, '(')
		return s[open+1 : len(s)-(open-2)-2]
	}
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '\n':
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '0':
			b.WriteByte(0)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
