// Package examples holds sketches that people recognise, embedded so that the program can show itself without a file.
package examples

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.cu
var files embed.FS

// Names returns the names of the examples in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // an embedded folder is always there
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".cu"))
	}
	return names
}

// Read returns the text of the named example.
func Read(name string) (string, error) {
	text, err := files.ReadFile(name + ".cu")
	if err != nil {
		return "", fmt.Errorf("unknown example %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return string(text), nil
}
