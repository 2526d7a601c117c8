// Package compare tells what changed between two reports: which sites got better, worse, are new or gone.
//
//	c, err := compare.Reports(before, after)
//	for _, x := range c.Regressions() {
//		fmt.Println(x.Kind, x.Key, x.Why)
//	}
//
// Sites are matched by their key (report.Key: array, operation, text, occurrence), so that lines may move and files be
// renamed. Those left over are matched by place: an index that was rewritten on its line is the same site.
//
// Limits: numbers compare only where both reports ran the same launch; a difference is noted in Result.Notes. A site whose
// text and line both changed is one gone and one new.
package compare

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"shmoo/report"
)

// Kind says what became of a site.
type Kind string

// The kinds, in the order in which a result lists them.
const (
	Worse   Kind = "worse"   // more faults, unresolved requests or conflicts
	New     Kind = "new"     // only in the later report
	Better  Kind = "better"  // fewer of them, and none of the three worse
	Gone    Kind = "gone"    // only in the earlier report
	Changed Kind = "changed" // other counts of requests or wavefronts, the same conflicts
	Same    Kind = "same"
)

var kinds = []Kind{Worse, New, Better, Gone, Changed, Same}

// A Change is what became of one site.
type Change struct {
	Kind   Kind
	Key    report.Key   // of the later site, or of the earlier one that is gone
	Before *report.Site // nil for a new site
	After  *report.Site // nil for one that is gone
	Why    string       // what differs: "conflicts 0 -> 992"
}

// Regression reports whether the change should fail a gate: a site got worse, or is new and not clean.
func (c *Change) Regression() bool {
	switch c.Kind {
	case Worse:
		return true
	case New:
		t := &c.After.Tally
		return t.Conflicts() > 0 || t.Faulted > 0 || len(t.Unresolved) > 0
	}
	return false
}

// A Result is the comparison of two reports.
type Result struct {
	Before, After *report.Report
	Changes       []Change // by kind, then in the order of the reports
	Notes         []string // what makes the numbers hard to compare, such as another launch
}

// Regressions returns the changes that should fail a gate.
func (r *Result) Regressions() []Change {
	var list []Change
	for _, c := range r.Changes {
		if c.Regression() {
			list = append(list, c)
		}
	}
	return list
}

// Count returns how many changes are of a kind.
func (r *Result) Count(k Kind) int {
	n := 0
	for i := range r.Changes {
		if r.Changes[i].Kind == k {
			n++
		}
	}
	return n
}

// Reports compares two reports. Reports on different architectures have nothing to compare and are an error. The result
// keeps both.
func Reports(before, after *report.Report) (*Result, error) {
	if before.Arch != after.Arch {
		return nil, fmt.Errorf("cannot compare a report on %s with one on %s: want the same architecture", before.Arch, after.Arch)
	}
	r := &Result{Before: before, After: after, Notes: notes(before, after)}
	keys, pairs := after.Keys(), match(before, after)
	matched := make([]bool, len(before.Sites))
	for i := range after.Sites {
		c := Change{Kind: New, Key: keys[i], After: &after.Sites[i]}
		if j := pairs[i]; j >= 0 {
			matched[j] = true
			c.Before = &before.Sites[j]
			c.Kind, c.Why = judge(&c.Before.Tally, &c.After.Tally)
		} else {
			_, c.Why = judge(&report.Tally{}, &c.After.Tally)
		}
		r.Changes = append(r.Changes, c)
	}
	for j, key := range before.Keys() {
		if !matched[j] {
			c := Change{Kind: Gone, Key: key, Before: &before.Sites[j]}
			_, c.Why = judge(&c.Before.Tally, &report.Tally{})
			r.Changes = append(r.Changes, c)
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	return r, nil
}

// notes says what about the two runs differs.
func notes(before, after *report.Report) []string {
	var list []string
	if before.Kernel != after.Kernel {
		list = append(list, fmt.Sprintf("the kernel was %s, now it is %s", name(before.Kernel), name(after.Kernel)))
	}
	if !SameLaunch(before, after) {
		list = append(list, fmt.Sprintf("the launch was %s, now it is %s: counts are of different runs", launch(before), launch(after)))
	}
	return list
}

// SameLaunch reports whether both reports ran the same shape, so that their counts compare.
func SameLaunch(a, b *report.Report) bool {
	if a.Launch == nil || b.Launch == nil {
		return a.Launch == b.Launch
	}
	x, y := *a.Launch, *b.Launch
	x.Assumed, y.Assumed = "", "" // how the shape became known does not matter
	return x == y
}

func launch(r *report.Report) string {
	if r.Launch == nil {
		return "none"
	}
	return r.Launch.String()
}

func name(kernel string) string {
	if kernel == "" {
		return "without a name"
	}
	return kernel
}

// judge says what became of a site and what differs, the worst first.
func judge(before, after *report.Tally) (Kind, string) {
	for _, x := range []struct {
		what          string
		before, after int64
	}{
		{"faults", before.Faulted, after.Faulted},
		{"unresolved requests", before.UnresolvedRequests(), after.UnresolvedRequests()},
		{"conflicts", before.Conflicts(), after.Conflicts()},
	} {
		if x.after > x.before {
			return Worse, fmt.Sprintf("%s %d -> %d", x.what, x.before, x.after)
		}
	}
	switch {
	case after.Faulted < before.Faulted:
		return Better, fmt.Sprintf("faults %d -> %d", before.Faulted, after.Faulted)
	case after.UnresolvedRequests() < before.UnresolvedRequests():
		return Better, fmt.Sprintf("unresolved requests %d -> %d", before.UnresolvedRequests(), after.UnresolvedRequests())
	case after.Conflicts() < before.Conflicts():
		return Better, fmt.Sprintf("conflicts %d -> %d", before.Conflicts(), after.Conflicts())
	case after.Wavefronts != before.Wavefronts:
		return Changed, fmt.Sprintf("wavefronts %d -> %d", before.Wavefronts, after.Wavefronts)
	case after.Requests != before.Requests:
		return Changed, fmt.Sprintf("requests %d -> %d", before.Requests, after.Requests)
	}
	return Same, ""
}

// match returns for every later site the index of the earlier one that it was, or -1.
func match(before, after *report.Report) []int {
	pairs := make([]int, len(after.Sites))
	for i := range pairs {
		pairs[i] = -1
	}
	taken := make([]bool, len(before.Sites))
	pair(pairs, taken, before.Keys(), after.Keys())
	pair(pairs, taken, places(before), places(after))
	return pairs
}

// pair matches the sites that are still free and agree in a name, each once, in the order of the reports. The zero name
// matches nothing.
func pair[Name comparable](pairs []int, taken []bool, before, after []Name) {
	var none Name
	free := map[Name][]int{}
	for j, name := range before {
		if !taken[j] && name != none {
			free[name] = append(free[name], j)
		}
	}
	for i, name := range after {
		if list := free[name]; pairs[i] < 0 && len(list) > 0 {
			pairs[i], free[name] = list[0], list[1:]
			taken[list[0]] = true
		}
	}
}

// A place is where a site stands, and what it does there.
type place struct {
	file, array, op string
	line, col       int
}

func places(r *report.Report) []place {
	files := map[string]bool{}
	for i := range r.Sites {
		files[r.Sites[i].Pos.File] = true
	}
	list := make([]place, len(r.Sites))
	for i := range r.Sites {
		s := &r.Sites[i]
		if !s.Pos.IsValid() {
			continue // the zero place: nothing is known
		}
		list[i] = place{array: s.Array, op: s.Op.String(), line: s.Pos.Line, col: s.Pos.Col}
		if len(files) > 1 { // a single file may have been renamed
			list[i].file = path.Base(s.Pos.File)
		}
	}
	return list
}

// OnlyUnresolved reports whether nothing got worse but the number of unresolved requests.
func (c *Change) OnlyUnresolved() bool {
	var before report.Tally
	if c.Before != nil {
		before = c.Before.Tally
	}
	t := &c.After.Tally
	return t.Faulted <= before.Faulted && t.Conflicts() <= before.Conflicts()
}
