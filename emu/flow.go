package emu

import "shmoo/sass"

// noJoin marks an instruction whose branch has no place where both sides meet.
const noJoin = -1

// flow is the control flow graph of a kernel, used only where a branch depends on unknown data. Post-dominators are
// computed when first asked for.
type flow struct {
	insts []sass.Inst
}

func newFlow(insts []sass.Inst) flow { return flow{insts: insts} }

// successors appends the instructions that may follow instruction i. Calls count as going on behind the call: the callee's
// effect on registers is added by writes.
func (f *flow) successors(to []int, i int) []int {
	in := &f.insts[i]
	next, certain := i+1, in.Guard.Always()
	target := noJoin
	if t, ok := in.Target(uint64(i) * instSize); ok && t%instSize == 0 && t/instSize < uint64(len(f.insts)) {
		target = int(t / instSize)
	}
	switch in.Op {
	case sass.BRA, sass.JMP:
		if target != noJoin {
			to = append(to, target)
		}
		if p := in.Arg(sass.RolePp); p != nil && (p.Reg != sass.PT || p.Is(sass.FlagNot)) {
			certain = false
		}
		if in.Mods[sass.ModBra] >= uint8(sass.BraDiv) {
			certain = false
		}
	case sass.EXIT, sass.RET, sass.KILL, sass.BRX, sass.BRXU, sass.JMX, sass.JMXU, sass.BPT:
	default:
		certain = false
	}
	if !certain && next < len(f.insts) {
		to = append(to, next)
	}
	return to
}

// join returns the first instruction that every path from branch i goes through, or noJoin. Paths that end (EXIT, RET)
// count as paths. It works on the part of the code that i reaches: iterative data flow over immediate post-dominators
// in the manner of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
func (f *flow) join(i int) int {
	order := f.postorder(i)
	// Number the nodes by position in order; the virtual end is number -1 and has the highest rank.
	rank := make(map[int]int, len(order))
	for n, node := range order {
		rank[node] = n
	}
	const end = -2
	idom := make([]int, len(order)) // immediate post-dominator by rank: a rank, or end, or noJoin when not yet known
	for n := range idom {
		idom[n] = noJoin
	}
	// up returns the parent in the post-dominator tree; the walk meets because every chain leads to end.
	depth := func(n int) int {
		d := 0
		for n != end && n != noJoin {
			n, d = idom[n], d+1
		}
		return d
	}
	meet := func(a, b int) int {
		da, db := depth(a), depth(b)
		for da > db {
			a, da = idom[a], da-1
		}
		for db > da {
			b, db = idom[b], db-1
		}
		for a != b {
			a, b = idom[a], idom[b]
		}
		return a
	}
	var buf []int
	for changed, rounds := true, 0; changed && rounds < 64; rounds++ {
		changed = false
		for n, node := range order { // post-order visits successors first, as post-dominance wants
			buf = f.successors(buf[:0], node)
			to := noJoin
			if len(buf) == 0 {
				to = end
			}
			for _, s := range buf {
				r := rank[s]
				if idom[r] == noJoin {
					continue // not yet reached, or itself on a cycle without an end
				}
				if to == noJoin {
					to = r
				} else {
					to = meet(to, r)
				}
			}
			if to != noJoin && to != idom[n] && !f.cyclic(idom, n, to) {
				idom[n], changed = to, true
			}
		}
	}
	if to := idom[rank[i]]; to >= 0 {
		return order[to]
	}
	return noJoin
}

// cyclic reports whether making to the parent of n would close a cycle; that can only be a passing state of the iteration.
func (f *flow) cyclic(idom []int, n, to int) bool {
	for steps := 0; to >= 0 && steps <= len(idom); steps++ {
		if to == n {
			return true
		}
		to = idom[to]
	}
	return false
}

// postorder returns the instructions that i reaches, successors before predecessors where there is no cycle.
func (f *flow) postorder(i int) []int {
	type visit struct{ node, next int }
	seen := map[int]bool{i: true}
	var order, buf []int
	stack := []visit{{i, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		buf = f.successors(buf[:0], top.node)
		if top.next < len(buf) {
			s := buf[top.next]
			top.next++
			if !seen[s] {
				seen[s] = true
				stack = append(stack, visit{s, 0})
			}
			continue
		}
		order = append(order, top.node)
		stack = stack[:len(stack)-1]
	}
	return order
}

// loop returns the instructions of the loop that branch i is part of: those that it reaches and that reach it.
func (f *flow) loop(i int) []int {
	reach := f.postorder(i)
	into := map[int][]int{}
	var buf []int
	for _, n := range reach {
		buf = f.successors(buf[:0], n)
		for _, s := range buf {
			into[s] = append(into[s], n)
		}
	}
	body := map[int]bool{i: true}
	list := []int{i}
	for k := 0; k < len(list); k++ {
		for _, n := range into[list[k]] {
			if !body[n] {
				body[n] = true
				list = append(list, n)
			}
		}
	}
	return list
}
