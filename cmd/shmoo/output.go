package main

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"
)

// isTerminal reports whether the program's output goes to a terminal.
func (p *program) isTerminal() bool {
	f, ok := p.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colour reports whether text may be coloured: on a terminal, unless NO_COLOR is set (no-color.org).
func (p *program) colour() bool {
	return p.isTerminal() && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// columns returns the width of the terminal, or a page's when there is none.
func (p *program) columns() int {
	if f, ok := p.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 40 {
			return width
		}
	}
	return 120
}

// writeFile writes what write produces to a file, or to the output for "" and "-". A file appears complete or not at all.
func (p *program) writeFile(name string, write func(io.Writer) error) (err error) {
	if name == "" || name == "-" {
		return write(p.out)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".shmoo-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
