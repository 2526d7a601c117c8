//go:build !js

package eval

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"shmoo/cubin"
	"shmoo/inspect"
)

// Binary is a file of machine code: a cubin, a fatbin, or an executable, library or archive that holds some. Make one with
// a composite literal; it must not be copied after use.
type Binary struct {
	Name string
	Data []byte

	list sync.Mutex // held while the kernels are listed
	all  *inspect.Listing
}

// Limits of what is sent about a binary.
const (
	maxKernels = 400
	maxLines   = 30000
)

// KernelsQuestion asks for the kernels of the binary.
type KernelsQuestion struct {
	Search string `json:"search"` // words that the names contain, in any order and case
}

// Kernels is the reply to "kernels".
type Kernels struct {
	Kernels []inspect.Kernel `json:"kernels"` // elements of what shmoo ls --json writes
	Matches int              `json:"matches"` // how many match; Kernels may have fewer
	Total   int              `json:"total"`
}

// CodeQuestion asks for the machine code of one kernel.
type CodeQuestion struct {
	Kernel string `json:"kernel"` // its mangled name
	Arch   string `json:"arch"`
}

// Code is the reply to "code".
type Code struct {
	Lines     []CodeLine `json:"lines"`
	Truncated bool       `json:"truncated"`
}

// CodeLine is a line of a listing: an instruction, or the place in the source that those below come from.
type CodeLine struct {
	Text string `json:"text"`
	PC   int64  `json:"pc"` // -1 for what is no instruction
	// File and Line are where the instruction comes from, as far as the build kept that.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

func withBinaries(calls map[string]call) map[string]call {
	calls["kernels"] = answer(listKernels)
	calls["code"] = answer(listCode)
	return calls
}

// listing reads the binary once.
func (b *Binary) listing(ctx context.Context) (*inspect.Listing, error) {
	b.list.Lock()
	defer b.list.Unlock()
	if b.all != nil {
		return b.all, nil
	}
	f, err := cubin.Read(bytes.NewReader(b.Data), int64(len(b.Data)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := inspect.Kernels(ctx, f, inspect.Options{})
	if err != nil {
		return nil, err
	}
	b.all = all
	return all, nil
}

func listKernels(ctx context.Context, m *Model, q *KernelsQuestion) (*Kernels, error) {
	if m.Binary == nil {
		return nil, errNoBinary
	}
	all, err := m.Binary.listing(ctx)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(q.Search))
	out := &Kernels{Kernels: []inspect.Kernel{}, Total: len(all.Kernels)}
	for i := range all.Kernels {
		k := &all.Kernels[i]
		if !containsAll(strings.ToLower(k.Name+" "+k.Demangled+" "+k.Target), words) {
			continue
		}
		out.Matches++
		if len(out.Kernels) < maxKernels {
			out.Kernels = append(out.Kernels, *k)
		}
	}
	return out, nil
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func listCode(ctx context.Context, m *Model, q *CodeQuestion) (*Code, error) {
	if m.Binary == nil {
		return nil, errNoBinary
	}
	options := inspect.DisasmOptions{}
	var err error
	if options.Arch, err = inspect.ParseArch(q.Arch); err != nil {
		return nil, err
	}
	options.Kernel = regexp.MustCompile("^" + regexp.QuoteMeta(q.Kernel) + "$")
	f, err := cubin.Read(bytes.NewReader(m.Binary.Data), int64(len(m.Binary.Data)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text strings.Builder
	if err := inspect.Disassemble(ctx, &text, f, options); err != nil {
		return nil, err
	}
	code := parseCode(text.String())
	if len(code.Lines) == 0 {
		return nil, fmt.Errorf("no kernel %q", q.Kernel)
	}
	return code, nil
}

// The two kinds of lines that matter in a listing: "/*0040*/  STS [R1], R2 ;" and "// file.cu:8".
var (
	instruction = regexp.MustCompile(`^\s*/\*([0-9a-f]+)\*/\s*(.*?)\s*$`)
	place       = regexp.MustCompile(`^\s*// (.*):(\d+)(?: .*)?$`)
)

func parseCode(text string) *Code {
	c := &Code{Lines: []CodeLine{}}
	file, line := "", 0
	for text := range strings.Lines(text) {
		if len(c.Lines) == maxLines {
			c.Truncated = true
			break
		}
		text = strings.TrimRight(text, "\r\n")
		if m := instruction.FindStringSubmatch(text); m != nil {
			pc, err := strconv.ParseInt(m[1], 16, 64)
			if err == nil {
				c.Lines = append(c.Lines, CodeLine{Text: m[2], PC: pc, File: file, Line: line})
				continue
			}
		}
		if m := place.FindStringSubmatch(text); m != nil {
			file = m[1]
			line, _ = strconv.Atoi(m[2]) // digits; a number too large is no line
		}
		c.Lines = append(c.Lines, CodeLine{Text: strings.TrimSpace(text), PC: -1, File: file, Line: line})
	}
	return c
}
