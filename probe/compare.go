package probe

import (
	"context"
	"fmt"
	"io"

	"shmoo/gpu"
	"shmoo/gpu/replay"
	"shmoo/pattern"
	"shmoo/smem"
)

// Compare holds a recording against a unit: every pattern must take the unit's cycles to within half a cycle. It is
// pattern.Replay of the file that replay.Write makes of the recording, and its disagreements name that file's lines.
func Compare(ctx context.Context, r *gpu.Recording, unit *smem.Unit) (*pattern.Result, error) {
	name := r.File
	if name == "" {
		name = "probe"
	}
	read, write := io.Pipe()
	go func() { write.CloseWithError(replay.Write(write, r)) }() // ends when all is read or the reader is closed
	defer read.Close()
	reader, err := pattern.NewReader(read, name)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	return pattern.Replay(ctx, reader, unit)
}
