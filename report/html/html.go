// Package html writes a report as one HTML file that needs nothing else: the totals, a table of sites with their heat, the
// worst sites explained with their bank pictures, and the annotated source.
//
//	err := html.Write(file, r, html.Options{Lines: in.Lines, Unit: in.Unit})
//
// The page follows the reader's light or dark setting, runs no script and loads nothing. Numbers stand beside every colour,
// pictures carry a description, and what is folded opens without a script.
//
// Limits: the first 2,000 sites and the five worst pictures; the page says what it leaves out.
package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"shmoo/diag"
	"shmoo/report"
	"shmoo/smem"
)

// Options says how to write the page.
type Options struct {
	// Lines returns a line of a source; nil leaves the lines' texts out.
	Lines func(diag.Pos) (string, bool)
	// Unit draws and explains the worst sites; nil leaves pictures and explanations out.
	Unit *smem.Unit
}

const (
	maxSites  = 2000
	manySites = 20 // more than these are folded, and topSites shown
	topSites  = 10
	maxWorst  = 5
	// pictureWidth makes the cells of 32 banks wide enough for their labels, and fits a page of 960 pixels unscaled.
	pictureWidth = 912
)

var (
	//go:embed page.tmpl
	pageText string
	//go:embed page.css
	styleText string
)

// Write writes the page.
func Write(w io.Writer, r *report.Report, o Options) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("page template: %w", err)
	}
	p, err := o.page(r)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}
