package pattern

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"shmoo/internal/table"
)

// WriteText writes the result for a reader: the verdict, a line per op, and the first disagreements.
func (r *Result) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %d of %d patterns agree with %s", r.File, r.Agree, r.Patterns, r.Unit)
	for _, part := range []struct {
		n    int
		text string
	}{
		{r.Disagree, "disagree"},
		{r.Unsupported, "unsupported"},
		{r.Unmeasured, "unmeasured"},
		{r.Counted, "checked against hardware counters"},
		{r.Bounded, "by a lower bound only"},
	} {
		if part.n > 0 {
			fmt.Fprintf(b, ", %d %s", part.n, part.text)
		}
	}
	b.WriteString("\n\n")
	t := table.New("op", "patterns>", "agree>", "disagree>", "counted>", "bounded>", "offset[cycles]>")
	for _, op := range r.Ops {
		offset := "-"
		if op.Offset != nil {
			offset = fmt.Sprintf("%.2f..%.2f", op.Offset.Min, op.Offset.Max)
		}
		t.Row(op.Op, op.Patterns, op.Agree, op.Disagree, op.Counted, op.Bounded, offset)
	}
	if err := t.Write(b); err != nil {
		return err
	}
	if r.NcuDiffers > 0 {
		fmt.Fprintf(b, "\nncu's source page shows other wavefronts than the hardware counter: rows %d of %d\n",
			r.NcuDiffers, r.Counted)
	}
	if len(r.Disagreements) > 0 {
		fmt.Fprintf(b, "\nfirst disagreements (%d of %d):\n", len(r.Disagreements), r.Disagree)
	}
	for i := range r.Disagreements {
		r.Disagreements[i].write(b, r.File)
	}
	return b.Flush()
}

func (d *Disagreement) write(w io.Writer, file string) {
	fmt.Fprintf(w, "%s:%d: %s mask %s: ", file, d.Line, d.Op, d.Mask)
	if d.Fault != "" {
		fmt.Fprintln(w, d.Fault)
		return
	}
	parts := make([]string, 0, len(d.In))
	for _, what := range d.In {
		switch what {
		case "cycles":
			parts = append(parts,
				fmt.Sprintf("cycles %.3f, want %g plus the probe's constant", d.Recorded.Cycles, d.Predicted.Cycles))
		case "unit_cycles":
			parts = append(parts, fmt.Sprintf("unit cycles %.3f, want %g", d.Recorded.UnitCycles, d.Predicted.UnitCycles))
		case "wavefronts":
			parts = append(parts, fmt.Sprintf("wavefronts %d, want %d", d.Recorded.Wavefronts, d.Predicted.Wavefronts))
		case "conflicts":
			parts = append(parts, fmt.Sprintf("conflicts %d, want %d", d.Recorded.Conflicts, d.Predicted.Conflicts))
		}
	}
	fmt.Fprintln(w, strings.Join(parts, "; "))
}
