package pattern

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"shmoo/smem"
)

// A Writer writes a pattern file of what a meter measured: the columns op, mask, addresses and unit_cycles.
type Writer struct {
	w    *bufio.Writer
	line []byte
}

// NewWriter returns a writer to w that has written the notes as comments, a line each, and the header. Errors come with
// Flush.
func NewWriter(w io.Writer, notes ...string) *Writer {
	b := bufio.NewWriter(w)
	for _, note := range notes {
		fmt.Fprintf(b, "# %s\n", strings.NewReplacer("\n", " ", "\r", " ").Replace(note))
	}
	b.WriteString("op,mask,addresses,unit_cycles\n")
	return &Writer{w: b}
}

// Write writes a pattern with its cycles, to three decimals. A negative or infinite figure is left out. The error is the
// first of the underlying writer.
func (w *Writer) Write(op string, mask smem.Mask, addr []uint32, unitCycles float64) error {
	b := append(w.line[:0], op...)
	b = append(b, ',')
	b = fmt.Appendf(b, "%08x,", uint64(mask))
	for i, a := range addr {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, uint64(a), 10)
	}
	b = append(b, ',')
	if unitCycles >= 0 && unitCycles < maxCycles {
		b = strconv.AppendFloat(b, unitCycles, 'f', 3, 64)
	}
	w.line = append(b, '\n')
	_, err := w.w.Write(w.line)
	return err
}

// maxCycles bounds what is written, so that a figure has at most 32 characters.
const maxCycles = 1e20

// Flush writes what is buffered and returns the first error of the underlying writer.
func (w *Writer) Flush() error { return w.w.Flush() }
