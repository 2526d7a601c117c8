package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

var testAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}

const testHost = "127.0.0.1:4711"

func handlerFor(o Options) http.Handler { return newHandler(o, testAddr) }

// post asks a handler as the page does.
func post(h http.Handler, name, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://"+testHost+"/api/"+name, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const column = `{"source": "__shared__ float t[32][32];\nt[threadIdx.x][0];", "block": [0,0,0], "grid": [0,0,0]}`

func TestWhoIsAnswered(t *testing.T) {
	for _, test := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"the page itself", []string{"Origin", "http://" + testHost}, 200},
		{"a program without origin", nil, 200},
		{"localhost", []string{"Host", "localhost:4711", "Origin", "http://localhost:4711"}, 200},
		{"IPv6 loopback", []string{"Host", "[::1]:4711"}, 200},
		{"a name that was allowed", []string{"Host", "gpu.example:80"}, 200},
		{"another page", []string{"Origin", "http://evil.example"}, 403},
		{"another port of this machine", []string{"Origin", "http://127.0.0.1:4712"}, 403},
		{"a page without origin", []string{"Origin", "null"}, 403},
		{"another site by its metadata", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"a name rebound to this machine", []string{"Host", "evil.example:4711"}, 421},
		{"no host", []string{"Host", ""}, 421},
		{"another port", []string{"Host", "127.0.0.1:80"}, 421},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := post(handlerFor(Options{Hosts: []string{"GPU.example"}}), "evaluate", column, test.headers...)
			if w.Code != test.want {
				t.Errorf("status %d, want %d: %s", w.Code, test.want, w.Body)
			}
		})
	}
}

func TestHeadersOfEveryReply(t *testing.T) {
	h := handlerFor(Options{})
	for _, path := range []string{"/", "/app.js", "/app.css", "/initial.json", "/nothing"} {
		r := httptest.NewRequest(http.MethodGet, "http://"+testHost+path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q, want nothing by default and nothing unsafe", path, policy)
		}
	}
}

func TestAssets(t *testing.T) {
	h := handlerFor(Options{})
	get := func(path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://"+testHost+path, nil)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for path, kind := range map[string]string{"/": "text/html", "/app.js": "text/javascript", "/app.css": "text/css"} {
		w := get(path)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Body.Len() == 0 {
			t.Errorf("%s: status %d, %s, %d bytes, want 200, %s and some", path, w.Code, w.Header().Get("Content-Type"), w.Body.Len(), kind)
		}
		if again := get(path, "If-None-Match", w.Header().Get("ETag")); again.Code != 304 || again.Body.Len() != 0 {
			t.Errorf("%s again: status %d with %d bytes, want 304 with none", path, again.Code, again.Body.Len())
		}
	}
	page := get("/").Body.String()
	for _, bad := range []string{"<script>", "style=", "onclick", "http:", "https:"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q, want no inline script, no inline style and nothing from elsewhere", bad)
		}
	}
}

func TestProblems(t *testing.T) {
	big := `{"source": "` + strings.Repeat("x", 1000) + `"}`
	for _, test := range []struct {
		name, call, body string
		headers          []string
		status           int
		message          string
	}{
		{"unknown call", "nothing", `{}`, nil, 404, "unknown"},
		{"not JSON", "evaluate", `{`, nil, 400, "question"},
		{"two values", "evaluate", `{} {}`, nil, 400, "more than one"},
		{"unknown field", "evaluate", `{"sauce": ""}`, nil, 400, "sauce"},
		{"form", "evaluate", `a=b`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "application/json"},
		{"body", "evaluate", big, nil, 413, "more than 500 bytes"},
		{"syntax", "evaluate", `{"source": "__shared__ float t[32]; t[;"}`, nil, 400, "sketch.cu:1:"},
		{"unknown generation", "evaluate", `{"source": "x", "arch": "sm_1"}`, nil, 400, "sm_1"},
		{"site", "view", `{"source": "__shared__ float t[32]; t[0];", "site": 9}`, nil, 400, "site 9"},
		{"space", "space", `{"source": "__shared__ float t[32]; t[0];", "space": "A=1..9999"}`, nil, 400, "points"},
		{"compressed", "evaluate", `{"source": "\u001f\u008b"}`, nil, 400, ""},
		{"negative shape", "evaluate", `{"source": "x", "block": [-1,0,0]}`, nil, 400, "positive"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := post(handlerFor(Options{Limits: Limits{Body: 500}}), test.call, test.body, test.headers...)
			var p struct {
				Schema, Message string
				Diagnostics     []struct{ Line int }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Code != test.status || p.Schema != "shmoo.problem/1" || !strings.Contains(p.Message, test.message) {
				t.Errorf("status %d, %q, want %d and %q", w.Code, p.Message, test.status, test.message)
			}
			if test.name == "syntax" && (len(p.Diagnostics) == 0 || p.Diagnostics[0].Line != 1) {
				t.Errorf("diagnostics %v, want one of line 1", p.Diagnostics)
			}
		})
	}
}

func TestTimeIsBounded(t *testing.T) {
	// Every lane of every warp of every block runs a long loop.
	slow := `{"source": "__shared__ float t[32]; for (int i = 0; i < 1000000; i++) for (int j = 0; j < 1000; j++) t[(i * j + threadIdx.x) % 32];", "block": [1024,1,1], "grid": [1000,1,1]}`
	start := time.Now()
	w := post(handlerFor(Options{Limits: Limits{Evaluate: 100 * time.Millisecond}}), "evaluate", slow)
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "too long") {
		t.Errorf("status %d: %.200s, want 422 for taking too long", w.Code, w.Body)
	}
	if took := time.Since(start); took > 3*time.Second && !testing.Short() {
		t.Errorf("ended after %v, want soon after 100ms", took)
	}
}

func TestHeavyQuestionsDoNotHoldUpQuickOnes(t *testing.T) {
	h := handlerFor(Options{Limits: Limits{AtOnce: 2, Slice: 20 * time.Millisecond, Evaluate: 800 * time.Millisecond}})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { post(h, "evaluate", hostile[0].body) })
	}
	time.Sleep(200 * time.Millisecond) // all of them have had their slice and wait for the slow lane
	start := time.Now()
	w := post(h, "evaluate", column)
	if took := time.Since(start); w.Code != 200 || took > 600*time.Millisecond && !testing.Short() {
		t.Errorf("status %d after %v, want 200 before one heavy question is over, 0.8s", w.Code, took)
	}
	group.Wait()
}

func TestTooManyQuestionsAreTurnedAway(t *testing.T) {
	h := handlerFor(Options{Limits: Limits{AtOnce: 1, Waiting: 1, Evaluate: 300 * time.Millisecond, Wait: 50 * time.Millisecond}})
	codes := make(chan *httptest.ResponseRecorder, 6)
	var group sync.WaitGroup
	for range cap(codes) {
		group.Go(func() { codes <- post(h, "evaluate", hostile[0].body) })
	}
	group.Wait()
	close(codes)
	counts := map[int]int{}
	for w := range codes {
		counts[w.Code]++
		if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
			t.Error("turned away without Retry-After")
		}
	}
	if counts[503] < 4 || counts[422] < 1 {
		t.Errorf("statuses %v, want at least four 503 and one 422", counts)
	}
	if w := post(h, "evaluate", column); w.Code != 200 {
		t.Errorf("afterwards: status %d, want 200", w.Code)
	}
}

func TestServeStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, Options{Ready: func(url string) { ready <- url }, Initial: &Document{Name: "a.cu", Source: "x"}})
	}()
	url := <-ready
	reply, err := http.Get(url + "initial.json")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reply.Body)
	reply.Body.Close()
	if err != nil || !bytes.Contains(body, []byte(`"a.cu"`)) {
		t.Errorf("initial document: %s, %v, want a.cu", body, err)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Serve ended with %v, want nil", err)
		}
	case <-time.After(shutdownTimeout + time.Second):
		t.Error("Serve still runs")
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the server still answers")
	}
}

func TestServeReportsABadAddress(t *testing.T) {
	if err := Serve(t.Context(), Options{Addr: "nowhere:none"}); err == nil {
		t.Error("got no error for an address that is none")
	}
}
