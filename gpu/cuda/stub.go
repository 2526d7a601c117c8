//go:build nogpu || !(linux || windows) || !(amd64 || arm64)

package cuda

import (
	"context"

	"shmoo/gpu"
)

func missing() error {
	return &gpu.NoDriverError{Reason: "this program was built without GPU support"}
}

// Devices returns a *gpu.NoDriverError in this build.
func Devices(context.Context) ([]gpu.Info, error) { return nil, missing() }

// Open returns a *gpu.NoDriverError in this build.
func Open(context.Context, int) (gpu.Device, error) { return nil, missing() }

// NewCompiler returns a *gpu.NoDriverError in this build.
func NewCompiler() (gpu.Compiler, error) { return nil, missing() }
