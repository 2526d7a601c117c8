package main

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"shmoo/diag"
)

// maxSource bounds a source file that is quoted, in bytes.
const maxSource = 16 << 20

// A sourceFolder finds the lines of a binary's sources in a folder that the user named. The names come from the binary, so
// nothing outside the folder is ever read.
type sourceFolder struct {
	root  *os.Root
	files map[string][]string // by the name in the line table; nil for a file that is not there
}

func openSources(dir string) (*sourceFolder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &sourceFolder{root: root, files: map[string][]string{}}, nil
}

func (s *sourceFolder) close() { s.root.Close() }

// line returns a line of a source. It has the form of shmoo.Input.Lines.
func (s *sourceFolder) line(p diag.Pos) (string, bool) {
	lines, known := s.files[p.File]
	if !known {
		lines = s.read(p.File)
		s.files[p.File] = lines
	}
	if p.Line < 1 || p.Line > len(lines) {
		return "", false
	}
	return lines[p.Line-1], true
}

// read tries the name and then ever shorter tails of it: /build/src/a.cu, build/src/a.cu, src/a.cu, a.cu.
func (s *sourceFolder) read(name string) []string {
	name = strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
	for {
		if lines, ok := s.readFile(name); ok {
			return lines
		}
		_, tail, more := strings.Cut(name, "/")
		if !more {
			return nil
		}
		name = tail
	}
}

func (s *sourceFolder) readFile(name string) ([]string, bool) {
	f, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil {
		return nil, false
	}
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), true
}
