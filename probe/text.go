package probe

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"shmoo/internal/table"
)

// WriteText writes the lesson for a reader: a line per rule, then what is undecided or unexplained.
func (l *Lesson) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %d samples, %d banks of %d bytes\n\n", l.Name, l.Samples, l.Banks, l.BankBytes)
	t := table.New("operation", "width>", "samples>", "groups", "pairing", "paired groups", "one word", "per pass>", "floor",
		"paired floor")
	for i := range l.Rules {
		r := &l.Rules[i]
		t.Row(r.Op, r.Width, r.Samples, r.cell(aspectGroups), r.cell(aspectPairing), r.cell(aspectPaired),
			r.cell(aspectSharing), r.cell(aspectPerPass), r.cell(aspectFloor), r.cell(aspectPairedFloor))
	}
	if err := t.Write(b); err != nil {
		return err
	}
	for i := range l.Rules {
		r := &l.Rules[i]
		for _, aspect := range aspects {
			if values := r.Undecided[aspect]; values != nil {
				fmt.Fprintf(b, "\nundecided: %s of %d bytes: %s: %s", r.Op, r.Width, aspect, strings.Join(values, ", or "))
			}
		}
		if r.Exceptions > 0 {
			fmt.Fprintf(b, "\nunexplained: %s of %d bytes: no hypothesis explains all samples, the best leaves %d of %d: %s",
				r.Op, r.Width, r.Exceptions, r.Samples, r.First)
		}
	}
	for _, op := range l.Loops {
		fmt.Fprintf(b, "\nnot learned: %s is a loop in software, whose cost depends on contention", op)
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// cell returns the choice of an aspect, marked when others explain the samples as well.
func (r *Learned) cell(aspect string) string {
	value, ok := r.Choice[aspect]
	if !ok {
		return "-"
	}
	if r.Undecided[aspect] != nil {
		return value + "?"
	}
	return value
}
