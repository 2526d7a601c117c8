// Package eval answers the questions of the page: a name and a JSON document in, a JSON document out. The server and the
// WebAssembly build call the same functions, so a page behaves alike with and without a server.
//
//	reply, err := eval.Call(ctx, "evaluate", []byte(`{"source": "__shared__ float t[32][32]; t[threadIdx.x][0];"}`))
//
// Reports, pictures, explanations and fixes are the documents that the command line writes with --json, unchanged; the
// envelopes around them are described by the types of this package.
//
// Limits: sizes are bounded here (MaxSource, MaxCells and so on), time by the context. Inputs are text: sketches and
// pattern files.
package eval
