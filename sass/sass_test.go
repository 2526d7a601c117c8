package sass

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	cmd := exec.Command("go", "run", "./gen", "-check")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, bytes.TrimSpace(out))
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		name string
		arch Arch
		code []byte
		want error
	}{
		{"empty", SM80, nil, ErrTruncated},
		{"15 bytes", SM80, make([]byte, 15), ErrTruncated},
		{"unknown architecture", 61, make([]byte, 16), ErrArch},
		{"zero word", SM80, make([]byte, 16), ErrUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Decode(tt.arch, tt.code); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestParseArch(t *testing.T) {
	for s, want := range map[string]Arch{"sm_86": SM86, "90a": SM90, "compute_100f": SM100, "sm_120a": SM120} {
		if got, err := ParseArch(s); err != nil || got != want {
			t.Errorf("ParseArch(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "sm_61", "sm_", "sm_300", "gfx90a"} {
		if got, err := ParseArch(s); err == nil {
			t.Errorf("ParseArch(%q) = %v, want an error", s, got)
		}
	}
}

// TestAccess checks what consumers read from memory instructions. The words are the notes' own examples.
func TestAccess(t *testing.T) {
	tests := []struct {
		text     string
		arch     Arch
		word     Word
		want     Access
		shared   bool
		reg      uint8
		shift    uint8
		ureg     uint8
		offset   int64
		dataRegs uint8
	}{
		{"LDS.128 R28, [R2+-0x80]", SM86, Word{0xffff8000021c7984, 0xc00}, Access{SpaceShared, Load, 16, 0, RoleAddr}, true, 2, 0, URZ, -0x80, 4},
		{"@!P1 LDS.64 R8, [R0.X8]", SM86, Word{0x0000000000089984, 0x8a00}, Access{SpaceShared, Load, 8, 0, RoleAddr}, true, 0, 3, URZ, 0, 2},
		{"LDS.64 R54, [R91+UR7+0x200]", SM86, Word{0x000200075b367984, 0x08000a00}, Access{SpaceShared, Load, 8, 0, RoleAddr}, true, 91, 0, 7, 0x200, 2},
		{"@!P0 STS [0x5004], R15", SM86, Word{0x0050040fff008388, 0x800}, Access{SpaceShared, Store, 4, 0, RoleAddr}, true, RZ, 0, URZ, 0x5004, 1},
		{"LDSM.16.M88.4 R88, [R2+0x800]", SM86, Word{0x000800000258783b, 0x200}, Access{SpaceShared, Load, 16, 4, RoleAddr}, true, 2, 0, URZ, 0x800, 4},
		{"ATOMS.MIN.S32 RZ, [0x5008], R16", SM86, Word{0x00500810ffff738c, 0x800200}, Access{SpaceShared, Atomic, 4, 0, RoleAddr}, true, RZ, 0, URZ, 0x5008, 1},
		{"LDGSTS.E.BYPASS.LTC128B.128 [R38+0x80], [R44.64+0x80]", SM86, Word{0x000800802c267fae, 0x0b901d7f}, Access{SpaceShared, AsyncCopy, 16, 0, RoleAddr}, true, 38, 0, URZ, 0x80, 0},
		{"LDGSTS.E.LTC64B.128 [R111+0xb480], desc[UR10][R104.64]", SM120, Word{0x0b480000686f7fae, 0x0b98190a}, Access{SpaceShared, AsyncCopy, 16, 0, RoleAddr}, true, 111, 0, URZ, 0xb480, 0},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var i Inst
			if err := DecodeWord(&i, tt.arch, tt.word); err != nil {
				t.Fatal(err)
			}
			a, shared := i.SharedAccess()
			if a != tt.want || shared != tt.shared {
				t.Errorf("access %+v, %v, want %+v, %v", a, shared, tt.want, tt.shared)
			}
			o := i.Arg(a.Addr)
			if o.Reg != tt.reg || o.Shift != tt.shift || o.UReg != tt.ureg || o.Imm != tt.offset {
				t.Errorf("address R%d<<%d + UR%d + %#x, want R%d<<%d + UR%d + %#x", o.Reg, o.Shift, o.UReg, o.Imm, tt.reg, tt.shift, tt.ureg, tt.offset)
			}
			data := i.Arg(RoleData)
			if data == nil {
				data = i.Arg(RoleD)
			}
			if data != nil && data.Count != tt.dataRegs {
				t.Errorf("data spans %d registers, want %d", data.Count, tt.dataRegs)
			}
		})
	}
}

// TestDestinationCounts checks the number of registers written where a wrong one would destroy the data flow of its neighbours.
func TestDestinationCounts(t *testing.T) {
	tests := []struct {
		prefix string
		want   uint8
	}{
		{"HMMA.16816.F32 ", 4}, {"HMMA.16816.F16 ", 2}, {"HMMA.1688.F16 ", 2}, {"IMMA.8816.", 2}, {"IMMA.16832.", 4},
		{"DMMA.884 ", 4}, {"MOVM.", 1}, {"IMAD.WIDE.U32 ", 2}, {"IMAD.HI", 1}, {"LEPC ", 2}, {"CS2R R", 2}, {"CS2R.32 ", 1},
		{"LDG.E.128", 4}, {"LDC.64 ", 2}, {"ULDC.64 ", 2}, {"SHFL.", 1}, {"F2F.F64.F32 ", 2}, {"I2F.F64 ", 2}, {"DFMA ", 2}, {"IADD.64 ", 2},
		{"HGMMA.64x32x16.F32", 16}, {"LDCU.64 ", 2}, {"ATOMS.CAS.64 ", 2}, {"UIMAD.WIDE ", 2}, {"LDSM.16.MT88.2 ", 2},
	}
	seen := make([]bool, len(tests))
	for _, v := range allVectors(t) {
		text := v.text
		if strings.HasPrefix(text, "@") {
			_, text, _ = strings.Cut(text, " ")
		}
		for n, tt := range tests {
			if !strings.HasPrefix(text, tt.prefix) {
				continue
			}
			seen[n] = true
			var i Inst
			if err := DecodeWord(&i, v.arch, v.word); err != nil {
				t.Errorf("%s: %v", v.where, err)
				continue
			}
			if d := i.Dst(); d == nil || d.Count != tt.want {
				t.Errorf("%s: %s: destination %+v, want %d registers", v.where, v.text, d, tt.want)
			}
		}
	}
	for n, ok := range seen {
		if !ok {
			t.Errorf("no vector starts with %q", tests[n].prefix)
		}
	}
}

// TestRoles checks that no instruction has a role twice.
func TestRoles(t *testing.T) {
	for n := 1; n < len(rowTab); n++ {
		var seen [256]bool
		for _, a := range rowTab[n].args {
			r := argTab[a].role
			if seen[r] {
				t.Errorf("row %d (opcode %x, %s): role %d twice", n, rowTab[n].op13, rowTab[n].name, r)
			}
			seen[r] = true
		}
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	w := Word{0x000800000258783b, 0x200}
	buf := make([]byte, 0, 128)
	var i Inst
	if n := testing.AllocsPerRun(100, func() {
		if err := DecodeWord(&i, SM86, w); err != nil {
			t.Fatal(err)
		}
		buf = i.AppendText(buf[:0], 0)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// FuzzDecode: any 16 bytes on any generation decode to an instruction with text or to ErrUnknown, and never change the encoding.
func FuzzDecode(f *testing.F) {
	for _, v := range allVectors(f) {
		f.Add(uint8(v.arch), v.word.Lo, v.word.Hi)
	}
	f.Fuzz(func(t *testing.T, arch uint8, lo, hi uint64) {
		var i Inst
		err := DecodeWord(&i, Arch(arch), Word{lo, hi})
		if errors.Is(err, ErrArch) {
			return
		}
		if err != nil && (i.Op != OpInvalid || i.NArgs != 0) {
			t.Errorf("unknown instruction with operation %v and %d operands", i.Op, i.NArgs)
		}
		if i.Enc != (Word{lo, hi}) {
			t.Errorf("encoding changed")
		}
		if len(i.AppendText(nil, 0)) == 0 {
			t.Errorf("no text")
		}
		i.Access()
		i.Target(0)
	})
}
