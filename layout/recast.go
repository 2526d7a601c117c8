package layout

import "fmt"

// Recast turns the number of an element of that many bytes into its byte offset. In a composition it prints as CuTe
// does, smem_ptr[16b](unset), and what stands left of it acts on bytes.
type Recast uint32

// Map returns the byte offset of element n.
func (r Recast) Map(n uint32) uint32 { return n * uint32(r) }

// Extent returns the bytes of n elements.
func (r Recast) Extent(n uint64) uint64 { return n * uint64(r) }

// Granule is 1: byte offsets of an element's inside have no counterpart before the recast.
func (Recast) Granule() uint32 { return 1 }

// Cost is zero: scaling is part of every address.
func (Recast) Cost() Cost { return Cost{} }

func (r Recast) String() string { return fmt.Sprintf("smem_ptr[%db](unset)", 8*uint32(r)) }
