package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"shmoo/gpu"
)

// A Cache is a compiler that keeps what another one made in a folder, by content: compiler, source, headers, architecture and
// options. Refused sources are not kept. Several processes may share a folder.
type Cache struct {
	Compiler gpu.Compiler
	Dir      string // made when it is first needed
}

var _ gpu.Compiler = (*Cache)(nil)

// Version returns the compiler's.
func (c *Cache) Version() string { return c.Compiler.Version() }

// Compile returns the kept cubin, or has the compiler make it. Its errors are the compiler's. A folder that cannot be used
// makes it slow, not wrong.
func (c *Cache) Compile(ctx context.Context, s gpu.Source) ([]byte, error) {
	path := filepath.Join(c.Dir, c.key(&s)+".cubin")
	if cubin, ok := readChecked(path); ok {
		return cubin, nil
	}
	cubin, err := c.Compiler.Compile(ctx, s)
	if err != nil {
		return nil, err
	}
	if os.MkdirAll(c.Dir, 0o755) == nil {
		sum := sha256.Sum256(cubin)
		_ = WriteFile(path, append(sum[:], cubin...)) // see above: not wrong
	}
	return cubin, nil
}

// key is a hash of all that a compilation depends on.
func (c *Cache) key(s *gpu.Source) string {
	h := sha256.New()
	add(h, c.Version(), s.Name, s.Text, s.Arch, fmt.Sprint(len(s.Options)))
	add(h, s.Options...)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		add(h, name, s.Headers[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// add hashes texts with their lengths, so that no two lists of texts run together.
func add(h hash.Hash, texts ...string) {
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t) // a hash takes everything
	}
}

// readChecked returns the content of a kept file if it is what was written: its hash, then the content.
func readChecked(path string) ([]byte, bool) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(b[sha256.Size:])
	return b[sha256.Size:], bytes.Equal(sum[:], b[:sha256.Size])
}

// WriteFile writes a file so that it is there whole or not at all, also when the process is killed.
func WriteFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file is renamed
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
