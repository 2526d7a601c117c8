package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the outputs in the documents and golden files")

// TestDocs runs every command in the documents and compares what it prints. A console block holds lines that start with
// "$ shmoo", each followed by its output; a line "exit code N" ends the output of a command that exits with another code
// than 0. Commands run in the module's root.
func TestDocs(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	commands := 0
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			after, n := runDocument(t, string(before))
			commands += n
			if after != string(before) && *update {
				if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if commands < 20 {
		t.Errorf("ran %d commands, want the documents to show at least 20", commands)
	}
}

// runDocument runs the commands of a document and returns it with the outputs they print now.
func runDocument(t *testing.T, text string) (string, int) {
	var out strings.Builder
	commands := 0
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		if strings.TrimSpace(lines[i]) != "```console" {
			continue
		}
		for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); {
			command := lines[i]
			line := i + 1
			out.WriteString(command)
			var want strings.Builder
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "$ ") && !strings.HasPrefix(lines[i], "```"); i++ {
				want.WriteString(lines[i])
			}
			got := runCommand(t, line, command)
			commands++
			if got != want.String() && !*update {
				t.Errorf("line %d: %sprints\n%s\nthe document says\n%s", line, command, got, want.String())
			}
			out.WriteString(got)
		}
		if i < len(lines) {
			out.WriteString(lines[i])
		}
	}
	return out.String(), commands
}

// runCommand runs one "$ shmoo ..." line, which may end in "| head -N".
func runCommand(t *testing.T, line int, command string) string {
	text, ok := strings.CutPrefix(strings.TrimSpace(command), "$ shmoo ")
	if !ok {
		t.Fatalf("line %d: %q, want a line that starts with $ shmoo", line, command)
	}
	text, head, cut := strings.Cut(text, " | head -")
	args, ok := splitCommand(text)
	if !ok {
		t.Fatalf("line %d: a quote is not closed", line)
	}
	var out bytes.Buffer
	code := run(args, strings.NewReader(""), &out, &out)
	got := out.String()
	if cut {
		got = firstLines(t, got, head)
	}
	if code != exitClean {
		got += "exit code " + string(rune('0'+code)) + "\n"
	}
	return got
}

// splitCommand splits a command line at blanks outside single quotes. It reports false if a quote is not closed.
func splitCommand(text string) (args []string, ok bool) {
	var arg strings.Builder
	quoted, pending := false, false
	for _, r := range text {
		switch {
		case r == '\'':
			quoted, pending = !quoted, true
		case r == ' ' && !quoted:
			if pending {
				args = append(args, arg.String())
			}
			arg.Reset()
			pending = false
		default:
			arg.WriteRune(r)
			pending = true
		}
	}
	if pending {
		args = append(args, arg.String())
	}
	return args, !quoted
}

func firstLines(t *testing.T, text, count string) string {
	n := 0
	for _, c := range count {
		if c < '0' || c > '9' {
			t.Fatalf("head -%s: want a number", count)
		}
		n = n*10 + int(c-'0')
	}
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[:min(n, len(lines))], "")
}
