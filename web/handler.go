package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"shmoo/web/eval"
)

// handler answers all requests of the server.
type handler struct {
	limits    Limits
	model     eval.Model
	lanes     *lanes
	hosts     []string // lower case, with or without port
	initial   []byte
	assets    map[string]asset
	crossSite *http.CrossOriginProtection
}

func newHandler(o Options, addr net.Addr) http.Handler {
	h := &handler{
		limits: o.Limits.filled(), hosts: hostsOf(addr, o.Hosts), assets: assets(), crossSite: http.NewCrossOriginProtection(),
	}
	h.lanes = newLanes(h.limits)
	if b := o.Binary; b != nil {
		h.model.Binary = &eval.Binary{Name: b.Name, Data: b.Data}
	}
	h.initial = []byte("null\n")
	if o.Initial != nil {
		// A Document has nothing that could fail to encode.
		h.initial, _ = json.Marshal(o.Initial)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.asset)
	mux.HandleFunc("GET /{name}", h.asset)
	mux.HandleFunc("GET /initial.json", h.document)
	mux.HandleFunc("POST /api/{name}", h.call)
	return h.guard(mux)
}

// policy keeps the page from loading or running anything but its own files. Pictures are made in the page (blob, data).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard sets the headers of every reply and refuses requests that a page of another origin could have caused.
func (h *handler) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cache-Control", "no-cache")
		if !h.knows(r.Host) {
			// A name that resolves to this machine but is not one of its names: DNS rebinding, or a proxy that has to be allowed.
			http.Error(w, fmt.Sprintf("host %q is not served here", r.Host), http.StatusMisdirectedRequest)
			return
		}
		if err := h.checkOrigin(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkOrigin refuses requests made by pages of another origin. Browsers send Origin with every POST and Sec-Fetch-Site
// with everything; programs that are no browser send neither and are not what this protects against.
func (h *handler) checkOrigin(r *http.Request) error {
	if err := h.crossSite.Check(r); err != nil {
		return err
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if _, host, ok := strings.Cut(origin, "://"); !ok || !strings.EqualFold(host, r.Host) {
			return fmt.Errorf("origin %q is not served here", origin)
		}
	}
	return nil
}

// hostsOf lists the values of the Host header that are answered.
func hostsOf(addr net.Addr, more []string) []string {
	var hosts []string
	for _, name := range more {
		hosts = append(hosts, strings.ToLower(name))
	}
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return hosts
	}
	names := []string{"localhost", "127.0.0.1", "::1"}
	if !tcp.IP.IsUnspecified() {
		names = append(names, tcp.IP.String())
	}
	for _, name := range names {
		hosts = append(hosts, net.JoinHostPort(name, fmt.Sprint(tcp.Port)))
	}
	return hosts
}

func (h *handler) knows(host string) bool {
	host = strings.ToLower(host)
	if slices.Contains(h.hosts, host) {
		return true
	}
	name, _, err := net.SplitHostPort(host)
	return err == nil && slices.Contains(h.hosts, name)
}

func (h *handler) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if name == "" {
		name = "index.html"
	}
	a, ok := h.assets[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("ETag", a.tag)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(a.data)
}

func (h *handler) document(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(h.initial)
}

// call answers POST /api/NAME.
func (h *handler) call(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !slices.Contains(eval.Names(), name) {
		writeProblem(w, http.StatusNotFound, &eval.UnknownCallError{Name: name})
		return
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
		writeProblem(w, http.StatusUnsupportedMediaType, fmt.Errorf("content type %q, want application/json", kind))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.limits.Body))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		writeProblem(w, http.StatusRequestEntityTooLarge, fmt.Errorf("body of more than %d bytes", tooLarge.Limit))
		return
	}
	if err != nil {
		writeProblem(w, http.StatusBadRequest, err)
		return
	}
	reply, err := h.answer(r.Context(), name, body)
	if err != nil {
		status := statusOf(err)
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		writeProblem(w, status, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(reply)
}

// answer evaluates a question when its turn comes.
func (h *handler) answer(ctx context.Context, name string, body []byte) ([]byte, error) {
	leave, err := h.lanes.join()
	if err != nil {
		return nil, err
	}
	defer leave()
	if !isSearch(name) {
		reply, err := h.attempt(ctx, h.lanes.quick, h.limits.Slice, name, body)
		if !errors.Is(err, context.DeadlineExceeded) {
			return reply, err
		}
	}
	return h.attempt(ctx, h.lanes.slow, h.limits.timeOf(name), name, body)
}

func (h *handler) attempt(ctx context.Context, in lane, limit time.Duration, name string, body []byte) ([]byte, error) {
	leave, err := h.lanes.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return evaluate(ctx, &h.model, name, body)
}

// evaluate is eval.Model.Call. A panic is a bug in the model; it costs the client its answer, not everyone the server.
func evaluate(ctx context.Context, m *eval.Model, name string, body []byte) (reply []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &internalError{p, debug.Stack()}
		}
	}()
	return m.Call(ctx, name, body)
}

// An internalError is a panic of the model.
type internalError struct {
	cause any
	stack []byte
}

func (e *internalError) Error() string {
	return fmt.Sprintf("internal error, please report it with the sketch: %v\n%s", e.cause, e.stack)
}

func writeProblem(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(eval.ProblemOf(err)) // the client may be gone; there is no one else to tell
}
