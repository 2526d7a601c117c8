package emu

import (
	"context"
	"iter"

	"shmoo/access"
	"shmoo/smem"
)

// A Source runs a launch as an access.Source. Each call of Accesses runs the kernel anew, on the memory that the run before
// left in the argument buffers.
type Source struct {
	program *Program
	launch  Launch
	opts    Options
	result  *Result
}

// NewSource checks a launch and returns it as a source.
func NewSource(p *Program, launch Launch, opts Options) (*Source, error) {
	if err := (&machine{program: p, launch: launch}).checkLaunch(); err != nil {
		return nil, err
	}
	return &Source{program: p, launch: launch, opts: opts}, nil
}

// Sites returns the shared-memory instructions of the kernel.
func (s *Source) Sites() []access.Site { return s.program.sites }

// Arrays returns nil: linked code does not name its arrays.
func (s *Source) Arrays() []access.Array { return nil }

// Result returns what the last complete or failed run found, nil before the first.
func (s *Source) Result() *Result { return s.result }

// Accesses runs the kernel. Accesses that depend on unknown data are unresolved and say on what.
func (s *Source) Accesses(ctx context.Context) iter.Seq2[*access.Access, error] {
	return func(yield func(*access.Access, error) bool) {
		stopped := false
		a := access.Access{Count: 1}
		result, err := Run(ctx, s.program, s.launch, s.opts, func(e *Event) bool {
			site := &s.program.sites[e.Site]
			a.Site, a.Block, a.Warp = e.Site, e.Block, e.Warp
			a.Request = smem.Request{Op: site.Op, Width: site.Width, Active: smem.Mask(e.Active), Addr: e.Addr[:]}
			a.Unresolved = ""
			if !e.Exact() {
				a.Unresolved = e.Why
			}
			stopped = !yield(&a, nil)
			return !stopped
		})
		s.result = result
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}
