package shmoo

import "testing"

func TestDirective(t *testing.T) {
	for _, test := range []struct {
		line, array, transform string
		col                    int
		ok                     bool
	}{
		{"// shmoo layout tile: Swizzle<3,4,3>\n", "tile", "Swizzle<3,4,3>", 22, true},
		{"x = 1; //shmoo\tlayout  a_1 :pad(+4 per 128 bytes)  \r\n", "a_1", "pad(+4 per 128 bytes)", 28, true},
		{"// see // shmoo layout t: id", "t", "id", 26, true},
		{"// shmoo layout t:", "t", "", 18, true},
		{"// shmoo: --block 32", "", "", 0, false},
		{"// shmoolayout t: id", "", "", 0, false},
		{"// shmoo layoutt: id", "", "", 0, false},
		{"// shmoo layout two words: id", "", "", 0, false},
		{"// shmoo layout : id", "", "", 0, false},
		{"shmoo layout t: id", "", "", 0, false},
		{"", "", "", 0, false},
	} {
		array, transform, col, ok := directive(test.line)
		if array != test.array || transform != test.transform || col != test.col || ok != test.ok {
			t.Errorf("%q: %q, %q, column %d, %v, want %q, %q, %d, %v", test.line, array, transform, col, ok,
				test.array, test.transform, test.col, test.ok)
		}
	}
}
