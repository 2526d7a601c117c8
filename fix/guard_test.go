package fix

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shmoo/layout"
)

// sabotage is a change to a guard test that must make it fail, or leave it sound.
var sabotage = []struct {
	name string
	edit func(code, expression string) string
	want string // part of the failure; "" where the test must pass
}{
	{"intact", func(code, _ string) string { return code }, ""},
	{"layout deleted", func(code, e string) string { return strings.ReplaceAll(code, "return "+e, "return i") }, "is the layout still there"},
	{"reader differs", func(code, e string) string {
		at := strings.LastIndex(code, "return "+e)
		return code[:at] + "return i" + code[at+len("return "+e):]
	}, "is read from where another was written"},
}

func guardText(t *testing.T, r *Result, form GuardForm) string {
	t.Helper()
	var b bytes.Buffer
	if err := EmitGuard(&b, r, candidate(r), form); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPytestGuards(t *testing.T) {
	t.Parallel()
	interpreter, err := exec.LookPath("python3")
	if err != nil || exec.Command(interpreter, "-c", "import pytest").Run() != nil {
		t.Skip("python3 with pytest is not installed")
	}
	results := emitted(t)
	for _, name := range []string{"half swizzle", "pad"} {
		r := results[name]
		code, value := guardText(t, r, GuardPytest), expression(guardTransform(t, r), "i", "//")
		for _, s := range sabotage {
			t.Run(name+", "+s.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "test_layout.py"), []byte(s.edit(code, value)), 0o600); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", dir)
				checkGuard(t, cmd, s.want)
			})
		}
	}
}

func TestGoGuards(t *testing.T) {
	t.Parallel()
	r := emitted(t)["half swizzle"]
	code, value := guardText(t, r, GuardGo), expression(guardTransform(t, r), "i", "/")
	for _, s := range sabotage {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := s.edit(code, value)
			if tidy, err := format.Source([]byte(text)); err != nil || string(tidy) != text {
				t.Errorf("not as gofmt writes it: %v", err)
			}
			for name, data := range map[string]string{"go.mod": "module guard\n\ngo 1.21\n", "layout_test.go": text} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("go", "test", "-vet=off", ".")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
			checkGuard(t, cmd, s.want)
		})
	}
}

func checkGuard(t *testing.T, cmd *exec.Cmd, want string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	switch {
	case want == "" && err != nil:
		t.Errorf("the guard fails on sound code: %v\n%s", err, out)
	case want != "" && (err == nil || !strings.Contains(string(out), want)):
		t.Errorf("got %v, want a failure with %q:\n%s", err, want, out)
	}
}

func guardTransform(t *testing.T, r *Result) layout.Transform {
	t.Helper()
	e, ok := r.onElements(candidate(r))
	if !ok {
		t.Fatal("not on elements")
	}
	return e.Of
}
