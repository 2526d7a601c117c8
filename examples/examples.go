// Package examples holds sketches of well-known kernels, each with its answer in a leading comment.
//
//	src, err := examples.Read("transpose")
//
// README.md describes the format of the comments; the package's test runs every sketch and holds every number.
package examples

import (
	"embed"
	"fmt"
	"strings"
)

// Files holds the sketches as NAME.cu.
//
//go:embed *.cu
var Files embed.FS

// Names returns the names of the sketches, sorted.
func Names() []string {
	entries, err := Files.ReadDir(".")
	if err != nil {
		return nil // cannot happen: the directory is embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".cu")
	}
	return names
}

// Read returns the source of a sketch.
func Read(name string) ([]byte, error) {
	src, err := Files.ReadFile(name + ".cu")
	if err != nil {
		return nil, fmt.Errorf("no example %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return src, nil
}

// Flags returns the command-line flags that the sketch's comment gives, split at spaces.
func Flags(src []byte) []string {
	for line := range strings.Lines(string(src)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "// shmoo:"); ok {
			return strings.Fields(rest)
		}
	}
	return nil
}
