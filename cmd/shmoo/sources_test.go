package main

import (
	"os"
	"path/filepath"
	"testing"

	"shmoo/diag"
)

// TestSources: names of a line table are found in the folder by their tails, and never outside of it.
func TestSources(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "project")
	for name, text := range map[string]string{
		"secret.cu": "outside", "project/src/a.cu": "one\r\ntwo\n", "project/b.cu": "bee",
	} {
		file := filepath.Join(outside, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.cu", filepath.Join(dir, "link.cu")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	s, err := openSources(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, test := range []struct {
		file string
		line int
		want string
		ok   bool
	}{
		{"/build/x/src/a.cu", 1, "one", true},
		{"/build/x/src/a.cu", 2, "two", true},
		{"src/a.cu", 2, "two", true},
		{"/elsewhere/b.cu", 1, "bee", true},
		{"b.cu", 2, "", false},
		{"b.cu", 0, "", false},
		{"a.cu", 1, "", false},
		{"../secret.cu", 1, "", false},
		{filepath.Join(outside, "secret.cu"), 1, "", false},
		{"src/../../secret.cu", 1, "", false},
		{"link.cu", 1, "", false},
		{"src", 1, "", false},
		{"", 1, "", false},
	} {
		got, ok := s.line(diag.Pos{File: test.file, Line: test.line})
		if got != test.want || ok != test.ok {
			t.Errorf("%s:%d: got %q, %v, want %q, %v", test.file, test.line, got, ok, test.want, test.ok)
		}
	}
}
