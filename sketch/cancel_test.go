package sketch

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Loops that are short by themselves but nested must be cancelled like one long loop.
func TestNestedLoopsAreCancelled(t *testing.T) {
	const src = `__shared__ float t[32];
for (int i = 0; i < 900; i++) for (int j = 0; j < 900; j++) for (int k = 0; k < 900; k++) t[(i + j + k) % 32];`
	p, err := Parse("t.cu", []byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Source(Launch{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	for _, err = range s.Accesses(ctx) {
		if err != nil {
			break
		}
	}
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 500*time.Millisecond {
		t.Errorf("ended with %v after %v, want the deadline after 20ms", err, took)
	}
}
