package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"shmoo/diag"
)

// Exit codes, as the help and docs/formats.md state them.
const (
	exitClean    = 0 // nothing found
	exitFindings = 1 // conflicts, disagreements, or something that could not be resolved
	exitUsage    = 2 // the command line makes no sense
	exitInput    = 3 // an input is broken or cannot be analysed
	exitEnv      = 4 // the environment lacks something; the same command can work elsewhere
)

// An exitError ends a command whose exit code says it all: what there is to say has been printed.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// errFindings ends a command that worked and found something.
var errFindings = &exitError{exitFindings}

// A usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// A program is what the commands share: the streams, and the line source of the diagnostics.
type program struct {
	in       io.Reader
	out, err io.Writer
	lines    func(diag.Pos) (string, bool) // lines of the input at hand, to quote them; may be nil
	unitFile string                        // of --unit
}

// run executes one command line and returns the exit code.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := &program{in: in, out: out, err: errs}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	return p.exit(root.ExecuteContext(ctx))
}

// exit prints err and returns the exit code it stands for.
func (p *program) exit(err error) int {
	if err == nil {
		return exitClean
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(p.err, "shmoo: %v\nRun \"shmoo help\" for usage.\n", usage)
		return exitUsage
	}
	if isEnvironment(err) {
		fmt.Fprintf(p.err, "shmoo: %v\n", err)
		return exitEnv
	}
	list, ok := errors.AsType[diag.List](err)
	if one, single := errors.AsType[*diag.Diagnostic](err); !ok && single {
		list, ok = diag.List{one}, true
	}
	if !ok {
		fmt.Fprintf(p.err, "shmoo: %v\n", err)
		return exitInput
	}
	for _, d := range list {
		if werr := d.Write(p.err, p.lines); werr != nil {
			break // the reader of our errors is gone; the exit code still tells
		}
	}
	return exitInput
}

const rootHelp = `Shmoo tells which shared-memory accesses of a GPU kernel have bank conflicts, how many wavefronts they cost, why, and which
pad or swizzle removes them. It needs no GPU.

  shmoo check --example transpose
  shmoo check kernel.cu --block 32,8
  shmoo check -e '__shared__ float t[32][32]; t[threadIdx.x][0];'
  shmoo pad --chunk 64 --dtype f16

Exit codes: 0 clean, 1 findings, 2 usage, 3 bad input, 4 environment (trying elsewhere can help).`

// root returns the command tree.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:                        "shmoo",
		Short:                      "Find, explain and fix shared-memory bank conflicts",
		Long:                       rootHelp,
		Version:                    version(),
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q%s", args[0], suggestion(cmd, args[0]))
			}
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s: %w", strings.TrimPrefix(cmd.CommandPath(), "shmoo "), err)
	})
	root.PersistentFlags().StringVar(&p.unitFile, "unit", "", "use the unit that shmoo probe --learn wrote to this file")
	root.AddCommand(p.check(), p.devices(), p.diff(), p.disasm(), p.explain(), p.fix(), p.layout(), p.ls(), p.bankMap(),
		p.pad(), p.probe(), p.replay(), p.serve(), p.sweep())
	return root
}

func suggestion(cmd *cobra.Command, arg string) string {
	if s := cmd.SuggestionsFor(arg); len(s) > 0 {
		return fmt.Sprintf(", did you mean %q?", s[0])
	}
	return ""
}

// exactly returns an argument check whose failure is a usage error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s: got %d arguments, want %s", cmd.Name(), len(args), what)
		}
		return nil
	}
}

// version returns the version that the Go toolchain recorded in the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
