//go:build !js

package shmoo

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"shmoo/pattern"
)

// isPattern recognises a pattern file by its compression or by the columns of its header.
func isPattern(data []byte) bool {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return true
	}
	header, _, _ := bytes.Cut(data, []byte("\n"))
	columns := strings.Split(strings.TrimSpace(string(header)), ",")
	for _, want := range []string{"op", "mask", "addresses"} {
		if !slices.Contains(columns, want) {
			return false
		}
	}
	return true
}

func openPattern(ctx context.Context, in *Input, data []byte, _ Options) error {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	source, err := pattern.NewSource(ctx, in.Name, open)
	if err != nil {
		return err
	}
	in.Source = source
	return nil
}
