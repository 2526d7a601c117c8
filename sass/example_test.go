package sass_test

import (
	"fmt"

	"shmoo/sass"
)

func ExampleDecode() {
	// Two instructions of an sm_86 kernel, as they stand in its .text section.
	code := []byte{
		0x84, 0x79, 0x1c, 0x02, 0x00, 0x80, 0xff, 0xff, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x47, 0x89, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x03, 0x00, 0xea, 0x0f, 0x00,
	}
	for pc := 0; pc < len(code); pc += sass.Size {
		i, err := sass.Decode(sass.SM86, code[pc:])
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%04x %s\n", pc, i.AppendText(nil, uint64(pc)))
		if a, ok := i.SharedAccess(); ok {
			base := i.Arg(a.Addr)
			fmt.Printf("     shared, %d bytes per lane at R%d%+d into %d registers\n", a.Bytes, base.Reg, base.Imm, i.Dst().Count)
		}
	}
	// Output:
	// 0000 LDS.128 R28, [R2+-0x80]
	//      shared, 16 bytes per lane at R2-128 into 4 registers
	// 0010 @!P0 BRA 0x20
}
