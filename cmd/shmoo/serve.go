package main

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"shmoo/web"
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
spaces. It needs no network and listens on the loopback interface unless --addr says otherwise.`,
		Example: `  shmoo serve --open
  shmoo serve kernel.cu --block 32,8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 || input.given(cmd) {
				document, err := p.document(cmd, &input, args)
				if err != nil {
					return err
				}
				options.Initial = document
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

// document reads the sketch that the page opens with.
func (p *program) document(cmd *cobra.Command, input *inputFlags, args []string) (*web.Document, error) {
	if err := p.parse(cmd, input, args); err != nil {
		return nil, err
	}
	name, r, err := p.stream(cmd, input, args)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxSketch+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxSketch {
		return nil, fmt.Errorf("%s: more than %d bytes, want a sketch", name, maxSketch)
	}
	o := &input.options
	return &web.Document{
		Name: name, Source: string(text), Arch: o.Arch, Block: o.Block, Grid: o.Grid, Defines: o.Defines,
		Shared: o.DynamicShared, Kernel: o.Kernel,
	}, nil
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
