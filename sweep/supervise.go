package sweep

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// Again is the exit status of a process whose device was lost to it in a sweep that another process can go on with (EX_TEMPFAIL
// of sysexits.h).
const Again = 75

// Supervise runs a sweep in processes of its own: it runs command, which makes a new one for every call, until one ends with
// a status other than Again, at most as many times as given (every lost device costs a point, so the number of points is
// enough). A child is the same program that calls Run with a log, and exits with Again when that returns a *LostError.
//
// It returns what the last process ended with: nil, an *exec.ExitError, or the context's cause.
func Supervise(ctx context.Context, most int, command func(context.Context) *exec.Cmd) error {
	for range most {
		err := command(ctx).Run()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != Again {
			return err
		}
	}
	return fmt.Errorf("the device was lost %d times, want fewer: gave up", most)
}
