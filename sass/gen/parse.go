package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// families in table order; bit i of a family mask is families[i].
var families = []int{70, 75, 80, 90, 100, 120}

type enum struct {
	name  string
	mod   string // name of the Mod without its prefix, or "-" for text only
	width int
	text  []string
	canon []int // -1: undefined value
}

type count struct {
	name  string
	width int
	n     []int
}

type field struct{ lo, width, lo2, width2 int } // value = (part 1) << width2 | part 2

type suffix struct {
	enum string
	at   field
}

type arg struct {
	role, kind string
	at         field
	neg, abs   int // bit positions, 0 = none
	inv, not   int
	negX       bool   // neg turns into a complement with .X
	style      string // immediates
	count      int
	countName  string
	countAt    field
	show       string // "", pt, npt, rz, z, hide, if, ifn
	showMod    string
	mem        map[string]field
	shift      int
	reuse      int
	swz        int // half selector bits, 0 = none
	noReuse    bool
	off        string // further offset of a descriptor operand
	tail       string // printed after a register
	half       bool   // slot positions of half-precision operands
	dst        bool
}

type row struct {
	op13   int
	fams   int
	op     string
	name   string // printed mnemonic
	suf    []suffix
	args   []arg
	conds  []cond
	alias  string
	uguard bool
	since  int // first generation within the families, 0 = all
	src    string
	where  string
}

type cond struct {
	at  field
	val uint64
}

type table struct {
	enums  []enum
	counts []count
	rows   []row
	ops    []string
}

func parseAll(dir fs.FS) (*table, error) {
	names, err := fs.Glob(dir, "*.txt")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	t := new(table)
	for _, name := range names {
		if err := t.parseFile(dir, name); err != nil {
			return nil, err
		}
	}
	return t, t.check()
}

func (t *table) parseFile(dir fs.FS, name string) error {
	f, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		text, _, _ := strings.Cut(sc.Text(), "#")
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		where := fmt.Sprintf("%s:%d", name, line)
		if err := t.parseLine(text, where); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	return sc.Err()
}

func (t *table) parseLine(text, where string) error {
	switch head, rest, _ := strings.Cut(text, " "); head {
	case "enum":
		e, err := parseEnum(strings.Fields(rest))
		t.enums = append(t.enums, e)
		return err
	case "count":
		c, err := parseCount(strings.Fields(rest))
		t.counts = append(t.counts, c)
		return err
	}
	return t.parseRows(text, where)
}

// parseEnum reads NAME MOD WIDTH VALUE..., where a value is TEXT, N=TEXT, TEXT/CANON or N=TEXT/CANON, and TEXT "-" is empty.
func parseEnum(w []string) (enum, error) {
	if len(w) < 4 {
		return enum{}, fmt.Errorf("enum: got %d words, want NAME MOD WIDTH and values", len(w))
	}
	n, err := strconv.Atoi(w[2])
	if err != nil || n < 1 || n > 8 {
		return enum{}, fmt.Errorf("enum %s: width %q, want 1 to 8", w[0], w[2])
	}
	e := enum{name: w[0], mod: w[1], width: n, text: make([]string, 1<<n), canon: make([]int, 1<<n)}
	for i := range e.canon {
		e.canon[i] = -1
	}
	next := 0
	for _, v := range w[3:] {
		if num, rest, ok := strings.Cut(v, "="); ok {
			if next, err = strconv.Atoi(num); err != nil {
				return e, fmt.Errorf("enum %s: value %q", e.name, v)
			}
			v = rest
		}
		if next >= len(e.text) {
			return e, fmt.Errorf("enum %s: value %d does not fit %d bits", e.name, next, n)
		}
		canon := next
		if s, c, ok := strings.Cut(v, "/"); ok {
			v = s
			if canon, err = strconv.Atoi(c); err != nil {
				return e, fmt.Errorf("enum %s: value %q", e.name, c)
			}
		}
		if v == "-" {
			v = ""
		} else {
			v = "." + v
		}
		e.text[next], e.canon[next] = v, canon
		next++
	}
	return e, nil
}

func parseCount(w []string) (count, error) {
	if len(w) < 3 {
		return count{}, fmt.Errorf("count: want NAME WIDTH and numbers")
	}
	c := count{name: w[0]}
	var err error
	if c.width, err = strconv.Atoi(w[1]); err != nil || c.width > 6 {
		return c, fmt.Errorf("count %s: width %q", c.name, w[1])
	}
	for _, s := range w[2:] {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 128 {
			return c, fmt.Errorf("count %s: %q", c.name, s)
		}
		c.n = append(c.n, n)
	}
	if len(c.n) != 1<<c.width {
		return c, fmt.Errorf("count %s: got %d values, want %d", c.name, len(c.n), 1<<c.width)
	}
	return c, nil
}

// parseRows reads OPCODES | FAMILIES | OP[=PRINTED] SUFFIX... | OPERAND... | OPTION... | SOURCE and adds one row for each opcode.
func (t *table) parseRows(text, where string) error {
	col := strings.Split(text, "|")
	if len(col) != 6 {
		return fmt.Errorf("got %d columns, want 6", len(col))
	}
	fams, err := parseFamilies(strings.Fields(col[1]))
	if err != nil {
		return err
	}
	names := strings.Fields(col[2])
	if len(names) == 0 {
		return fmt.Errorf("no operation")
	}
	base := row{fams: fams, where: where, src: strings.Join(strings.Fields(col[5]), " ")}
	if base.src == "" {
		return fmt.Errorf("no source")
	}
	var ok bool
	if base.op, base.name, ok = strings.Cut(names[0], "="); !ok {
		base.name = base.op
	}
	for _, s := range names[1:] {
		name, at, ok := strings.Cut(strings.TrimPrefix(s, "."), "@")
		fixed := ""
		if !ok {
			if name, fixed, ok = strings.Cut(name, "="); !ok {
				return fmt.Errorf("suffix %q: want .ENUM@BIT or .ENUM=VALUE", s)
			}
		}
		e := t.enum(name)
		if e == nil {
			return fmt.Errorf("suffix %q: no such enum", s)
		}
		var f field
		if fixed != "" { // a constant is a field of no bits whose position is the value
			if f.lo, err = strconv.Atoi(fixed); err == nil && (f.lo < 0 || f.lo >= 1<<e.width) {
				err = fmt.Errorf("suffix %q: value does not fit %d bits", s, e.width)
			}
		} else if f, err = parseField(at, e.width); err == nil && f.width+f.width2 != e.width {
			err = fmt.Errorf("suffix %q: field has %d bits, enum %d", s, f.width+f.width2, e.width)
		}
		if err != nil {
			return err
		}
		base.suf = append(base.suf, suffix{name, f})
	}
	for _, s := range strings.Fields(col[4]) {
		key, val, _ := strings.Cut(s, "=")
		switch key {
		case "alias":
			base.alias = val
		case "since":
			n, err := strconv.ParseUint(val, 10, 8)
			if err != nil {
				return fmt.Errorf("option %q", s)
			}
			base.since = int(n)
		case "guard":
			base.uguard = val == "u"
		default:
			f, err := parseField(key, 1)
			if err != nil {
				return fmt.Errorf("option %q: %w", s, err)
			}
			v, err := strconv.ParseUint(val, 0, 64)
			if err != nil {
				return fmt.Errorf("option %q: %w", s, err)
			}
			base.conds = append(base.conds, cond{f, v})
		}
	}
	if !slices.Contains(t.ops, base.op) {
		t.ops = append(t.ops, base.op)
	}
	for _, s := range strings.Fields(col[0]) {
		n, err := strconv.ParseUint(s, 16, 13)
		if err != nil {
			return fmt.Errorf("opcode %q", s)
		}
		r := base
		r.op13 = int(n)
		r.args = nil
		for _, s := range strings.Fields(col[3]) {
			a, err := t.parseArg(s, r.op13)
			if err != nil {
				return fmt.Errorf("opcode %x, operand %q: %w", n, s, err)
			}
			r.args = append(r.args, a)
		}
		if len(r.args) > 8 {
			return fmt.Errorf("opcode %x: %d operands, want at most 8", n, len(r.args))
		}
		t.rows = append(t.rows, r)
	}
	return nil
}

// parseFamilies reads items like 75, 75+ and 75-90.
func parseFamilies(w []string) (int, error) {
	mask := 0
	for _, s := range w {
		lo, hi := s, s
		if v, ok := strings.CutSuffix(s, "+"); ok {
			lo, hi = v, "120"
		} else if a, b, ok := strings.Cut(s, "-"); ok {
			lo, hi = a, b
		}
		l, err1 := strconv.Atoi(lo)
		h, err2 := strconv.Atoi(hi)
		i, j := slices.Index(families, l), slices.Index(families, h)
		if err1 != nil || err2 != nil || i < 0 || j < i {
			return 0, fmt.Errorf("families %q, want some of %v", s, families)
		}
		for ; i <= j; i++ {
			mask |= 1 << i
		}
	}
	if mask == 0 {
		return 0, fmt.Errorf("no families")
	}
	return mask, nil
}

// parseField reads LO, LO:WIDTH or LO:WIDTH+LO:WIDTH (more significant part first).
func parseField(s string, width int) (field, error) {
	var f field
	a, b, two := strings.Cut(s, "+")
	var err error
	if two {
		if f.lo2, f.width2, err = parsePart(b, 1); err != nil {
			return f, err
		}
		width -= f.width2
	}
	f.lo, f.width, err = parsePart(a, width)
	return f, err
}

func parsePart(s string, width int) (lo, w int, err error) {
	a, b, ok := strings.Cut(s, ":")
	w = width
	if lo, err = strconv.Atoi(a); err == nil && ok {
		w, err = strconv.Atoi(b)
	}
	if err != nil || lo < 0 || w < 1 || lo+w > 128 {
		return 0, 0, fmt.Errorf("field %q, want LO or LO:WIDTH inside 128 bits", s)
	}
	return lo, w, nil
}

func (t *table) enum(name string) *enum {
	for i := range t.enums {
		if t.enums[i].name == name {
			return &t.enums[i]
		}
	}
	return nil
}

func (t *table) enumIndex(name string) int {
	return slices.IndexFunc(t.enums, func(e enum) bool { return e.name == name })
}

func (t *table) count(name string) int {
	return slices.IndexFunc(t.counts, func(c count) bool { return c.name == name })
}

// check finds enums and counts that no row uses, and rows that can never match because an earlier row without conditions has the same
// opcode and family.
func (t *table) check() error {
	used := map[string]bool{}
	for _, r := range t.rows {
		for _, s := range r.suf {
			used[s.enum] = true
		}
		for _, a := range r.args {
			used["*"+a.countName] = true
			if name, _, ok := strings.Cut(a.tail, "@"); ok {
				used[name[1:]] = true
			}
		}
	}
	for _, e := range t.enums {
		if !used[e.name] {
			return fmt.Errorf("enum %s: no row uses it", e.name)
		}
	}
	for _, c := range t.counts {
		if !used["*"+c.name] {
			return fmt.Errorf("count %s: no row uses it", c.name)
		}
	}
	open := map[[2]int]string{}
	for _, r := range t.rows {
		for f := range families {
			if r.fams>>f&1 == 0 {
				continue
			}
			key := [2]int{r.op13, f}
			if w, ok := open[key]; ok {
				return fmt.Errorf("%s: opcode %x on sm_%d is hidden by %s", r.where, r.op13, families[f], w)
			}
			if len(r.conds) == 0 && r.since == 0 {
				open[key] = r.where
			}
		}
	}
	return nil
}
