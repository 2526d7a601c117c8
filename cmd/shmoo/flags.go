package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"shmoo/arch"
	"shmoo/smem"
	"shmoo/unitfile"
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

// lookupArch returns the named generation, with the unit of --unit where that is given.
func (p *program) lookupArch(name string) (*arch.Arch, error) {
	unit, err := p.unit()
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = arch.Default
		if _, err := arch.Lookup(unitName(unit)); err == nil {
			name = unit.Name
		}
	}
	a, err := arch.Lookup(name)
	if err != nil {
		return nil, &usageError{err}
	}
	if unit == nil {
		return a, nil
	}
	learned := *a
	learned.Unit, learned.Provenance = unit, "the unit file "+p.unitFile
	return &learned, nil
}

func unitName(u *smem.Unit) string {
	if u == nil {
		return ""
	}
	return u.Name
}

// unit reads the file of --unit; it is nil when none is given.
func (p *program) unit() (*smem.Unit, error) {
	if p.unitFile == "" {
		return nil, nil
	}
	f, err := os.Open(p.unitFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := unitfile.Read(f, p.unitFile)
	if err != nil {
		return nil, err
	}
	return file.Unit, nil
}

// openFile opens a file, or standard input for "-".
func (p *program) openFile(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.in), nil
	}
	return os.Open(name)
}
