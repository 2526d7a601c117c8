//go:build !js

package shmoo

import "shmoo/launch"

// Arg is an argument of a kernel of machine code.
type Arg = launch.Arg

// formats are tried in this order. A build for a page leaves the large ones out: see formats_js.go.
var formats = []format{
	{"binary", IsBinary, openBinary},
	{"pattern", isPattern, openPattern},
	{"sketch", isText, openSketch},
}
