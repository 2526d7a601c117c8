package emu

import (
	"context"
	"errors"
	"sync"
)

// chunkEvents is how many events a worker hands over at once, and chunksAhead how many chunks it may be ahead of their reader.
const (
	chunkEvents = 256
	chunksAhead = 8
)

// chunk is a piece of a block's events, with their addresses copied.
type chunk struct {
	events []Event
	addrs  [][warpLanes]uint32
}

// blockRun is one block in flight: its chunks, and when they are read its outcome.
type blockRun struct {
	chunks chan *chunk
	done   chan struct{}
	block  *block
	err    error
}

// parallel runs blocks on several workers and hands their events over in the order of the blocks. Memory is bounded: a worker
// that is ahead waits.
func (t *totals) parallel(ctx context.Context, m *machine, blocks []int, workers int, emit func(*Event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.memory.mu = new(sync.Mutex)
	runs := make([]*blockRun, len(blocks))
	for i := range runs {
		runs[i] = &blockRun{chunks: make(chan *chunk, chunksAhead), done: make(chan struct{})}
	}
	next := make(chan int)
	pool := sync.Pool{New: func() any { return new(chunk) }}
	var workersDone sync.WaitGroup
	for range min(workers, len(blocks)) {
		workersDone.Go(func() {
			for i := range next {
				runs[i].run(ctx, m, blocks[i], &pool)
			}
		})
	}
	go func() {
		defer close(next)
		for i := range runs {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	err := t.collect(ctx, runs, &pool, emit)
	cancel()
	workersDone.Wait()
	t.finish(m)
	return err
}

// collect reads the runs in order.
func (t *totals) collect(ctx context.Context, runs []*blockRun, pool *sync.Pool, emit func(*Event) bool) error {
	for _, r := range runs {
		for c := range chunksOf(ctx, r) {
			for k := range c.events {
				e := &c.events[k]
				e.Addr = &c.addrs[k]
				t.count(e)
				if emit != nil && !emit(e) {
					return nil
				}
			}
			pool.Put(c)
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		t.add(r.block)
		if r.err != nil {
			return r.err
		}
		t.result.Blocks++
	}
	return nil
}

// chunksOf yields a run's chunks until they end or the context does.
func chunksOf(ctx context.Context, r *blockRun) func(func(*chunk) bool) {
	return func(yield func(*chunk) bool) {
		for {
			select {
			case c, ok := <-r.chunks:
				if !ok || !yield(c) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (r *blockRun) run(ctx context.Context, m *machine, index int, pool *sync.Pool) {
	defer close(r.done)
	var c *chunk
	send := func() bool {
		if c == nil {
			return true
		}
		select {
		case r.chunks <- c:
			c = nil
			return true
		case <-ctx.Done():
			return false
		}
	}
	r.block = newBlock(m, func(e *Event) bool {
		if c == nil {
			c = pool.Get().(*chunk)
			c.events, c.addrs = c.events[:0], c.addrs[:0]
		}
		c.events = append(c.events, *e)
		c.addrs = append(c.addrs, *e.Addr)
		return len(c.events) < chunkEvents || send()
	})
	r.err = r.block.run(ctx, index)
	if errors.Is(r.err, errStopped) {
		r.err = ctx.Err()
	}
	send()
	close(r.chunks)
}
