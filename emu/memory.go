package emu

import (
	"encoding/binary"
	"sort"
	"sync"

	"shmoo/sass"
)

// memory is global memory: the buffers whose contents were given, at addresses of the emulator's choice. Everything else is unknown.
type memory struct {
	buffers []buffer // by address
	next    uint64
	// mu orders blocks that run at the same time; nil when they run one by one.
	mu *sync.Mutex
}

// A buffer is a piece of memory with contents. lost marks bytes that are no longer known; nil means none.
type buffer struct {
	addr uint64
	data []byte
	lost []bool
}

// Addresses of buffers and opaque pointers: apart from each other and from the windows, aligned as cudaMalloc aligns and more.
const (
	firstAddr = 0x0000_7e00_0000_0000
	addrStep  = 1 << 20
	opaqueGap = 1 << 36
)

func newMemory(segments []Segment) *memory {
	m := &memory{next: firstAddr}
	for _, s := range segments {
		m.insert(buffer{addr: s.Addr, data: append([]byte(nil), s.Data...)})
	}
	return m
}

func (m *memory) insert(b buffer) {
	i := sort.Search(len(m.buffers), func(i int) bool { return m.buffers[i].addr > b.addr })
	m.buffers = append(m.buffers, buffer{})
	copy(m.buffers[i+1:], m.buffers[i:])
	m.buffers[i] = b
}

func (m *memory) addBuffer(data []byte) uint64 {
	addr := m.next
	m.next += uint64(len(data)+2*addrStep-1) / addrStep * addrStep
	m.insert(buffer{addr: addr, data: data})
	return addr
}

func (m *memory) addOpaque() uint64 {
	addr := m.next
	m.next += opaqueGap
	return addr
}

// find returns the buffer that holds n bytes at an address, or nil.
func (m *memory) find(addr uint64, n int) *buffer {
	i := sort.Search(len(m.buffers), func(i int) bool { return m.buffers[i].addr > addr }) - 1
	if i < 0 {
		return nil
	}
	b := &m.buffers[i]
	if off := addr - b.addr; off+uint64(n) > uint64(len(b.data)) || off > uint64(len(b.data)) {
		return nil
	}
	return b
}

// lost returns how many bytes of the buffer at an address are unknown.
func (m *memory) lost(addr uint64) int {
	n := 0
	if b := m.find(addr, 0); b != nil {
		for _, l := range b.lost {
			n += int(bit(l))
		}
	}
	return n
}

func (b *buffer) load(addr uint64, n int) (v uint32, known bool) {
	off := addr - b.addr
	if n == 4 && b.lost == nil {
		return binary.LittleEndian.Uint32(b.data[off:]), true
	}
	known = true
	for k := range uint64(n) {
		v |= uint32(b.data[off+k]) << (8 * k)
		known = known && (b.lost == nil || !b.lost[off+k])
	}
	return v, known
}

func (b *buffer) store(addr uint64, v uint32, n int, known, weak bool) {
	off := addr - b.addr
	for k := range uint64(n) {
		c := byte(v >> (8 * k))
		if known && !weak {
			b.data[off+k] = c
			if b.lost != nil {
				b.lost[off+k] = false
			}
			continue
		}
		if known && b.data[off+k] == c && (b.lost == nil || !b.lost[off+k]) {
			continue
		}
		if b.lost == nil {
			b.lost = make([]bool, len(b.data))
		}
		b.lost[off+k] = true
	}
}

func (m *memory) lock() {
	if m.mu != nil {
		m.mu.Lock()
	}
}

func (m *memory) unlock() {
	if m.mu != nil {
		m.mu.Unlock()
	}
}

// address64 returns the 64-bit address of a lane.
func (w *warp) address64(a *address, lane int) (addr uint64, known bool) {
	v := uint64(w.rows[a.base][lane]) | uint64(w.rows[a.base2][lane])<<32
	k := w.rowKnown(a.base) & w.rowKnown(a.base2)
	v = v<<a.shift + uint64(a.offset)
	if a.hasUniform {
		v += uint64(w.uregs[a.ubase]) | uint64(w.uregs[a.ubase2])<<32
		k &= spread(w.uknown[a.ubase] && w.uknown[a.ubase2])
	}
	return v, k>>uint(lane)&1 != 0
}

// space is the memory that a generic address lies in.
type space uint8

const (
	spaceGlobal space = iota
	spaceShared
	spaceLocal
)

func spaceOf(addr uint64) space {
	switch {
	case addr-sharedWindowAddr < windowSize:
		return spaceShared
	case addr-localWindowAddr < windowSize:
		return spaceLocal
	}
	return spaceGlobal
}

// generic sorts the active lanes of a generic access by the space their addresses lie in and runs each part by itself. Lanes with
// unknown addresses go to global memory: an unknown address has no site of shared memory to count for.
func (w *warp) generic(o *inst, shared, local, global func(*warp, *inst)) {
	var in [3]uint32
	act := w.act
	for set := act; set != 0; set &= set - 1 {
		i := first(set)
		addr, known := w.address64(&o.addr, i)
		s := spaceGlobal
		if known {
			s = spaceOf(addr)
		}
		in[s] |= 1 << uint(i)
	}
	for s, run := range []func(*warp, *inst){spaceGlobal: global, spaceShared: shared, spaceLocal: local} {
		if in[s] == 0 || w.state == stopped {
			continue
		}
		w.act = in[s]
		for set := w.act; set != 0 && space(s) != spaceGlobal; set &= set - 1 {
			i := first(set)
			addr, _ := w.address64(&o.addr, i)
			w.addr[i] = uint32(addr) & (windowSize - 1)
		}
		run(w, o)
	}
	w.act = act
}

func execLD(w *warp, o *inst) {
	w.generic(o, func(w *warp, o *inst) { w.loadShared(o, allLanes) }, func(w *warp, o *inst) { w.loadLocal(o, allLanes) }, execLDG)
}

func execST(w *warp, o *inst) {
	w.generic(o, func(w *warp, o *inst) { w.storeShared(o, allLanes) }, func(w *warp, o *inst) { w.storeLocal(o, allLanes) }, execSTG)
}

func execATOM(w *warp, o *inst) {
	w.generic(o, func(w *warp, o *inst) { w.atomicShared(o, allLanes) }, unsupported, execATOMG)
}

func execLDG(w *warp, o *inst) {
	mem := w.m.memory
	why := because(whyData, int(o.index))
	if len(mem.buffers) == 0 {
		w.poisonLoad(o, why)
		return
	}
	mem.lock()
	defer mem.unlock()
	width := o.in.Width()
	bytes := width.Bytes()
	each := min(bytes, 4)
	words := min(int32(max(bytes/4, 1)), o.words)
	var last *buffer
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		addr, known := w.address64(&o.addr, i)
		reason := why
		if !known {
			reason = w.addressReason(&o.addr, 1<<uint(i))
		} else if last == nil || addr-last.addr+uint64(bytes) > uint64(len(last.data)) || addr < last.addr {
			last = mem.find(addr, bytes)
			known = last != nil
			if !known {
				w.block.counts.outside++
			}
		}
		for k := range words {
			if !known {
				w.putWord(o.dst+k, i, 0, false, reason)
				continue
			}
			v, have := last.load(addr+uint64(k)*4, each)
			w.putWord(o.dst+k, i, extend(v, width), have, reason)
		}
	}
	w.putPred(o.pu, 0, 0, why)
}

// poisonLoad marks the destination of a load unknown, also under an unknown guard.
func (w *warp) poisonLoad(o *inst, why reason) {
	w.poisonRows(o, why)
	w.putPred(o.pu, 0, 0, why)
}

func execSTG(w *warp, o *inst) {
	mem := w.m.memory
	if len(mem.buffers) == 0 {
		return
	}
	mem.lock()
	defer mem.unlock()
	bytes := o.in.Width().Bytes()
	each := min(bytes, 4)
	weak := w.weak | w.maybe
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		addr, known := w.address64(&o.addr, i)
		if !known {
			w.block.counts.assumedAliases++
			continue
		}
		b := mem.find(addr, bytes)
		if b == nil {
			w.block.counts.outside++
			continue
		}
		for k := range max(bytes/4, 1) {
			_, data, have := w.dataWord(o, k)
			b.store(addr+uint64(k)*4, data[i], each, have>>uint(i)&1 != 0, weak>>uint(i)&1 != 0)
		}
	}
}

func execATOMG(w *warp, o *inst) {
	mem := w.m.memory
	why := because(whyData, int(o.index))
	if len(mem.buffers) == 0 {
		w.poisonLoad(o, why)
		return
	}
	mem.lock()
	defer mem.unlock()
	bytes := atomBytes(o.in)
	weak := w.weak | w.maybe
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		addr, known := w.address64(&o.addr, i)
		var b *buffer
		if known {
			b = mem.find(addr, bytes)
		} else {
			w.block.counts.assumedAliases++
		}
		if b == nil {
			w.put(o.dst, o.words, i, 0, false, why)
			continue
		}
		lo, oldKnown := b.load(addr, min(bytes, 4))
		old := uint64(lo)
		if bytes == 8 {
			hi, k := b.load(addr+4, 4)
			old, oldKnown = old|uint64(hi)<<32, oldKnown && k
		}
		d := w.atom(o, i, old, oldKnown)
		if d.writes {
			b.store(addr, uint32(d.value), min(bytes, 4), d.known, weak>>uint(i)&1 != 0)
			if bytes == 8 {
				b.store(addr+4, uint32(d.value>>32), 4, d.known, weak>>uint(i)&1 != 0)
			}
		}
		result, resultKnown := old, oldKnown
		if d.flag {
			result, resultKnown = d.result, d.known
		}
		w.put(o.dst, o.words, i, result, resultKnown, w.atomReason(o, i))
	}
	w.putPred(o.pu, 0, 0, why)
}

// Local memory: word n below the top of a lane's stack is a row behind the registers.

// localRow returns the row of the local word that holds an address, growing the file as needed; ok is false for an address outside
// a lane's memory.
func (w *warp) localRow(addr uint32) (row int, ok bool) {
	below := int64(stackTop) - int64(addr&^3)
	if below <= 0 || below > int64(w.m.limits.LocalBytes) {
		return 0, false
	}
	row = w.m.rows + int(below/4) - 1
	for len(w.rows) <= row {
		w.rows = append(w.rows, lanes{})
		w.known = append(w.known, 0) // rows may hold what an earlier block left
		w.why = append(w.why, because(whyInit, int(w.pc)-1))
	}
	return row, true
}

func execLDL(w *warp, o *inst) { w.loadLocal(o, w.addresses(&o.addr)) }

func (w *warp) loadLocal(o *inst, known uint32) {
	width := o.in.Width()
	bytes := width.Bytes()
	words := min(int32(max(bytes/4, 1)), o.words)
	why := w.addressReason(&o.addr, w.act)
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		for k := range words {
			if known>>uint(i)&1 == 0 {
				w.putWord(o.dst+k, i, 0, false, why)
				continue
			}
			at := w.addr[i] + uint32(k)*4
			row, ok := w.localRow(at)
			if !ok || at&uint32(min(bytes, 4)-1) != 0 {
				w.localFault(o, i, at, ok, bytes)
				return
			}
			v := w.rows[row][i]
			if bytes < 4 {
				v >>= 8 * (at & 3)
				v &= 1<<(8*bytes) - 1
			}
			w.putWord(o.dst+k, i, extend(v, width), w.known[row]>>uint(i)&1 != 0, w.why[row])
		}
	}
}

func (w *warp) localFault(o *inst, lane int, at uint32, inside bool, bytes int) {
	if (w.weak|w.maybe)>>uint(lane)&1 != 0 {
		return
	}
	if inside {
		w.fault(Misaligned, o, lane, uint64(at), "a multiple of the access size")
		return
	}
	w.fault(LocalBounds, o, lane, uint64(at), "an address below the stack's top")
}

func execSTL(w *warp, o *inst) { w.storeLocal(o, w.addresses(&o.addr)) }

func (w *warp) storeLocal(o *inst, known uint32) {
	bytes := o.in.Width().Bytes()
	for k := range max(bytes/4, 1) {
		for set := w.act; set != 0; set &= set - 1 {
			i := first(set) & (warpLanes - 1)
			if known>>uint(i)&1 == 0 {
				w.forgetLocal(i, w.addressReason(&o.addr, w.act))
				continue
			}
			at := w.addr[i] + uint32(k)*4
			row, ok := w.localRow(at)
			if !ok || at&uint32(min(bytes, 4)-1) != 0 {
				w.localFault(o, i, at, ok, bytes)
				return
			}
			from, data, have := w.dataWord(o, k)
			v, ok := data[i], have>>uint(i)&1 != 0
			if bytes < 4 {
				mask := uint32(1<<(8*bytes)-1) << (8 * (at & 3))
				v = w.rows[row][i]&^mask | v<<(8*(at&3))&mask
				// A word is known only as a whole: a narrow store into a word never written leaves it unknown.
				ok = ok && w.known[row]>>uint(i)&1 != 0
			}
			w.putWord(int32(row), i, v, ok, w.storeReason(from, i))
		}
	}
}

// forgetLocal marks a lane's local memory unknown: a store went to an unknown place in it.
func (w *warp) forgetLocal(lane int, why reason) {
	for r := w.m.rows; r < len(w.rows); r++ {
		w.known[r] &^= 1 << uint(lane)
		w.why[r] = why
	}
}

// execLDGSTS copies from global to shared memory. The copy is complete at once.
func execLDGSTS(w *warp, o *inst) {
	bytes := o.in.Width().Bytes()
	known := w.addresses(&o.addr)
	usable, ok := w.access(o, known, bytes, allLanes)
	if !ok {
		return
	}
	s := &w.block.shared
	if w.act&^known != 0 {
		s.poison(w.addressReason(&o.addr, w.act))
		return
	}
	copies, copiesKnown := w.pred(o.pp)
	mem := w.m.memory
	mem.lock()
	defer mem.unlock()
	weak := w.weak | w.maybe
	why := because(whyData, int(o.index))
	for set := usable; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		lane := uint32(1) << uint(i)
		var b *buffer
		addr, have := w.address64(&o.addr2, i)
		from := addr
		partial := 0
		if have && o.in.Has(sass.ModZfill) {
			// The low bits of the address say how many bytes lie before it; the rest is filled with zero.
			if partial = int(addr & uint64(bytes-1)); partial > 0 {
				from = addr - uint64(partial)
			}
		}
		if have {
			b = mem.find(from, bytes)
		}
		zero := copies&copiesKnown&lane == 0 && copiesKnown&lane != 0
		for k := range max(bytes/4, 1) {
			var v uint32
			ok := false
			switch {
			case zero, partial > 0 && 4*k >= partial:
				ok = true
			case b != nil && copiesKnown&lane != 0:
				v, ok = b.load(from+uint64(k)*4, min(bytes, 4))
				if rest := partial - 4*k; partial > 0 && rest < 4 {
					v &= 1<<(8*rest) - 1
				}
			}
			s.store(w.addr[i]+uint32(k)*4, v, min(bytes, 4), ok, weak&lane != 0, why)
		}
	}
}

var memoryOps = map[string]semantics{
	"LDS":    {exec: execLDS},
	"STS":    {exec: execSTS},
	"LDSM":   {exec: execLDSM},
	"STSM":   {exec: execSTSM},
	"ATOMS":  {exec: execATOMS},
	"LDGSTS": {exec: execLDGSTS},
	"LDG":    {exec: execLDG},
	"STG":    {exec: execSTG},
	"LD":     {exec: execLD},
	"ST":     {exec: execST},
	"LDL":    {exec: execLDL},
	"STL":    {exec: execSTL},
	"ATOM":   {exec: execATOM},
	"RED":    {exec: execATOM},
	"ATOMG":  {exec: execATOMG},
	"REDG":   {exec: execATOMG},
	"LDC":    {exec: execLDC, prepare: prepareLDC},
	"ULDC":   {exec: execULDC},
	"LDCU":   {exec: execULDC},
}

// prepareLDC looks up a constant that has no index: the launch fixes its value.
func prepareLDC(m *machine, o *inst) {
	s := o.in.Arg(sass.RoleB)
	if s == nil || s.Kind != sass.KindConst || s.Reg != sass.RZ || o.words == 0 {
		return
	}
	bank := m.banks[int(s.Bank)]
	width := o.in.Width()
	for k := range min(o.words, int32(max(width.Bytes()/4, 1))) {
		v, known := bank.load(s.Imm+int64(k)*4, min(width.Bytes(), 4))
		if !known {
			o.fixed = nil
			return
		}
		o.fixed = append(o.fixed, broadcast(extend(uint32(v), width)))
	}
	o.exec = execFixedLDC
}

func execFixedLDC(w *warp, o *inst) {
	if w.weak != 0 {
		execLDC(w, o)
		return
	}
	for k, v := range o.fixed {
		row := o.dst + int32(k)
		*w.out(row) = *v
		w.commit(row)
	}
}

// execLDC loads from a constant bank at an address that may have an index per lane.
func execLDC(w *warp, o *inst) {
	s := o.in.Arg(sass.RoleB)
	if s == nil || (s.Kind != sass.KindConst && s.Kind != sass.KindUConst) {
		unsupported(w, o)
		return
	}
	width := o.in.Width()
	bytes := width.Bytes()
	bank := w.m.banks[int(s.Bank)]
	index := w.m.row(s.Reg)
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		off := s.Imm
		known := true
		why := because(w.m.constantReason(int(s.Bank), off), int(o.index))
		if s.Kind == sass.KindConst && s.Reg != sass.RZ {
			off += int64(int32(w.rows[index][i]))
			if known = w.known[index]>>uint(i)&1 != 0; !known {
				why = w.why[index]
			}
		}
		w.putConstant(o, &bank, off, bytes, known, func(k int32, v uint32, known bool) {
			w.putWord(o.dst+k, i, extend(v, width), known, why)
		})
	}
}

// putConstant hands the words of a constant to a function.
func (w *warp) putConstant(o *inst, b *bank, off int64, bytes int, known bool, put func(int32, uint32, bool)) {
	for k := range min(int32(max(bytes/4, 1)), o.words) {
		v, have := b.load(off+int64(k)*4, min(bytes, 4))
		put(k, uint32(v), known && have)
	}
}

func execULDC(w *warp, o *inst) {
	s := o.in.Arg(sass.RoleB)
	if s == nil || (s.Kind != sass.KindConst && s.Kind != sass.KindUConst) {
		unsupported(w, o)
		return
	}
	width := o.in.Width()
	off, known := s.Imm, true
	why := because(w.m.constantReason(int(s.Bank), off), int(o.index))
	if s.Kind == sass.KindUConst && s.UReg != sass.URZ {
		off += int64(int32(w.uregs[s.UReg]))
		if known = w.uknown[s.UReg]; !known {
			why = w.uwhy[s.UReg]
		}
	}
	bank := w.m.banks[int(s.Bank)]
	w.putConstant(o, &bank, off, width.Bytes(), known, func(k int32, v uint32, known bool) {
		w.putUniformWord(o.dst+k, extend(v, width), known, why)
	})
}
