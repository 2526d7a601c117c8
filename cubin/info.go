package cubin

import "encoding/binary"

// Attribute sections (.nv.info and .nv.info.KERNEL) are a stream of records, 4 bytes aligned: a format byte, a code
// byte and two more bytes, which are a value or the length of a payload that follows. Codes and payloads were
// established on cubins of CUDA 11.1 to 13.5, the launch bounds, clusters and large parameters by compiling kernels
// with known ones.

const (
	formatNone    = 1 // no value
	formatByte    = 2 // value in the third byte
	formatHalf    = 3 // value in the last two bytes
	formatPayload = 4 // length in the last two bytes
)

// attr is one record. payload holds the value bytes: 0, 1, 2 or the payload's number of them.
type attr struct {
	code    byte
	format  byte
	payload []byte
	offset  int // in the section
}

func (a *attr) word(i int) uint32 { return binary.LittleEndian.Uint32(a.payload[4*i:]) }
func (a *attr) half(i int) uint16 { return binary.LittleEndian.Uint16(a.payload[2*i:]) }

// walkAttrs calls do for each record.
func walkAttrs(section string, data []byte, do func(*attr) error) error {
	for off := 0; off < len(data); {
		if len(data)-off < 4 {
			return formatError(section, int64(off), "attribute: got %d bytes, want 4", len(data)-off)
		}
		a := attr{format: data[off], code: data[off+1], offset: off}
		next := off + 4
		switch a.format {
		case formatNone:
		case formatByte:
			a.payload = data[off+2 : off+3]
		case formatHalf:
			a.payload = data[off+2 : off+4]
		case formatPayload:
			n := int(binary.LittleEndian.Uint16(data[off+2:]))
			if n > len(data)-next {
				return formatError(section, int64(off), "attribute %#02x: payload of %d bytes, section has %d left", a.code, n,
					len(data)-next)
			}
			a.payload = data[next : next+n]
			next += (n + 3) &^ 3
		default:
			return formatError(section, int64(off), "attribute %#02x: format %d, want 1 to 4", a.code, a.format)
		}
		if err := do(&a); err != nil {
			return err
		}
		off = next
	}
	return nil
}

// kernelAttr is the rule for one attribute of a kernel.
type kernelAttr struct {
	format byte
	size   int // bytes of the payload; negative: a multiple of that many
	read   func(k *Kernel, a *attr, r *infoReader) error
}

// infoReader carries what rules need beyond the kernel.
type infoReader struct {
	section string
	limits  *Limits
}

// kernelAttrs is indexed by attribute code; codes without a rule are skipped.
var kernelAttrs = [256]kernelAttr{
	0x05: {formatPayload, 12, func(k *Kernel, a *attr, _ *infoReader) error { k.MaxThreads = shape(a); return nil }},
	0x0a: {formatPayload, 8, readParamBank},
	0x10: {formatPayload, 12, func(k *Kernel, a *attr, _ *infoReader) error { k.ReqThreads = shape(a); return nil }},
	0x17: {formatPayload, 12, readParam},
	0x19: {formatHalf, 2, func(k *Kernel, a *attr, _ *infoReader) error { k.ParamBytes = int(a.half(0)); return nil }},
	0x1c: {formatPayload, -4, readExits},
	0x28: {formatPayload, -4, readWarpWide},
	0x34: {formatPayload, -4, readIndirect},
	0x3d: {formatPayload, 12, func(k *Kernel, a *attr, _ *infoReader) error { k.Cluster = shape(a); return nil }},
	0x3f: {formatPayload, 4, func(k *Kernel, a *attr, _ *infoReader) error { k.MaxCluster = clampInt(a.word(0)); return nil }},
	0x45: {formatPayload, 12, readLargeParam},
	0x46: {formatPayload, -4, readExternal},
	0x4c: {formatByte, 1, func(k *Kernel, a *attr, _ *infoReader) error { k.Barriers = int(a.payload[0]); return nil }},
}

// readKernelInfo fills a kernel from its own attribute section.
func readKernelInfo(k *Kernel, section string, data []byte, lim *Limits) error {
	r := &infoReader{section: section, limits: lim}
	err := walkAttrs(section, data, func(a *attr) error {
		rule := &kernelAttrs[a.code]
		if rule.read == nil {
			return nil
		}
		if rule.format != a.format {
			return formatError(section, int64(a.offset), "attribute %#02x: format %d, want %d", a.code, a.format, rule.format)
		}
		switch {
		case rule.size >= 0 && len(a.payload) != rule.size:
			return formatError(section, int64(a.offset), "attribute %#02x: size %d, want %d", a.code, len(a.payload), rule.size)
		case rule.size < 0 && len(a.payload)%-rule.size != 0:
			return formatError(section, int64(a.offset), "attribute %#02x: size %d, want a multiple of %d", a.code,
				len(a.payload), -rule.size)
		}
		return rule.read(k, a, r)
	})
	if err != nil {
		return err
	}
	return checkParams(k, section)
}

func shape(a *attr) [3]int {
	return [3]int{clampInt(a.word(0)), clampInt(a.word(1)), clampInt(a.word(2))}
}

// clampInt keeps counts that users multiply in a range where that is safe; real ones are far below.
func clampInt(v uint32) int { return int(min(v, 1<<31-1)) }

func readParamBank(k *Kernel, a *attr, _ *infoReader) error {
	k.ParamBase = int(a.word(1) & 0xffff)
	k.ParamBytes = int(a.word(1) >> 16)
	return nil
}

// pointerKind marks a pointer to global memory in parameter records. Files below sm_100 do not set it.
const pointerKind = 5

// readParam reads a parameter of the common form: ordinal, offset, and a packed word with the kind in bits 8 to 11 and
// the size from bit 18.
func readParam(k *Kernel, a *attr, r *infoReader) error {
	return addParam(k, a, r, int(a.word(2)>>18), a.word(2)>>8&15)
}

// readLargeParam reads the form for kernels with more than 4 KB of parameters: ordinal, offset, size in the low half of
// a word and the kind in its top byte.
func readLargeParam(k *Kernel, a *attr, r *infoReader) error {
	return addParam(k, a, r, int(a.word(2)&0xffff), a.word(2)>>24)
}

func addParam(k *Kernel, a *attr, r *infoReader, size int, kind uint32) error {
	if len(k.Params) >= r.limits.MaxParams {
		return limitError(r.section, int64(a.offset), "more than %d parameters", r.limits.MaxParams)
	}
	k.Params = append(k.Params, Param{
		Ordinal: int(a.half(2)), Offset: int(a.half(3)), Size: size, Pointer: kind == pointerKind,
	})
	return nil
}

func readExits(k *Kernel, a *attr, r *infoReader) (err error) {
	k.Exits, err = readPCs(k.Exits, k, a, r)
	return err
}

func readWarpWide(k *Kernel, a *attr, r *infoReader) (err error) {
	k.WarpWide, err = readPCs(k.WarpWide, k, a, r)
	return err
}

func readExternal(k *Kernel, a *attr, r *infoReader) (err error) {
	k.ExternalCalls, err = readPCs(k.ExternalCalls, k, a, r)
	return err
}

// readPCs appends a list of code offsets. A list longer than 64 KB comes as several records.
func readPCs(list []uint32, k *Kernel, a *attr, r *infoReader) ([]uint32, error) {
	n := len(a.payload) / 4
	if len(list)+n > len(k.Code)/16+1 {
		return nil, formatError(r.section, int64(a.offset), "attribute %#02x: %d code offsets, code has %d instructions",
			a.code, len(list)+n, len(k.Code)/16)
	}
	for i := range n {
		pc := a.word(i)
		if err := checkPC(k, a, r, pc); err != nil {
			return nil, err
		}
		list = append(list, pc)
	}
	return list, nil
}

func checkPC(k *Kernel, a *attr, r *infoReader, pc uint32) error {
	if pc%16 != 0 || uint64(pc) >= uint64(len(k.Code)) {
		return formatError(r.section, int64(a.offset), "attribute %#02x: code offset %#x: want a multiple of 16 below %#x",
			a.code, pc, len(k.Code))
	}
	return nil
}

// readIndirect reads records of branch offset, a zero word, target count and targets.
func readIndirect(k *Kernel, a *attr, r *infoReader) error {
	words := len(a.payload) / 4
	for i := 0; i < words; {
		if words-i < 3 {
			return formatError(r.section, int64(a.offset), "attribute %#02x: got %d words, want 3", a.code, words-i)
		}
		b := IndirectBranch{PC: a.word(i)}
		n := int(a.word(i + 2))
		i += 3
		if n > words-i {
			return formatError(r.section, int64(a.offset), "attribute %#02x: %d targets, record has room for %d", a.code, n,
				words-i)
		}
		if err := checkPC(k, a, r, b.PC); err != nil {
			return err
		}
		b.Targets = make([]uint32, n)
		for j := range b.Targets {
			b.Targets[j] = a.word(i + j)
			if err := checkPC(k, a, r, b.Targets[j]); err != nil {
				return err
			}
		}
		i += n
		k.Indirect = append(k.Indirect, b)
	}
	return nil
}

// checkParams sorts the parameters, which come last first, and checks them against the block.
func checkParams(k *Kernel, section string) error {
	sortParams(k.Params)
	for i, p := range k.Params {
		if p.Ordinal != i {
			return formatError(section, -1, "parameter %d: ordinal %d", i, p.Ordinal)
		}
		if p.Offset+p.Size > k.ParamBytes {
			return formatError(section, -1, "parameter %d: bytes %d+%d: parameter block has %d", i, p.Offset, p.Size,
				k.ParamBytes)
		}
	}
	return nil
}

// functionInfo is what the module's attribute section says about a function.
type functionInfo struct {
	registers, frame, minStack int
}

// readModuleInfo reads the per-function attributes, keyed by symbol index.
func readModuleInfo(section string, data []byte, symbols int) (map[int]functionInfo, error) {
	out := make(map[int]functionInfo)
	err := walkAttrs(section, data, func(a *attr) error {
		if a.code != 0x2f && a.code != 0x11 && a.code != 0x12 {
			return nil
		}
		if a.format != formatPayload || len(a.payload) != 8 {
			return formatError(section, int64(a.offset), "attribute %#02x: format %d size %d, want format 4 size 8", a.code,
				a.format, len(a.payload))
		}
		sym := int(a.word(0))
		if sym >= symbols {
			return formatError(section, int64(a.offset), "attribute %#02x: symbol %d of %d", a.code, sym, symbols)
		}
		f := out[sym]
		switch v := clampInt(a.word(1)); a.code {
		case 0x2f:
			f.registers = v
		case 0x11:
			f.frame = v
		case 0x12:
			f.minStack = v
		}
		out[sym] = f
		return nil
	})
	return out, err
}
