// Package access defines what every input produces: sites, and the requests that warps make at them.
//
// An input (a sketch, a binary, a trace, a pattern file) is a [Source]. Whoever wants numbers ranges over its accesses and
// resolves each request:
//
//	for a, err := range source.Accesses(ctx) {
//		if err != nil {
//			return err
//		}
//		site := source.Sites()[a.Site]
//		...
//	}
//
// A source of any length runs in constant memory: the element is reused from one step to the next.
//
// Limits: shared memory of one block is one flat space of byte offsets.
package access

import (
	"context"
	"iter"

	"shmoo/diag"
	"shmoo/smem"
)

// A Site is one access instruction: a source position or a program counter.
type Site struct {
	Pos   diag.Span
	PC    uint64 // byte offset in the kernel's code, for machine code
	Array string // the shared array it names; "" when unknown
	Op    smem.Op
	Width int    // bytes per lane, as in smem.Request
	Instr string // the instruction as the machine has it, such as "LDS.64" or "LDSM.x4.trans"; may be predicted
	Text  string // the access as the user wrote it, such as "tile[threadIdx.x][k]"; "" when unknown
	// Inlined is the chain of calls that the site was inlined through, innermost first.
	Inlined []diag.Pos
}

// An Array is a shared array of a kernel.
type Array struct {
	Name      string
	Pos       diag.Span
	Offset    int // bytes from the start of the block's shared memory
	Size      int // bytes; 0 when open ended (extern)
	Type      string
	ElemBytes int
	Dims      []int // lengths, outermost first; the innermost is contiguous
	Dynamic   bool  // extern __shared__
}

// Covers reports whether the byte at offset belongs to the array.
func (a *Array) Covers(offset int) bool {
	return offset >= a.Offset && (a.Size == 0 || offset < a.Offset+a.Size)
}

// An Access is one execution of a site by a warp, or several that are equal.
type Access struct {
	Site    int // index into Source.Sites
	Block   int // linear index of the block
	Warp    int // index of the warp in its block
	Request smem.Request
	Count   int64 // how many equal executions it stands for: at least 1
	// Unresolved says why the addresses are not known; then only Request.Active means anything. "" for a known request.
	Unresolved string
}

// A Source turns an input into accesses. Sites and Arrays are complete before and stay the same while Accesses runs.
type Source interface {
	// Sites returns the site table. The caller must not change it.
	Sites() []Site
	// Arrays returns the shared arrays that the input declares, if it names any.
	Arrays() []Array
	// Accesses yields every access. The element is valid until the next step. A non-nil error ends the sequence.
	Accesses(ctx context.Context) iter.Seq2[*Access, error]
}
