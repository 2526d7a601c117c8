package shmoo

// Arg stands for an argument of a kernel of machine code, which a page does not run.
type Arg struct{}

// formats of a page: what reads machine code and compressed records would double what a browser has to load.
var formats = []format{
	{"sketch", isText, openSketch},
}
