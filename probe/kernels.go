package probe

import (
	"fmt"
	"strings"
)

// A kernel runs one instruction over and over on the addresses of a pattern, one pattern per block. It is PTX text: the
// driver compiles it, so that no toolkit is needed.
//
// All warps of a block run the same instructions on the same addresses, between two barriers. Each warp reads the clock
// behind the first barrier and behind the second; the time is the latest reading less the earliest, since the warps leave a
// barrier one after another. The second barrier takes a predicate that depends on every result and on a load behind the
// last store, so that no access is still under way. All that is done several times and the shortest time counts: the first
// run loads the instruction cache. So measured, an H200 takes the unit's cycles to within 0.1: the meter has no constant to
// be taken off.
//
// A compiler drops what it can prove useless: a second load from one address, a store that the next one overwrites, a
// result that nobody reads. So loads and stores are volatile; for matrices, which cannot be volatile, the address is
// changed by a number that is zero but that only the caller knows; and every result goes into a chain of exclusive ors that
// ends in a store which never happens, which the compiler cannot rule out. Results are used some copies later (batch), so
// that a warp has several accesses in flight.
type shape struct {
	copies int // in the code
	loops  int // over the copies
	rounds int // that are timed
	batch  int // copies before the first use of a result; divides copies
}

// standard is the shape of the recordings: 128 copies of the instruction per warp.
var standard = shape{copies: 32, loops: 4, rounds: 3, batch: 8}

// Geometry of a measuring block.
const (
	warps      = 32
	lanes      = 32
	threads    = warps * lanes
	patternLen = lanes + 1 // words of a pattern: an address per lane, then the mask of active lanes
)

// An instruction is what a kernel repeats. In body, {a} stands for the address register, {v} for a 32-bit value that
// differs from thread to thread, {w} for a 64-bit and {g} for a float one, and {0} to {3} for the results.
type instruction struct {
	op     string // name in pattern files
	body   string // PTX
	result string // type of the results: "u32", "u64", "f32"; "" for none
	count  int    // of results
	since  int    // oldest generation that has it, as 10 x major + minor
	whole  bool   // every lane must execute it: there are no inactive lanes (matrices)
}

// instructions is the table of what can be measured (PTX ISA, chapter on data movement, and its target notes).
var instructions = []instruction{
	{"ld8", "ld.volatile.shared.u8 {0}, [{a}];", "u32", 1, 0, false},
	{"ld16", "ld.volatile.shared.u16 {0}, [{a}];", "u32", 1, 0, false},
	{"ld32", "ld.volatile.shared.u32 {0}, [{a}];", "u32", 1, 0, false},
	{"ld64", "ld.volatile.shared.v2.u32 {{0}, {1}}, [{a}];", "u32", 2, 0, false},
	{"ld128", "ld.volatile.shared.v4.u32 {{0}, {1}, {2}, {3}}, [{a}];", "u32", 4, 0, false},
	{"st8", "st.volatile.shared.u8 [{a}], {v};", "", 0, 0, false},
	{"st16", "st.volatile.shared.u16 [{a}], {v};", "", 0, 0, false},
	{"st32", "st.volatile.shared.u32 [{a}], {v};", "", 0, 0, false},
	{"st64", "st.volatile.shared.v2.u32 [{a}], {{v}, {v}};", "", 0, 0, false},
	{"st128", "st.volatile.shared.v4.u32 [{a}], {{v}, {v}, {v}, {v}};", "", 0, 0, false},

	{"ldm1", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{0}}, [{a}];", "u32", 1, 75, true},
	{"ldm2", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{0}, {1}}, [{a}];", "u32", 2, 75, true},
	{"ldm4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{0}, {1}, {2}, {3}}, [{a}];", "u32", 4, 75, true},
	{"ldm1t", "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{0}}, [{a}];", "u32", 1, 75, true},
	{"ldm2t", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{0}, {1}}, [{a}];", "u32", 2, 75, true},
	{"ldm4t", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{0}, {1}, {2}, {3}}, [{a}];", "u32", 4, 75, true},
	{"stm1", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [{a}], {{v}};", "", 0, 90, true},
	{"stm2", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [{a}], {{v}, {v}};", "", 0, 90, true},
	{"stm4", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [{a}], {{v}, {v}, {v}, {v}};", "", 0, 90, true},
	{"stm1t", "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [{a}], {{v}};", "", 0, 90, true},
	{"stm2t", "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [{a}], {{v}, {v}};", "", 0, 90, true},
	{"stm4t", "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [{a}], {{v}, {v}, {v}, {v}};", "", 0, 90, true},

	{"atomadd", "atom.shared.add.u32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atommax", "atom.shared.max.u32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atomexch", "atom.shared.exch.b32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"redadd", "red.shared.add.u32 [{a}], {v};", "", 0, 0, false},
	{"redmax", "red.shared.max.u32 [{a}], {v};", "", 0, 0, false},
	{"redinc", "red.shared.inc.u32 [{a}], {v};", "", 0, 0, false},
	{"atommin", "atom.shared.min.u32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atominc", "atom.shared.inc.u32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atomdec", "atom.shared.dec.u32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atomand", "atom.shared.and.b32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atomor", "atom.shared.or.b32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atomxor", "atom.shared.xor.b32 {0}, [{a}], {v};", "u32", 1, 0, false},
	{"atomcas", "atom.shared.cas.b32 {0}, [{a}], {v}, {v};", "u32", 1, 0, false},
	{"atomexch64", "atom.shared.exch.b64 {0}, [{a}], {w};", "u64", 1, 0, false},
	{"atomcas64", "atom.shared.cas.b64 {0}, [{a}], {w}, {w};", "u64", 1, 0, false},
	{"atomaddf", "atom.shared.add.f32 {0}, [{a}], {g};", "f32", 1, 0, false},
	{"atomadd64", "atom.shared.add.u64 {0}, [{a}], {w};", "u64", 1, 0, false},
}

// kernelName returns the name of an op's kernel.
func kernelName(op string) string { return "shmoo_" + op }

// newestTarget is the newest generation that PTX of version 7.8 can name; the driver compiles its text for later ones too.
const newestTarget = 90

// ptxHeader starts a PTX file for a generation. Version 7.8 is the first that knows sm_90 and stmatrix (PTX ISA, release
// notes): CUDA 11.8.
func ptxHeader(generation int) string {
	return fmt.Sprintf(".version 7.8\n.target sm_%d\n.address_size 64\n.extern .shared .align 128 .b8 shared[];\n",
		min(generation, newestTarget))
}

// prologue declares the registers and loads the lane's address. Its verbs: kernel, threads, registers per bank, words of a
// pattern in bytes, offset of the mask.
const prologue = `.visible .entry %s(.param .u64 patterns, .param .u64 cycles, .param .u64 sink, .param .u32 zero)
.maxntid %d, 1, 1
{
	.reg .pred idle, again, leader, first, never;
	.reg .u32 tid, lane, block, a, z, base, slot, mask, v, x, low, loop, round, best, begin, end, other;
	.reg .u32 r<%[3]d>;
	.reg .u64 s<%[3]d>;
	.reg .f32 f<%[3]d>;
	.reg .u64 w, at, from, to, t0, t1;
	.reg .f32 g;
	mov.u32 tid, %%tid.x;
	and.b32 lane, tid, 31;
	mov.u32 block, %%ctaid.x;
	ld.param.u64 from, [patterns];
	mad.wide.u32 from, block, %d, from;
	mul.wide.u32 at, lane, 4;
	add.u64 at, at, from;
	ld.global.u32 a, [at];
	mov.u32 base, shared;
	add.u32 a, a, base;
	ld.global.u32 mask, [from+%d];
	shr.u32 mask, mask, lane;
	and.b32 mask, mask, 1;
	setp.eq.u32 idle, mask, 0;
	ld.param.u32 z, [zero];
	mov.u32 v, tid;
	cvt.u64.u32 w, tid;
	cvt.rn.f32.u32 g, tid;
	mov.u32 x, 0;
	mov.u32 round, 0;
	mov.u32 best, 0xffffffff;
ROUND:
	.pragma "nounroll";
	mov.u32 loop, 0;
	bar.sync 0;
	mov.u64 t0, %%clock64;
`

// epilogue takes the time and writes the shortest. Its verbs: what extremes returns, rounds.
const epilogue = `	ld.volatile.shared.u32 low, [base];
	xor.b32 low, low, x;
	setp.eq.u32 never, low, 0x9e3779b9;
	bar.red.or.pred never, 0, never;
	mov.u64 t1, %%clock64;
	cvt.u32.u64 begin, t0;
	cvt.u32.u64 end, t1;
	shr.u32 slot, tid, 5;
	mad.lo.u32 slot, slot, 8, base;
	setp.eq.u32 leader, lane, 0;
@leader	st.volatile.shared.v2.u32 [slot], {begin, end};
	bar.sync 0;
	mad.lo.u32 slot, lane, 8, base;
	ld.volatile.shared.v2.u32 {begin, end}, [slot];
	ld.volatile.shared.u32 other, [base];
	sub.u32 begin, begin, other;
	sub.u32 end, end, other;
%s	sub.u32 end, end, begin;
	min.u32 best, best, end;
	add.u32 round, round, 1;
	setp.lt.u32 again, round, %d;
@again	bra ROUND;
	ld.param.u64 to, [cycles];
	mul.wide.u32 at, block, 4;
	add.u64 to, to, at;
	setp.eq.u32 first, tid, 0;
@first	st.global.u32 [to], best;
	ld.param.u64 to, [sink];
	setp.eq.u32 never, x, 0x9e3779b9;
@never	st.global.u32 [to], x;
	ret;
}
`

// extremes leaves the least begin and the greatest end of all warps in every lane. The clock's low words, taken from one of
// them, are compared as signed numbers, so that they may wrap.
func extremes() string {
	var b strings.Builder
	for distance := 1; distance < warps; distance *= 2 {
		for _, f := range []struct{ register, pick string }{{"begin", "min"}, {"end", "max"}} {
			fmt.Fprintf(&b, "\tshfl.sync.bfly.b32 other, %[1]s, %[2]d, 0x1f, 0xffffffff;\n\t%[3]s.s32 %[1]s, %[1]s, other;\n",
				f.register, distance, f.pick)
		}
	}
	return b.String()
}

// kernelText returns the kernel of an instruction. Its parameters are the patterns (patternLen words each), the place for
// the cycles of each block (a word each), a word that is never read, and zero.
func kernelText(in *instruction, s shape) string {
	var b strings.Builder
	fmt.Fprintf(&b, prologue, kernelName(in.op), threads, max(1, s.batch*in.count), 4*patternLen, 4*lanes)
	if !in.whole {
		b.WriteString("@idle	bra DONE;\n")
	}
	b.WriteString("LOOP:\n\t.pragma \"nounroll\";\n")
	for i := range s.copies {
		in.write(&b, i%s.batch)
		if i%s.batch == s.batch-1 {
			in.use(&b, s.batch*in.count)
		}
	}
	fmt.Fprintf(&b, "\tadd.u32 loop, loop, 1;\n\tsetp.lt.u32 again, loop, %d;\n@again\tbra LOOP;\nDONE:\n", s.loops)
	fmt.Fprintf(&b, epilogue, extremes(), s.rounds)
	return b.String()
}

// bank returns the letter of the registers that hold results of a type.
func bank(result string) string {
	switch result {
	case "u64":
		return "s"
	case "f32":
		return "f"
	}
	return "r"
}

// write writes one copy, whose results go to registers of their own for each slot of a batch.
func (in *instruction) write(b *strings.Builder, slot int) {
	text := strings.NewReplacer("{a}", "a", "{v}", "v", "{w}", "w", "{g}", "g").Replace(in.body)
	for i := range in.count {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), fmt.Sprint(bank(in.result), slot*in.count+i))
	}
	fmt.Fprintf(b, "\t%s\n", text)
	if in.whole {
		b.WriteString("\tadd.u32 a, a, z;\n")
	}
}

// use writes the use of a batch's results.
func (in *instruction) use(b *strings.Builder, results int) {
	for i := range results {
		switch in.result {
		case "u64":
			fmt.Fprintf(b, "\tcvt.u32.u64 low, s%d;\n\txor.b32 x, x, low;\n", i)
		case "f32":
			fmt.Fprintf(b, "\tmov.b32 low, f%d;\n\txor.b32 x, x, low;\n", i)
		default:
			fmt.Fprintf(b, "\txor.b32 x, x, r%d;\n", i)
		}
	}
}
