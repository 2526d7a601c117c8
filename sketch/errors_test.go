package sketch

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"shmoo/diag"
)

// Chunks of errors.cu are divided by "---". A wanted diagnostic stands as a regular expression in a comment on the line
// where it must appear; what is missing and what is not wanted both fail.
func TestErrors(t *testing.T) {
	data, err := os.ReadFile("testdata/errors.cu")
	if err != nil {
		t.Fatal(err)
	}
	first := 1
	for chunk := range strings.SplitSeq(string(data), "---\n") {
		checkErrors(t, chunk, first)
		first += strings.Count(chunk, "\n") + 1
	}
}

var wantRE = regexp.MustCompile(`// want "(.*)"`)

func checkErrors(t *testing.T, chunk string, first int) {
	t.Helper()
	// The wants are comments of the sketch itself.
	wants := map[int]string{}
	line := 0
	for text := range strings.Lines(chunk) {
		line++
		if m := wantRE.FindStringSubmatch(text); m != nil {
			wants[line] = m[1]
		}
	}
	var list diag.List
	if err := runAll(wantRE.ReplaceAllString(chunk, "")); err != nil && !errors.As(err, &list) {
		t.Errorf("errors.cu:%d: got %v, want diagnostics with positions", first, err)
	}
	for _, d := range list {
		want, ok := wants[d.Span.Line]
		switch {
		case d.Severity != diag.Error:
		case !ok:
			t.Errorf("errors.cu:%d: unexpected: %s", first-1+d.Span.Line, d.Message)
		case !regexp.MustCompile(want).MatchString(d.Message):
			t.Errorf("errors.cu:%d: got %q, want %q", first-1+d.Span.Line, d.Message, want)
		default:
			delete(wants, d.Span.Line)
		}
	}
	for line, want := range wants {
		t.Errorf("errors.cu:%d: missing %q", first-1+line, want)
	}
}

func TestLaunchErrors(t *testing.T) {
	p, err := Parse("k.cu", []byte("__global__ void a() { __shared__ int s[4]; s[0]; } __global__ void b() {}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		launch Launch
		want   string
	}{
		"no name":        {Launch{}, "2 kernels, want the name of one: a, b"},
		"wrong name":     {Launch{Kernel: "c"}, "no kernel 'c', want one of a, b"},
		"big block":      {Launch{Kernel: "a", Block: [3]int{64, 64, 1}}, "4096 threads"},
		"negative block": {Launch{Kernel: "a", Block: [3]int{-1, 1, 1}}, "want 1 to 1024"},
		"whole grid":     {Launch{Kernel: "a", Grid: [3]int{1 << 30, 1, 1}, AllBlocks: true}, "more than 1000000 blocks"},
		"outside grid":   {Launch{Kernel: "a", Grid: [3]int{4, 1, 1}, Blocks: []int{4}}, "block 4 of a grid"},
		"shared":         {Launch{Kernel: "a", DynamicShared: -1}, "dynamic shared memory"},
	} {
		if _, err := p.Source(tc.launch); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func TestCancelledRun(t *testing.T) {
	p, err := Parse("k.cu", []byte("__shared__ int s[4]; for (int i = 0; i < 1000000; i++) { s[i & 3] = i; }"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Source(Launch{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	seen := 0
	var last error
	for _, err := range s.Accesses(ctx) {
		last = err
		if seen++; seen == 10 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) || seen > 10000 {
		t.Errorf("got %v after %d accesses, want the run to end soon after it was cancelled", last, seen)
	}
}
