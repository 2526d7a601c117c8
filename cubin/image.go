package cubin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Image is one parsed cubin: the code of one module for one architecture.
type Image struct {
	Entry *Entry // where it was loaded from; nil for ParseImage

	Arch        int    // real architecture: 86 for sm_86
	Virtual     int    // virtual architecture it was compiled from: 80 for compute_80; 0 if not said
	Target      string // exact target with its suffix: "sm_120a"
	ABI         int    // ELF ABI version of the cubin: 7 old, 8 new
	Relocatable bool   // an object before device linking (-rdc=true)
	Toolkit     string // "13.1"; "" if not said
	Tool        string // version line of the tool that wrote it; "" in the old ABI
	Options     string // options that tool was given; "" in the old ABI

	Kernels   []*Kernel        // in order of their sections
	Functions []DeviceFunction // device functions with a section of their own, as separate compilation leaves them
	Data      []Data           // device memory that the module brings along

	elf    *elfFile
	limits *Limits
	relocs map[int][]int // section -> its relocation sections
	lines  lineCache
}

// Data is initialised or zero-filled device memory of a module (.nv.global.init, .nv.global).
type Data struct {
	Section string
	Size    int
	Init    []byte // nil: zero-filled
	Align   int
	Relocs  []Reloc
}

// DeviceFunction is a device function outside the code of kernels. Kernels reach it through relocations.
type DeviceFunction struct {
	Name   string
	Code   []byte
	Relocs []Reloc
}

// Kernel returns the kernel with a mangled name, or nil.
func (img *Image) Kernel(name string) *Kernel {
	for _, k := range img.Kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// ParseImage parses a cubin in memory, which the image then refers to. A zero limit set means [DefaultLimits].
func ParseImage(data []byte, lim Limits) (*Image, error) {
	l := lim.orDefault()
	f, err := parseELF(data, &l)
	if err != nil {
		return nil, err
	}
	if f.machine != machineCUDA {
		return nil, &Error{Entry: -1, Offset: 18, Err: kindError{ErrUnrecognised,
			"ELF machine " + strconv.Itoa(int(f.machine)) + ", want " + strconv.Itoa(machineCUDA) + " (CUDA)"}}
	}
	img := &Image{ABI: int(f.abi), Relocatable: f.typ == typeRel, elf: f, limits: &l}
	var suffix string
	img.Arch, img.Virtual, suffix = archFromFlags(f.abi, f.flags)
	img.Target = "sm_" + strconv.Itoa(img.Arch) + suffix
	if f.version > 1 {
		img.Toolkit = toolkit(f.version)
	}
	if err := img.readNotes(f); err != nil {
		return nil, err
	}
	img.relocs = f.relocIndex()
	if err := img.readData(); err != nil {
		return nil, err
	}
	if err := img.readKernels(); err != nil {
		return nil, err
	}
	return img, nil
}

// sectionRelocs returns the relocations of a section, ascending by offset.
func (img *Image) sectionRelocs(index int) ([]Reloc, error) {
	var out []Reloc
	s := &img.elf.sections[index]
	for _, rs := range img.relocs[index] {
		raw, err := img.elf.relocs(rs, img.limits.MaxRelocs)
		if err != nil {
			return nil, err
		}
		for i, r := range raw {
			if r.offset >= s.size {
				return nil, formatError(img.elf.sections[rs].name, -1, "relocation %d: offset %#x: section %s has %#x bytes", i,
					r.offset, s.name, s.size)
			}
			if r.inWord {
				r.addend = r.addendIn(s.data)
			}
			out = append(out, Reloc{
				Offset: uint32(r.offset), Type: r.typ, Symbol: img.elf.symbolRef(r.symbol), Addend: r.addend,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Reloc) int { return cmp.Compare(a.Offset, b.Offset) })
	return out, nil
}

func (img *Image) readData() error {
	for i := range img.elf.sections {
		s := &img.elf.sections[i]
		if (s.name != ".nv.global" && s.name != ".nv.global.init") || s.flags&flagMercury != 0 {
			continue
		}
		relocs, err := img.sectionRelocs(i)
		if err != nil {
			return err
		}
		img.Data = append(img.Data, Data{
			Section: s.name, Size: clampSize(s.size), Init: s.data, Align: clampSize(s.align), Relocs: relocs,
		})
	}
	return nil
}

// clampSize turns a size that no bytes stand behind into an int that sums cannot overflow.
func clampSize(n uint64) int { return int(min(n, 1<<40)) }

// kernelSections gathers what belongs to one code section by the name behind the prefix.
type kernelSections struct {
	info, shared int // 0 if none: section 0 is never used
	banks        []bankSection
}

type bankSection struct{ bank, section int }

// collect sorts the sections of an image by kernel name. Banks without a kernel name are shared by all.
func (f *elfFile) collect() (byName map[string]*kernelSections, common []bankSection) {
	byName = make(map[string]*kernelSections)
	get := func(name string) *kernelSections {
		ks := byName[name]
		if ks == nil {
			ks = new(kernelSections)
			byName[name] = ks
		}
		return ks
	}
	for i := range f.sections {
		s := &f.sections[i]
		if s.flags&flagMercury != 0 || s.typ == sectNull {
			continue
		}
		rest, ok := strings.CutPrefix(s.name, ".nv.")
		if !ok {
			continue
		}
		if name, ok := strings.CutPrefix(rest, "info."); ok && s.typ == sectInfo {
			get(name).info = i
		} else if name, ok := strings.CutPrefix(rest, "shared."); ok && s.typ != sectRel && s.typ != sectRela {
			get(name).shared = i
		} else if rest, ok := strings.CutPrefix(rest, "constant"); ok {
			number, name, _ := strings.Cut(rest, ".")
			bank, err := strconv.Atoi(number)
			if err != nil || bank < 0 || bank > 17 {
				continue
			}
			if name == "" {
				common = append(common, bankSection{bank, i})
			} else {
				ks := get(name)
				ks.banks = append(ks.banks, bankSection{bank, i})
			}
		}
	}
	return byName, common
}

func (img *Image) readKernels() error {
	f := img.elf
	byName, common := f.collect()
	functions := make(map[int]functionInfo)
	if i := f.find(func(s *section) bool { return s.name == ".nv.info" && s.typ == sectInfo }); i >= 0 {
		var err error
		if functions, err = readModuleInfo(".nv.info", f.sections[i].data, len(f.symbols)); err != nil {
			return err
		}
	}
	shared, err := img.readBanks(common)
	if err != nil {
		return err
	}
	inSection := make(map[int][]int) // code section -> its function symbols
	for i := range f.symbols {
		if s := &f.symbols[i]; s.kind() == symFunc && s.section != indexUndef {
			inSection[s.section] = append(inSection[s.section], i)
		}
	}
	for i := range f.sections {
		s := &f.sections[i]
		name, ok := strings.CutPrefix(s.name, ".text.")
		if !ok || s.data == nil || s.flags&flagMercury != 0 {
			continue
		}
		entry := slices.IndexFunc(inSection[i], func(sym int) bool { return f.symbols[sym].other&otherEntry != 0 })
		if entry < 0 {
			fn := DeviceFunction{Name: name, Code: s.data}
			if fn.Relocs, err = img.sectionRelocs(i); err != nil {
				return err
			}
			img.Functions = append(img.Functions, fn)
			continue
		}
		k, err := img.readKernel(i, inSection[i], inSection[i][entry], byName[name], functions)
		if err != nil {
			return err
		}
		k.Banks = mergeBanks(k.Banks, shared)
		img.Kernels = append(img.Kernels, k)
	}
	return nil
}

func (img *Image) readKernel(index int, syms []int, entry int, ks *kernelSections, functions map[int]functionInfo) (
	*Kernel, error) {
	f := img.elf
	s := &f.sections[index]
	if len(s.data)%16 != 0 {
		return nil, formatError(s.name, int64(len(s.data)), "code size %#x is not a multiple of 16", len(s.data))
	}
	sym := &f.symbols[entry]
	k := &Kernel{Name: sym.name, Image: img, Code: s.data, section: index}
	for _, i := range syms {
		fs := &f.symbols[i]
		if fs.value > s.size || fs.size > s.size-fs.value {
			return nil, formatError(s.name, -1, "function %s: bytes %#x+%#x: section has %#x", fs.name, fs.value, fs.size, s.size)
		}
		if i != entry {
			k.Functions = append(k.Functions, Function{Name: fs.name, Offset: uint32(fs.value), Size: uint32(fs.size)})
		}
	}
	slices.SortStableFunc(k.Functions, func(a, b Function) int { return cmp.Compare(a.Offset, b.Offset) })
	k.Entry, k.Size = uint32(sym.value), uint32(sym.size)

	fi := functions[entry]
	k.Registers, k.FrameSize, k.MinStack = fi.registers, fi.frame, fi.minStack
	if k.Registers == 0 {
		k.Registers = int(s.info >> 24)
	}
	k.Barriers = int(s.flags >> 20 & 0x7f)
	rule := family(img.Arch)
	k.ParamBase, k.SharedReserved = rule.paramBase, rule.sharedReserved

	var err error
	if k.Relocs, err = img.sectionRelocs(index); err != nil {
		return nil, err
	}
	if ks == nil {
		return k, nil
	}
	if ks.info != 0 {
		is := &f.sections[ks.info]
		if err := readKernelInfo(k, is.name, is.data, img.limits); err != nil {
			return nil, err
		}
	}
	if ks.shared != 0 {
		ss := &f.sections[ks.shared]
		k.SharedAlign = clampSize(max(ss.align, 1))
		k.SharedStatic = clampSize(ss.size)
		if !img.Relocatable { // the device linker puts the reserve in front
			k.SharedStatic = max(k.SharedStatic-k.SharedReserved, 0)
		}
	}
	k.Banks, err = img.readBanks(ks.banks)
	return k, err
}

func (img *Image) readBanks(list []bankSection) ([]Bank, error) {
	var out []Bank
	for _, b := range list {
		s := &img.elf.sections[b.section]
		if s.typ == sectRel || s.typ == sectRela {
			continue
		}
		if slices.ContainsFunc(out, func(o Bank) bool { return o.Index == b.bank }) {
			return nil, formatError(s.name, -1, "second section for constant bank %d", b.bank)
		}
		relocs, err := img.sectionRelocs(b.section)
		if err != nil {
			return nil, err
		}
		out = append(out, Bank{Index: b.bank, Size: clampSize(s.size), Data: s.data, Relocs: relocs})
	}
	slices.SortStableFunc(out, func(a, b Bank) int { return cmp.Compare(a.Index, b.Index) })
	return out, nil
}

// mergeBanks joins a kernel's own banks with the module's, which the kernel's own replace.
func mergeBanks(own, shared []Bank) []Bank {
	for _, b := range shared {
		if !slices.ContainsFunc(own, func(o Bank) bool { return o.Index == b.Index }) {
			own = append(own, b)
		}
	}
	slices.SortStableFunc(own, func(a, b Bank) int { return cmp.Compare(a.Index, b.Index) })
	return own
}

func sortParams(p []Param) {
	slices.SortStableFunc(p, func(a, b Param) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}
