package inspect

import (
	"io"
	"sync"
)

// orderedOutput joins the outputs of numbered parts, written by several goroutines at once, in the order of their
// numbers. A part that is not yet due keeps up to partLimit bytes and then waits. Parts are started in order, so the one
// that is due is always among those being written.
type orderedOutput struct {
	mu   sync.Mutex
	cond sync.Cond
	w    io.Writer
	due  int
	err  error // first failure: ends all parts
}

// partLimit is how many bytes a part keeps before it waits for its turn.
const partLimit = 1 << 20

func newOrderedOutput(w io.Writer) *orderedOutput {
	o := &orderedOutput{w: w}
	o.cond.L = &o.mu
	return o
}

// stop ends all parts with an error.
func (o *orderedOutput) stop(err error) {
	o.mu.Lock()
	if o.err == nil {
		o.err = err
	}
	o.mu.Unlock()
	o.cond.Broadcast()
}

// part is the output of one numbered part. Text is appended to buf; flush is called between pieces.
type part struct {
	out   *orderedOutput
	index int
	buf   []byte
}

// flush writes what the part has if it is its turn or if it has too much to go on.
func (p *part) flush() error {
	if len(p.buf) < partLimit {
		return nil
	}
	return p.write()
}

// write waits for the part's turn and writes.
func (p *part) write() error {
	o := p.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.due != p.index && o.err == nil {
		o.cond.Wait()
	}
	if o.err != nil {
		return o.err
	}
	if _, err := o.w.Write(p.buf); err != nil {
		o.err = err
		o.cond.Broadcast()
		return err
	}
	p.buf = p.buf[:0]
	return nil
}

// end writes the rest and makes the next part due.
func (p *part) end() error {
	if err := p.write(); err != nil {
		return err
	}
	p.out.mu.Lock()
	p.out.due++
	p.out.mu.Unlock()
	p.out.cond.Broadcast()
	return nil
}
