package sketch

import (
	"slices"
	"strconv"
	"strings"

	"shmoo/smem"
)

// asmBlock is one asm statement: straight-line PTX whose registers are compiled expressions.
type asmBlock struct {
	c    *compiler
	s    *asmStmt
	regs map[string]*cexpr
	// names maps %[name] to the number of the operand.
	names map[string]string
	run   evalFn
}

// asmInst is one PTX instruction.
type asmInst struct {
	guard   string // predicate register, "" for none
	negated bool
	op      []string // opcode split at dots: "ld", "shared", "v4", "f32"
	args    []string
}

func (i *asmInst) has(part string) bool { return slices.Contains(i.op[1:], part) }

// shared reports whether the instruction addresses the block's shared memory.
func (i *asmInst) shared() bool { return i.has("shared") || i.has("shared::cta") }

// text returns the opcode as PTX writes it.
func (i *asmInst) text() string { return strings.Join(i.op, ".") }

// asm compiles an asm statement.
func (c *compiler) asm(s *asmStmt) stmtFn {
	b := &asmBlock{c: c, s: s, regs: map[string]*cexpr{}, names: map[string]string{}}
	outs := b.bind()
	for _, inst := range parsePTX(s.text) {
		b.inst(inst)
	}
	for i, o := range s.out {
		if outs[i] != nil {
			b.write(outs[i], b.regs["%"+strconv.Itoa(i)], o)
		}
	}
	fn := b.run
	if fn == nil {
		return nil
	}
	return func(m *machine, mask laneMask) laneMask {
		fn(m, mask)
		return mask
	}
}

// bind evaluates the operands, and returns the places of the outputs.
func (b *asmBlock) bind() []*lval {
	c := b.c
	outs := make([]*lval, len(b.s.out))
	for i, o := range b.s.out {
		reg := "%" + strconv.Itoa(i)
		e := c.expr(o.x)
		if e.lv == nil {
			if e.ty.kind != kindOpaque {
				c.fail(o.x.at(), "sketch/asm", "got a value as output of asm, want a place")
			}
			continue
		}
		pre, place := c.freeze(e.lv)
		b.run = c.then(b.run, c.then(e.fn, pre))
		outs[i] = place
		b.regs[reg] = &cexpr{ty: e.ty, why: "a result of asm at " + c.where(b.s.span)}
		if strings.HasPrefix(o.constraint, "+") && e.ty.isInteger() {
			b.set(reg, c.load(&cexpr{ty: place.ty, lv: place, at: o.x.at()}))
		}
		b.alias(o.name, reg)
	}
	for i, o := range b.s.in {
		reg := "%" + strconv.Itoa(len(b.s.out)+i)
		e := c.value(o.x)
		if e.ty.isAggregate() {
			fn, _ := c.consume(e)
			e = &cexpr{ty: typeInt, fn: fn, effects: true, why: "an operand of asm"}
		}
		b.set(reg, e)
		b.alias(o.name, reg)
	}
	return outs
}

func (b *asmBlock) alias(name, reg string) {
	if name != "" {
		b.names["%["+name+"]"] = reg
	}
}

// set gives a register a value, evaluated once where it has effects.
func (b *asmBlock) set(reg string, e *cexpr) {
	if e.fn == nil && e.pt == nil || e.why != "" {
		if e.effects {
			b.run = b.c.then(b.run, e.fn)
		}
		b.regs[reg] = &cexpr{ty: e.ty, konst: e.konst, val: e.val, fval: e.fval, why: e.why, from: e.from}
		return
	}
	fn, slot := b.c.eval(e), b.c.newVec()
	b.run = b.c.then(b.run, func(m *machine, mask laneMask) *vec {
		slot.copyFrom(fn(m, mask))
		return slot
	})
	b.regs[reg] = &cexpr{ty: e.ty, from: e.from, fn: func(m *machine, mask laneMask) *vec { return slot }}
}

// write stores a register to an output.
func (b *asmBlock) write(place *lval, e *cexpr, o asmOperand) {
	c := b.c
	if place.ty.isAggregate() {
		return
	}
	if place.ty.kind == kindPointer || place.ty.isInteger() || place.ty.kind == kindFloat {
		fn, effects := c.store(place, c.convert(e, place.ty))
		if effects {
			b.run = c.then(b.run, fn)
		}
	}
}

// parsePTX splits the text of an asm statement into instructions.
func parsePTX(text string) []*asmInst {
	text = stripComments(text)
	var out []*asmInst
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' }) {
		part = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(part), "{} \t\n\r"))
		if i := strings.Index(part, ":"); i > 0 && !strings.Contains(part[:i], ".") && !strings.HasPrefix(part[i:], "::") {
			part = strings.TrimSpace(part[i+1:]) // label
		}
		if part == "" || strings.HasPrefix(part, ".") {
			continue
		}
		inst := &asmInst{}
		if part[0] == '@' {
			guard, rest, _ := strings.Cut(part[1:], " ")
			inst.negated = strings.HasPrefix(guard, "!")
			inst.guard = strings.TrimPrefix(guard, "!")
			part = strings.TrimSpace(rest)
		}
		op, args, _ := strings.Cut(strings.ReplaceAll(part, "\t", " "), " ")
		inst.op = strings.Split(strings.TrimSpace(op), ".")
		inst.args = splitOperands(args)
		out = append(out, inst)
	}
	return out
}

func stripComments(s string) string {
	for {
		i := strings.Index(s, "//")
		if i < 0 {
			return s
		}
		end := strings.IndexByte(s[i:], '\n')
		if end < 0 {
			return s[:i]
		}
		s = s[:i] + s[i+end:]
	}
}

func splitOperands(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" {
		out = append(out, strings.TrimSpace(strings.TrimRight(last, "}")+closeBrace(last)))
	}
	return out
}

// closeBrace keeps the brace of an operand list, which TrimRight took with the one that closes the block.
func closeBrace(s string) string {
	if strings.HasPrefix(s, "{") {
		return "}"
	}
	return ""
}

// specialRegs are PTX's registers that tell a thread its place.
var specialRegs = map[string]func(c *compiler) *cexpr{
	"laneid":   (*compiler).laneIndex,
	"tid.x":    func(c *compiler) *cexpr { return c.builtinComponent("threadIdx", 0) },
	"tid.y":    func(c *compiler) *cexpr { return c.builtinComponent("threadIdx", 1) },
	"tid.z":    func(c *compiler) *cexpr { return c.builtinComponent("threadIdx", 2) },
	"ctaid.x":  func(c *compiler) *cexpr { return c.builtinComponent("blockIdx", 0) },
	"ctaid.y":  func(c *compiler) *cexpr { return c.builtinComponent("blockIdx", 1) },
	"ctaid.z":  func(c *compiler) *cexpr { return c.builtinComponent("blockIdx", 2) },
	"ntid.x":   func(c *compiler) *cexpr { return c.builtinComponent("blockDim", 0) },
	"ntid.y":   func(c *compiler) *cexpr { return c.builtinComponent("blockDim", 1) },
	"ntid.z":   func(c *compiler) *cexpr { return c.builtinComponent("blockDim", 2) },
	"WARP_SZ":  func(c *compiler) *cexpr { return constInt(typeUint, int64(c.lanes)) },
	"warpid":   func(c *compiler) *cexpr { return c.warpIndex() },
	"nctaid.x": func(c *compiler) *cexpr { return c.builtinComponent("gridDim", 0) },
	"nctaid.y": func(c *compiler) *cexpr { return c.builtinComponent("gridDim", 1) },
	"nctaid.z": func(c *compiler) *cexpr { return c.builtinComponent("gridDim", 2) },
}

func (c *compiler) warpIndex() *cexpr {
	out := c.newVec()
	return &cexpr{ty: typeUint, fn: func(m *machine, mask laneMask) *vec {
		out.set(int64(m.warp))
		return out
	}}
}

// operand returns the value of an operand that is not an address.
func (b *asmBlock) operand(s string) *cexpr {
	if e := b.regs[b.number(s)]; e != nil {
		return e
	}
	if name, ok := strings.CutPrefix(s, "%"); ok {
		if f := specialRegs[strings.TrimPrefix(name, "%")]; f != nil {
			return f(b.c)
		}
	}
	if f := specialRegs[s]; f != nil {
		return f(b.c)
	}
	if v, err := strconv.ParseInt(strings.TrimSuffix(s, "U"), 0, 64); err == nil {
		return constInt(typeLongLong, v)
	}
	return &cexpr{ty: typeUint, why: "asm operand " + clip(s)}
}

// address returns the shared offset that [reg+imm] names.
func (b *asmBlock) address(s string) *cexpr {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	base, off, found := strings.Cut(s, "+")
	e := b.operand(strings.TrimSpace(base))
	if e.ty.kind == kindPointer {
		e = b.c.sharedOffset(e, typeUint)
	}
	e = b.c.convert(e, typeUint)
	if found {
		e = b.c.arith(opAdd, typeUint, typeUint, e, b.c.convert(b.operand(strings.TrimSpace(off)), typeUint), b.s.span)
	}
	return e
}

// asmTypes are PTX's types by size in bytes.
var asmTypes = map[string]*ctype{
	"b8": typeUchar, "u8": typeUchar, "s8": typeChar, "b16": typeUshort, "u16": typeUshort, "s16": typeShort,
	"f16": typeHalf, "bf16": typeBfloat, "b32": typeUint, "u32": typeUint, "s32": typeInt, "f32": typeFloat,
	"f16x2": builtinTypes["half2"], "bf16x2": builtinTypes["half2"],
	"b64": typeULongLong, "u64": typeULongLong, "s64": typeLongLong, "f64": typeDouble,
	"b128": builtinTypes["uint4"], "pred": typeBool, "f16x4": builtinTypes["uint2"],
}

// typeOf returns the type of an instruction: its last part that names one.
func (i *asmInst) typeOf() *ctype {
	for k := len(i.op) - 1; k > 0; k-- {
		if t := asmTypes[i.op[k]]; t != nil {
			return t
		}
	}
	return nil
}

// asmValues are the instructions whose results are followed.
var asmValues = map[string]string{
	"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "mul": "*",
}

// inst compiles one instruction.
func (b *asmBlock) inst(i *asmInst) {
	if access := asmAccesses[i.op[0]]; access != nil && access(b, i) {
		return
	}
	ty := i.typeOf()
	switch {
	case len(i.args) == 0:
		return
	case i.guard != "":
	case i.op[0] == "mov" && len(i.args) == 2:
		b.result(i, b.operand(i.args[1]), ty)
		return
	case i.op[0] == "cvta" && i.shared() && len(i.args) == 2:
		e := b.operand(i.args[1])
		if i.has("to") {
			e = b.c.sharedOffset(e, typeULongLong)
			if e.ty.kind != kindPointer && b.operand(i.args[1]).ty.isInteger() {
				e = b.c.mapLanes(typeULongLong, e, func(v int64) int64 { return int64(uint32(v)) })
				e.from = b.operand(i.args[1]).from
			}
		} else {
			e = b.c.arith(opAdd, typeULongLong, typeULongLong, b.c.convert(e, typeULongLong),
				constInt(typeULongLong, sharedBase), b.s.span)
		}
		b.result(i, e, nil)
		return
	case i.op[0] == "cvt" && len(i.args) == 2 && len(i.op) >= 3 && asmTypes[i.op[len(i.op)-2]] != nil:
		b.result(i, b.c.convert(b.operand(i.args[1]), asmTypes[i.op[len(i.op)-1]]), asmTypes[i.op[len(i.op)-2]])
		return
	case asmValues[i.op[0]] != "" && len(i.args) == 3 && ty != nil && ty.isInteger() && !i.has("hi") && !i.has("wide"):
		x, y := b.c.convert(b.operand(i.args[1]), ty), b.operand(i.args[2])
		if y.ty.isScalar() {
			y = b.c.convert(y, ty)
		}
		b.result(i, b.c.arith(opcodes[asmValues[i.op[0]]], ty, ty, x, y, b.s.span), ty)
		return
	case i.op[0] == "mad" && i.has("lo") && len(i.args) == 4 && ty != nil && ty.isInteger():
		p := b.c.arith(opMul, ty, ty, b.c.convert(b.operand(i.args[1]), ty), b.c.convert(b.operand(i.args[2]), ty), b.s.span)
		b.result(i, b.c.arith(opAdd, ty, ty, p, b.c.convert(b.operand(i.args[3]), ty), b.s.span), ty)
		return
	case i.op[0] == "setp" && len(i.args) == 3 && ty != nil && ty.isInteger():
		if op, swap := asmCompare(i.op[1]); op != "" {
			x, y := b.c.convert(b.operand(i.args[1]), ty), b.c.convert(b.operand(i.args[2]), ty)
			if swap {
				x, y = y, x
			}
			b.result(i, b.c.arith(opcodes[op], typeBool, ty, x, y, b.s.span), typeBool)
			return
		}
	}
	if slices.ContainsFunc(i.op, func(s string) bool { return strings.HasPrefix(s, "shared") }) {
		b.c.diags.warnf("sketch/asm", b.s.span, "asm instruction %s is not counted", i.text())
	}
	b.clobber(i)
}

func asmCompare(s string) (op string, swap bool) {
	switch s {
	case "eq":
		return "==", false
	case "ne":
		return "!=", false
	case "lt", "lo":
		return "<", false
	case "le", "ls":
		return "<=", false
	case "gt", "hi":
		return "<", true
	case "ge", "hs":
		return "<=", true
	}
	return "", false
}

// result gives the first operand a value.
func (b *asmBlock) result(i *asmInst, e *cexpr, ty *ctype) {
	if ty != nil && e.ty.isScalar() && ty.isScalar() && !(e.ty.kind == kindPointer && ty.size == 8) {
		e = b.c.convert(e, ty)
	}
	b.set(b.number(i.args[0]), e)
}

// number returns the register that an operand names.
func (b *asmBlock) number(name string) string {
	if reg, ok := b.names[name]; ok {
		return reg
	}
	return name
}

// clobber makes the results of an instruction unknown.
func (b *asmBlock) clobber(i *asmInst) {
	for _, name := range operandList(i.args[0]) {
		name = b.number(name)
		ty := typeUint
		if old := b.regs[name]; old != nil {
			ty = old.ty
		}
		b.regs[name] = &cexpr{ty: ty, why: "the result of asm instruction " + i.text()}
	}
}

func operandList(s string) []string {
	if !strings.HasPrefix(s, "{") {
		return []string{s}
	}
	var out []string
	for _, p := range strings.Split(strings.Trim(s, "{}"), ",") {
		out = append(out, strings.TrimSpace(p))
	}
	return out
}

// asmAccesses compile the instructions that touch shared memory; they return false for forms that do not.
var asmAccesses map[string]func(b *asmBlock, i *asmInst) bool

func init() {
	asmAccesses = map[string]func(b *asmBlock, i *asmInst) bool{
		"ld": func(b *asmBlock, i *asmInst) bool { return b.plain(i, smem.Load, 1, 0) },
		"st": func(b *asmBlock, i *asmInst) bool { return b.plain(i, smem.Store, 0, 1) },
		"ldmatrix": func(b *asmBlock, i *asmInst) bool {
			return b.matrix(i, smem.LoadMatrix, 1, "LDSM")
		},
		"stmatrix": func(b *asmBlock, i *asmInst) bool { return b.matrix(i, smem.StoreMatrix, 0, "STSM") },
		"cp":       (*asmBlock).copy,
		"atom":     func(b *asmBlock, i *asmInst) bool { return b.atomic(i, smem.Atomic, 1) },
		"red":      func(b *asmBlock, i *asmInst) bool { return b.atomic(i, smem.Reduce, 0) },
	}
}

// access adds one access of the given operation at an address operand.
func (b *asmBlock) access(i *asmInst, op smem.Op, width int, addr, instr, why string) {
	c := b.c
	e := b.address(addr)
	from := e.from
	if from == nil {
		from = &origin{unknown: true}
	}
	site := c.newSite(op, b.s.span, from, nil, width, 1, instr)
	site.keep, site.why = true, why
	site.text = i.text() + " " + b.show(addr)
	value := c.eval(e)
	fn := func(m *machine, mask laneMask) *vec {
		a := value(m, mask)
		m.emit(site, mask, a)
		return a
	}
	if i.guard == "" {
		b.run = c.then(b.run, fn)
		return
	}
	guard := c.convert(b.operand(i.guard), typeBool)
	if i.negated {
		guard = c.arith(opEq, typeBool, typeBool, guard, constInt(typeBool, 0), b.s.span)
	}
	nothing := &cexpr{ty: typeVoid}
	r := c.choose(guard, typeVoid, &cexpr{ty: typeVoid, fn: fn, effects: true}, nothing,
		&conditional{cond: &ident{span: b.s.span}})
	b.run = c.then(b.run, r.fn)
}

// show writes an address operand with the expression that the source gives for it.
func (b *asmBlock) show(addr string) string {
	for k, o := range b.s.in {
		reg := "%" + strconv.Itoa(len(b.s.out)+k)
		if inner := strings.TrimSuffix(strings.TrimPrefix(addr, "["), "]"); inner == reg || inner == "%["+o.name+"]" {
			return "[" + b.c.file.text(o.x.at()) + "]"
		}
	}
	return addr
}

// plain compiles ld and st.
func (b *asmBlock) plain(i *asmInst, op smem.Op, addr, value int) bool {
	ty := i.typeOf()
	if !i.shared() || ty == nil || len(i.args) < 2 {
		if op == smem.Store && !i.has("shared::cluster") {
			return true // a store elsewhere has no result
		}
		return false
	}
	width := ty.size
	for k, n := range map[string]int{"v2": 2, "v4": 4, "v8": 8} {
		if i.has(k) {
			width *= n
		}
	}
	if width > 16 {
		b.c.fail(b.s.span, "sketch/asm", "asm access of %d bytes, want at most 16", width)
	}
	b.access(i, op, width, i.args[addr], "", "")
	if op == smem.Load {
		b.clobber(i)
	}
	return true
}

// matrix compiles ldmatrix and stmatrix.
func (b *asmBlock) matrix(i *asmInst, op smem.Op, addr int, instr string) bool {
	if len(i.args) < 2 {
		b.c.fail(b.s.span, "sketch/asm", "%s got %d operands, want 2", i.text(), len(i.args))
	}
	n := 1
	for k, v := range map[string]int{"x2": 2, "x4": 4} {
		if i.has(k) {
			n = v
		}
	}
	instr += ".x" + strconv.Itoa(n)
	if i.has("trans") {
		instr += ".trans"
	}
	why := ""
	if !i.has("m8n8") {
		why = "only the m8n8 shape of " + i.op[0] + " is modelled"
	}
	b.access(i, op, 4*n, i.args[addr], instr, why)
	if op == smem.LoadMatrix {
		b.clobber(i)
	}
	return true
}

// copy compiles cp.async.
func (b *asmBlock) copy(i *asmInst) bool {
	if !i.has("async") || i.has("commit_group") || i.has("wait_group") || i.has("wait_all") {
		return true
	}
	if i.has("bulk") || len(i.args) < 3 || !i.shared() {
		if !i.has("mbarrier") && !i.has("commit_group") {
			b.c.diags.warnf("sketch/asm", b.s.span, "asm instruction %s is not counted", i.text())
		}
		return true
	}
	size := b.operand(i.args[2])
	if !size.konst || size.val != 4 && size.val != 8 && size.val != 16 {
		b.c.fail(b.s.span, "sketch/asm", "size of cp.async is '%s', want 4, 8 or 16", i.args[2])
	}
	op := smem.CopyAsync
	if i.has("cg") {
		op = smem.CopyAsyncCG
	}
	b.access(i, op, int(size.val), i.args[0], "", "")
	return true
}

// atomic compiles atom and red.
func (b *asmBlock) atomic(i *asmInst, op smem.Op, addr int) bool {
	ty := i.typeOf()
	if !i.shared() || ty == nil || len(i.args) < 2 {
		return op == smem.Reduce
	}
	why := ""
	native := ty.size == 4 && ty.isInteger()
	switch {
	case i.has("cas"):
		op = smem.CompareSwap
		native = ty.size == 4 || ty.size == 8
	case i.has("exch"):
		native = ty.size == 4 || ty.size == 8
	}
	if !native {
		why = casLoop
	}
	b.access(i, op, ty.size, i.args[addr], "", why)
	if op != smem.Reduce {
		b.clobber(i)
	}
	return true
}
