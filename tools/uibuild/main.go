// Command uibuild bundles the page: TypeScript and CSS of web/ui become web/dist, without Node.
//
//	go run -C tools ./uibuild          # write web/dist
//	go run -C tools ./uibuild -check   # fail if web/dist is not what the sources give
//
// Types are not checked here; "npx tsc -p web/ui" does that.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	root := flag.String("root", "..", "root of the repository")
	check := flag.Bool("check", false, "compare with web/dist instead of writing it")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "uibuild:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	files, err := build(filepath.Join(root, "web", "ui"))
	if err != nil {
		return err
	}
	dist := filepath.Join(root, "web", "dist")
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(dist, name)
		if !check {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, data) {
			return fmt.Errorf("%s is not what web/ui gives, want it rebuilt with go run -C tools ./uibuild", path)
		}
	}
	return nil
}

// build returns the files of the page by name.
func build(ui string) (map[string][]byte, error) {
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: filepath.Join(ui, "main.ts"), OutputPath: "app"},
			{InputPath: filepath.Join(ui, "style.css"), OutputPath: "app"},
		},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2022, Outdir: "out",
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("%s:%s", ui, result.Errors[0].Text)
	}
	page, err := os.ReadFile(filepath.Join(ui, "index.html"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"index.html": page}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	return files, nil
}
