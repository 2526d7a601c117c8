package pattern

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/smem"
)

// cancelRows is how many rows pass between two looks at the context.
const cancelRows = 1024

// UnresolvedLoop is the reason that a Source gives for an op that is a loop in software.
const UnresolvedLoop = "compare-and-swap loop: its count depends on contention"

// A Source gives the patterns of a file as accesses: a site per op that the file names, in the order in which it names
// them first, and a row is one execution of its site by warp 0 of block 0.
type Source struct {
	name  string
	open  func() (io.ReadCloser, error)
	sites []access.Site
	index []int // per entry of opTable the site, or -1
}

var _ access.Source = (*Source)(nil)

// NewSource returns a source over the pattern file that open opens. It reads the file once to find its sites, so a broken
// file is reported here, with the errors of NewReader; every walk over the accesses opens it anew.
func NewSource(ctx context.Context, name string, open func() (io.ReadCloser, error)) (*Source, error) {
	s := &Source{name: name, open: open, index: make([]int, len(opTable))}
	for i := range s.index {
		s.index[i] = -1
	}
	err := s.each(ctx, func(p *Pattern) bool {
		if s.index[p.opIndex] < 0 {
			s.index[p.opIndex] = len(s.sites)
			s.sites = append(s.sites, access.Site{
				Pos: diag.Span{Pos: diag.Pos{File: name, Line: p.Line}},
				Op:  p.Op.Op, Width: p.Op.Width, Instr: p.Op.Instr, Text: p.Op.Name,
			})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Sites returns a site per op of the file.
func (s *Source) Sites() []access.Site { return s.sites }

// Arrays returns nil: patterns name no arrays.
func (s *Source) Arrays() []access.Array { return nil }

// Accesses yields the rows of the file. An op that is a loop in software is unresolved.
func (s *Source) Accesses(ctx context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		a := access.Access{Count: 1}
		stopped := false
		var changed error
		err := s.each(ctx, func(p *Pattern) bool {
			a.Site = s.index[p.opIndex]
			if a.Site < 0 {
				changed = diag.Errorf("pattern/changed", diag.Span{Pos: diag.Pos{File: s.name, Line: p.Line}},
					"got op %s, which the file did not name when it was opened; want a file that stays the same", p.Op.Name)
				return false
			}
			a.Request, a.Unresolved = p.Request(), ""
			if p.Op.Loop {
				a.Request, a.Unresolved = smem.Request{Op: p.Op.Op, Width: p.Op.Width, Active: p.Mask}, UnresolvedLoop
			}
			stopped = !yield(&a, nil)
			return !stopped
		})
		if err = cmp.Or(err, changed); err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// each calls visit for every row until it returns false.
func (s *Source) each(ctx context.Context, visit func(*Pattern) bool) error {
	file, err := s.open()
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := NewReader(file, s.name)
	if err != nil {
		return err
	}
	return r.each(ctx, visit)
}

// each calls visit for the rows left until it returns false, the context ends, or a row is broken.
func (d *Reader) each(ctx context.Context, visit func(*Pattern) bool) error {
	var p Pattern
	for n := 0; ; n++ {
		if n%cancelRows == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := d.Read(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if !visit(&p) {
			return nil
		}
	}
}
