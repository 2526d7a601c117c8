package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Options say what is served and where. The zero value serves the page on a free port of the loopback interface.
type Options struct {
	Addr string // host:port to listen on; "" for 127.0.0.1:0
	// Hosts are names, besides those of the local machine and the address listened on, that a request may ask for. A
	// server behind another name or on all interfaces needs them.
	Hosts []string
	// Initial is what the page shows when its URL says nothing else; nil for an example.
	Initial *Document
	// Binary is machine code for the binary pane; nil for none.
	Binary *Binary
	Limits Limits
	// Ready, if set, is called with the URL of the page once the server listens.
	Ready func(url string)
}

// A Document is a source that the page opens with.
type Document struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Arch   string `json:"arch,omitempty"`
	Block  [3]int `json:"block"`
	Grid   [3]int `json:"grid"`
	// Defines are NAME=VALUE.
	Defines []string `json:"defines,omitempty"`
	Shared  int      `json:"dynamic_shared,omitempty"` // bytes
	Kernel  string   `json:"kernel,omitempty"`
}

// A Binary is a file of machine code: a cubin, a fatbin, or an executable, library or archive that holds some.
type Binary struct {
	Name string
	Data []byte // must not change while the server runs
}

// How long a connection may take outside of evaluations, and how long open ones get when the server stops.
const (
	headerTimeout   = 5 * time.Second
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 3 * time.Second
	maxHeaderBytes  = 16 << 10
)

// Serve serves the page until ctx ends, then lets open requests finish and returns nil. Other ends are errors.
func Serve(ctx context.Context, o Options) error {
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	limits := o.Limits.filled()
	server := &http.Server{
		Handler:           newHandler(o, listener.Addr()),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout + limits.Wait,
		WriteTimeout:      headerTimeout + limits.Wait + limits.Search,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// Evaluations end with the server, not only with their client.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	if o.Ready != nil {
		o.Ready(pageURL(listener.Addr()))
	}
	select {
	case err := <-stopped:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		server.Close()
	}
	if err := <-stopped; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// pageURL returns a URL that a browser on this machine can open.
func pageURL(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return "http://" + addr.String() + "/"
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("http://%s/", net.JoinHostPort(host, fmt.Sprint(tcp.Port)))
}
