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

// errFault ends a command whose report holds accesses that the hardware would refuse, or a run that did not end.
var errFault = &exitError{exitInput}

// given reports whether a flag changes what passes.
func (f *gateFlags) given() bool { return f.maxConflicts > 0 || f.allowUnresolved || f.before != nil }

// verdict turns a report into the error whose exit code says what was found, nil for what passes. Where a limit decided,
// the reasons say how.
func (f *gateFlags) verdict(r *report.Report) (reasons []string, err error) {
	totals := r.Totals()
	switch {
	case totals.Faulted > 0 || r.Diagnostics.Err() != nil:
		return nil, errFault
	case f.before != nil:
		return f.compare(r)
	}
	if n := totals.UnresolvedRequests(); n > 0 && !f.allowUnresolved {
		if f.maxConflicts > 0 {
			reasons = append(reasons, fmt.Sprintf("shmoo: %d requests are not resolved: --allow-unresolved lets them pass", n))
		}
		err = errFindings
	}
	if n := totals.Conflicts(); n > f.maxConflicts {
		if f.maxConflicts > 0 {
			reasons = append(reasons, fmt.Sprintf("shmoo: %d conflicts, want at most %d", n, f.maxConflicts))
		}
		err = errFindings
	}
	return reasons, err
}

// compare lets nothing pass that the baseline does not have.
func (f *gateFlags) compare(r *report.Report) (reasons []string, err error) {
	c, err := compare.Reports(f.before, r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.baseline, err)
	}
	if !compare.SameLaunch(f.before, r) {
		return nil, fmt.Errorf("%s: the baseline ran %v, this check %v: want the same launch", f.baseline, f.before.Launch, r.Launch)
	}
	for _, x := range c.Regressions() {
		if f.allowUnresolved && x.OnlyUnresolved() {
			continue
		}
		lead := "worse than in"
		if x.Kind == compare.New {
			lead = "not in"
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s the baseline: %s: %s", x.Place(), lead, x.Key, x.Why))
		err = errFindings
	}
	return reasons, err
}
