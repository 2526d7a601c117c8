package sweep

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"shmoo/internal/table"
	"shmoo/space"
)

// Schema names the JSON form of a Result.
const Schema = "shmoo.sweep/1"

// A Result is a sweep that is done.
type Result struct {
	Schema string        `json:"schema"`
	Space  string        `json:"space"`
	Params []space.Param `json:"-"`
	Rows   []Row         `json:"rows"` // in the order of the space
	// Disturbances say what disturbed the device while it measured. Rounds with them were thrown away, unless there were too
	// many.
	Disturbances []string `json:"disturbances,omitempty"`
}

// Best returns the row with the least median, or nil when nothing was measured.
func (r *Result) Best() *Row {
	for i := range r.Rows {
		if r.Rows[i].Verdict == Best {
			return &r.Rows[i]
		}
	}
	return nil
}

// Ties returns how many rows cannot be told from the best.
func (r *Result) Ties() int {
	n := 0
	for i := range r.Rows {
		if r.Rows[i].Verdict == Tie {
			n++
		}
	}
	return n
}

// marks shows verdicts in a table.
var marks = map[Verdict]string{Best: "*", Tie: "=", Slower: "", Failed: "!", Unknown: "?", Skipped: "-"}

// WriteText writes the medians as a table of the last parameter by the others, then the verdict, failures and disturbances.
// * marks the best point, = one that cannot be told from it. The named facts stand in parentheses behind the medians.
func (r *Result) WriteText(w io.Writer, facts ...string) error {
	b := bufio.NewWriter(w)
	if err := r.WriteGrid(b, ">", func(row *Row) string { return row.cell(facts) }); err != nil {
		return err
	}
	if best := r.Best(); best != nil {
		fmt.Fprintf(b, "\nbest: %s, %s", best.Name, interval(&best.Summary))
		if n := r.Ties(); n > 0 {
			fmt.Fprintf(b, "; %d of %d others cannot be told from it", n, len(r.Rows)-1)
		}
		b.WriteByte('\n')
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Failure != "" {
			reason, _, more := strings.Cut(row.Failure, "\n")
			if more {
				reason += " ..."
			}
			fmt.Fprintf(b, "failed: %s: %s\n", row.Name, reason)
		}
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Unpredicted != "" {
			fmt.Fprintf(b, "not predicted: %s: %s\n", row.Name, row.Unpredicted)
		}
	}
	for _, why := range r.Disturbances {
		fmt.Fprintf(b, "disturbed: %s\n", why)
	}
	return b.Flush()
}

// WriteGrid writes a cell for each row of the result: the last parameter's values are the columns, with the given mark of alignment
// ("" or ">"). Rows are in the order of the space, so those values follow each other.
func (r *Result) WriteGrid(w io.Writer, align string, cell func(*Row) string) error {
	if len(r.Params) == 0 {
		return nil
	}
	last := len(r.Params) - 1
	var titles []string
	for _, p := range r.Params[:last] {
		titles = append(titles, p.Name+">")
	}
	for _, v := range r.Params[last].Values {
		titles = append(titles, r.Params[last].Name+"="+v.String()+align)
	}
	t := table.New(titles...)
	wide := len(r.Params[last].Values)
	for at := 0; at < len(r.Rows); at += wide {
		var cells []any
		for _, v := range r.Rows[at].Point.Values[:last] {
			cells = append(cells, v)
		}
		for i := range r.Rows[at : at+wide] {
			cells = append(cells, cell(&r.Rows[at+i]))
		}
		t.Row(cells...)
	}
	return t.Write(w)
}

// cell shows a row in the table.
func (row *Row) cell(facts []string) string {
	text := marks[row.Verdict]
	if row.Summary.N > 0 {
		text = duration(row.Summary.Median) + text
	}
	var shown []string
	for _, name := range facts {
		if v, ok := row.Facts[name]; ok {
			shown = append(shown, strconv.FormatFloat(v, 'g', 4, 64))
		}
	}
	if len(shown) == 0 {
		return text
	}
	return strings.TrimSpace(text + " (" + strings.Join(shown, ", ") + ")")
}

// duration returns seconds with four digits and a unit.
func duration(seconds float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}} {
		if seconds >= u.size {
			return strconv.FormatFloat(seconds/u.size, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatFloat(seconds*1e9, 'g', 4, 64) + " ns"
}

func interval(s *Summary) string {
	return fmt.Sprintf("%s (%s to %s, %d samples)", duration(s.Median), duration(s.Low), duration(s.High), s.N)
}

// WriteJSON writes the result as JSON, whose schema is named in it.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteCSV writes a row per point: its parameters, median and interval in seconds, samples, verdict, facts and failure.
func (r *Result) WriteCSV(w io.Writer) error {
	facts := map[string]bool{}
	for i := range r.Rows {
		for name := range r.Rows[i].Facts {
			facts[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(facts))
	c := csv.NewWriter(w)
	var line []string
	for _, p := range r.Params {
		line = append(line, p.Name)
	}
	line = append(line, "median", "low", "high", "n", "verdict", "delta", "p")
	c.Write(append(append(line, names...), "failure")) // errors are kept and come with Flush
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	for i := range r.Rows {
		row := &r.Rows[i]
		line = line[:0]
		for _, v := range row.Point.Values {
			line = append(line, v.String())
		}
		s := &row.Summary
		if s.N > 0 {
			line = append(line, number(s.Median), number(s.Low), number(s.High), strconv.Itoa(s.N))
		} else {
			line = append(line, "", "", "", "0")
		}
		line = append(line, string(row.Verdict), number(row.Delta), number(row.P))
		for _, name := range names {
			if v, ok := row.Facts[name]; ok {
				line = append(line, number(v))
			} else {
				line = append(line, "")
			}
		}
		c.Write(append(line, row.Failure))
	}
	c.Flush()
	return c.Error()
}

// WriteBenchmark writes every sample in the Go benchmark format, so that benchstat can compare two sweeps. Points that failed
// are left out. name is the benchmark's name, such as "Scan".
func (r *Result) WriteBenchmark(w io.Writer, name string) error {
	b := bufio.NewWriter(w)
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Failure != "" {
			continue
		}
		full := "Benchmark" + strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]
		for j, v := range row.Point.Values {
			full += "/" + r.Params[j].Name + "=" + v.String()
		}
		for _, seconds := range row.Samples {
			fmt.Fprintf(b, "%s 1 %s ns/op\n", full, strconv.FormatFloat(seconds*float64(time.Second), 'f', -1, 64))
		}
	}
	return b.Flush()
}
