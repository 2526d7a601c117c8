package layout_test

import (
	"fmt"

	"shmoo/layout"
)

func ExampleCompare() {
	a, err := layout.Parse("Swizzle<3,3,3> o (64,64):(64,1)")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{
		"#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> on 64x64",
		"(64,64):(64,1)",
	} {
		b, err := layout.Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		c, err := layout.Compare(a, b)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c)
	}
	// Output:
	// equal (all 12 images of index bits over F2)
	// differ at index 1: offsets 72 and 64 (images of index bits over F2)
}

func ExampleParse_error() {
	_, err := layout.Parse("(8,64):(64,)")
	fmt.Println(err)
	// Output:
	// layout:1:12: got ')', want integer or '('
}
