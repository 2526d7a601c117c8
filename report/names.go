package report

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"shmoo/smem"
)

// Place says where the site is: "tile.cu:3:14", or "0x01a0 tile.cu:3" for machine code, whose line tables have long paths.
func (s *Site) Place() string {
	switch {
	case s.Text != "" || s.PC == 0 && s.Pos.IsValid():
		return s.Pos.Pos.String()
	case s.Pos.IsValid():
		return fmt.Sprintf("0x%04x %s:%d", s.PC, path.Base(filepath.ToSlash(s.Pos.File)), s.Pos.Line)
	}
	return fmt.Sprintf("0x%04x", s.PC)
}

// Instruction names the site's instruction, or the operation where no instruction is known.
func (s *Site) Instruction() string {
	if s.Instr != "" {
		return s.Instr
	}
	return s.Op.String()
}

// Phrase names the access the way its author would, by its text, else by its instruction: "load of tile[k][0]".
func (s *Site) Phrase() string {
	name := s.Text
	if name == "" && s.Instr != "" {
		return fmt.Sprintf("%s at 0x%04x", s.Instr, s.PC)
	}
	if name == "" {
		return s.Op.String()
	}
	switch s.Op {
	case smem.Load, smem.Store:
		return fmt.Sprintf("%s of %s", s.Op, name)
	}
	return fmt.Sprintf("%s %s", s.Op, name)
}

// Shape writes a launch shape without its trailing ones: "32x8".
func Shape(d [3]int) string {
	switch {
	case d[2] > 1:
		return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2])
	case d[1] > 1:
		return fmt.Sprintf("%dx%d", d[0], d[1])
	}
	return fmt.Sprint(d[0])
}

// String says how the kernel was launched: "block 32x8, grid 4, 1024 bytes of dynamic shared memory".
func (l *Launch) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "block %s", Shape(l.Block))
	if l.Grid != [3]int{1, 1, 1} {
		fmt.Fprintf(&b, ", grid %s", Shape(l.Grid))
		if l.Scale() != 1 {
			fmt.Fprintf(&b, " (%d of %d blocks run)", l.Blocks, l.Grid[0]*l.Grid[1]*l.Grid[2])
		}
	}
	if l.DynamicShared > 0 {
		fmt.Fprintf(&b, ", %d bytes of dynamic shared memory", l.DynamicShared)
	}
	if l.Assumed != "" {
		fmt.Fprintf(&b, " (%s)", l.Assumed)
	}
	return b.String()
}

// Reasons returns why requests are unresolved, the most frequent reason first.
func (t *Tally) Reasons() []string {
	reasons := make([]string, 0, len(t.Unresolved))
	for reason := range t.Unresolved {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Unresolved[b], t.Unresolved[a]), cmp.Compare(a, b))
	})
	return reasons
}
