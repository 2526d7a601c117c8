package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// The page that ships must be what its sources give.
func TestDistIsCurrent(t *testing.T) {
	if err := run(root, true); err != nil {
		t.Error(err)
	}
}

func TestCheckNoticesAChange(t *testing.T) {
	copied := t.TempDir()
	if err := os.CopyFS(filepath.Join(copied, "web", "ui"), os.DirFS(filepath.Join(root, "web", "ui"))); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, false); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, true); err != nil {
		t.Errorf("just written: %v", err)
	}
	style := filepath.Join(copied, "web", "ui", "style.css")
	if err := os.WriteFile(style, []byte("body { margin: 1px }"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, true); err == nil || !strings.Contains(err.Error(), "app.css") {
		t.Errorf("after a change: %v, want app.css to be named", err)
	}
}

func TestSite(t *testing.T) {
	model, site := t.TempDir(), t.TempDir()
	if err := writeSite(root, site, model); err == nil {
		t.Error("without a model: no error")
	}
	for _, name := range []string{"model.wasm.gz", "wasm_exec.js"} {
		if err := os.WriteFile(filepath.Join(model, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeSite(root, site, model); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(site, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`content="model"`, `<script src="wasm_exec.js">`, "Content-Security-Policy"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("index.html lacks %s", want)
		}
	}
	if strings.Contains(string(page), `content="server"`) {
		t.Error("index.html still asks a server")
	}
}
