package report

import (
	"cmp"
	"slices"
)

// A Line is a source line with what its sites cost together.
type Line struct {
	File  string
	Line  int
	Tally Tally
	Sites []int // indices into Report.Sites
}

// Lines sums the sites by source line, ordered by file and line. Sites without a line are left out.
func (r *Report) Lines() []Line {
	type place struct {
		file string
		line int
	}
	at := map[place]int{}
	var lines []Line
	for i := range r.Sites {
		s := &r.Sites[i]
		if !s.Pos.IsValid() {
			continue
		}
		p := place{s.Pos.File, s.Pos.Line}
		n, ok := at[p]
		if !ok {
			n = len(lines)
			at[p] = n
			lines = append(lines, Line{File: p.file, Line: p.line})
		}
		lines[n].Tally.Add(&s.Tally)
		lines[n].Sites = append(lines[n].Sites, i)
	}
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return lines
}

// ByConflicts returns the indices of the sites with conflicts, the most expensive first.
func (r *Report) ByConflicts() []int {
	var order []int
	for i := range r.Sites {
		if r.Sites[i].Tally.Conflicts() > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(r.Sites[b].Tally.Conflicts(), r.Sites[a].Tally.Conflicts())
	})
	return order
}
