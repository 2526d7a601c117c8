// Package progress shows a bar on standard error for work that takes a while, and nothing where nobody would see it.
//
//	bar := progress.New(os.Stderr, "kernels")
//	defer bar.Stop()
//	work(bar.Update) // func(done, total int)
//
// Limits: one bar.
package progress

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// A Bar shows how much of some work is done. The zero value shows nothing. Update may be called from several goroutines.
type Bar struct {
	group *mpb.Progress
	bar   *mpb.Bar
}

// New returns a bar on w, which shows nothing unless w is a terminal.
func New(w io.Writer, what string) *Bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &Bar{}
	}
	group := mpb.New(mpb.WithOutput(w), mpb.WithWidth(60))
	bar := group.AddBar(0,
		mpb.PrependDecorators(decor.Name(what+" "), decor.CountersNoUnit("%d of %d")),
		mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)),
		mpb.BarRemoveOnComplete(),
	)
	return &Bar{group, bar}
}

// Update says how much is done of how much.
func (b *Bar) Update(done, total int) {
	if b.bar != nil {
		b.bar.SetTotal(int64(total), false)
		b.bar.SetCurrent(int64(done))
	}
}

// Stop removes the bar.
func (b *Bar) Stop() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.group.Wait()
	}
}
