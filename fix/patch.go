package fix

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/layout"
	"shmoo/sketch"
	"shmoo/smem"
)

// Sketch is the form of a unified diff of the sketch that the requests came from.
const Sketch Form = "diff"

// Input is a sketch with what it takes to run it again.
type Input struct {
	Name    string
	Text    []byte
	Options sketch.Options
	Launch  sketch.Launch
}

func (in *Input) source(text []byte) (*sketch.Source, error) {
	p, err := sketch.Parse(in.Name, text, in.Options)
	if err != nil {
		return nil, err
	}
	return p.Source(in.Launch)
}

// Patch is a sketch with a candidate's layout in it.
type Patch struct {
	Diff string // unified, against the input; empty where nothing changes
	Text []byte
	// Dynamic is the size in bytes that the launch must give extern shared memory, or 0 where it stays.
	Dynamic int
}

// PatchSketch writes a candidate into the sketch: a pad changes the declaration, an XOR the index expressions. It runs
// the patched sketch and returns it only if every lane of every request goes where the layout puts it, which makes the
// counts those promised. It returns a *FormError for what cannot be said that way: accesses through pointers under an
// XOR, indices with side effects, bounds that come out of a macro.
func PatchSketch(ctx context.Context, in Input, r *Result, c *Candidate) (*Patch, error) {
	if len(c.Narrowed) > 0 {
		return nil, sketchError("%s breaks up wide accesses", c.Transform)
	}
	before, err := in.source(in.Text)
	if err != nil {
		return nil, err
	}
	p := patcher{in: &in, r: r, c: c, source: before, lines: strings.SplitAfter(string(in.Text), "\n")}
	p.array = slices.IndexFunc(before.Arrays(), func(a access.Array) bool { return a.Name == r.Problem.Array.Name })
	if p.array < 0 {
		return nil, sketchError("the sketch has no array %s", r.Problem.Array.Name)
	}
	out, err := p.patch(ctx)
	var form *FormError
	if errors.As(err, &form) {
		// A macro may stand for more than an operand: once more with everything in parentheses.
		p.edits, p.cautious = nil, true
		if second, err := p.patch(ctx); err == nil {
			return second, nil
		}
	}
	return out, err
}

func (p *patcher) patch(ctx context.Context) (*Patch, error) {
	if err := p.edit(); err != nil {
		return nil, err
	}
	text, diff, err := p.apply()
	if err != nil {
		return nil, err
	}
	a := &p.source.Arrays()[p.array]
	out := &Patch{Diff: diff, Text: text}
	after := *p.in
	if a.Dynamic && p.c.Bytes > a.Size && after.Launch.DynamicShared > 0 {
		out.Dynamic = after.Launch.DynamicShared + p.c.Bytes - a.Size
		after.Launch.DynamicShared = out.Dynamic
	}
	patched, err := after.source(text)
	if err != nil {
		return nil, sketchError("the patched sketch does not run: %v", err)
	}
	if err := p.recheck(ctx, patched); err != nil {
		return nil, err
	}
	return out, nil
}

func sketchError(format string, args ...any) error {
	return &FormError{Sketch, fmt.Sprintf(format, args...)}
}

type patcher struct {
	in     *Input
	r      *Result
	c      *Candidate
	source *sketch.Source
	array  int
	lines  []string // of the input, with their newlines
	edits  []diag.Edit
	// cautious puts every operand in parentheses.
	cautious bool
}

func (p *patcher) edit() error {
	a := &p.source.Arrays()[p.array]
	t, ok := scaled(p.c.Transform, uint32(max(1, a.ElemBytes)))
	if !ok {
		return sketchError("%s moves parts of the %d-byte elements of %s", p.c.Transform, a.ElemBytes, a.Name)
	}
	switch t := t.(type) {
	case layout.Identity:
		if p.r.Problem.Present == nil {
			return nil
		}
		return p.padDimensions(a, nil)
	case layout.Pad:
		if len(a.Dims) >= 2 {
			return p.padDimensions(a, t)
		}
		if err := p.growFlat(a, t); err != nil {
			return err
		}
		return p.flatIndices(a, t)
	}
	if len(a.Dims) >= 2 {
		return p.lastIndices(a, t)
	}
	return p.flatIndices(a, t)
}

// padDimensions turns pads after rows and planes into longer dimensions, or shorter ones where a pad that is there
// goes.
func (p *patcher) padDimensions(a *access.Array, pad layout.Pad) error {
	dims := p.source.Decl(p.array).Dims
	plain := p.r.Problem.Array.Dims // without the pad that is there
	if len(dims) != len(a.Dims) || len(plain) != len(dims) {
		return sketchError("the declaration of %s has %d bounds, want %d", a.Name, len(dims), len(a.Dims))
	}
	left := slices.Clone(pad)
	per, row := uint32(1), uint32(1) // elements that one more of a dimension adds, without pads and with
	for k := len(plain) - 1; k >= 0; k-- {
		per *= uint32(plain[k])
		by := plain[k] - a.Dims[k]
		next := row * uint32(plain[k])
		if i := slices.IndexFunc(left, func(s layout.PadStep) bool { return s.Per == per }); i >= 0 && k > 0 {
			if left[i].Add%row != 0 {
				return sketchError("%d elements after every %d are no whole number of the %d that dimension %d is made of", left[i].Add, per, row, k)
			}
			by += int(left[i].Add / row)
			next += left[i].Add
			left = slices.Delete(left, i, i+1)
		}
		row = next
		if err := p.lengthen(dims[k], by); err != nil {
			return err
		}
	}
	if len(left) > 0 {
		return sketchError("no dimension of %s has %d elements", a.Name, left[0].Per)
	}
	return nil
}

// growFlat makes a flat array long enough; extern arrays grow at the launch.
func (p *patcher) growFlat(a *access.Array, pad layout.Pad) error {
	if a.Dynamic {
		return nil
	}
	dims := p.source.Decl(p.array).Dims
	if len(dims) != 1 {
		return sketchError("the declaration of %s has %d bounds, want 1", a.Name, len(dims))
	}
	n := uint64(a.Size / max(1, a.ElemBytes))
	return p.lengthen(dims[0], int(pad.Extent(n)-n))
}

func (p *patcher) lengthen(d sketch.Dimension, by int) error {
	if by == 0 {
		return nil
	}
	if !d.Editable && !p.bracketed(d.Span) {
		return sketchError("%s: the bound %q comes out of a macro, is missing, or runs over lines", d.Span.Pos, d.Text)
	}
	text := d.Text
	if n, err := strconv.Atoi(text); err == nil {
		p.replace(d.Span, strconv.Itoa(n+by))
		return nil
	}
	// "TILE + 1" becomes "TILE + 4", or "TILE".
	if head, tail, ok := cutLast(text, "+"); ok {
		if n, err := strconv.Atoi(tail); err == nil {
			text, by = head, n+by
		}
	}
	if p.cautious || !simple(text) {
		text = "(" + text + ")"
	}
	switch {
	case by > 0:
		text += fmt.Sprintf(" + %d", by)
	case by < 0:
		text += fmt.Sprintf(" - %d", -by)
	}
	p.replace(d.Span, text)
	return nil
}

// cutLast cuts a text around the last separator and trims both parts.
func cutLast(text, separator string) (head, tail string, ok bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+len(separator):]), true
}

// bracketed reports whether a place fills the brackets around it: then even a macro call can be added to.
func (p *patcher) bracketed(at diag.Span) bool {
	if at.Line < 1 || at.Line > len(p.lines) || at.Len == 0 || at.Col-1+at.Len > len(p.lines[at.Line-1]) {
		return false
	}
	line := p.lines[at.Line-1]
	return strings.HasSuffix(strings.TrimRight(line[:at.Col-1], " \t"), "[") &&
		strings.HasPrefix(strings.TrimLeft(line[at.Col-1+at.Len:], " \t"), "]")
}

// simple reports whether a text binds at least as tight as addition: names, numbers, and + - * / between them.
func simple(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !(r == '_' || r == ' ' || r == '+' || r == '-' || r == '*' || r == '/' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' ||
			r >= 'A' && r <= 'Z')
	}) < 0
}

// flatIndices rewrites e in name[e] to the transform of e.
func (p *patcher) flatIndices(a *access.Array, t layout.Transform) error {
	return p.eachSite(a, 1, func(ix []sketch.Index) error {
		e := p.operand(ix[0].Text)
		p.replace(ix[0].Span, expression(t, e, "/"))
		return nil
	})
}

// lastIndices rewrites the last index under a transform that moves elements only within their row.
func (p *patcher) lastIndices(a *access.Array, t layout.Transform) error {
	// The pad that is there goes: the XOR takes its place.
	if err := p.padDimensions(a, nil); err != nil {
		return err
	}
	dims := p.r.Problem.Array.Dims
	cols := dims[len(dims)-1]
	if cols&(cols-1) != 0 {
		return sketchError("rows of %d elements: an XOR would leave the row", cols)
	}
	width := bits.TrailingZeros(uint(cols))
	masks := map[int]uint32{} // source bit minus target bit -> target bits, of element numbers
	l, ok := layout.AsLinear(t, bits.Len(uint(p.r.Problem.Array.Size/max(1, a.ElemBytes)-1)))
	if !ok {
		return sketchError("%s is no linear map", t)
	}
	for i, image := range l.Images() {
		if image>>i&1 == 0 {
			return sketchError("%s moves bit %d", t, i)
		}
		for m := image &^ (1 << i); m != 0; m &= m - 1 {
			b := bits.TrailingZeros32(m)
			if b >= width {
				return sketchError("%s changes rows, not only places in a row of %d", t, cols)
			}
			masks[i-b] |= 1 << b
		}
	}
	return p.eachSite(a, len(a.Dims), func(ix []sketch.Index) error {
		last := ix[len(ix)-1]
		text := p.operand(last.Text)
		for _, d := range slices.Sorted(maps.Keys(masks)) {
			term, err := p.rowTerm(ix, d, masks[d], width)
			if err != nil {
				return err
			}
			text += " ^ " + term
		}
		p.replace(last.Span, text)
		return nil
	})
}

// rowTerm writes ((element number) >> d & mask) with the element number taken from the last two indices where its low
// bits do not count, else from all of them.
func (p *patcher) rowTerm(ix []sketch.Index, d int, mask uint32, width int) (string, error) {
	lowest := bits.TrailingZeros32(mask) + d // of the source bits
	highest := bits.Len32(mask) + d
	dims := p.r.Problem.Array.Dims
	rows := dims[len(dims)-2]
	if lowest >= width && (len(dims) == 2 || rows&(rows-1) == 0 && highest <= width+bits.TrailingZeros(uint(rows))) {
		row := p.operand(ix[len(ix)-2].Text)
		switch s := d - width; {
		case s > 0:
			return fmt.Sprintf("(%s >> %d & %d)", row, s, mask), nil
		case s < 0:
			return fmt.Sprintf("(%s << %d & %d)", row, -s, mask), nil
		}
		return fmt.Sprintf("(%s & %d)", row, mask), nil
	}
	base, err := rowMajor(dims)
	if err != nil {
		return "", sketchError("%v", err)
	}
	names := make([]string, len(ix))
	for k := range ix {
		names[k] = p.operand(ix[k].Text)
	}
	flat := sum(names, base.Stride().Flat())
	if d < 0 {
		return fmt.Sprintf("((%s) << %d & %d)", flat, -d, mask), nil
	}
	return fmt.Sprintf("((%s) >> %d & %d)", flat, d, mask), nil
}

// eachSite calls f for the index expressions of every access to the array, each place in the text once.
func (p *patcher) eachSite(a *access.Array, rank int, f func([]sketch.Index) error) error {
	done := map[diag.Span]bool{}
	others := map[diag.Span]bool{}
	sites := p.source.Sites()
	for i := range sites {
		if sites[i].Array != a.Name {
			for _, ix := range p.source.IndexSpans(i) {
				others[ix.Span] = true
			}
		}
	}
	for i := range sites {
		if sites[i].Array != a.Name {
			continue
		}
		ix := p.source.IndexSpans(i)
		where := sites[i].Pos.Pos
		if len(ix) != rank {
			return sketchError("%s: %s has %d indices, want %d: accesses through pointers cannot be rewritten", where, sites[i].Text, len(ix), rank)
		}
		last := ix[len(ix)-1].Span
		if done[last] {
			continue
		}
		done[last] = true
		for _, x := range ix {
			switch {
			case !x.Editable && !p.bracketed(x.Span):
				return sketchError("%s: the index %q comes out of a macro or runs over lines", where, x.Text)
			case !pure(x.Text):
				return sketchError("%s: the index %q may have side effects, and would be written twice", where, x.Text)
			case others[x.Span]:
				return sketchError("%s: the index %q serves another array too", where, x.Text)
			}
		}
		if err := f(ix); err != nil {
			return err
		}
	}
	return nil
}

// pure reports whether an expression can be written twice: no assignment, no increment, no call.
func pure(text string) bool {
	for i := 0; i < len(text); i++ {
		next, last := byte(0), byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		if i > 0 {
			last = text[i-1]
		}
		switch text[i] {
		case '+', '-':
			if next == text[i] {
				return false
			}
		case '=':
			if next == '=' {
				i++
			} else if last != '<' && last != '>' && last != '!' || i > 1 && (text[i-2] == '<' || text[i-2] == '>') {
				return false
			}
		case '(':
			if word := lastWord(text[:i]); word != "" {
				return false
			}
		}
	}
	return true
}

func lastWord(text string) string {
	text = strings.TrimRight(text, " ")
	i := len(text)
	for i > 0 && (text[i-1] == '_' || text[i-1] >= '0' && text[i-1] <= '9' || text[i-1] >= 'a' && text[i-1] <= 'z' ||
		text[i-1] >= 'A' && text[i-1] <= 'Z' || text[i-1] == '>') {
		i--
	}
	return text[i:]
}

// operand parenthesises what is more than a name or a number.
func (p *patcher) operand(text string) string {
	if !p.cautious && strings.IndexFunc(text, func(r rune) bool {
		return !(r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) < 0 {
		return text
	}
	return "(" + text + ")"
}

func (p *patcher) replace(at diag.Span, text string) {
	p.edits = append(p.edits, diag.Edit{Span: at, NewText: text})
}

// apply makes the edits and returns the new text and the unified diff.
func (p *patcher) apply() ([]byte, string, error) {
	slices.SortFunc(p.edits, func(a, b diag.Edit) int {
		if a.Span.Line != b.Span.Line {
			return a.Span.Line - b.Span.Line
		}
		return a.Span.Col - b.Span.Col
	})
	lines, changed := p.lines, slices.Clone(p.lines)
	for i := len(p.edits) - 1; i >= 0; i-- {
		at := p.edits[i].Span
		if i > 0 {
			if b := p.edits[i-1].Span; b.Line == at.Line && b.Col-1+b.Len > at.Col-1 {
				return nil, "", sketchError("%s: an index lies inside another one", at.Pos)
			}
		}
		if at.Line < 1 || at.Line > len(lines) || at.Col-1+at.Len > len(changed[at.Line-1]) {
			return nil, "", sketchError("%s: no such place in the text", at.Pos)
		}
		line := changed[at.Line-1]
		changed[at.Line-1] = line[:at.Col-1] + p.edits[i].NewText + line[at.Col-1+at.Len:]
	}
	return []byte(strings.Join(changed, "")), unified(p.in.Name, lines, changed), nil
}

// context lines around a change in a diff.
const around = 3

// unified writes the difference of two texts with equally many lines as a unified diff.
func unified(name string, before, after []string) string {
	var b strings.Builder
	n := len(before)
	if n > 0 && before[n-1] == "" {
		n-- // what follows the last newline is no line
	}
	differs := func(i int) bool { return before[i] != after[i] }
	for i := 0; i < n; {
		if !differs(i) {
			i++
			continue
		}
		from, end := max(0, i-around), i+1
		for j := i + 1; j < n && j < end+2*around; j++ {
			if differs(j) {
				end = j + 1
			}
		}
		to := min(n, end+around)
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", name, name)
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1, to-from)
		for j := from; j < to; {
			if !differs(j) {
				writeLine(&b, ' ', before[j])
				j++
				continue
			}
			k := j
			for k < to && differs(k) {
				writeLine(&b, '-', before[k])
				k++
			}
			for ; j < k; j++ {
				writeLine(&b, '+', after[j])
			}
		}
		i = to
	}
	return b.String()
}

func writeLine(b *strings.Builder, mark byte, line string) {
	b.WriteByte(mark)
	b.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}

// recheck runs both sketches side by side: every request must be the same but for the layout, lane by lane, and the
// wavefronts must be those promised.
func (p *patcher) recheck(ctx context.Context, patched *sketch.Source) error {
	now := patched.Arrays()
	if len(now) != len(p.source.Arrays()) {
		return sketchError("the patched sketch has %d arrays, want %d", len(now), len(p.source.Arrays()))
	}
	old := &p.source.Arrays()[p.array]
	next, stop := iter.Pull2(patched.Accesses(ctx))
	defer stop()
	wavefronts := int64(0)
	unit := p.r.searcher.unit
	var out smem.Outcome
	for a, err := range p.source.Accesses(ctx) {
		if err != nil {
			return err
		}
		b, err, ok := next()
		if err != nil {
			return err
		}
		if !ok || a.Site != b.Site || a.Request.Active != b.Request.Active || a.Request.Op != b.Request.Op || a.Request.Width != b.Request.Width {
			return sketchError("the patched sketch makes other accesses")
		}
		if (a.Unresolved != "") != (b.Unresolved != "") {
			return sketchError("the patched sketch resolves other accesses")
		}
		if a.Unresolved != "" {
			continue
		}
		lanes := a.Request.Addressing()
		first := lanes.Lowest()
		if lanes == 0 || !old.Covers(int(a.Request.Addr[first])) {
			continue
		}
		for l, addr := range a.Request.Addr {
			if !lanes.Has(l) {
				continue
			}
			want := p.c.Transform.Map(p.r.Problem.plain(addr-uint32(old.Offset))) + uint32(now[p.array].Offset)
			if got := b.Request.Addr[l]; got != want {
				return sketchError("%s: in the patched sketch lane %d goes to offset %d, the layout puts it at %d: the code forms addresses in a way "+
					"that the declaration and the indices do not show", p.source.Sites()[a.Site].Pos.Pos, l, got, want)
			}
		}
		if err := unit.Resolve(&out, &b.Request); err != nil {
			return err
		}
		wavefronts += int64(out.Wavefronts) * max(1, a.Count)
	}
	if _, _, more := next(); more {
		return sketchError("the patched sketch makes more accesses")
	}
	if wavefronts != p.c.Wavefronts {
		return sketchError("the patched sketch takes %d wavefronts, promised %d", wavefronts, p.c.Wavefronts)
	}
	return nil
}
