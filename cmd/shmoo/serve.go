package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"shmoo"
	"shmoo/web"
	"shmoo/web/eval"
)

func (p *program) serve() *cobra.Command {
	var (
		input   inputFlags
		options web.Options
		open    bool
	)
	cmd := &cobra.Command{
		Use:   "serve [FILE | - | -e SKETCH | --example NAME]",
		Short: "Show sketches and bank pictures in a browser",
		Long: `Serve a page on this machine: an editor with live counts, bank pictures to step through, pads side by side, fixes and
spaces. FILE is a sketch, or a cubin, executable or library, whose kernels the page lists and shows with their counts beside
the machine code. The page needs no network; the server listens on the loopback interface unless --addr says otherwise.`,
		Example: `  shmoo serve --open
  shmoo serve kernel.cu --block 32,8
  shmoo serve libggml-cuda.so`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 || input.given(cmd) {
				if err := p.opening(cmd, &input, args, &options); err != nil {
					return err
				}
			}
			options.Ready = func(url string) {
				fmt.Fprintf(p.out, "serving on %s, stop with Ctrl-C\n", url)
				if open {
					if err := openBrowser(url); err != nil {
						fmt.Fprintf(p.err, "shmoo: no browser opened: %v\n", err)
					}
				}
			}
			return web.Serve(cmd.Context(), options)
		},
	}
	input.flags(cmd)
	cmd.Flags().StringVar(&options.Addr, "addr", "127.0.0.1:0", "host and port to listen on")
	cmd.Flags().StringSliceVar(&options.Hosts, "host", nil, "names, besides this machine's, that requests may ask for")
	cmd.Flags().BoolVar(&open, "open", false, "open a browser")
	return cmd
}

// maxBinary bounds a file of machine code, which is held in memory and opened anew for every question.
const maxBinary = 256 << 20

// opening reads what the page opens with: a sketch, or a file of machine code.
func (p *program) opening(cmd *cobra.Command, input *inputFlags, args []string, options *web.Options) error {
	if err := p.parse(cmd, input, args); err != nil {
		return err
	}
	name, r, err := p.stream(cmd, input, args)
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxBinary+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if shmoo.IsBinary(data) {
		if len(data) > maxBinary {
			return fmt.Errorf("%s: more than %d MiB, want a smaller binary", name, maxBinary>>20)
		}
		options.Binary = &web.Binary{Name: filepath.Base(name), Data: data}
		return nil
	}
	if len(data) > eval.MaxSource {
		return fmt.Errorf("%s: more than %d bytes, want a sketch", name, eval.MaxSource)
	}
	o := &input.options
	// The name goes into share links, where folders of this machine have no place.
	options.Initial = &web.Document{
		Name: filepath.Base(name), Source: string(data), Arch: o.Arch, Block: o.Block, Grid: o.Grid, Defines: o.Defines,
		Shared: o.DynamicShared, Kernel: o.Kernel,
	}
	return nil
}

// openBrowser asks the desktop to show a URL.
func openBrowser(url string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", url).Start()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", url).Start()
	}
	return exec.Command("xdg-open", url).Start()
}
