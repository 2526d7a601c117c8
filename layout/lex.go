package layout

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	end    kind = iota
	number      // decimal, hexadecimal, or CuTe's _2
	word        // letters, digits and _ . # that do not start a number
	sign        // one punctuation character
)

type token struct {
	kind      kind
	text      string
	value     uint32 // of a number
	line, col int
	joined    bool // no space before it
}

func (t token) String() string {
	if t.kind == end {
		return "end of text"
	}
	if len(t.text) > 40 {
		return "'" + t.text[:40] + "...'"
	}
	return "'" + t.text + "'"
}

// maxText bounds the bytes of a text, and with it the work that a hostile one can cause.
const maxText = 64 << 10

// lex splits a text into tokens; the last one is end.
func lex(text string) ([]token, error) {
	if len(text) > maxText {
		return nil, &Error{1, 1, fmt.Sprintf("got a text of %d bytes, want at most %d", len(text), maxText)}
	}
	var tokens []token
	line, col := 1, 1
	joined := false
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if r == '\n' {
			line, col, joined, text = line+1, 1, false, text[1:]
			continue
		}
		if unicode.IsSpace(r) {
			col, joined, text = col+1, false, text[size:]
			continue
		}
		t := token{line: line, col: col, joined: joined, kind: sign, text: text[:size]}
		switch {
		case r == utf8.RuneError && size == 1:
			return nil, &Error{line, col, fmt.Sprintf("got byte %#x, want text in UTF-8", text[0])}
		case r == '∘':
			t.kind, t.text = word, "o"
		case isDigit(r), r == '_' && len(text) > 1 && isDigit(rune(text[1])):
			n := numberLen(text)
			v, err := strconv.ParseUint(strings.TrimPrefix(text[:n], "_"), 0, 32)
			if err != nil || v >= MaxOffset {
				return nil, &Error{line, col, fmt.Sprintf("got number %.20s, want less than %d", text[:n], MaxOffset)}
			}
			t.kind, t.text, t.value, size = number, text[:n], uint32(v), n
		case isWord(r):
			n := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) && !isDigit(r) })
			if n < 0 {
				n = len(text)
			}
			t.kind, t.text, size = word, text[:n], n
		}
		tokens = append(tokens, t)
		col += utf8.RuneCountInString(text[:size])
		joined, text = true, text[size:]
	}
	return append(tokens, token{kind: end, line: line, col: col}), nil
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '.' || r == '#'
}

// numberLen returns the length of the number that text starts with. A leading zero other than 0x is decimal.
func numberLen(text string) int {
	n := 0
	if text[0] == '_' {
		n++
	}
	if strings.HasPrefix(text, "0x") {
		n = 2
		for n < len(text) && strings.IndexByte("0123456789abcdefABCDEF", text[n]) >= 0 {
			n++
		}
		if n > 2 {
			return n
		}
		return 1
	}
	for n < len(text) && isDigit(rune(text[n])) {
		n++
	}
	return n
}
