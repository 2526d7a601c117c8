package inspect

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"shmoo/cubin"
	"shmoo/sass"
	"shmoo/smem"
)

// Site is one instruction that accesses shared memory.
type Site struct {
	PC     uint32
	Op     smem.Op
	Instr  string        // mnemonic with modifiers: "LDS.64"
	Text   string        // the whole instruction
	Width  int           // bytes a lane; 4 a matrix for LDSM and STSM
	Frames []cubin.Frame // source position, innermost first; nil without a line table
	Func   string        // local function that holds it, mangled; "" for the kernel itself
	// Aligned is the largest power of two, up to 16, of which the code shows every thread's address to be a multiple;
	// 0 if the kernel is too large to follow its registers.
	Aligned int
	Run     int // index into Accesses.Runs, -1 if it has no neighbours
}

// Run is a set of accesses to neighbouring bytes from one base register with nothing in between that keeps them apart:
// fewer and wider accesses would do the same, if their addresses were aligned for it.
type Run struct {
	Sites []int // indices into Accesses.Sites, ascending by address
	Width int   // bytes a lane that they have
	Wider int   // bytes a lane that they could have: 8 or 16
	Cause Cause
	Note  string // one sentence: what they could be and why they are not
}

// Cause is why a run is not one of wider accesses.
type Cause uint8

// The causes. Only the first is certain; the compiler says nothing of its reasons.
const (
	// Misaligned: some thread's address is no multiple of the width, whatever the launch.
	Misaligned Cause = iota
	// Unproven: the code does not show that addresses are aligned: they depend on a parameter or on loaded data.
	Unproven
	// Proven: the code shows that addresses are aligned, and the accesses were left apart for some other reason.
	Proven
)

// causeNames is indexed by Cause.
var causeNames = [...]string{"misaligned", "unproven", "proven"}

// String names the cause.
func (c Cause) String() string { return causeNames[min(int(c), len(causeNames)-1)] }

// Accesses are the shared-memory sites of one kernel.
type Accesses struct {
	Sites   []Site
	Runs    []Run
	Unknown int // instructions of opcodes that the decoder does not know: they may be accesses
}

// Sites lists the shared-memory accesses of a kernel by ascending PC, with the width that the compiler chose, and the
// runs of narrow ones among them. The result does not refer to the image's memory.
func Sites(k *cubin.Kernel) (*Accesses, error) {
	arch, err := archOf(k)
	if err != nil {
		return nil, err
	}
	lines, err := k.Lines()
	if err != nil {
		return nil, err
	}
	out := new(Accesses)
	s := scanner{arch: arch}
	out.Unknown = s.kernel(k, func(pc uint32, i *sass.Inst) {
		op, ok := OpOf(i)
		if !ok {
			return
		}
		text := i.AppendText(nil, uint64(pc))
		site := Site{
			PC: pc, Op: op, Instr: mnemonic(text), Text: string(text), Width: widthOf(i), Run: -1,
			Frames: lines.AppendAt(nil, pc),
		}
		if fn := k.FunctionAt(pc); fn != nil {
			site.Func = fn.Name
		}
		out.Sites = append(out.Sites, site)
	})
	if len(out.Sites) == 0 {
		return out, nil
	}
	if f := newFlow(k, arch); f != nil && f.run() {
		r := runFinder{flow: f, out: out, open: make(map[baseKey][]member)}
		r.find()
	}
	return out, nil
}

// baseKey tells accesses apart that cannot be joined.
type baseKey struct {
	op    sass.Op
	width int
	reg   uint8
	shift uint8
	ureg  uint8
	guard sass.Pred
}

// member is one access of a set that may become a run.
type member struct {
	site   int
	offset int64
	base   value // of the address without the offset
}

// runFinder walks the blocks of a kernel and gathers accesses from the same base.
type runFinder struct {
	flow *flow
	out  *Accesses
	open map[baseKey][]member
}

func (r *runFinder) find() {
	var state registers
	for i := range r.flow.blocks {
		b := &r.flow.blocks[i]
		if b.in == nil { // never reached, as far as the code shows
			continue
		}
		state = *b.in
		for pc := b.start; pc < b.end; pc += sass.Size {
			n := pc / sass.Size
			if r.flow.known[n] {
				r.access(&state, &r.flow.insts[n], uint32(pc))
				r.separate(&r.flow.insts[n])
			} else {
				r.closeAll(nil)
			}
			r.flow.step(&state, pc)
		}
		r.closeAll(nil)
	}
	slices.SortFunc(r.out.Runs, func(a, b Run) int { return cmp.Compare(a.Sites[0], b.Sites[0]) })
	for i, run := range r.out.Runs {
		for _, s := range run.Sites {
			r.out.Sites[s].Run = i
		}
	}
}

// access notes an access and what is known of its address.
func (r *runFinder) access(s *registers, in *sass.Inst, pc uint32) {
	o := in.Arg(sass.RoleAddr)
	if _, ok := sharedOps[in.Op]; !ok || o == nil || o.Kind != sass.KindAddr {
		return
	}
	site, ok := slices.BinarySearchFunc(r.out.Sites, pc, func(s Site, pc uint32) int { return cmp.Compare(s.PC, pc) })
	if !ok {
		return
	}
	base := constant(0)
	if o.Reg != sass.RZ {
		base = s.r[o.Reg].shl(int(o.Shift))
	}
	if o.Is(sass.FlagUBase) && o.UReg != sass.URZ {
		base = base.add(s.u[o.UReg])
	}
	r.out.Sites[site].Aligned = 1 << min(base.add(constant(uint32(o.Imm))).trailing(), 4)
	if in.Op != sass.LDS && in.Op != sass.STS || r.out.Sites[site].Width >= maxWidth {
		return
	}
	key := baseKey{op: in.Op, width: r.out.Sites[site].Width, reg: o.Reg, shift: o.Shift, ureg: o.UReg, guard: in.Guard}
	r.open[key] = append(r.open[key], member{site: site, offset: o.Imm, base: base})
}

// maxWidth is the widest access of a lane, in bytes.
const maxWidth = 16

// separate ends the sets that an instruction keeps apart from what follows: those whose base it changes, all at a
// barrier, and loads at a store and the other way round.
func (r *runFinder) separate(in *sass.Inst) {
	switch in.Op {
	case sass.BAR, sass.WARPSYNC, sass.MEMBAR, sass.LDSM, sass.STSM, sass.ATOMS, sass.LDGSTS:
		r.closeAll(nil)
	case sass.LDS:
		r.closeAll(func(k baseKey) bool { return k.op == sass.STS })
	case sass.STS:
		r.closeAll(func(k baseKey) bool { return k.op == sass.LDS })
	}
	for n := range in.Args[:in.NArgs] {
		o := &in.Args[n]
		if !o.Is(sass.FlagDst) {
			continue
		}
		first, last := int(o.Reg), int(o.Reg)+int(max(o.Count, 1))-1
		hit := func(reg uint8) bool { return reg != sass.RZ && int(reg) >= first && int(reg) <= last }
		switch o.Kind {
		case sass.KindReg:
			r.closeAll(func(k baseKey) bool { return hit(k.reg) })
		case sass.KindUReg:
			r.closeAll(func(k baseKey) bool { return hit(k.ureg) })
		case sass.KindPred, sass.KindUPred:
			r.closeAll(func(k baseKey) bool { return k.guard.Reg == o.Reg && k.guard.Reg != sass.PT })
		}
	}
}

// closeAll turns the sets that match, or all, into runs.
func (r *runFinder) closeAll(match func(baseKey) bool) {
	if len(r.open) == 0 {
		return
	}
	for key, set := range r.open {
		if match == nil || match(key) {
			r.close(key, set)
			delete(r.open, key)
		}
	}
}

// close finds the stretches of neighbouring accesses in a set.
func (r *runFinder) close(key baseKey, set []member) {
	slices.SortStableFunc(set, func(a, b member) int { return cmp.Compare(a.offset, b.offset) })
	for len(set) > 0 {
		n := 1
		for n < len(set) && set[n].offset == set[n-1].offset+int64(key.width) {
			n++
		}
		r.stretch(key, set[:n])
		set = set[n:]
	}
}

// stretch adds a run for neighbouring accesses if they could be wider. It tries the widest first and takes the widest
// that alignment does not rule out; if it rules out all, the run tells why for the narrowest.
func (r *runFinder) stretch(key baseKey, set []member) {
	verdict, wider := misaligned, 0
	for size := maxWidth; size > key.width; size /= 2 {
		v, ok := joinable(key.width, size, set)
		if !ok {
			continue
		}
		verdict, wider = v, size
		if v != misaligned {
			break
		}
	}
	if wider == 0 {
		return
	}
	run := Run{Width: key.width, Wider: wider, Cause: causeOf[verdict]}
	for _, m := range set {
		run.Sites = append(run.Sites, m.site)
	}
	slices.Sort(run.Sites)
	run.Note = note(key, set, wider, run.Cause)
	r.out.Runs = append(r.out.Runs, run)
}

// causeOf is indexed by alignment.
var causeOf = [...]Cause{alignUnknown: Unproven, aligned: Proven, misaligned: Misaligned}

// joinable tells how an access of some size that begins at one of the accesses would be aligned, if the set is long
// enough for one. The best start counts.
func joinable(width, size int, set []member) (alignment, bool) {
	need := size / width
	best, ok := misaligned, false
	for i := 0; i+need <= len(set); i++ {
		switch v := set[i].base.multipleOf(uint32(size), set[i].offset); {
		case v == aligned:
			return aligned, true
		case v == alignUnknown:
			best = alignUnknown
		}
		ok = true
	}
	return best, ok
}

// verbs names what an operation does.
var verbs = map[sass.Op]string{sass.LDS: "loads", sass.STS: "stores"}

// note explains a run.
func note(key baseKey, set []member, wider int, cause Cause) string {
	base := set[0].base
	what := fmt.Sprintf("%d neighbouring %s of %d bytes", len(set), verbs[key.op], key.width)
	switch cause {
	case Misaligned:
		axis := slices.IndexFunc(base.thread[:], func(t uint32) bool { return t%uint32(wider) != 0 })
		if axis < 0 {
			return fmt.Sprintf("%s begin where no access of %d bytes may begin: the address is %d more than a multiple of %d",
				what, wider, (base.fixed+uint32(set[0].offset))%uint32(wider), wider)
		}
		stride := base.thread[axis]
		return fmt.Sprintf("%s: threads that follow in threadIdx.%c are %d bytes apart, which is no multiple of %d, so accesses of %[4]d bytes would be misaligned",
			what, 'x'+rune(axis), int32(stride), wider)
	case Proven:
		return fmt.Sprintf("%s: the code shows addresses to be multiples of %d, so accesses of %[2]d bytes would be aligned; the compiler left them apart for another reason",
			what, wider)
	}
	shown := 1 << min(bits.TrailingZeros32(uint32(wider))-1, base.add(constant(uint32(set[0].offset))).trailing())
	if shown < key.width {
		return fmt.Sprintf("%s: the code does not show how addresses are aligned, so accesses of %d bytes may or may not be aligned",
			what, wider)
	}
	return fmt.Sprintf("%s: the code shows addresses to be multiples of %d only, so accesses of %d bytes may or may not be aligned",
		what, shown, wider)
}
