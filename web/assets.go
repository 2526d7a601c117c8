package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
)

// dist is written by tools/uibuild from the sources in ui.
//
//go:embed dist
var dist embed.FS

// An asset is a file of the page.
type asset struct {
	data []byte
	kind string // MIME type
	tag  string // ETag
}

var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".gz":   "application/gzip",
}

// assets returns the files of the page by name. Embedded files cannot fail to be read.
func assets() map[string]asset {
	out := map[string]asset{}
	entries, _ := fs.ReadDir(dist, "dist")
	for _, e := range entries {
		data, _ := dist.ReadFile(path.Join("dist", e.Name()))
		out[e.Name()] = newAsset(e.Name(), data)
	}
	for name, data := range model() {
		out[name] = newAsset(name, data)
	}
	return out
}

func newAsset(name string, data []byte) asset {
	sum := sha256.Sum256(data)
	return asset{data, kinds[path.Ext(name)], `"` + hex.EncodeToString(sum[:8]) + `"`}
}
