package launch

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Profile is what Nsight Compute recorded of one launch.
type Profile struct {
	Launch  Launch             // shape and dynamic shared memory where the file has them
	Metrics map[string]float64 // by ncu's name
	Source  []SourceRow        // per instruction, where the file holds the source page
}

// A SourceRow is one instruction of ncu's source page.
type SourceRow struct {
	PC                uint64 // from the kernel's first instruction
	Instruction       string
	Executed          int64 // by warps
	Wavefronts, Ideal int64 // of shared memory
}

// maxProfileRows bounds the rows of a profile.
const maxProfileRows = 1 << 22

// ReadProfiles reads what "ncu --csv" writes: its details page (a row per metric) or its source page (a table per kernel).
// Lines before the header, such as the program's own output, are passed over.
func ReadProfiles(name string, r io.Reader) ([]*Profile, error) {
	reader := csv.NewReader(r)
	reader.FieldsPerRecord = -1
	reader.LazyQuotes = true
	p := &profileReader{}
	for rows := 0; ; rows++ {
		row, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			if len(p.profiles) == 0 {
				return nil, fmt.Errorf("%s: no kernel found, want the output of ncu --csv", name)
			}
			return p.profiles, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case rows == maxProfileRows:
			return nil, fmt.Errorf("%s: more than %d rows", name, maxProfileRows)
		}
		if err := p.row(row); err != nil {
			line, _ := reader.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

type profileReader struct {
	profiles []*Profile
	columns  map[string]int
	byID     map[string]*Profile
	base     uint64
}

func (p *profileReader) row(row []string) error {
	switch {
	case slices.Contains(row, "Metric Name") && slices.Contains(row, "Kernel Name"):
		p.columns, p.byID = index(row), map[string]*Profile{}
		return nil
	case len(row) >= 2 && row[0] == "Kernel Name": // heads a table of the source page
		p.profiles = append(p.profiles, &Profile{Launch: Launch{Kernel: row[1]}, Metrics: map[string]float64{}})
		p.columns, p.byID = nil, nil
		return nil
	case len(p.profiles) > 0 && row[0] == "Address" && slices.Contains(row, "Source"):
		p.columns, p.base = index(row), 0
		return nil
	case p.columns == nil:
		return nil
	case p.byID != nil:
		return p.metric(row)
	}
	return p.source(row)
}

func index(header []string) map[string]int {
	columns := map[string]int{}
	for i, name := range header {
		columns[name] = i
	}
	return columns
}

// field returns a column of the row, "" where there is none.
func (p *profileReader) field(row []string, name string) string {
	if i, ok := p.columns[name]; ok && i < len(row) {
		return row[i]
	}
	return ""
}

// metric takes a row of the details page.
func (p *profileReader) metric(row []string) error {
	id := p.field(row, "ID")
	profile := p.byID[id]
	if profile == nil {
		profile = &Profile{Launch: Launch{Kernel: p.field(row, "Kernel Name")}, Metrics: map[string]float64{}}
		var err error
		if profile.Launch.Block, err = dims(p.field(row, "Block Size")); err != nil {
			return fmt.Errorf("block size: %w", err)
		}
		if profile.Launch.Grid, err = dims(p.field(row, "Grid Size")); err != nil {
			return fmt.Errorf("grid size: %w", err)
		}
		p.byID[id] = profile
		p.profiles = append(p.profiles, profile)
	}
	name, text := p.field(row, "Metric Name"), p.field(row, "Metric Value")
	value, err := number(text)
	if err != nil {
		return nil // many metrics are words
	}
	profile.Metrics[name] = value
	if name == "launch__shared_mem_per_block_dynamic" || name == "Dynamic Shared Memory Per Block" {
		profile.Launch.DynamicShared = int(value * unitBytes(p.field(row, "Metric Unit")))
	}
	return nil
}

// unitBytes returns the bytes of one unit as ncu names it, such as "Kbyte/block".
func unitBytes(unit string) float64 {
	switch {
	case strings.HasPrefix(unit, "K"):
		return 1000
	case strings.HasPrefix(unit, "M"):
		return 1e6
	}
	return 1
}

// source takes a row of the source page.
func (p *profileReader) source(row []string) error {
	address, err := strconv.ParseUint(strings.TrimPrefix(p.field(row, "Address"), "0x"), 16, 64)
	if err != nil {
		return nil // the page in another view: lines of CUDA C++ have no address
	}
	profile := p.profiles[len(p.profiles)-1]
	if p.base == 0 {
		p.base = address
	}
	r := SourceRow{PC: address - p.base, Instruction: strings.Join(strings.Fields(p.field(row, "Source")), " ")}
	for _, c := range [...]struct {
		name string
		to   *int64
	}{
		{"Instructions Executed", &r.Executed},
		{"L1 Wavefronts Shared", &r.Wavefronts},
		{"L1 Wavefronts Shared Ideal", &r.Ideal},
	} {
		if text := p.field(row, c.name); text != "" {
			value, err := number(text)
			if err != nil {
				return fmt.Errorf("%s: got %q, want a number", c.name, text)
			}
			*c.to = int64(value)
		}
	}
	profile.Source = append(profile.Source, r)
	return nil
}

// number parses a figure with or without separators of thousands.
func number(text string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
}

// dims parses "(32, 8, 1)".
func dims(text string) (s [3]int, err error) {
	if text == "" {
		return s, nil
	}
	fields := strings.Split(strings.Trim(text, "() "), ",")
	var list []int
	for _, f := range fields {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil {
			return s, fmt.Errorf("got %q, want one to three numbers", text)
		}
		list = append(list, n)
	}
	return shape("shape", list)
}
