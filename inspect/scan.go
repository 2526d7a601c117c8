package inspect

import (
	"encoding/binary"

	"shmoo/cubin"
	"shmoo/sass"
	"shmoo/smem"
)

// sharedOps are the operations whose lanes address shared memory.
var sharedOps = map[sass.Op]smem.Op{
	sass.LDS:    smem.Load,
	sass.STS:    smem.Store,
	sass.LDSM:   smem.LoadMatrix,
	sass.STSM:   smem.StoreMatrix,
	sass.ATOMS:  smem.Atomic,
	sass.LDGSTS: smem.CopyAsync,
}

// opcodes is the number of values of the opcode field, 13 bits.
const opcodes = 1 << 13

// opcode returns the field that tells operations apart: bits 0 to 11, and bit 91 above them.
func opcode(w sass.Word) int { return int(w.Lo&0xfff | w.Hi>>27&1<<12) }

// scanner finds the shared-memory instructions of kernels of one generation. Most of the code is other instructions,
// so it remembers by opcode whether they concern shared memory, and decodes in full only those that do.
type scanner struct {
	arch sass.Arch
	seen [opcodes]opcodeClass
	inst sass.Inst
}

// opcodeClass is what the scanner knows of an opcode.
type opcodeClass uint8

const (
	classNew    opcodeClass = iota // not decoded yet
	classOther                     // decoded: does not concern shared memory
	classShared                    // decoded: a shared-memory operation or an engine that moves shared memory
)

// kernel calls do for every instruction that accesses shared memory, by lanes or by an engine, with an element that is
// reused. Instructions that never execute, which compilers put in front of asynchronous copies, are passed over. It returns
// the number of instructions whose opcode the decoder does not know; they may be anything.
func (s *scanner) kernel(k *cubin.Kernel, do func(pc uint32, i *sass.Inst)) (unknown int) {
	for pc := 0; pc+sass.Size <= len(k.Code); pc += sass.Size {
		w := wordAt(k.Code, pc)
		class := &s.seen[opcode(w)]
		if *class == classOther {
			continue
		}
		if err := sass.DecodeWord(&s.inst, s.arch, w); err != nil {
			unknown++
			continue
		}
		*class = classOther
		if isShared(&s.inst) || isEngine(&s.inst) {
			*class = classShared
			if !s.inst.Guard.Never() {
				do(uint32(pc), &s.inst)
			}
		}
	}
	return unknown
}

// isShared tells whether lanes of an instruction address shared memory.
func isShared(i *sass.Inst) bool {
	_, ok := sharedOps[i.Op]
	return ok
}

// isEngine tells whether an instruction starts an engine that reads or writes shared memory by itself.
func isEngine(i *sass.Inst) bool {
	a, ok := i.Access()
	return ok && a.Kind == sass.Engine
}

func wordAt(code []byte, pc int) sass.Word {
	b := code[pc : pc+sass.Size]
	return sass.Word{Lo: binary.LittleEndian.Uint64(b), Hi: binary.LittleEndian.Uint64(b[8:])}
}

// widthOf returns the bytes that an access moves for each lane, as smem.Request counts them: for matrices 4 bytes each;
// 0 for an engine.
func widthOf(i *sass.Inst) int {
	if !isShared(i) {
		return 0
	}
	switch i.Op {
	case sass.LDSM, sass.STSM:
		return 4 * max(int(i.Mods[sass.ModNum]), 1)
	case sass.ATOMS:
		return atomicWidth(i)
	}
	return i.Width().Bytes()
}

// atomicWidth is the size of the operand of an atomic: 64-bit operations take a register pair.
func atomicWidth(i *sass.Inst) int {
	for _, role := range []sass.Role{sass.RoleData, sass.RoleD} {
		if o := i.Arg(role); o != nil && o.Count > 0 {
			return 4 * int(o.Count)
		}
	}
	return 4
}

// mnemonic returns an instruction's name with its modifiers as the disassembly has it: "LDS.64".
func mnemonic(text []byte) string {
	if len(text) > 0 && text[0] == '@' {
		for i, c := range text {
			if c == ' ' {
				text = text[i+1:]
				break
			}
		}
	}
	for i, c := range text {
		if c == ' ' {
			return string(text[:i])
		}
	}
	return string(text)
}
