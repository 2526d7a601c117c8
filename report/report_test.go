package report_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"shmoo/access"
	"shmoo/arch"
	"shmoo/report"
	"shmoo/smem"
)

// list is a source of given accesses at sites of one kind.
type list struct {
	sites    int
	accesses []access.Access
	err      error
}

func (l *list) Sites() []access.Site {
	sites := make([]access.Site, l.sites)
	for i := range sites {
		sites[i] = access.Site{Op: smem.Load, Width: 4}
	}
	return sites
}

func (l *list) Arrays() []access.Array { return nil }

func (l *list) Accesses(context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		for i := range l.accesses {
			if !yield(&l.accesses[i], nil) {
				return
			}
		}
		if l.err != nil {
			yield(nil, l.err)
		}
	}
}

// stride returns a load whose lanes step the given number of words.
func stride(site, words int, count int64) access.Access {
	r := smem.Request{Op: smem.Load, Width: 4, Active: smem.Lanes(0, 32), Addr: make([]uint32, 32)}
	for lane := range r.Addr {
		r.Addr[lane] = uint32(4 * words * lane)
	}
	return access.Access{Site: site, Request: r, Count: count}
}

func collect(t *testing.T, l *list) *report.Report {
	t.Helper()
	r, err := report.Collect(context.Background(), l, arch.MustLookup("sm_90").Unit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCollect(t *testing.T) {
	fault := stride(1, 1, 1)
	fault.Request.Addr[5] = 6
	unknown := access.Access{Site: 1, Count: 3, Unresolved: "loaded from global memory"}
	r := collect(t, &list{sites: 2, accesses: []access.Access{stride(0, 1, 1), stride(0, 4, 10), stride(1, 2, 1), fault, unknown}})

	first := r.Sites[0]
	if got := first.Tally; got.Requests != 11 || got.Wavefronts != 41 || got.Ideal != 11 || got.Conflicts() != 30 || got.Ways != 4 {
		t.Errorf("first site: %+v, want 11 requests, 41 wavefronts, ideal 11, 4 ways", got)
	}
	if first.Worst == nil || first.Worst.Wavefronts != 4 || first.Worst.Request.Addr[1] != 16 {
		t.Errorf("first site's worst request: %+v, want the one with stride 4", first.Worst)
	}
	second := r.Sites[1]
	if second.Tally.Faulted != 1 || second.Fault == nil || second.Fault.Fault.Lane != 5 {
		t.Errorf("second site: %d faults (%+v), want one in lane 5", second.Tally.Faulted, second.Fault)
	}
	if got := second.Tally.Coverage(); got != 0.2 {
		t.Errorf("second site resolved %v of its requests, want 1 of 5", got)
	}
	if r.Clean() {
		t.Error("a report with conflicts, faults and unknowns is clean")
	}
}

func TestUnknownIsNotClean(t *testing.T) {
	r := collect(t, &list{sites: 1, accesses: []access.Access{{Unresolved: "unknown", Count: 1}}})
	if r.Clean() {
		t.Error("a report that resolved nothing is clean")
	}
}

// TestEvidenceIsCopied: sources reuse their element, so a report must not keep its addresses.
func TestEvidenceIsCopied(t *testing.T) {
	l := &list{sites: 1, accesses: []access.Access{stride(0, 8, 1)}}
	r := collect(t, l)
	l.accesses[0].Request.Addr[1] = 0
	if got := r.Sites[0].Worst.Request.Addr[1]; got != 32 {
		t.Errorf("evidence changed to %d with the source's buffer", got)
	}
}

func TestCollectError(t *testing.T) {
	want := errors.New("file ends early")
	_, err := report.Collect(context.Background(), &list{sites: 1, err: want}, arch.MustLookup("sm_90").Unit)
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestMergeIsAssociative(t *testing.T) {
	part := func(words int) *report.Report {
		return collect(t, &list{sites: 1, accesses: []access.Access{
			stride(0, words, 2), {Unresolved: "unknown", Count: int64(words)}}})
	}
	bounded := func(words int) *report.Report {
		r := part(words)
		r.Sites[0].Bounds = &report.Bounds{Low: int64(words), High: int64(2 * words), Open: words == 2}
		return r
	}
	merge := func(a, b *report.Report) *report.Report {
		if err := a.Merge(b); err != nil {
			t.Fatal(err)
		}
		return a
	}
	left := merge(merge(part(1), bounded(2)), bounded(32))
	right := merge(part(1), merge(bounded(2), bounded(32)))
	for _, r := range []*report.Report{left, right} {
		got := r.Totals()
		if got.Requests != 6 || got.Wavefronts != 70 || got.Ways != 32 || got.Unresolved["unknown"] != 35 {
			t.Errorf("merged %+v, want 6 requests, 70 wavefronts, 32 ways, 35 unknown", got)
		}
		if r.Sites[0].Worst.Wavefronts != 32 {
			t.Errorf("merged worst request takes %d wavefronts, want 32", r.Sites[0].Worst.Wavefronts)
		}
		if b := r.Sites[0].Bounds; b == nil || *b != (report.Bounds{Low: 34, High: 68, Open: true}) {
			t.Errorf("merged bounds %+v, want 34 to 68, open", b)
		}
	}
	other := part(1)
	other.Arch = "sm_80"
	if err := part(1).Merge(other); err == nil {
		t.Error("reports of different architectures merge")
	}
}
