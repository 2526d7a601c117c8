// Command gen turns the instruction table of package sass (sass/table/*.txt) into Go.
//
// Usage, from the sass folder:
//
//	go run ./gen [-check]
//
// It writes zops.go (the Op constants and their mnemonics) and zrows.go (the decode rows). With -check it writes nothing and
// fails if the files differ from what the table says. The format of the table is described in package sass.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, errw io.Writer) int {
	fs := flag.NewFlagSet("gen", flag.ContinueOnError)
	fs.SetOutput(errw)
	check := fs.Bool("check", false, "compare with the existing files instead of writing")
	dir := fs.String("dir", ".", "folder of package sass")
	if fs.Parse(args) != nil {
		return 2
	}
	files, err := Generate(os.DirFS(filepath.Join(*dir, "table")))
	if err != nil {
		fmt.Fprintln(errw, err)
		return 3
	}
	for _, f := range files {
		path := filepath.Join(*dir, f.Name)
		if *check {
			old, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(old, f.Text) {
				fmt.Fprintf(errw, "gen: %s is not what the table says: run go generate\n", path)
				return 1
			}
			continue
		}
		if err := os.WriteFile(path, f.Text, 0o666); err != nil {
			fmt.Fprintln(errw, err)
			return 4
		}
	}
	return 0
}
