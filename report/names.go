package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shmoo/smem"
)

// Place says where the site is: "tile.cu:3:14", or "0x01a0" for machine code without a line table.
func (s *Site) Place() string {
	if s.Pos.IsValid() {
		return s.Pos.Pos.String()
	}
	return fmt.Sprintf("%#06x", s.PC)
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
	if name == "" {
		name = s.Instruction()
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
