package sketch

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Chunks of run.cu are sketches with the cost of every access beside it.
func TestRun(t *testing.T) {
	data, err := os.ReadFile("testdata/run.cu")
	if err != nil {
		t.Fatal(err)
	}
	line := 1
	for chunk := range strings.SplitSeq(string(data), "---\n") {
		title, _, _ := strings.Cut(chunk, "\n")
		t.Run(strings.TrimLeft(title, "/ "), func(t *testing.T) {
			checkCosts(t, fmt.Sprintf("run.cu+%d", line-1), chunk)
		})
		line += strings.Count(chunk, "\n") + 1
	}
}
