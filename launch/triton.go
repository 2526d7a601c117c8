package launch

import (
	"encoding/json"
	"fmt"
)

// tritonWarp is the number of lanes of a warp that Triton counts in for NVIDIA targets.
const tritonWarp = 32

// isTriton reports whether a JSON document is Triton's metadata.
func isTriton(data []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(data, &m) == nil && m["num_warps"] != nil
}

// ParseTriton reads the metadata that Triton's cache keeps beside a cubin (KERNEL.json): the block follows from the number
// of warps, the dynamic shared memory is stated. The grid is not in it.
func ParseTriton(name string, data []byte) (*Launch, error) {
	var m struct {
		Name     string `json:"name"`
		NumWarps int    `json:"num_warps"`
		Shared   *int   `json:"shared"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m.NumWarps < 1 || m.NumWarps > 64 || m.Shared == nil || *m.Shared < 0 {
		return nil, fmt.Errorf("%s: num_warps and shared are not there, want Triton's metadata of a kernel", name)
	}
	return &Launch{Kernel: m.Name, Block: [3]int{m.NumWarps * tritonWarp, 1, 1}, DynamicShared: *m.Shared}, nil
}
