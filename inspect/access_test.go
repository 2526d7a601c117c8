package inspect

import (
	"fmt"
	"io"

	"shmoo/access"
	"shmoo/cubin"
	"shmoo/diag"
	"shmoo/internal/table"
)

// Table returns the sites in the form that all inputs share: the position is the innermost source line, the calls that
// it was inlined through follow. Elements are in the order of a.Sites.
func (a *Accesses) Table() []access.Site {
	out := make([]access.Site, len(a.Sites))
	for i := range a.Sites {
		s := &a.Sites[i]
		out[i] = access.Site{PC: uint64(s.PC), Op: s.Op, Width: s.Width, Instr: s.Instr, Text: s.Text}
		for n, f := range s.Frames {
			pos := diag.Pos{File: f.File, Line: f.Line, Col: f.Column}
			if n == 0 {
				out[i].Pos = diag.Span{Pos: pos}
				continue
			}
			out[i].Inlined = append(out[i].Inlined, pos)
		}
	}
	return out
}

// WriteText writes the sites of a kernel as a table, and below it a line for each run: the width that it has, and why it
// is not wider.
func (a *Accesses) WriteText(w io.Writer) error {
	if len(a.Sites) == 0 {
		_, err := fmt.Fprintln(w, "no accesses to shared memory")
		return err
	}
	t := table.New("pc>", "bytes>", "instruction", "source")
	for i := range a.Sites {
		s := &a.Sites[i]
		t.Row(fmt.Sprintf("%#x", s.PC), s.Width, s.Text, place(s))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	for _, r := range a.Runs {
		first := &a.Sites[r.Sites[0]]
		if _, err := fmt.Fprintf(w, "%#x: %s\n", first.PC, r.Note); err != nil {
			return err
		}
	}
	return nil
}

// place is the source line of a site, or the function that holds it.
func place(s *Site) string {
	switch {
	case len(s.Frames) > 0:
		return fmt.Sprintf("%s:%d", s.Frames[0].File, s.Frames[0].Line)
	case s.Func != "":
		return "in " + cubin.Demangle(s.Func)
	}
	return "-"
}
