package emu

import (
	"encoding/binary"
	"fmt"

	"shmoo/sass"
)

// sharedMemory is the shared memory of a block, and which bytes of it are known.
type sharedMemory struct {
	data  []byte
	known []byte // 1 where the byte is known
	why   []reason
	size  int
	blank bool // nothing is known
}

// wordsPadding lets whole words be read at the end.
const wordsPadding = 16

func (s *sharedMemory) init(size int) {
	s.size = size
	s.data = make([]byte, size+wordsPadding)
	s.known = make([]byte, size+wordsPadding)
	s.why = make([]reason, (size+wordsPadding)/4+1)
}

func (s *sharedMemory) clear(why reason) {
	clear(s.data)
	s.blank = false
	s.poison(why)
}

// poison makes all contents unknown.
func (s *sharedMemory) poison(why reason) {
	if s.blank {
		return
	}
	s.blank = true
	clear(s.known)
	for i := range s.why {
		s.why[i] = why
	}
}

func (s *sharedMemory) load32(at uint32) (v uint32, known bool) {
	return binary.LittleEndian.Uint32(s.data[at:]), binary.LittleEndian.Uint32(s.known[at:]) == 0x0101_0101
}

func (s *sharedMemory) load(at uint32, n int) (v uint32, known bool) {
	if n == 4 {
		return s.load32(at)
	}
	known = true
	for k := range n {
		v |= uint32(s.data[at+uint32(k)]) << (8 * k)
		known = known && s.known[at+uint32(k)] != 0
	}
	return v, known
}

// store writes the low n bytes of a word, at most 4. A weak store may not happen: bytes stay known only where it changes nothing.
func (s *sharedMemory) store(at uint32, v uint32, n int, known, weak bool, why reason) {
	if known && !weak {
		s.blank = false
	}
	if n == 4 && known && !weak {
		binary.LittleEndian.PutUint32(s.data[at:], v)
		binary.LittleEndian.PutUint32(s.known[at:], 0x0101_0101)
		return
	}
	for k := range n {
		i := at + uint32(k)
		b := byte(v >> (8 * k))
		switch {
		case known && !weak:
			s.data[i], s.known[i] = b, 1
		case known && s.known[i] != 0 && s.data[i] == b:
		default:
			s.known[i] = 0
			s.why[i/4] = why
		}
	}
}

// An Event is one execution of a shared-memory instruction by lanes of a warp. It is reused.
type Event struct {
	Site  int // index into Program.Sites
	Block int
	Warp  int
	// Active lanes execute the access; Sure ones certainly do, the others only on one side of a branch, or under a guard,
	// that depends on unknown data. Known lanes are the active ones whose address is known.
	Active, Sure, Known uint32
	Addr                *[32]uint32 // offsets from the block's first shared byte
	Why                 string      // why Active, Sure and Known differ; "" where they do not
}

// Exact reports whether lanes and addresses are all known.
func (e *Event) Exact() bool { return e.Active == e.Sure && e.Active == e.Known }

// addresses fills w.addr with the shared addresses of the active lanes and returns the lanes where they are known.
func (w *warp) addresses(a *address) (known uint32) {
	base := &w.rows[a.base]
	known = w.rowKnown(a.base)
	add := uint32(a.offset)
	if a.hasUniform {
		add += w.uregs[a.ubase]
		known &= spread(w.uknown[a.ubase])
	}
	if a.shift == 0 {
		for i := range w.addr {
			w.addr[i] = base[i] + add
		}
		return known
	}
	for i := range w.addr {
		w.addr[i] = base[i]<<a.shift + add
	}
	return known
}

func (w *warp) addressReason(a *address, set uint32) reason {
	switch {
	case w.known[a.base]&set != set:
		return w.why[a.base]
	case w.known[a.base2]&set != set:
		return w.why[a.base2]
	case a.hasUniform && !w.uknown[a.ubase]:
		return w.uwhy[a.ubase]
	case a.hasUniform && !w.uknown[a.ubase2]:
		return w.uwhy[a.ubase2]
	}
	return 0
}

// rankBits is where a shared address holds the rank of the block in its cluster (sm_90 and later).
const rankShift = 24

// access checks the addresses of a shared access of width bytes (per address) in the lanes that count and reports it. It returns the
// lanes whose memory can be read or written: those with a known address in this block's memory; ok is false when the run has ended.
func (w *warp) access(o *inst, known uint32, bytes int, counting uint32) (usable uint32, ok bool) {
	m, b := w.m, w.block
	act := w.act
	unsure := act & (w.weak | w.maybe)
	usable = act & known & counting
	base := m.sharedBase
	suspicious := usable
	if usable == act && unsure == 0 {
		var all, most uint32
		if usable == allLanes {
			for _, at := range &w.addr {
				all |= at
				most = max(most, at)
			}
		} else {
			for set := usable; set != 0; set &= set - 1 {
				at := w.addr[first(set)&(warpLanes-1)]
				all |= at
				most = max(most, at)
			}
		}
		if all&uint32(bytes-1) == 0 && int(most)+bytes <= m.sharedSize {
			suspicious = 0
		}
	}
	for set := suspicious; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		at := w.addr[i]
		if at&uint32(bytes-1) != 0 && bytes&(bytes-1) == 0 && unsure>>uint(i)&1 == 0 {
			w.fault(Misaligned, o, i, uint64(at), fmt.Sprintf("a multiple of %d", bytes))
			return 0, false
		}
		if at>>rankShift != 0 && base != 0 { // another block of the cluster
			b.counts.remote++
			w.addr[i] &= 1<<rankShift - 1
			usable &^= 1 << uint(i)
			continue
		}
		if int(at)+bytes > m.sharedSize {
			if unsure>>uint(i)&1 != 0 {
				usable &^= 1 << uint(i)
				continue
			}
			w.fault(SharedBounds, o, i, uint64(at-base), fmt.Sprintf("at most 0x%x: the block has %d bytes",
				max(m.sharedSize-int(base)-bytes, 0), m.sharedSize-int(base)))
			return 0, false
		}
	}
	if b.emit == nil {
		return usable, true
	}
	e := &b.event
	e.Site, e.Warp, e.Block = int(o.site), w.id, b.index
	e.Active, e.Sure, e.Known = act, act&^unsure, act&(known|^counting)
	for i := range w.addr {
		b.addr[i] = w.addr[i] - base
	}
	e.Addr = &b.addr
	e.Why = ""
	if !e.Exact() {
		e.Why = m.program.reasonText(w.unsureReason(o, known, counting))
	}
	if !b.emit(e) {
		w.stop(errStopped)
		return 0, false
	}
	return usable, true
}

// unsureReason says why an access is not exact.
func (w *warp) unsureReason(o *inst, known, counting uint32) reason {
	if r := w.addressReason(&o.addr, w.act&counting); r != 0 && known&w.act&counting != w.act&counting {
		return r
	}
	if w.weak&w.act != 0 {
		return w.guardWhy
	}
	return w.maybeWhy
}

func execLDS(w *warp, o *inst) { w.loadShared(o, w.addresses(&o.addr)) }

func (w *warp) loadShared(o *inst, known uint32) {
	width := o.in.Width()
	bytes := width.Bytes()
	usable, ok := w.access(o, known, bytes, allLanes)
	if !ok {
		return
	}
	words := int32(max(bytes/4, 1))
	words = min(words, o.words)
	if o.dst == w.sink {
		return
	}
	s := &w.block.shared
	each := min(bytes, 4)
	lost := w.act &^ usable
	why := w.addressReason(&o.addr, w.act)
	if why == 0 {
		why = because(whyData, int(o.index))
	}
	fast := w.weak == 0 && bytes >= 4
	for k := range words {
		row := o.dst + k
		if fast {
			if len(w.guardeds) > 0 {
				w.dropRow(row)
			}
			if usable == allLanes {
				w.loadRow(row, uint32(k)*4)
				continue
			}
			var got uint32
			to := &w.bufD
			off := uint32(k) * 4
			for set := usable; set != 0; set &= set - 1 {
				i := first(set) & (warpLanes - 1)
				v, known := s.load32(w.addr[i] + off)
				to[i] = v
				if known {
					got |= 1 << uint(i)
				} else {
					w.why[row] = s.why[(w.addr[i]+off)/4]
				}
			}
			dst := &w.rows[row]
			for set := usable; set != 0; set &= set - 1 {
				i := first(set) & (warpLanes - 1)
				dst[i] = to[i]
			}
			w.known[row] = w.known[row]&^w.act | got
			if lost != 0 {
				w.why[row] = why
			}
			continue
		}
		for set := w.act; set != 0; set &= set - 1 {
			i := first(set) & (warpLanes - 1)
			if usable>>uint(i)&1 == 0 {
				w.putWord(row, i, 0, false, why)
				continue
			}
			at := w.addr[i] + uint32(k)*4
			v, known := s.load(at, each)
			w.putWord(row, i, extend(v, width), known, s.why[at/4])
		}
	}
}

// loadRow loads a word in every lane, off bytes behind the lane's address.
func (w *warp) loadRow(row int32, off uint32) {
	s := &w.block.shared
	dst := &w.rows[row]
	all := uint32(0x0101_0101)
	last := ^w.addr[0]
	var v uint32
	for i, at := range &w.addr {
		if at != last { // neighbours often share a word
			last = at
			v = binary.LittleEndian.Uint32(s.data[at+off:])
			all &= binary.LittleEndian.Uint32(s.known[at+off:])
		}
		dst[i] = v
	}
	if all == 0x0101_0101 {
		w.known[row] = allLanes
		return
	}
	var got uint32
	for i := range dst {
		if _, known := s.load32(w.addr[i] + off); known {
			got |= 1 << uint(i)
		} else {
			w.why[row] = s.why[(w.addr[i]+off)/4]
		}
	}
	w.known[row] = got
}

// extend widens a narrow load.
func extend(v uint32, width sass.Width) uint32 {
	switch width {
	case sass.WidthS8:
		return uint32(int32(int8(v)))
	case sass.WidthS16:
		return uint32(int32(int16(v)))
	}
	return v
}

func execSTS(w *warp, o *inst) { w.storeShared(o, w.addresses(&o.addr)) }

func (w *warp) storeShared(o *inst, known uint32) {
	bytes := o.in.Width().Bytes()
	usable, ok := w.access(o, known, bytes, allLanes)
	if !ok {
		return
	}
	s := &w.block.shared
	if w.act&^known != 0 {
		s.poison(w.addressReason(&o.addr, w.act))
		return
	}
	weak := w.weak | w.maybe
	each := min(bytes, 4)
	for k := range max(bytes/4, 1) {
		row, data, have := w.dataWord(o, k)
		for set := usable; set != 0; set &= set - 1 {
			i := first(set) & (warpLanes - 1)
			s.store(w.addr[i]+uint32(k)*4, data[i], each, have>>uint(i)&1 != 0, weak>>uint(i)&1 != 0, w.storeReason(row, i))
		}
	}
}

// dataWord returns word k of the value that an instruction stores.
func (w *warp) dataWord(o *inst, k int) (row int32, data *lanes, known uint32) {
	if o.data.kind == fromRow && o.data.row != w.m.zeroRow {
		row = o.data.row + int32(k)
		if int(row) >= w.m.program.regs {
			row = w.m.zeroRow
		}
		return row, &w.rows[row], w.rowKnown(row)
	}
	data, known = w.src(&o.data, &w.bufA)
	return w.m.zeroRow, data, known
}

func (w *warp) storeReason(row int32, lane int) reason {
	if w.known[row]>>uint(lane)&1 == 0 {
		return w.why[row]
	}
	if w.weak != 0 {
		return w.guardWhy
	}
	return w.maybeWhy
}

// matrixRow is the size in bytes of a row of an 8x8 matrix of 16-bit elements.
const matrixRow = 16

// execLDSM loads 8x8 matrices: lane 8m+r addresses row r of matrix m, and lane l receives elements 2*(l%4) and the next of row l/4
// (PTX ISA, ldmatrix), or of column l/4 when transposed.
func execLDSM(w *warp, o *inst) {
	num := int(max(o.mod(sass.ModNum), 1))
	counting := uint32(1<<(8*num) - 1)
	if num == 4 {
		counting = allLanes
	}
	known := w.addresses(&o.addr)
	usable, ok := w.access(o, known, matrixRow, counting)
	if !ok || o.dst == w.sink {
		return
	}
	s := &w.block.shared
	plain := !o.in.Has(sass.ModLayout)
	trans := o.in.Has(sass.ModTrans)
	why := w.addressReason(&o.addr, w.act&counting)
	if why == 0 {
		why = because(whyData, int(o.index))
	}
	for k := range min(num, int(o.words)) {
		var v lanes
		var have uint32
		for i := range warpLanes {
			ok := plain
			for half := range 2 {
				row, col := i/4, 2*(i%4)+half
				if trans {
					row, col = col, row
				}
				from := 8*k + row
				if usable>>uint(from)&1 == 0 {
					ok = false
					continue
				}
				x, known := s.load(w.addr[from]+uint32(2*col), 2)
				v[i] |= x << (16 * half)
				if !known {
					ok, why = false, s.why[(w.addr[from]+uint32(2*col))/4]
				}
			}
			if ok {
				have |= 1 << uint(i)
			}
		}
		for set := w.act; set != 0; set &= set - 1 {
			i := first(set)
			w.putWord(o.dst+int32(k), i, v[i], have>>uint(i)&1 != 0, why)
		}
	}
}

// execSTSM stores 8x8 matrices, the inverse of execLDSM.
func execSTSM(w *warp, o *inst) {
	num := int(max(o.mod(sass.ModNum), 1))
	counting := uint32(1<<(8*num) - 1)
	if num == 4 {
		counting = allLanes
	}
	known := w.addresses(&o.addr)
	usable, ok := w.access(o, known, matrixRow, counting)
	if !ok {
		return
	}
	s := &w.block.shared
	if w.act&counting&^known != 0 {
		s.poison(w.addressReason(&o.addr, w.act&counting))
		return
	}
	weak := w.weak | w.maybe
	trans := o.in.Has(sass.ModTrans)
	for k := range num {
		row, data, have := w.dataWord(o, k)
		for i := range warpLanes {
			if w.act>>uint(i)&1 == 0 {
				continue
			}
			for half := range 2 {
				r, col := i/4, 2*(i%4)+half
				if trans {
					r, col = col, r
				}
				to := 8*k + r
				if usable>>uint(to)&1 == 0 {
					continue
				}
				s.store(w.addr[to]+uint32(2*col), data[i]>>(16*half), 2, have>>uint(i)&1 != 0, weak>>uint(i)&1 != 0,
					w.storeReason(row, i))
			}
		}
	}
}

func execATOMS(w *warp, o *inst) { w.atomicShared(o, w.addresses(&o.addr)) }

func (w *warp) atomicShared(o *inst, known uint32) {
	bytes := atomBytes(o.in)
	usable, ok := w.access(o, known, bytes, allLanes)
	if !ok {
		return
	}
	s := &w.block.shared
	if w.act&^known != 0 {
		why := w.addressReason(&o.addr, w.act)
		s.poison(why)
		w.poison(o, why)
		return
	}
	for set := w.act; set != 0; set &= set - 1 {
		i := first(set) & (warpLanes - 1)
		if usable>>uint(i)&1 == 0 {
			w.put(o.dst, o.words, i, 0, false, because(whyData, int(o.index)))
			continue
		}
		at := w.addr[i]
		old, oldKnown := s.load(at, min(bytes, 4))
		v := uint64(old)
		if bytes == 8 {
			hi, k := s.load(at+4, 4)
			v, oldKnown = v|uint64(hi)<<32, oldKnown && k
		}
		d := w.atom(o, i, v, oldKnown)
		why := s.why[at/4]
		if oldKnown {
			why = w.atomReason(o, i)
		}
		weak := (w.weak|w.maybe)>>uint(i)&1 != 0
		if d.writes {
			s.store(at, uint32(d.value), min(bytes, 4), d.known, weak, why)
			if bytes == 8 {
				s.store(at+4, uint32(d.value>>32), 4, d.known, weak, why)
			}
		}
		result, resultKnown := v, oldKnown
		if d.flag {
			result, resultKnown = d.result, d.known
		}
		w.put(o.dst, o.words, i, result, resultKnown, why)
	}
	// The order in which lanes, and warps, reach one address is the hardware's choice: the emulator takes lanes in order.
}
