package sketch

import (
	"context"
	"errors"

	"shmoo/diag"
)

// diagLimit bounds the errors of one source: what follows the first few seldom helps.
const diagLimit = 20

// diags collects the diagnostics of a source.
type diags struct {
	file *file
	list diag.List
	// errors counts what is of severity Error.
	errors int
	warned map[string]bool
}

func (d *diags) errorf(id string, s span, format string, args ...any) {
	d.errors++
	if d.errors > diagLimit {
		return
	}
	d.list = append(d.list, diag.Errorf(id, d.file.place(s), format, args...))
}

// warnf adds a warning once per place and id.
func (d *diags) warnf(id string, s span, format string, args ...any) {
	w := diag.Warningf(id, d.file.place(s), format, args...)
	key := w.Error()
	if d.warned[key] || len(d.warned) > 5*diagLimit {
		return
	}
	if d.warned == nil {
		d.warned = map[string]bool{}
	}
	d.warned[key] = true
	d.list = append(d.list, w)
}

// bailout ends the parsing or compiling of a statement after its diagnostic is recorded. It never leaves the package.
type bailout struct{}

// rescue turns a bailout into a normal return.
func rescue() {
	switch e := recover().(type) {
	case nil, bailout:
	default:
		panic(e)
	}
}

func isCancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(errors.New("sketch: run was cancelled"), err)
	}
	return nil
}
