// Package gf2 is exact linear algebra over F2, the field of two elements, on vectors of at most 64 bits.
//
// A vector is a uint64: bit i is coordinate i, addition is XOR. A [Matrix] is a linear map; row i is the mask of the
// input bits whose parity is output bit i. A [Space] is a linear subspace, kept in reduced echelon form, so two equal
// spaces have equal bases.
//
// Shared-memory addresses meet this algebra because a swizzle is a linear map of address bits: XOR of shifted fields.
// Example: a swizzle that adds address bits 7..9 onto bits 4..6 is the 10x10 identity with three more ones,
//
//	rows[4] = 1<<4 | 1<<7
//	rows[5] = 1<<5 | 1<<8
//	rows[6] = 1<<6 | 1<<9
//
// and the question whether eight lanes that differ in bits 7..9 meet in one bank is a question of rank: restrict the
// map to the bank bits (rows 2..6), apply it to the space spanned by bits 7..9; the lanes fall into 2^rank banks.
//
// What can be done: rank, kernel, image, preimage of a vector (Solve), inverse, composition; sum, intersection,
// complement and annihilator of spaces. Everything is exact; nothing here is randomised or approximate.
//
// Limits: 64 input and 64 output bits. Rectangular and singular matrices are fine. Values that do not fit the stated
// widths are errors, never truncated.
package gf2
