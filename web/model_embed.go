//go:build webmodel

package web

import _ "embed"

// The files are written by "make model"; they are not part of the sources, since they would grow the repository with
// every change of the model. Programs built with "go install" lack them: everything works except the export of a page that
// computes without a server.

//go:embed model/model.wasm.gz
var modelWasm []byte

//go:embed model/wasm_exec.js
var modelRunner []byte

// model returns the files of the WebAssembly build of the model.
func model() map[string][]byte {
	return map[string][]byte{"model.wasm.gz": modelWasm, "wasm_exec.js": modelRunner}
}
