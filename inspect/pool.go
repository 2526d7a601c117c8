package inspect

import (
	"sync"

	"shmoo/cubin"
	"shmoo/sass"
)

// scannerPool keeps scanners with what they have learnt, one list for each generation.
type scannerPool struct {
	mu   sync.Mutex
	free map[sass.Arch][]*scanner
}

func newScanners() *scannerPool { return &scannerPool{free: make(map[sass.Arch][]*scanner)} }

func (p *scannerPool) get(k *cubin.Kernel) (*scanner, error) {
	a, err := archOf(k)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free[a]); n > 0 {
		s := p.free[a][n-1]
		p.free[a] = p.free[a][:n-1]
		return s, nil
	}
	return &scanner{arch: a}, nil
}

func (p *scannerPool) put(s *scanner) {
	p.mu.Lock()
	p.free[s.arch] = append(p.free[s.arch], s)
	p.mu.Unlock()
}

// nameCache keeps what names of kernels tell. A library has most of its kernels once for every target.
type nameCache struct {
	mu   sync.Mutex
	seen map[string]kernelName
}

// kernelName is what a mangled name tells.
type kernelName struct {
	demangled string
	types     []string // of the parameters; nil if the name does not tell
}

func newNames() *nameCache { return &nameCache{seen: make(map[string]kernelName)} }

func (c *nameCache) of(k *cubin.Kernel) kernelName {
	c.mu.Lock()
	n, ok := c.seen[k.Name]
	c.mu.Unlock()
	if ok {
		return n
	}
	n = kernelName{k.Demangled(), k.ParamTypes()}
	c.mu.Lock()
	c.seen[k.Name] = n
	c.mu.Unlock()
	return n
}
