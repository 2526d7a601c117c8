//go:build !webmodel

package web

// model returns the files of the WebAssembly build of the model. This program was built without them; see model_embed.go.
func model() map[string][]byte { return nil }
