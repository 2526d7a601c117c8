package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func generate(text string) (string, error) {
	files, err := Generate(fstest.MapFS{"t.txt": {Data: []byte(text)}})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, f := range files {
		b.Write(f.Text)
	}
	return b.String(), nil
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"columns", "202 | 70+ | MOV | D B |", "t.txt:1: got 5 columns, want 6"},
		{"no source", "202 | 70+ | MOV | D B | | ", "no source"},
		{"opcode too wide", "2202 | 70+ | MOV | D B | | V", `opcode "2202"`},
		{"unknown family", "202 | 61+ | MOV | D B | | V", "families"},
		{"unknown enum", "202 | 70+ | MOV .x@74 | D B | | V", "no such enum"},
		{"field of another width", "enum e - 2 A B C D\n202 | 70+ | MOV .e@74:3 | D B | | V", "field has 3 bits, enum 2"},
		{"constant too large", "enum e - 1 A B\n202 | 70+ | MOV .e=2 | D B | | V", "does not fit 1 bits"},
		{"form without operand C", "002 | 70+ | MOV | D C | | V", "no such operand"},
		{"attribute", "202 | 70+ | MOV | D,what B | | V", `attribute "what"`},
		{"unknown count", "202 | 70+ | MOV | D,*n@3 B | | V", "no such table"},
		{"memory part", "984 | 70+ | LDS | D M(z24) | | V", `memory part "z"`},
		{"nine operands", "210 | 70+ | IADD3 | D Pu Pv A B C Pp Pq Pr | | V", "want at most 8"},
		{"hidden row", "202 | 70+ | MOV | D B | | V\n202 | 80 | MOV | D B | | V", "hidden by t.txt:1"},
		{"unused enum", "enum e - 1 A B", "no row uses it"},
		{"enum value too large", "enum e - 1 A B C", "does not fit 1 bits"},
		{"field outside the instruction", "enum e - 4 A\n202 | 70+ | MOV .e@126 | D B | | V", "inside 128 bits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := generate(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFormsExpand(t *testing.T) {
	got, err := generate("202 802 1c02 | 75+ | MOV | D B | | V")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"{kind: akReg, role: RoleB, at: field{lo: 32, width: 8}",
		"{kind: akImm, role: RoleB, at: field{lo: 32, width: 32}",
		"{kind: akUReg, role: RoleB, at: field{lo: 32, width: 8}",
		"op13: 0x1c02, fams: 0x3e",
		"// MOV\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("generated text has no %q:\n%s", want, got)
		}
	}
}
