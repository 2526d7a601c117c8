package layout

import (
	"fmt"
	"io"
	"strings"
)

// Describe writes what is known about a layout: sizes, whether it is one-to-one and onto, its forms in the other
// notations where they are exact, and a table of its offsets where it is small. Lines are "name: value".
func Describe(w io.Writer, l Layout) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", name+":", fmt.Sprintf(format, args...))
	}
	line("layout", "%s", l)
	line("shape", "%s, %d indices", l.Shape(), l.Size())
	last, how, err := highest(l)
	if err == nil {
		line("offsets", "0..%d (%s)", last, how)
	} else {
		line("offsets", "below %d (a bound)", l.Cosize())
	}
	line("one-to-one", "%s", verdict(l, Injective))
	line("onto", "%s", verdict(l, Bijective))
	if c, ok := l.columns(); ok {
		parts := make([]string, len(c))
		for i, v := range c {
			parts[i] = fmt.Sprintf("%#x", v)
		}
		line("linear", "yes, index bits go to %s", strings.Join(parts, " "))
	} else {
		line("linear", "no")
	}
	for _, form := range forms(l) {
		line("equals", "%s", form)
	}
	writeTable(&b, l)
	_, err = io.WriteString(w, b.String())
	return err
}

func verdict(l Layout, ask func(Layout) (Proof, error)) string {
	p, err := ask(l)
	switch {
	case err != nil:
		return "undecided (too large to check index by index)"
	case p.Holds:
		return "yes (" + p.Method + ")"
	case p.Pair[1] != 0:
		return fmt.Sprintf("no: indices %d and %d both give offset %d (%s)", p.Pair[0], p.Pair[1], l.At(p.Pair[1]), p.Method)
	}
	return "no: there are gaps (" + p.Method + ")"
}

// forms lists the exact equivalents in other notations, without the layout's own text.
func forms(l Layout) []string {
	var out []string
	add := func(text string, ok bool) {
		if ok && text != l.String() {
			out = append(out, text)
		}
	}
	if s, ok := ToStrided(l); ok {
		add(s.String(), true)
		if c := s.Coalesce(); c.String() != s.String() {
			add(c.String(), true)
		}
	} else if s, ok := ToSwizzled(l); ok {
		add(s.String(), true)
	}
	if s, ok := ToShared(l); ok {
		add(s.String(), true)
	}
	if s, ok := ToPadded(l); ok {
		add(s.String(), true)
	}
	if s, ok := ToSharedLinear(l); ok {
		add(s.String(), true)
	}
	return out
}

// The table shows at most this many cells, so that a description fits a screen.
const maxRows, maxCols = 16, 16

func writeTable(b *strings.Builder, l Layout) {
	modes := l.Shape().Modes()
	rows, cols := uint32(1), l.Size()
	if len(modes) == 2 {
		rows = uint32(modes[0].product())
		cols = uint32(modes[1].product())
	}
	if rows > maxRows || cols > maxCols {
		return
	}
	width := 1
	for i := range l.Size() {
		width = max(width, len(itoa(uint64(l.At(i)))))
	}
	b.WriteString("\noffset at row (mode 0), column (mode 1):\n")
	for r := range rows {
		for c := range cols {
			fmt.Fprintf(b, " %*d", width, l.At(r+c*rows))
		}
		b.WriteByte('\n')
	}
}

// String says whether the layouts are equal, or where they first differ.
func (c Comparison) String() string {
	switch {
	case c.Equal:
		return fmt.Sprintf("equal (%s)", c.Method)
	case c.First >= c.SizeA || c.First >= c.SizeB:
		return fmt.Sprintf("differ in size: %d and %d indices, equal on the first %d (%s)", c.SizeA, c.SizeB, c.First, c.Method)
	}
	return fmt.Sprintf("differ at index %d: offsets %d and %d (%s)", c.First, c.A, c.B, c.Method)
}
