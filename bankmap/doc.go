// Package bankmap is the picture of one request on the banks: which words it touches, which lanes meet in each, and which
// pass serves them.
//
// A [Panel] is data: rows of shared memory by banks, every cell with its word, its lanes and the passes that serve it, and
// the totals of the unit. [Text] draws panels on a terminal; package bankmap/draw draws the same panels as SVG and PNG, and
// a page can draw them from their JSON form ([Picture]).
//
//	unit := arch.MustLookup("sm_90").Unit
//	panel, err := bankmap.New(unit, &request, "pad 0")
//	if err != nil {
//		return err // the unit refuses the request
//	}
//	err = bankmap.Text(os.Stdout, []*bankmap.Panel{panel}, bankmap.TextOptions{Width: 100})
//
// Passes are named by a letter in the order in which they are served, so that colour is never the only sign.
//
// Limits: one request per panel; rows that it does not touch are left out and counted as a gap.
package bankmap
