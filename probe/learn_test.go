package probe

import (
	"context"
	"os"
	"testing"
	"time"

	"shmoo/gpu/replay"
)

func TestScratchLearn(t *testing.T) {
	file, err := os.Open("../pattern/testdata/h200_patterns.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := replay.Open(file, "h200_patterns.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	t0 := time.Now()
	l, err := Learn(context.Background(), m.Recording())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(t0))
	l.WriteText(os.Stdout)
}
