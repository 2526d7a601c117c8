package main

import (
	"context"
	"regexp"

	"github.com/spf13/cobra"

	"shmoo/cubin"
	"shmoo/inspect"
	"shmoo/internal/progress"
	"shmoo/report/json"
)

// binaryFlags select what a command looks at in a CUDA binary.
type binaryFlags struct{ arch, kernel string }

func (f *binaryFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.arch, "arch", "", "only code for this generation, such as sm_90 (default: all)")
	cmd.Flags().StringVar(&f.kernel, "kernel", "", "only kernels whose name matches this regular expression")
}

func (f *binaryFlags) options() (o inspect.Options, err error) {
	if o.Arch, err = inspect.ParseArch(f.arch); err != nil {
		return o, &usageError{err}
	}
	if f.kernel != "" {
		if o.Kernel, err = regexp.Compile(f.kernel); err != nil {
			return o, usagef("--kernel: %w", err)
		}
	}
	return o, nil
}

// withBinary opens a binary and runs a function on it under a progress bar.
func (p *program) withBinary(ctx context.Context, name string, f *binaryFlags,
	do func(context.Context, *cubin.File, inspect.Options) error) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	file, err := cubin.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	bar := progress.New(p.err, "kernels")
	defer bar.Stop()
	options.Progress = bar.Update
	return do(ctx, file, options)
}

func (p *program) ls() *cobra.Command {
	var (
		selection binaryFlags
		asJSON    bool
	)
	cmd := &cobra.Command{
		Use:   "ls FILE",
		Short: "List the kernels of a CUDA binary and how they access shared memory",
		Long: `List the kernels of a CUDA binary: generation, registers, shared bytes, parameters, and the counts of LDS, STS, LDSM, STSM,
ATOMS and LDGSTS by width.

FILE is a cubin, a fatbin, or an executable, library, archive or object file that holds some.`,
		Example: "  shmoo ls libggml-cuda.so --arch sm_86 --kernel flash",
		Args:    exactly(1, "a binary"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var list *inspect.Listing
			err := p.withBinary(cmd.Context(), args[0], &selection,
				func(ctx context.Context, f *cubin.File, o inspect.Options) (err error) {
					list, err = inspect.Kernels(ctx, f, o)
					return err
				})
			if err != nil {
				return err
			}
			if asJSON {
				return json.Encode(p.out, list)
			}
			return list.WriteText(p.out)
		},
	}
	selection.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func (p *program) disasm() *cobra.Command {
	var (
		selection binaryFlags
		shared    bool
	)
	cmd := &cobra.Command{
		Use:   "disasm FILE",
		Short: "Disassemble a CUDA binary and mark its shared-memory accesses",
		Long: `Disassemble the machine code of a CUDA binary, with source lines where the build kept line tables and the width of every
shared-memory access beside it. No NVIDIA tool is needed.`,
		Example: "  shmoo disasm kernel.cubin --shared",
		Args:    exactly(1, "a binary"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withBinary(cmd.Context(), args[0], &selection,
				func(ctx context.Context, f *cubin.File, o inspect.Options) error {
					return inspect.Disassemble(ctx, p.out, f, inspect.DisasmOptions{
						Options: o, SharedOnly: shared, Source: inspect.ReadSource,
					})
				})
		},
	}
	selection.flags(cmd)
	cmd.Flags().BoolVar(&shared, "shared", false, "only accesses to shared memory and the lines they come from")
	return cmd
}
