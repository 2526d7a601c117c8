package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"shmoo/predict"
	"shmoo/sweep"
	"shmoo/sweep/plot"
)

// A sweepReport is the result of a sweep with what was predicted.
type sweepReport struct {
	*sweep.Result
	plan         *sweepPlan
	file, kernel string
	machine      *predict.Machine
}

// A sweepFormat is a row of the table of writers.
type sweepFormat struct {
	name, extension string
	write           func(r *sweepReport, w io.Writer) error
}

var sweepFormats = []sweepFormat{
	{"text", ".txt", (*sweepReport).writeText},
	{"json", ".json", func(r *sweepReport, w io.Writer) error { return r.WriteJSON(w) }},
	{"csv", ".csv", func(r *sweepReport, w io.Writer) error { return r.WriteCSV(w) }},
	{"bench", ".bench", func(r *sweepReport, w io.Writer) error { return r.WriteBenchmark(w, r.kernel) }},
	{"svg", ".svg", func(r *sweepReport, w io.Writer) error { return plot.SVG(w, r.grid()) }},
	{"png", ".png", func(r *sweepReport, w io.Writer) error { return plot.PNG(w, r.grid()) }},
}

func sweepFormatNames() []string {
	var names []string
	for _, f := range sweepFormats {
		names = append(names, f.name)
	}
	return names
}

// writer returns the writer that --format names, or the name of the output.
func (c *sweepCommand) writer() (func(*sweepReport, io.Writer) error, error) {
	for _, f := range sweepFormats {
		if c.format == f.name || c.format == "" && c.out != "" && filepath.Ext(c.out) == f.extension {
			return f.write, nil
		}
	}
	if c.format != "" {
		return nil, usagef("sweep: --format %q, want one of %s", c.format, strings.Join(sweepFormatNames(), ", "))
	}
	return (*sweepReport).writeText, nil
}

// rate says how times are shown: as bytes per second where the bytes are known.
func rate(row *sweep.Row, seconds float64) string {
	if bytes := row.Facts[factBytes]; bytes > 0 {
		return fmt.Sprintf("%.2f", bytes/seconds/1e12)
	}
	return fmt.Sprintf("%.1f", seconds*1e6)
}

// unit names what rate gives.
func (r *sweepReport) unit() string {
	for i := range r.Rows {
		if r.Rows[i].Facts[factBytes] > 0 {
			return "TB/s"
		}
	}
	return "us"
}

var verdictMarks = map[sweep.Verdict]string{sweep.Best: "*", sweep.Tie: "=", sweep.Failed: "!", sweep.Unknown: "?"}

// cell returns what the table says of a row: "3.70* ~3.34 2-way".
func (r *sweepReport) cell(row *sweep.Row) string {
	var parts []string
	switch {
	case row.Summary.N > 0:
		parts = append(parts, rate(row, row.Summary.Median)+verdictMarks[row.Verdict])
	case row.Verdict == sweep.Failed || r.measured() == 0 && row.Unpredicted != "":
		parts = append(parts, "!")
	case row.Verdict == sweep.Skipped && r.measured() > 0:
		parts = append(parts, "-")
	}
	if said := predicted(row, " "); said != "" {
		parts = append(parts, said)
	}
	return strings.Join(parts, " ")
}

// predicted returns what the table says of a prediction: "~1.40 16-way +109%", the last if conflicts matter: so much longer
// they make the time.
func predicted(row *sweep.Row, separator string) string {
	seconds := row.Facts[factSeconds]
	if seconds <= 0 {
		return ""
	}
	parts := []string{"~" + rate(row, seconds)}
	if ways := row.Facts[factWays]; ways > 0 {
		parts = append(parts, fmt.Sprintf("%.0f-way", ways))
	}
	if cost := seconds/row.Facts[factIdeal] - 1; cost >= predict.MattersFrom {
		parts = append(parts, fmt.Sprintf("%+.0f%%", 100*cost))
	}
	return strings.Join(parts, separator)
}

// measured returns how many rows have samples.
func (r *sweepReport) measured() int {
	n := 0
	for i := range r.Rows {
		if r.Rows[i].Summary.N > 0 {
			n++
		}
	}
	return n
}

// writeText writes the table of the last parameter by the others, then what is to be said about it.
func (r *sweepReport) writeText(w io.Writer) error {
	b := bufio.NewWriter(w)
	said := "predicted " + r.unit() + " (~), ways, and what conflicts add to the time"
	if r.measured() > 0 {
		said = "measured " + r.unit() + ", " + said
	}
	fmt.Fprintf(b, "%s, kernel %s on %s: %s\n\n", r.file, r.kernel, r.machine.Name, said)
	if err := r.WriteGrid(b, "", r.cell); err != nil {
		return err
	}
	b.WriteByte('\n')
	r.writePredictedBest(b)
	r.writeBest(b)
	r.writeAgreement(b)
	r.writeProblems(b)
	return b.Flush()
}

// writePredictedBest says which point is predicted to win, and what limits it.
func (r *sweepReport) writePredictedBest(b *bufio.Writer) {
	best := -1
	matter := 0
	for i, p := range r.plan.predictions {
		if p == nil {
			continue
		}
		if p.Matters() {
			matter++
		}
		if best < 0 || p.Seconds < r.plan.predictions[best].Seconds {
			best = i
		}
	}
	if best < 0 {
		return
	}
	p := r.plan.predictions[best]
	fmt.Fprintf(b, "predicted best: %s, %s us, limit: %s", r.Rows[best].Name, short(p.Seconds*1e6), p.Limit)
	fmt.Fprintf(b, " (floors: memory %s, shared %s, issue %s, latency %s us; %d warps resident)\n",
		short(p.Floors.Memory*1e6), short(p.Floors.Shared*1e6), short(p.Floors.Issue*1e6), short(p.Floors.Latency*1e6), p.Warps)
	if p.Accesses != "" {
		fmt.Fprintf(b, "its shared accesses: %s\n", p.Accesses)
	}
	if r.machine.Memory == 0 {
		fmt.Fprintf(b, "the bandwidth of %s is not known, so memory has no floor: give it with --bandwidth\n", r.machine.Name)
	}
	fmt.Fprintf(b, "conflicts matter (2 %% of the time or more) at %d of %d points\n", matter, len(r.Rows))
}

func short(v float64) string { return fmt.Sprintf("%.1f", v) }

func (r *sweepReport) writeBest(b *bufio.Writer) {
	best := r.Best()
	if best == nil {
		return
	}
	s := &best.Summary
	fmt.Fprintf(b, "best: %s, %s us (%s to %s, %d samples)", best.Name, short(s.Median*1e6), short(s.Low*1e6), short(s.High*1e6), s.N)
	if n := r.Ties(); n > 0 {
		fmt.Fprintf(b, "; %d of %d others cannot be told from it", n, r.measured()-1)
	}
	b.WriteByte('\n')
}

// closeEnough is how far a prediction may be from what is measured.
const closeEnough = 0.15

// agreement returns how many of the measured and predicted rows are within closeEnough, and the median difference.
func (r *sweepReport) agreement() (near, all int, median float64) {
	var differences []float64
	for i := range r.Rows {
		row := &r.Rows[i]
		if predicted := row.Facts[factSeconds]; predicted > 0 && row.Summary.N > 0 {
			d := math.Abs(predicted/row.Summary.Median - 1)
			differences = append(differences, d)
			if d <= closeEnough {
				near++
			}
		}
	}
	if len(differences) == 0 {
		return 0, 0, 0
	}
	slices.Sort(differences)
	return near, len(differences), differences[len(differences)/2]
}

func (r *sweepReport) writeAgreement(b *bufio.Writer) {
	if near, all, median := r.agreement(); all > 0 {
		fmt.Fprintf(b, "predicted time within 15 %% of measured at %d of %d points, median difference %.1f %%\n", near, all,
			100*median)
	}
}

func (r *sweepReport) writeProblems(b *bufio.Writer) {
	unpredicted := map[string]int{} // by reason: a missing compiler is the reason of all
	for i := range r.Rows {
		if why := r.Rows[i].Unpredicted; why != "" && r.Rows[i].Failure == "" {
			unpredicted[firstLine(why)]++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(unpredicted)) {
		fmt.Fprintf(b, "not predicted: %d points: %s\n", unpredicted[why], why)
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Failure != "" {
			fmt.Fprintf(b, "failed: %s: %s\n", row.Name, firstLine(row.Failure))
		}
		if p := r.plan.predictions[i]; p != nil && p.Unresolved > 0 {
			fmt.Fprintf(b, "unresolved: %s: %d requests depend on unknown data and are not counted\n", row.Name, p.Unresolved)
		}
	}
	for _, why := range r.Disturbances {
		fmt.Fprintf(b, "disturbed: %s\n", why)
	}
}

func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " ..."
	}
	return line
}

// grid returns the shmoo plot.
func (r *sweepReport) grid() *plot.Grid {
	last := len(r.Params) - 1
	g := &plot.Grid{
		Title: fmt.Sprintf("%s, kernel %s on %s", filepath.Base(r.file), r.kernel, r.machine.Name),
		Unit:  r.unit(), X: r.Params[last].Name, Measured: r.measured() > 0,
	}
	for _, v := range r.Params[last].Values {
		g.Columns = append(g.Columns, v.String())
	}
	wide := len(g.Columns)
	for at := 0; at < len(r.Rows); at += wide {
		var names []string
		for i, v := range r.Rows[at].Point.Values[:last] {
			names = append(names, r.Params[i].Name+"="+v.String())
		}
		row := plot.Row{Name: strings.Join(names, " ")}
		for i := range r.Rows[at : at+wide] {
			row.Cells = append(row.Cells, r.plotCell(&r.Rows[at+i]))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func (r *sweepReport) plotCell(row *sweep.Row) plot.Cell {
	c := plot.Cell{Seconds: row.Summary.Median, Mark: verdictMarks[row.Verdict], Failed: row.Verdict == sweep.Failed}
	if row.Summary.N > 0 {
		c.Text = rate(row, row.Summary.Median)
	}
	c.Note = predicted(row, " ")
	if row.Summary.N == 0 {
		c.Seconds = row.Facts[factSeconds]
	}
	return c
}
