package cubin

import (
	"context"
	"runtime"
	"sync"
)

// EachOptions steers [File.Each]. The zero value loads all machine code with one worker a CPU.
type EachOptions struct {
	Select  func(*Entry) bool // nil: all entries with machine code
	Workers int               // 0: runtime.GOMAXPROCS(0)
	// Memory bounds the sum of the decompressed sizes of the images that are loaded at once, in bytes; one image is
	// always loaded, whatever its size. 0: 256 MiB.
	Memory   int64
	Progress func(done, total int) // called after each entry, never from two goroutines at once
	// Failed is called when an entry cannot be read or do returns an error, while other calls of do may still run and
	// may be waiting for something that now does not come.
	Failed func(error)
}

const defaultMemory = 256 << 20

// Each loads entries and calls do for each image, from several goroutines at once and in no fixed order; i counts the
// selected entries in file order. The image and everything that it refers to, other than strings, is valid only until
// do returns: its memory is reused. The first error ends the run and is returned; an error of do comes back as it is.
func (f *File) Each(ctx context.Context, o EachOptions, do func(i int, img *Image) error) error {
	list := f.selected(o.Select)
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, len(list))
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := &loadQueue{list: list, free: o.Memory, total: o.Memory, progress: o.Progress}
	q.cond.L = &q.mu
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		q.stopped = true
		q.mu.Unlock()
		q.cond.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var buf loadBuffers
			for {
				i, ok := q.take()
				if !ok {
					return
				}
				var img *Image
				var err error
				img, buf, err = list[i].load(buf.plain, buf.stored)
				if err == nil {
					err = do(i, img)
				}
				buf.shrink(int(o.Memory) / workers)
				q.done(i, err == nil)
				if err != nil {
					if o.Failed != nil {
						o.Failed(err)
					}
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// shrink drops buffers above a size, so that what idle workers keep stays within the budget too.
func (b *loadBuffers) shrink(size int) {
	if cap(b.plain) > size {
		b.plain = nil
	}
	if cap(b.stored) > size {
		b.stored = nil
	}
}

// selected returns the entries with machine code that a filter accepts.
func (f *File) selected(accept func(*Entry) bool) []*Entry {
	var out []*Entry
	for _, e := range f.entries {
		if e.Kind == KindELF && (accept == nil || accept(e)) {
			out = append(out, e)
		}
	}
	return out
}

// loadQueue hands out entries in order while the memory budget lasts.
type loadQueue struct {
	mu       sync.Mutex
	cond     sync.Cond
	list     []*Entry
	next     int
	finished int
	free     int64
	total    int64
	stopped  bool
	progress func(done, total int)
}

// cost is what an entry takes from the budget: no more than all of it.
func (q *loadQueue) cost(i int) int64 { return min(max(q.list[i].Size, 0), q.total) }

// take waits until the next entry fits and returns its index; false at the end.
func (q *loadQueue) take() (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.stopped || q.next >= len(q.list) {
			return 0, false
		}
		if c := q.cost(q.next); c <= q.free {
			q.free -= c
			q.next++
			return q.next - 1, true
		}
		q.cond.Wait()
	}
}

func (q *loadQueue) done(i int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free += q.cost(i)
	q.finished++
	if ok && q.progress != nil && !q.stopped {
		q.progress(q.finished, len(q.list))
	}
	q.cond.Broadcast()
}
