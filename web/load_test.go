package web

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostile are questions that cost the most they can.
var hostile = []struct{ name, call, body string }{
	{"endless loop", "evaluate", `{"source": "__shared__ float t[32]; for (int i = 0; ; i++) t[i % 32];"}`},
	{"all blocks of a large grid", "evaluate", `{"source": "__shared__ float t[1024]; for (int i = 0; i < 4000; i++) t[(i * threadIdx.x) % 1024];", "block": [1024,1,1], "grid": [1000000,1,1]}`},
	{"long source", "evaluate", `{"source": "__shared__ float t[32]; ` + strings.Repeat("t[threadIdx.x]; ", 15000) + `"}`},
	{"deep expression", "evaluate", `{"source": "__shared__ float t[32]; t[` + strings.Repeat("(", 100000) + `0];"}`},
	{"macros that double", "evaluate", `{"source": "#define A0 x\n` + doubling(40) + `\n__shared__ float t[32]; t[A40];"}`},
	{"large array", "evaluate", `{"source": "float a[100000000]; __shared__ float t[32]; t[0];"}`},
	{"large space", "space", `{"source": "__shared__ float t[4096]; for (int i = 0; i < 1000 * N; i++) t[(i * threadIdx.x * P) % 4096];", "block": [1024,1,1], "space": "N=1..32,P=1..64"}`},
	{"irregular array to fix", "fix", `{"source": "__shared__ float t[8192]; for (int i = 0; i < 4000; i++) t[(i * i * threadIdx.x + i * 7919) % 8192];", "block": [1024,1,1]}`},
}

func doubling(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `#define A%d A%d A%d\n`, i, i-1, i-1)
	}
	return b.String()
}

// TestHostileQuestionsEnd asks each hostile question alone: it must be answered soon after its time is over.
func TestHostileQuestionsEnd(t *testing.T) {
	limits := Limits{Evaluate: 300 * time.Millisecond, Search: 300 * time.Millisecond}
	h := handlerFor(Options{Limits: limits})
	for _, q := range hostile {
		t.Run(q.name, func(t *testing.T) {
			start := time.Now()
			w := post(h, q.call, q.body)
			took := time.Since(start)
			// Times are not bounded in short runs, which the race detector slows down many times over.
			if took > 3*time.Second && !testing.Short() {
				t.Errorf("took %v, want little more than %v", took, limits.Evaluate)
			}
			if w.Code >= 500 {
				t.Errorf("status %d: %.300s", w.Code, w.Body)
			}
			t.Logf("%v, status %d, %.90s", took.Round(time.Millisecond), w.Code, strings.TrimSpace(w.Body.String()))
		})
	}
}

// TestLoad types at the page while others ask hostile questions, and reports how long typing waits. It runs for
// SHMOO_LOAD, such as 20s, and is skipped without.
func TestLoad(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("SHMOO_LOAD"))
	if err != nil {
		t.Skip("SHMOO_LOAD is not set to a duration")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, Options{Ready: func(url string) { ready <- url }, Limits: Limits{Evaluate: time.Second, Search: 2 * time.Second}})
	}()
	url := <-ready
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	ask := func(call, body string) (int, time.Duration) {
		start := time.Now()
		reply, err := http.Post(url+"api/"+call, "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, 0
		}
		reply.Body.Close()
		return reply.StatusCode, time.Since(start)
	}
	measure := func(attackers int) {
		var quick []time.Duration
		statuses := map[int]int{}
		var mu sync.Mutex
		var group sync.WaitGroup
		end := time.Now().Add(length / 2)
		for i := range attackers {
			group.Go(func() {
				for n := i; time.Now().Before(end); n++ {
					q := hostile[n%len(hostile)]
					status, _ := ask(q.call, q.body)
					mu.Lock()
					statuses[status]++
					mu.Unlock()
				}
			})
		}
		var peak uint64
		for time.Now().Before(end) {
			status, took := ask("evaluate", column)
			if status == 200 {
				quick = append(quick, took)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			time.Sleep(20 * time.Millisecond)
		}
		group.Wait()
		slices.Sort(quick)
		if len(quick) == 0 {
			t.Fatalf("%d hostile clients: no answer at all", attackers)
		}
		at := func(share float64) time.Duration {
			return quick[int(share*float64(len(quick)-1))].Round(100 * time.Microsecond)
		}
		t.Logf("%2d hostile clients: %4d answers to typing, median %v, 95%% %v, worst %v; hostile statuses %v; heap at most %d MiB",
			attackers, len(quick), at(0.5), at(0.95), at(1), statuses, peak>>20)
	}
	measure(0)
	measure(8)
}
