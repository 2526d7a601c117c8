package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"shmoo/arch"
)

// archFlag adds --arch.
func archFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "arch", "",
		"GPU generation (default "+arch.Default+", or the binary's): "+strings.Join(arch.Names(), ", "))
	complete(cmd, "arch", arch.Names)
}

// complete offers fixed values for a flag to the shell.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic(err) // the flag was not defined before: a mistake in this package
	}
}

func lookupArch(name string) (*arch.Arch, error) {
	if name == "" {
		name = arch.Default
	}
	a, err := arch.Lookup(name)
	if err != nil {
		return nil, &usageError{err}
	}
	return a, nil
}

// openFile opens a file, or standard input for "-".
func (p *program) openFile(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.in), nil
	}
	return os.Open(name)
}
