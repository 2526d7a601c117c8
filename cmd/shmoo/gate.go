package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"shmoo/compare"
	"shmoo/report"
	"shmoo/report/json"
)

// A gateFlag set says what a check lets pass.
type gateFlags struct {
	maxConflicts    int64
	allowUnresolved bool
	baseline        string

	before *report.Report // what baseline holds
}

func (f *gateFlags) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Int64Var(&f.maxConflicts, "max-conflicts", 0, "let this many conflicts pass")
	fs.BoolVar(&f.allowUnresolved, "allow-unresolved", false, "let requests pass whose addresses are not known")
	fs.StringVar(&f.baseline, "baseline", "", "let pass what this earlier report (JSON) has, and nothing worse")
}

// prepare checks the flags and reads the baseline, before the work begins.
func (f *gateFlags) prepare(cmd *cobra.Command) error {
	if f.maxConflicts < 0 {
		return usagef("--max-conflicts %d: want a number of conflicts", f.maxConflicts)
	}
	if f.baseline == "" {
		return nil
	}
	if cmd.Flags().Changed("max-conflicts") {
		return usagef("got --max-conflicts and --baseline, want one of them")
	}
	var err error
	f.before, err = readReport(f.baseline)
	return err
}

func readReport(name string) (*report.Report, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := json.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// errFault ends a command whose report holds accesses that the hardware would refuse; they are printed already.
var errFault = &exitError{exitInput}

// verdict turns a report into the error whose exit code says what was found. Where a limit decided, it says so.
func (f *gateFlags) verdict(p *program, r *report.Report) error {
	totals := r.Totals()
	switch {
	case totals.Faulted > 0:
		return errFault
	case f.before != nil:
		return f.compare(p, r)
	}
	if n := totals.UnresolvedRequests(); n > 0 && !f.allowUnresolved {
		if f.maxConflicts > 0 {
			fmt.Fprintf(p.err, "shmoo: %d requests are not resolved: --allow-unresolved lets them pass\n", n)
		}
		return errFindings
	}
	if n := totals.Conflicts(); n > f.maxConflicts {
		if f.maxConflicts > 0 {
			fmt.Fprintf(p.err, "shmoo: %d conflicts, want at most %d\n", n, f.maxConflicts)
		}
		return errFindings
	}
	return nil
}

// compare lets nothing pass that the baseline does not have.
func (f *gateFlags) compare(p *program, r *report.Report) error {
	c, err := compare.Reports(f.before, r)
	if err != nil {
		return fmt.Errorf("%s: %w", f.baseline, err)
	}
	if !compare.SameLaunch(f.before, r) {
		return fmt.Errorf("%s: the baseline ran %v, this check %v: want the same launch", f.baseline, f.before.Launch, r.Launch)
	}
	failed := false
	for _, x := range c.Regressions() {
		if f.allowUnresolved && x.OnlyUnresolved() {
			continue
		}
		failed = true
		lead := "worse than in"
		if x.Kind == compare.New {
			lead = "not in"
		}
		fmt.Fprintf(p.err, "%s: %s the baseline: %s: %s\n", x.Place(), lead, x.Key, x.Why)
	}
	if failed {
		return errFindings
	}
	return nil
}
