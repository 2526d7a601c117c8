package emu

import (
	"errors"
	"fmt"
	"slices"

	"shmoo/access"
	"shmoo/diag"
	"shmoo/sass"
	"shmoo/smem"
)

const instSize = sass.Size

// maxText bounds the code of one kernel in bytes; the largest kernels known are a few megabytes.
const maxText = 64 << 20

// A Program is a kernel decoded once. It is read-only and may be launched any number of times, also at the same time.
type Program struct {
	code   Code
	layout *constLayout
	insts  []sass.Inst
	sites  []access.Site
	siteOf []int32 // by instruction; -1 where it is no shared-memory access
	regs   int     // general registers used
	flow   *flow
}

// NewProgram decodes a kernel. The code's slices stay the caller's but must not change afterwards.
func NewProgram(code Code) (*Program, error) {
	layout := layoutOf(code.Arch)
	if layout == nil || !sass.Arch(code.Arch).Known() {
		return nil, fmt.Errorf("emu: %s: architecture sm_%d: want sm_70 to sm_121", code.Name, code.Arch)
	}
	if len(code.Text) == 0 || len(code.Text)%instSize != 0 || len(code.Text) > maxText {
		return nil, fmt.Errorf("emu: %s: %d bytes of code: want a multiple of %d, at most %d", code.Name, len(code.Text),
			instSize, maxText)
	}
	if code.Entry%instSize != 0 || int(code.Entry) >= len(code.Text) {
		return nil, fmt.Errorf("emu: %s: entry 0x%x is not an instruction of the code", code.Name, code.Entry)
	}
	if code.ParamBase == 0 {
		code.ParamBase = layout.params
	}
	p := &Program{code: code, layout: layout}
	p.insts = make([]sass.Inst, len(code.Text)/instSize)
	p.siteOf = make([]int32, len(p.insts))
	for i := range p.insts {
		in, err := sass.Decode(sass.Arch(code.Arch), code.Text[i*instSize:])
		if err != nil && !errors.Is(err, sass.ErrUnknown) {
			return nil, fmt.Errorf("emu: %s: pc 0x%x: %w", code.Name, i*instSize, err)
		}
		p.insts[i] = in
		p.regs = max(p.regs, registersOf(&in))
		p.siteOf[i] = -1
		if op, width, ok := sharedAccess(&in); ok {
			p.siteOf[i] = int32(len(p.sites))
			p.sites = append(p.sites, p.site(i, op, width))
		}
	}
	p.flow = &flow{insts: p.insts, indirect: p.jumpTables()}
	return p, nil
}

// jumpTables returns the indirect targets by branch, leaving out what is no instruction.
func (p *Program) jumpTables() map[int32][]int32 {
	tables := map[int32][]int32{}
	for _, b := range p.code.Indirect {
		for _, t := range b.Targets {
			if b.PC%instSize == 0 && t%instSize == 0 && int(t/instSize) < len(p.insts) {
				at := int32(b.PC / instSize)
				if !slices.Contains(tables[at], int32(t/instSize)) {
					tables[at] = append(tables[at], int32(t/instSize))
				}
			}
		}
	}
	return tables
}

// Sites returns the shared-memory instructions of the kernel, by ascending PC. Generic loads and stores are among them;
// they count only where they address shared memory. The caller must not change the slice.
func (p *Program) Sites() []access.Site { return p.sites }

func (p *Program) site(index int, op smem.Op, width int) access.Site {
	pc := uint64(index) * instSize
	s := access.Site{PC: pc, Op: op, Width: width, Instr: siteName(&p.insts[index])}
	if p.code.Pos != nil {
		s.Pos, s.Inlined = p.code.Pos(pc)
	}
	return s
}

// place returns the source position of an instruction, "" where it has none.
func (p *Program) place(index int) string {
	if p.code.Pos == nil {
		return ""
	}
	span, _ := p.code.Pos(uint64(index) * instSize)
	if span == (diag.Span{}) {
		return ""
	}
	return span.Pos.String()
}

// registersOf returns one more than the highest general register that an instruction names.
func registersOf(in *sass.Inst) int {
	n := 0
	for k := range in.Args[:in.NArgs] {
		o := &in.Args[k]
		switch o.Kind {
		case sass.KindReg, sass.KindAddr, sass.KindConst, sass.KindCx:
			if o.Reg == sass.RZ {
				continue
			}
			count := int(max(o.Count, 1))
			if o.Is(sass.FlagWide) {
				count = max(count, 2)
			}
			n = max(n, int(o.Reg)+count)
		}
	}
	return n
}

// accessKinds maps the operations that reach shared memory to what the unit does.
var accessKinds = map[sass.Op]smem.Op{
	sass.LDS: smem.Load, sass.STS: smem.Store, sass.LDSM: smem.LoadMatrix, sass.STSM: smem.StoreMatrix,
	sass.ATOMS: smem.Atomic, sass.LDGSTS: smem.CopyAsync,
	sass.LD: smem.Load, sass.ST: smem.Store, sass.ATOM: smem.Atomic, sass.RED: smem.Reduce,
}

// bypassBit is the bit of LDGSTS that says whether it goes through L1 (1, .ACCESS) or past it (0, .BYPASS).
const bypassBit = 81

// sharedAccess returns the operation and width in bytes per lane of an instruction that reaches shared memory, or may (the
// generic ones).
func sharedAccess(in *sass.Inst) (op smem.Op, width int, ok bool) {
	op, ok = accessKinds[in.Op]
	if !ok {
		return 0, 0, false
	}
	switch in.Op {
	case sass.LDSM, sass.STSM:
		return op, 4 * int(max(in.Mods[sass.ModNum], 1)), true
	case sass.LDGSTS:
		if in.Enc.Bits(bypassBit, 1) == 0 {
			op = smem.CopyAsyncCG
		}
		return op, in.Width().Bytes(), true
	case sass.ATOMS, sass.ATOM, sass.RED:
		switch in.AtomOp() {
		case sass.AtomPopcInc:
			// Lanes that count in one word are served together, as those of a store are: measured on an H200 with ncu's
			// source counters (testdata/h200, the histogram kernels).
			op = smem.Store
		case sass.AtomCas, sass.AtomCast, sass.AtomCastSpin:
			op = smem.CompareSwap
		default:
			if d := in.Dst(); d == nil || d.Reg == sass.RZ {
				op = smem.Reduce
			}
		}
		return op, atomBytes(in), true
	}
	return op, in.Width().Bytes(), true
}

// siteName names a shared access as the machine has it.
func siteName(in *sass.Inst) string {
	s := in.Op.String()
	switch in.Op {
	case sass.LDSM, sass.STSM:
		s += fmt.Sprintf(".x%d", max(in.Mods[sass.ModNum], 1))
		if in.Has(sass.ModTrans) {
			s += ".trans"
		}
		return s
	case sass.LDGSTS:
		if in.Enc.Bits(bypassBit, 1) == 0 {
			s += ".BYPASS"
		}
	case sass.ATOMS, sass.ATOM, sass.RED:
		s += "." + atomName(in.AtomOp())
		if atomBytes(in) == 8 {
			s += ".64"
		}
		return s
	}
	return s + widthNames[in.Width()]
}

var widthNames = map[sass.Width]string{
	sass.WidthU8: ".U8", sass.WidthS8: ".S8", sass.WidthU16: ".U16", sass.WidthS16: ".S16",
	sass.Width64: ".64", sass.Width128: ".128", sass.Width256: ".256",
}

var atomNames = [...]string{"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "ARRIVE", "POPC.INC", "CAS",
	"CAST", "CAST.SPIN", "SAFEADD"}

func atomName(op sass.AtomOp) string {
	if int(op) < len(atomNames) {
		return atomNames[op]
	}
	return fmt.Sprintf("op%d", op)
}

// atomBytes returns the bytes per lane of an atomic operation.
func atomBytes(in *sass.Inst) int {
	switch sass.DataType(in.Mods[sass.ModAtomType]) {
	case sass.TypeU64, sass.TypeS64, sass.TypeF64:
		return 8
	case sass.TypeB128:
		return 16
	case sass.TypeF16, sass.TypeBF16, sass.TypeU16, sass.TypeS16:
		return 2
	}
	return 4
}
