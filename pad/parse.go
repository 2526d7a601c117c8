package pad

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shmoo/space"
)

// ParseChunks reads what the chunk flag takes: run lengths in elements, as a list with ranges such as "32,64..256:64".
func ParseChunks(text string) ([]int, error) {
	values, err := space.ParseValues(text)
	if err != nil {
		return nil, fmt.Errorf("chunk: %w", err)
	}
	return chunksOf(values)
}

// ParseDTypes reads what the dtype flag takes: names of element types, as a list such as "f16,bf16,f32".
func ParseDTypes(text string) ([]DType, error) {
	values, err := space.ParseValues(text)
	if err != nil {
		return nil, fmt.Errorf("dtype: %w", err)
	}
	return dtypesOf(values)
}

// ParseWidths reads what the width flag takes: "auto", which gives nil, or widths in bits such as "64" or "32,128".
func ParseWidths(text string) ([]int, error) {
	if text == "auto" {
		return nil, nil
	}
	var in []int
	for field := range strings.SplitSeq(text, ",") {
		width, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || !slices.Contains([]int{8, 16, 32, 64, 128}, width) {
			return nil, fmt.Errorf("width: got %q, want auto, or 8, 16, 32, 64 or 128 bits", field)
		}
		in = append(in, width)
	}
	return in, nil
}

func chunksOf(values []space.Value) ([]int, error) {
	chunks := make([]int, 0, len(values))
	for _, v := range values {
		if !v.IsInt() {
			return nil, fmt.Errorf("chunk: got %s, want a whole number of elements", v)
		}
		if err := checkChunk(v.Int); err != nil {
			return nil, err
		}
		chunks = append(chunks, int(v.Int))
	}
	return chunks, nil
}

// checkChunk refuses runs that make no sense or overflow.
func checkChunk(chunk int64) error {
	if chunk < 1 || chunk > maxChunk {
		return fmt.Errorf("chunk: got %d elements, want 1 to %d", chunk, maxChunk)
	}
	return nil
}

func dtypesOf(values []space.Value) ([]DType, error) {
	dtypes := make([]DType, 0, len(values))
	for _, v := range values {
		d, err := LookupDType(v.String())
		if err != nil {
			return nil, err
		}
		dtypes = append(dtypes, d)
	}
	return dtypes, nil
}
