package web

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"time"
)

// Limits bound what clients can make the server do. The zero value of a field means its default.
type Limits struct {
	Body     int64         // bytes of a request: 512 KiB
	Slice    time.Duration // time of an evaluation or a view before it has to queue with the heavy ones: 100 ms
	Evaluate time.Duration // time of an evaluation or a view: 5 s
	Search   time.Duration // time of a search for fixes, of a space or of a list of kernels: 20 s
	Wait     time.Duration // time a request waits for its turn in a lane: 10 s
	AtOnce   int           // quick evaluations that run at once: the number of processors; of heavy ones, one fewer
	Waiting  int           // requests that wait for their turn: 64
}

func (l Limits) filled() Limits {
	if l.Body <= 0 {
		l.Body = 512 << 10
	}
	if l.Slice <= 0 {
		l.Slice = 100 * time.Millisecond
	}
	if l.Evaluate <= 0 {
		l.Evaluate = 5 * time.Second
	}
	if l.Search <= 0 {
		l.Search = 20 * time.Second
	}
	if l.Wait <= 0 {
		l.Wait = 10 * time.Second
	}
	if l.AtOnce <= 0 {
		l.AtOnce = runtime.GOMAXPROCS(0)
	}
	if l.Waiting <= 0 {
		l.Waiting = 64
	}
	return l
}

// errBusy is returned when too many requests wait, or one has waited too long.
var errBusy = errors.New("the server is busy with other evaluations; try again in a moment")

// A lane lets a bounded number of evaluations through at once; the others wait in the order in which they came.
//
// There are two. Every evaluation starts in the quick lane, where it gets a slice of time that is enough for nearly all; one
// that needs more starts again in the slow lane, as searches do from the beginning. So a page in which someone types is
// answered at once while heavy questions wait for each other. A second start costs a slice, which is little beside what
// follows.
type lane chan struct{}

// lanes bound what runs and what waits.
type lanes struct {
	quick, slow lane
	queue       chan struct{} // everyone who runs or waits
	wait        time.Duration
}

func newLanes(l Limits) *lanes {
	return &lanes{
		quick: make(lane, l.AtOnce), slow: make(lane, max(1, l.AtOnce-1)), queue: make(chan struct{}, l.AtOnce+l.Waiting),
		wait: l.Wait,
	}
}

// join takes a place among those who run or wait, if there is one. leave gives it back.
func (l *lanes) join() (leave func(), err error) {
	select {
	case l.queue <- struct{}{}:
		return func() { <-l.queue }, nil
	default:
		return nil, errBusy
	}
}

// enter waits for a place in a lane. leave gives it back.
func (l *lanes) enter(ctx context.Context, in lane) (leave func(), err error) {
	timer := time.NewTimer(l.wait)
	defer timer.Stop()
	select {
	case in <- struct{}{}:
		return func() { <-in }, nil
	case <-timer.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A kind of call decides its time.
func (l *Limits) timeOf(name string) time.Duration {
	if isSearch(name) {
		return l.Search
	}
	return l.Evaluate
}

func isSearch(name string) bool { return name == "fix" || name == "space" || name == "kernels" }

// statusOf maps the ways in which an evaluation ends early to HTTP.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusUnprocessableEntity
	}
	if _, bug := errors.AsType[*internalError](err); bug {
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}
