package gf2_test

import (
	"fmt"

	"shmoo/gf2"
)

// Eight rows of 128 bytes differ in address bits 7..9. Without a swizzle their banks, address bits 2..6, are equal; with
// one that adds bits 7..9 onto bits 4..6 they fall into 2^3 places.
func Example() {
	rows := gf2.Span(1<<7, 1<<8, 1<<9)
	for _, shift := range []int{0, 3} {
		bank := make([]uint64, 5)
		for i := range bank {
			bank[i] = 1 << (i + 2)
			if shift > 0 && i >= 2 {
				bank[i] |= 1 << (i + 2 + shift)
			}
		}
		m, err := gf2.FromRows(10, bank...)
		if err != nil {
			fmt.Println(err)
			return
		}
		var images []uint64
		for _, v := range rows.Basis() {
			images = append(images, m.Apply(v))
		}
		fmt.Println(gf2.Span(images...).Dim())
	}
	// Output:
	// 0
	// 3
}
