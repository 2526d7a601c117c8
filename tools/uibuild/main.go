// Command uibuild bundles the page: TypeScript and CSS of web/ui become web/dist, without Node.
//
//	go run -C tools ./uibuild          # write web/dist
//	go run -C tools ./uibuild -check   # fail if web/dist is not what the sources give
//	go run -C tools ./uibuild -site ../dist/site -model ../web/model
//
// The last form writes a folder that any web server can serve: the page with the model as WebAssembly, which "make model"
// puts into web/model.
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
	site := flag.String("site", "", "write the page for use without a server to this folder")
	model := flag.String("model", "../web/model", "folder of the model, for -site")
	flag.Parse()
	var err error
	if *site != "" {
		err = writeSite(*root, *site, *model)
	} else {
		err = run(*root, *check)
	}
	if err != nil {
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

// policy is the content security policy of the site, which has no server to send it as a header.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'"

// writeSite writes the page and the model into a folder.
func writeSite(root, site, model string) error {
	files, err := build(filepath.Join(root, "web", "ui"))
	if err != nil {
		return err
	}
	const server = `<meta name="shmoo-backend" content="server">`
	page := files["index.html"]
	if !bytes.Contains(page, []byte(server)) {
		return fmt.Errorf("index.html has no %s", server)
	}
	page = bytes.Replace(page, []byte(server), fmt.Appendf(nil,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n<meta name=\"shmoo-backend\" content=\"model\">", policy), 1)
	files["index.html"] = bytes.Replace(page, []byte(`<script src="app.js">`), []byte("<script src=\"wasm_exec.js\"></script>\n<script src=\"app.js\">"), 1)
	for _, name := range []string{"model.wasm.gz", "wasm_exec.js"} {
		if files[name], err = os.ReadFile(filepath.Join(model, name)); err != nil {
			return fmt.Errorf("%w (make model writes it)", err)
		}
	}
	if err := os.MkdirAll(site, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(site, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
