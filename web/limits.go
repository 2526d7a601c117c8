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
	Evaluate time.Duration // time of an evaluation or a view: 5 s
	Search   time.Duration // time of a search for fixes, of a space or of a list of kernels: 20 s
	Wait     time.Duration // time a request waits for its turn: 10 s
	AtOnce   int           // evaluations that run at once: the number of processors
	Waiting  int           // requests that wait for their turn: 64
}

func (l Limits) filled() Limits {
	if l.Body <= 0 {
		l.Body = 512 << 10
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

// errBusy is returned by turnstile.enter when too many requests wait, or one has waited too long.
var errBusy = errors.New("the server is busy with other evaluations; try again in a moment")

// A turnstile lets a bounded number of requests through at once and a bounded number wait.
//
// Searches hold one place fewer than there are, so that typing stays quick while a space is being computed.
type turnstile struct {
	places, searches, queue chan struct{}
	wait                    time.Duration
}

func newTurnstile(l Limits) *turnstile {
	return &turnstile{
		places:   make(chan struct{}, l.AtOnce),
		searches: make(chan struct{}, max(1, l.AtOnce-1)),
		queue:    make(chan struct{}, l.AtOnce+l.Waiting),
		wait:     l.Wait,
	}
}

// enter waits for a place. leave gives it back; it is nil if err is not.
func (t *turnstile) enter(ctx context.Context, search bool) (leave func(), err error) {
	select {
	case t.queue <- struct{}{}:
	default:
		return nil, errBusy
	}
	timer := time.NewTimer(t.wait)
	defer timer.Stop()
	var held []chan struct{}
	release := func() {
		for _, c := range held {
			<-c
		}
		<-t.queue
	}
	gates := []chan struct{}{t.places}
	if search {
		gates = []chan struct{}{t.searches, t.places}
	}
	for _, gate := range gates {
		select {
		case gate <- struct{}{}:
			held = append(held, gate)
		case <-timer.C:
			release()
			return nil, errBusy
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
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
	return http.StatusBadRequest
}
