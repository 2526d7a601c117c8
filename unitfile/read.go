package unitfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/BurntSushi/toml"

	"shmoo/diag"
	"shmoo/smem"
)

// Limits that keep hostile files cheap.
const (
	maxBytes = 256 << 10
	maxDepth = 64 // of brackets
	maxSize  = 1 << 30
)

// Read reads a unit file, which it calls name in errors. A file that breaks the format, or has rules that no unit can apply,
// gives a *diag.Diagnostic that names the line; a failing r gives its error, wrapped.
func Read(r io.Reader, name string) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := &decoder{name: name, lines: strings.Split(string(text), "\n")}
	if len(text) > maxBytes {
		return nil, d.errorAt(0, "got more than %d bytes, want a unit file", maxBytes)
	}
	if line := deeper(d.lines); line > 0 {
		return nil, d.errorAt(line, "got more than %d brackets within each other, want a unit file", maxDepth)
	}
	var root map[string]any
	if _, err := toml.Decode(string(text), &root); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return nil, d.errorAt(syntax.Position.Line, "%s", syntax.Message)
		}
		return nil, d.errorAt(0, "%v", err)
	}
	return d.file(root)
}

// deeper returns the line on which brackets are nested too deep, or 0. Brackets in strings count: a unit file has few.
func deeper(lines []string) int {
	depth := 0
	for i, line := range lines {
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
		if depth > maxDepth {
			return i + 1
		}
	}
	return 0
}

// decoder turns the tables of a file into a unit. It keeps the first thing that is wrong.
type decoder struct {
	name  string
	lines []string
	err   error
}

func (d *decoder) errorAt(line int, format string, args ...any) error {
	return diag.Errorf("unitfile", diag.Span{Pos: diag.Pos{File: d.name, Line: line}}, format, args...)
}

// fail keeps an error about a key of a table.
func (d *decoder) fail(t *table, key, format string, args ...any) {
	if d.err == nil {
		d.err = d.errorAt(d.find(t, key), "%s: "+format, append([]any{t.path(key)}, args...)...)
	}
}

// A table is one table of the file, with the keys that are left to read.
type table struct {
	name  string // "" for the root
	index int    // of an array of tables; -1 for others
	left  map[string]any
}

// path names a key for a reader: "rule 3: width".
func (t *table) path(key string) string {
	switch {
	case t.name == "":
		return key
	case t.index >= 0 && key == "":
		return fmt.Sprintf("%s %d", t.name, t.index+1)
	case t.index >= 0:
		return fmt.Sprintf("%s %d: %s", t.name, t.index+1, key)
	case key == "":
		return t.name
	}
	return t.name + "." + key
}

// find returns the line of a key, or of its table's header when the key is not found on a line of its own, or 0.
func (d *decoder) find(t *table, key string) int {
	header := "[" + t.name + "]"
	if t.index >= 0 {
		header = "[" + header + "]"
	}
	inside, seen, at := t.name == "", 0, 0
	for i, line := range d.lines {
		line, _, _ = strings.Cut(line, "#")
		line = strings.ReplaceAll(strings.TrimSpace(line), " ", "")
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && !strings.Contains(line, ",") {
			if inside && at > 0 {
				return at
			}
			inside = false
			if line == header {
				inside = t.index < 0 || seen == t.index
				seen++
				if inside {
					at = i + 1
				}
			}
			continue
		}
		name, _, isKey := strings.Cut(line, "=")
		if inside && isKey && key != "" && strings.Trim(name, `"'`) == key {
			return i + 1
		}
	}
	return at
}

// take removes a key from a table and returns its value if it has the wanted type. A missing key gives the zero value, and
// an error when it is required.
func take[T any](d *decoder, t *table, key, want string, required bool) T {
	var none T
	value, ok := t.left[key]
	if !ok {
		if required {
			d.fail(t, key, "missing, want %s", want)
		}
		return none
	}
	delete(t.left, key)
	v, ok := value.(T)
	if !ok {
		d.fail(t, key, "got %s, want %s", kindOf(value), want)
		return none
	}
	return v
}

// kindOf names the type of a TOML value.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "a string"
	case int64:
		return "a whole number"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case []any, []map[string]any:
		return "an array"
	case map[string]any:
		return "a table"
	}
	return "a date or time"
}

// text takes a string.
func (d *decoder) text(t *table, key string, required bool) string {
	return take[string](d, t, key, "a string", required)
}

// whole takes a whole number from low to high; low is also the value of a missing one.
func (d *decoder) whole(t *table, key string, low, high int, required bool) int {
	if _, ok := t.left[key]; !ok && !required {
		return low
	}
	v := take[int64](d, t, key, fmt.Sprintf("a whole number from %d to %d", low, high), required)
	if d.err == nil && (v < int64(low) || v > int64(high)) {
		d.fail(t, key, "got %d, want a whole number from %d to %d", v, low, high)
	}
	return int(v)
}

// maxCycles bounds floors and extras.
const maxCycles = 1 << 16

// cycles takes a number of cycles; a missing one is 0.
func (d *decoder) cycles(t *table, key string) float32 {
	if v, ok := t.left[key].(int64); ok {
		t.left[key] = float64(v)
	}
	v := take[float64](d, t, key, "a number of cycles", false)
	if math.IsNaN(v) || v < 0 || v > maxCycles {
		d.fail(t, key, "got %v, want a number of cycles from 0 to %d", v, maxCycles)
	}
	return float32(v)
}

// texts takes an array of strings; a missing one is nil.
func (d *decoder) texts(t *table, key string, required bool) []string {
	array := take[[]any](d, t, key, "an array of strings", required)
	var texts []string
	for _, value := range array {
		s, ok := value.(string)
		if !ok {
			d.fail(t, key, "got %s in the array, want strings", kindOf(value))
			return nil
		}
		texts = append(texts, s)
	}
	return texts
}

// groups takes an array of groups of lanes.
func (d *decoder) groups(t *table, key string, required bool) []smem.Mask {
	_, present := t.left[key]
	var groups []smem.Mask
	for _, s := range d.texts(t, key, required) {
		m, err := ParseLanes(s)
		if err != nil {
			d.fail(t, key, "%v", err)
			return nil
		}
		groups = append(groups, m)
	}
	if present && d.err == nil && len(groups) == 0 {
		d.fail(t, key, "got no groups, want at least one")
	}
	return groups
}

// done refuses what is left of a table.
func (d *decoder) done(t *table, known string) {
	if d.err != nil || len(t.left) == 0 {
		return
	}
	line, unknown := math.MaxInt, ""
	for key := range t.left { // the first in the file
		if at := d.find(t, key); at < line || at == line && key < unknown {
			line, unknown = at, key
		}
	}
	d.fail(t, unknown, "unknown key, want one of %s", known)
}

// file reads the root table.
func (d *decoder) file(root map[string]any) (*File, error) {
	t := &table{index: -1, left: root}
	if schema := d.text(t, "schema", true); d.err == nil && schema != Schema {
		d.fail(t, "schema", "got %q, want %q", schema, Schema)
	}
	f := &File{Evidence: map[smem.Key]Evidence{}}
	name := d.text(t, "name", true)
	lanes := d.whole(t, "lanes", 1, smem.MaxLanes, true)
	banks := d.whole(t, "banks", 1, smem.MaxLanes, true)
	bankBytes := d.whole(t, "bank_bytes", 1, 64, true)
	size := d.whole(t, "size", 0, maxSize, true)
	d.origin(t, f)
	if _, err := smem.NewUnit(name, lanes, banks, bankBytes, size, nil); err != nil {
		d.fail(t, "banks", "%v", err)
	}
	rules := map[smem.Key]smem.Rule{}
	for i, left := range take[[]map[string]any](d, t, "rule", "tables [[rule]]", true) {
		d.rule(&table{name: "rule", index: i, left: left}, rules, f.Evidence,
			geometry{name, lanes, banks, bankBytes, size})
	}
	d.done(t, "schema, name, lanes, banks, bank_bytes, size, origin, rule")
	if d.err != nil {
		return nil, d.err
	}
	var err error
	f.Unit, err = smem.NewUnit(name, lanes, banks, bankBytes, size, rules)
	return f, err
}

func (d *decoder) origin(root *table, f *File) {
	left := take[map[string]any](d, root, "origin", "a table [origin]", false)
	t := &table{name: "origin", index: -1, left: left}
	f.Origin = Origin{
		Device:  d.text(t, "device", false),
		Driver:  d.text(t, "driver", false),
		Date:    d.text(t, "date", false),
		Source:  d.text(t, "source", false),
		Samples: d.whole(t, "samples", 0, math.MaxInt32, false),
	}
	d.done(t, "device, driver, date, source, samples")
}

// geometry is what a rule is tried on.
type geometry struct {
	name                          string
	lanes, banks, bankBytes, size int
}

func (d *decoder) rule(t *table, rules map[smem.Key]smem.Rule, evidence map[smem.Key]Evidence, g geometry) {
	opName := d.text(t, "op", true)
	op, known := smem.ParseOp(opName)
	if d.err == nil && !known {
		d.fail(t, "op", "got %q, want one of %s", opName, ops())
	}
	key := smem.Key{Op: op, Width: d.whole(t, "width", 1, 16, true)}
	basisName := d.text(t, "basis", true)
	basis, known := smem.ParseBasis(basisName)
	if d.err == nil && !known {
		d.fail(t, "basis", "got %q, want measured, documented, assumed or estimated", basisName)
	}
	rule := smem.Rule{
		Groups:      d.groups(t, "groups", true),
		Paired:      d.groups(t, "paired", false),
		Shares:      take[bool](d, t, "shares", "true or false", false),
		PerPass:     d.whole(t, "per_pass", 1, 64, false),
		Floor:       d.cycles(t, "floor"),
		PairedFloor: d.cycles(t, "paired_floor"),
		Extra:       d.cycles(t, "extra"),
		Basis:       basis,
	}
	e := Evidence{Samples: d.whole(t, "samples", 0, math.MaxInt32, false), Undecided: d.texts(t, "undecided", false)}
	d.done(t, "op, width, groups, paired, shares, per_pass, floor, paired_floor, extra, basis, samples, undecided")
	if d.err != nil {
		return
	}
	if _, twice := rules[key]; twice {
		d.fail(t, "op", "got a second rule for %s of %d bytes, want one", op, key.Width)
		return
	}
	// A unit with this rule alone shows whether it can be applied, and on which line to report it.
	_, err := smem.NewUnit(g.name, g.lanes, g.banks, g.bankBytes, g.size, map[smem.Key]smem.Rule{key: rule})
	if err != nil {
		d.fail(t, "", "%v", err)
		return
	}
	rules[key] = rule
	evidence[key] = e
}

// ops lists the operations.
func ops() string {
	var names []string
	for op := smem.Op(0); ; op++ {
		name := op.String()
		if _, ok := smem.ParseOp(name); !ok {
			return strings.Join(names, ", ")
		}
		names = append(names, name)
	}
}
