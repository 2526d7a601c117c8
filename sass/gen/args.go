package main

import (
	"fmt"
	"strconv"
	"strings"
)

// short names a whole operand that occurs often: kind, position, role.
var short = map[string]struct {
	kind, role string
	lo, not    int
	dst        bool
}{
	"D":   {kind: "R", role: "D", lo: 16, dst: true},
	"UD":  {kind: "U", role: "D", lo: 16, dst: true},
	"A":   {kind: "R", role: "A", lo: 24},
	"UA":  {kind: "U", role: "A", lo: 24},
	"RB":  {kind: "R", role: "B", lo: 32},
	"RC":  {kind: "R", role: "C", lo: 64},
	"URB": {kind: "U", role: "B", lo: 32},
	"URC": {kind: "U", role: "C", lo: 64},
	"Pu":  {kind: "P", role: "Pu", lo: 81, dst: true},
	"Pv":  {kind: "P", role: "Pv", lo: 84, dst: true},
	"Pp":  {kind: "P", role: "Pp", lo: 87, not: 90},
	"Pq":  {kind: "P", role: "Pq", lo: 77, not: 80},
	"Pr":  {kind: "P", role: "Pr", lo: 68, not: 71},
	"UPu": {kind: "UP", role: "Pu", lo: 81, dst: true},
	"UPv": {kind: "UP", role: "Pv", lo: 84, dst: true},
	"UPp": {kind: "UP", role: "Pp", lo: 87, not: 90},
	"UPq": {kind: "UP", role: "Pq", lo: 77, not: 80},
	"UPr": {kind: "UP", role: "Pr", lo: 68, not: 71},
}

// reuseBits gives the scheduling bit that keeps a register operand in the reuse cache.
var reuseBits = map[string]int{"A": 122, "B": 123, "C": 124}

// slot is what stands in one of the two movable operand places of an ALU instruction.
type slot struct {
	kind         string
	lo, neg, abs int
}

var (
	reg32 = slot{"R", 32, 63, 62}
	reg64 = slot{"R", 64, 75, 74}
	imm32 = slot{"I", 32, 0, 0}
	cbank = slot{"K", 38, 63, 62}
	cx    = slot{"KX", 32, 63, 62}
	ur32  = slot{"U", 32, 63, 62}
	ur64  = slot{"U", 64, 75, 74}
)

// aluForms gives operands B and C by bits [11:9] and bit 91 of the opcode.
var aluForms = map[int][2]slot{
	1: {reg32, reg64}, 2: {reg64, imm32}, 3: {reg64, cbank}, 4: {imm32, reg64}, 5: {cbank, reg64},
	8 + 3: {reg64, cx}, 8 + 5: {cx, reg64}, 8 + 6: {ur32, reg64}, 8 + 7: {reg64, ur32},
}

// uniformForms is the same for operations of the uniform datapath.
var uniformForms = map[int][2]slot{
	8 + 1: {ur32, ur64}, 8 + 2: {ur64, imm32}, 8 + 4: {imm32, ur64},
	1: {ur32, ur64}, 2: {ur64, imm32}, 4: {imm32, ur64}, 8 + 6: {ur32, ur64},
}

// parseArg reads [ROLE=]KIND[@FIELD]{,ATTRIBUTE} or [ROLE=]M(PART,...){,ATTRIBUTE}.
func (t *table) parseArg(s string, op13 int) (arg, error) {
	var a arg
	var mem string
	if i := strings.IndexByte(s, '('); i >= 0 {
		j := strings.IndexByte(s, ')')
		if j < i {
			return a, fmt.Errorf("missing )")
		}
		mem = s[i+1 : j]
		s = s[:i] + s[j+1:]
	}
	parts := strings.Split(s, ",")
	head := parts[0]
	if role, rest, ok := strings.Cut(head, "="); ok {
		a.role, head = role, rest
	}
	kind, at, hasAt := strings.Cut(head, "@")
	dst := strings.HasSuffix(kind, ">")
	kind = strings.TrimSuffix(kind, ">")
	a.count = 1
	sl := slot{}
	switch sh, ok := short[kind]; {
	case ok:
		a.kind, a.at, a.not, a.dst = sh.kind, field{lo: sh.lo}, sh.not, sh.dst
		if a.role == "" {
			a.role = sh.role
		}
		sl = slot{lo: sh.lo, neg: 63, abs: 62}
		if sh.lo == 64 {
			sl.neg, sl.abs = 75, 74
		}
	case kind == "B" || kind == "C" || kind == "BC" || kind == "UB" || kind == "UC" || kind == "UBC":
		forms, which := aluForms, 0
		if kind[0] == 'U' {
			forms = uniformForms
		}
		switch form := op13 >> 9 & 7; strings.TrimPrefix(kind, "U") {
		case "C":
			which = 1
			a.reuse = reuseBits["C"]
		case "BC": // two-source operation whose second source moves to the third place when it is not a register
			if form == 2 || form == 3 || form == 7 {
				which = 1
			}
			if a.role == "" {
				a.role = "B"
			}
			a.reuse = reuseBits["C"]
		}
		f, ok := forms[op13>>9&15]
		if !ok {
			return a, fmt.Errorf("opcode form %x has no such operand", op13>>9&15)
		}
		sl = f[which]
		a.kind, a.at = sl.kind, field{lo: sl.lo}
		if a.role == "" {
			a.role = [2]string{"B", "C"}[which]
		}
	default:
		a.kind = kind
		if a.role == "" {
			a.role = map[string]string{"M": "Addr", "T": "Target"}[kind]
		}
	}
	a.dst = a.dst || dst
	width := map[string]int{"I": 32, "SR": 8, "BB": 4, "SB": 3}[a.kind]
	if width == 0 {
		width = 8
	}
	if hasAt {
		f, err := parseField(at, width)
		if err != nil {
			return a, err
		}
		a.at = f
	} else if a.at.width == 0 {
		a.at.width = width
	}
	if a.kind == "T" || a.kind == "TA" { // code addresses are counted in words
		a.shift = 2
	}
	if mem != "" {
		a.mem = map[string]field{}
		for _, p := range strings.Split(mem, ",") {
			f := field{}
			if len(p) > 1 {
				var err error
				if f, err = parseField(p[1:], 1); err != nil {
					return a, err
				}
			}
			a.mem[p[:1]] = f
		}
	}
	for _, p := range parts[1:] {
		if err := t.parseAttr(&a, p, sl); err != nil {
			return a, err
		}
	}
	if a.role == "" {
		return a, fmt.Errorf("no role")
	}
	if a.half && a.kind == "R" || a.half && a.kind == "U" || a.half && a.kind == "K" || a.half && a.kind == "KX" {
		if sl.lo == 64 {
			a.swz, a.abs, a.neg = 81, 83, 84
		} else {
			a.swz, a.abs, a.neg = 60, 62, 63
		}
	}
	if a.reuse == 0 {
		a.reuse = reuseBits[a.role]
	}
	if a.kind != "R" || a.dst || a.noReuse {
		a.reuse = 0
	}
	return a, nil
}

func (t *table) parseAttr(a *arg, p string, sl slot) error {
	bit := func(def int) (int, error) {
		if len(p) == 1 {
			if a.kind == "I" {
				return 0, nil
			}
			if def == 0 {
				return 0, fmt.Errorf("attribute %q needs a bit", p)
			}
			return def, nil
		}
		n, err := strconv.Atoi(p[1:])
		if err != nil || n < 1 || n > 127 {
			return 0, fmt.Errorf("attribute %q", p)
		}
		return n, nil
	}
	var err error
	switch {
	case showRules[p] != "" && p != "if" && p != "ifn":
		a.show = p
	case styles[p] != "":
		a.style = p
	case strings.HasPrefix(p, "if="):
		a.show, a.showMod = "if", p[3:]
	case strings.HasPrefix(p, "ifn="):
		a.show, a.showMod = "ifn", p[4:]
	case strings.HasPrefix(p, "<<"):
		a.shift, err = strconv.Atoi(p[2:])
	case p[0] == 'o' && a.kind == "G":
		a.off = p[1:]
	case p == "nr":
		a.noReuse = true
	case p == "/":
		a.half = true
	case p[0] == '/':
		a.swz, err = bit(0)
	case p[0] == '.':
		a.tail = p
	case p[0] == '-':
		a.neg, err = bit(sl.neg)
	case p[0] == '^':
		a.neg, err = bit(sl.neg)
		a.negX = true
	case p[0] == '|' || p[0] == '&': // '|' divides columns, so the table writes '&'
		a.abs, err = bit(sl.abs)
	case p[0] == '~':
		a.inv, err = bit(sl.neg)
	case p[0] == '!':
		a.not, err = bit(0)
	case p[0] == '*':
		return t.parseCountAttr(a, p[1:])
	default:
		return fmt.Errorf("attribute %q", p)
	}
	return err
}

// parseCountAttr reads N or NAME@FIELD.
func (t *table) parseCountAttr(a *arg, s string) error {
	name, at, ok := strings.Cut(s, "@")
	if !ok {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 128 {
			return fmt.Errorf("count %q", s)
		}
		a.count = n
		return nil
	}
	i := t.count(name)
	if i < 0 {
		return fmt.Errorf("count %q: no such table", name)
	}
	f, err := parseField(at, t.counts[i].width)
	a.countName, a.countAt = name, f
	return err
}
